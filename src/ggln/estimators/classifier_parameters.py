"""The parameters of `GLNClassifier`: their ranges, their defaults, and the settings that they make."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from ggln.engine import constants
from ggln.engine.gating import SAMPLERS
from ggln.engine.gradient.build import Settings, bernoulli_settings
from ggln.engine.newton.settings import Settings as ExactSettings
from ggln.estimators.base import NetworkEstimator
from ggln.estimators.ranges import COUNTS, JOBS, RATE, SEED, Interval

NEWTON_GATING = {"tree": "residual", "residual": "residual", "axis": "axis", "mixed": "mixed"}
"""What networks that are solved take, and what it is there: splits are picked by residuals, without trees."""


class ClassifierParameters(NetworkEstimator, BaseEstimator):
    """Constructor and checks of `GLNClassifier`, which documents each parameter."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "layer_sizes": ["array-like"],
        "context_dim": [Interval(Integral, 0, constants.CONTEXT_DIM_MAX, closed="both"), "array-like", None],
        "epochs": [COUNTS],
        "n_estimators": [COUNTS],
        "gating": [StrOptions(set(SAMPLERS))],
        "gating_bias": [Interval(Real, 0, None, closed="left"), StrOptions({"data"})],
        "learning_rate": [RATE],
        "step": [StrOptions({"normalised", "ogd", "newton"})],
        "decay": [None, Interval(Real, 0, None, closed="neither")],
        "weight_range": ["array-like"],
        "min_probability": [Interval(Real, 1e-9, 0.5, closed="left")],
        "hinges": [Interval(Integral, 0, constants.MAX_HINGES, closed="both")],
        "aggregation": [StrOptions({"switching", "last"})],
        "anneal": ["boolean"],
        "standardize": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": SEED,
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        layer_sizes: Sequence[int] = (8, 8, 8),
        context_dim: int | Sequence[int] | None = None,
        epochs: int = 20,
        n_estimators: int = 16,
        gating: str = "residual",
        gating_bias: float | str = "data",
        learning_rate: float = 0.2,
        step: str = "newton",
        decay: float | None = None,
        weight_range: tuple[float, float] = (-200.0, 200.0),
        min_probability: float = 1e-3,
        hinges: int = 0,
        aggregation: str = "switching",
        anneal: bool = True,
        standardize: bool = True,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.layer_sizes = layer_sizes
        self.context_dim = context_dim
        self.epochs = epochs
        self.n_estimators = n_estimators
        self.gating = gating
        self.gating_bias = gating_bias
        self.learning_rate = learning_rate
        self.step = step
        self.decay = decay
        self.weight_range = weight_range
        self.min_probability = min_probability
        self.hinges = hinges
        self.aggregation = aggregation
        self.anneal = anneal
        self.standardize = standardize
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.step == "newton"
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        self._validate_params()
        self._check_network()
        if self.step != "newton":
            if self.context_dim is None:
                raise ValueError(
                    f'context_dim=None needs step="newton", got step={self.step!r}: name a number of gates'
                )
        elif self.hinges:
            raise ValueError(
                f'hinges={self.hinges} needs step="normalised" or "ogd"; step="newton" has a regression '
                "of its own below its networks: leave hinges at 0"
            )
        elif self.gating not in NEWTON_GATING:
            raise ValueError(
                f'gating={self.gating!r} needs step="normalised" or "ogd"; step="newton" takes '
                f"{tuple(NEWTON_GATING)}"
            )

    def _exact_settings(self, shape: tuple[int, ...], outputs: int) -> ExactSettings:
        """Return the settings of networks that are solved; those of Gaussians mean nothing here."""
        return ExactSettings(
            layer_sizes=tuple(int(size) for size in self.layer_sizes),
            context_dims=self._context_dims(),
            n_estimators=int(self.n_estimators),
            gating=NEWTON_GATING[self.gating],
            regressions=True,
            base_variance=1.0,
            bias_range=1.0,
            bias_variance=1.0,
            min_variance=1e-10,
            max_variance=1e2,
            covariance="isotropic",
            standardize=bool(self.standardize),
            features=shape[1],
            outputs=outputs,
            seed=self._seed(),
            online=shape[0] == 0,
        )

    def _settings(self, features: int, outputs: int) -> Settings:
        """Return the settings of networks that learn by gradient steps."""
        return bernoulli_settings(
            **self._shape(),
            features=features,
            outputs=outputs,
            seed=self._seed(),
            n_estimators=self.n_estimators,
            gating=self.gating,
            gating_bias=self.gating_bias,
            learning_rate=self.learning_rate,
            step=self.step,
            decay=self.decay,
            min_probability=self.min_probability,
            hinges=int(self.hinges),
            aggregation=self.aggregation,
            standardize=bool(self.standardize),
        )
