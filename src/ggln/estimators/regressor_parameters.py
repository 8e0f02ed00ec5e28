"""The parameters of `GGLNRegressor`: their ranges, their defaults, and the settings that they make."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from ggln.engine import constants
from ggln.engine.gating import SAMPLERS
from ggln.engine.gradient.build import BASE_MODELS, Settings
from ggln.engine.neurons.kinds import COVARIANCES
from ggln.engine.newton.constants import NETWORKS
from ggln.engine.newton.settings import Settings as ExactSettings
from ggln.estimators.base import NetworkEstimator
from ggln.estimators.ranges import COUNTS, JOBS, MOST, RATE, SCALE, SEED, Interval

VARIANCE = Interval(Real, 1e-15, 1e9, closed="both")
NEWTON_GATING = "residual", "axis", "mixed"
NEWTON_BASES = "auto", "feature"
"""What networks that are solved take."""
MEMORY = Interval(Integral, 16, MOST, closed="both")
"""Rows that are remembered: with fewer, there would be too few for networks."""


class RegressorParameters(NetworkEstimator, BaseEstimator):
    """Constructor and checks of `GGLNRegressor`, which documents each parameter."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "layer_sizes": ["array-like"],
        "context_dim": [Interval(Integral, 0, constants.CONTEXT_DIM_MAX, closed="both"), "array-like", None],
        "epochs": [COUNTS],
        "n_estimators": [COUNTS, None],
        "gating": [StrOptions(set(SAMPLERS))],
        "gating_bias": [Interval(Real, 0, None, closed="left"), StrOptions({"data"})],
        "base_model": [StrOptions({"auto", *BASE_MODELS}), list, tuple],
        "base_variance": [SCALE, None],
        "bias_range": [SCALE],
        "bias_variance": [SCALE],
        "learning_rate": [RATE],
        "step": [StrOptions({"newton", "capped", "ogd"})],
        "forgetting": [MEMORY, StrOptions({"auto"}), None],
        "projection": [StrOptions({"clip", "exact", "log_barrier"})],
        "barrier": [RATE],
        "weight_range": ["array-like"],
        "min_variance": [VARIANCE],
        "max_variance": [SCALE],
        "aggregation": [StrOptions({"switching", "last"})],
        "covariance": [StrOptions({"apart", *COVARIANCES})],
        "anneal": ["boolean"],
        "folds": [Interval(Integral, 0, None, closed="left")],
        "standardize": ["boolean", StrOptions({"inputs"})],
        "shuffle": ["boolean"],
        "random_state": SEED,
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        layer_sizes: Sequence[int] = (10,) * 5,
        context_dim: int | Sequence[int] | None = None,
        n_estimators: int | None = None,
        step: str = "newton",
        gating: str = "residual",
        gating_bias: float | str = "data",
        base_model: str | Sequence[Any] = "auto",
        base_variance: float | None = 1.0,
        bias_range: float = 5.0,
        bias_variance: float = 1.0,
        learning_rate: float = 3e-2,
        epochs: int = 20,
        anneal: bool = True,
        folds: int = 5,
        forgetting: int | str | None = "auto",
        projection: str = "clip",
        barrier: float = 1e-6,
        weight_range: tuple[float, float] = (0.0, 1e3),
        min_variance: float = 1e-10,
        max_variance: float = 1e2,
        aggregation: str = "switching",
        covariance: str = "apart",
        standardize: bool | str = True,
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
        self.base_model = base_model
        self.base_variance = base_variance
        self.bias_range = bias_range
        self.bias_variance = bias_variance
        self.learning_rate = learning_rate
        self.step = step
        self.projection = projection
        self.barrier = barrier
        self.weight_range = weight_range
        self.min_variance = min_variance
        self.max_variance = max_variance
        self.aggregation = aggregation
        self.covariance = covariance
        self.anneal = anneal
        self.folds = folds
        self.forgetting = forgetting
        self.standardize = standardize
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self.step == "newton"
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        self._validate_params()
        self._check_network()
        if self.step == "newton":
            self._check_newton()
        elif self.context_dim is None:
            raise ValueError(
                f'context_dim=None needs step="newton", got step={self.step!r}: name a number of gates'
            )
        elif not isinstance(self.base_model, str):
            raise ValueError(f'regressors as base_model need step="newton", got step={self.step!r}')
        if self.folds == 1:
            raise ValueError("folds must be 0 or at least 2, got 1")
        self._check_variances()
        if self.base_variance is None and self.base_model != "blr":
            raise ValueError(f'base_variance=None needs base_model="blr", got base_model={self.base_model!r}')

    def _check_newton(self) -> None:
        """Refuse what networks that are solved do not have."""
        if self.gating not in NEWTON_GATING:
            raise ValueError(
                f'gating={self.gating!r} needs step="capped" or "ogd"; step="newton" takes {NEWTON_GATING}'
            )
        if isinstance(self.base_model, str):
            if self.base_model not in NEWTON_BASES:
                raise ValueError(
                    f'base_model={self.base_model!r} needs step="capped" or "ogd"; step="newton" takes '
                    f"{NEWTON_BASES} or regressors"
                )
            return
        for regressor in self.base_model:
            if not (hasattr(regressor, "fit") and hasattr(regressor, "predict")):
                raise ValueError(f"base_model must hold regressors with fit and predict, got {regressor!r}")

    def _exact_settings(self, shape: tuple[int, int], outputs: int) -> ExactSettings:
        """Return the settings of networks that are solved."""
        return ExactSettings(
            layer_sizes=tuple(int(size) for size in self.layer_sizes),
            context_dims=self._context_dims(),
            n_estimators=None if self.n_estimators is None else int(self.n_estimators),
            gating=self.gating,
            regressions=self.base_model != "feature",
            regressors=0 if isinstance(self.base_model, str) else len(self.base_model),
            base_variance=float(self.base_variance or 1.0),
            bias_range=float(self.bias_range),
            bias_variance=float(self.bias_variance),
            min_variance=float(self.min_variance),
            max_variance=float(self.max_variance),
            covariance=self.covariance,
            standardize=self.standardize if isinstance(self.standardize, str) else bool(self.standardize),
            features=shape[1],
            outputs=outputs,
            seed=self._seed(),
            online=shape[0] == 0,
            forgetting=self.forgetting if isinstance(self.forgetting, str | None) else int(self.forgetting),
        )

    def _settings(self, shape: tuple[int, int], outputs: int) -> Settings:
        """Return the settings of networks that learn by gradient steps."""
        names = Settings.__dataclass_fields__.keys() & self.get_params().keys()
        values = {name: getattr(self, name) for name in names} | self._shape()
        if self.base_model == "auto":
            values["base_model"] = "feature"
        if self.covariance == "apart":
            values["covariance"] = "isotropic"
        if self.n_estimators is None:
            values["n_estimators"] = NETWORKS
        values["folds"] = int(self.folds) if shape[0] >= 2 * self.folds else 0
        if not isinstance(self.standardize, str):
            values["standardize"] = bool(self.standardize)  # also of NumPy's booleans
        return Settings(**values, features=shape[1], outputs=outputs, seed=self._seed())
