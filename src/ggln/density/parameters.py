"""The parameters of a density: their ranges, their defaults, and the networks that they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from ggln.density.denoiser import Denoisers
from ggln.density.exact import LEVELS, GatedGaussians
from ggln.density.scaling import LEAST_NOISE
from ggln.engine import constants
from ggln.engine.gradient.build import Settings
from ggln.estimators.base import NetworkEstimator
from ggln.estimators.ranges import COUNTS, JOBS, RATE, SCALE, SEED, Interval, is_real

GRADIENT_NOISE = 0.2
"""The noise of networks that learn by gradient steps, unless another is asked for."""
MOST_NOISE = 1e6
"""Deviations: beyond, nothing is left of the data."""


class Parameters(NetworkEstimator, BaseEstimator):
    """Constructor and checks of `DenoisingDensity`, which documents each parameter."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "noise": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "noise_unit": [StrOptions({"spread", "data"})],
        "layer_sizes": ["array-like"],
        "context_dim": [Interval(Integral, 0, constants.CONTEXT_DIM_MAX, closed="both")],
        "epochs": [COUNTS],
        "n_estimators": [COUNTS],
        "gating": [StrOptions({"pairs", "sphere", "axis", "mixed"})],
        "gating_bias": [Interval(Real, 0, None, closed="left"), StrOptions({"data"})],
        "learning_rate": [RATE],
        "step": [StrOptions({"exact", "split", "capped", "ogd"})],
        "base_model": [StrOptions({"coordinate", "none"})],
        "base_variance": [SCALE],
        "bias_variance": [SCALE],
        "min_variance": [SCALE],
        "max_variance": [SCALE],
        "bias_range": [Interval(Real, 1, 1e6, closed="both")],
        "bias_weight": [Interval(Real, 0, 1e3, closed="both")],
        "scaling": [StrOptions({"data", "noisy"})],
        "scaling_rows": [COUNTS, None],
        "anneal": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": SEED,
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        noise: float | Sequence[float] | None = None,
        *,
        noise_unit: str = "spread",
        layer_sizes: Sequence[int] = (32, 32, 32, 1),
        context_dim: int = 8,
        epochs: int = 1,
        n_estimators: int = 1,
        gating: str = "pairs",
        gating_bias: float | str = "data",
        learning_rate: float = 0.1,
        step: str = "exact",
        base_model: str = "coordinate",
        base_variance: float = 1.0,
        bias_variance: float = 10.0,
        min_variance: float = 1e-2,
        max_variance: float = 1e2,
        bias_range: float = 1.0,
        bias_weight: float = 1e-2,
        scaling: str = "data",
        scaling_rows: int | None = None,
        anneal: bool = True,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.noise = noise
        self.noise_unit = noise_unit
        self.layer_sizes = layer_sizes
        self.context_dim = context_dim
        self.epochs = epochs
        self.n_estimators = n_estimators
        self.gating = gating
        self.gating_bias = gating_bias
        self.learning_rate = learning_rate
        self.step = step
        self.base_model = base_model
        self.base_variance = base_variance
        self.bias_variance = bias_variance
        self.min_variance = min_variance
        self.max_variance = max_variance
        self.bias_range = bias_range
        self.bias_weight = bias_weight
        self.scaling = scaling
        self.scaling_rows = scaling_rows
        self.anneal = anneal
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.step == "exact"
        return tags

    def _levels(self) -> list[float]:
        """Return the strengths of the noise, the largest first."""
        if self.noise is None:
            return list(LEVELS) if self.step == "exact" else [GRADIENT_NOISE]
        levels = list(self.noise) if isinstance(self.noise, Sequence | np.ndarray) else [self.noise]
        if not levels or not all(is_real(level) and 0 < level < np.inf for level in levels):
            raise ValueError(f"noise must be one or several positive numbers, got {self.noise!r}")
        if self.noise_unit == "spread" and not LEAST_NOISE <= min(levels) <= max(levels) <= MOST_NOISE:
            raise ValueError(
                f"noise must be from {LEAST_NOISE:g} to {MOST_NOISE:g} deviations of the data, "
                f"got {self.noise!r}"
            )
        return sorted((float(level) for level in levels), reverse=True)

    def _check_parameters(self) -> None:
        self._validate_params()
        self._levels()
        self._check_layers()
        if self.noise is None and self.noise_unit == "data":
            raise ValueError('noise_unit="data" needs noise: say how much, in your units')
        if self.scaling == "noisy" and self.noise_unit != "data":
            raise ValueError('scaling="noisy" needs noise_unit="data": the range decides what a spread is')
        self._check_variances()

    def _new_denoisers(self, columns: int) -> Denoisers | GatedGaussians:
        seed = self._seed()
        if self.step == "exact":
            return GatedGaussians(columns, self._levels(), self.noise_unit, seed)
        names = (
            "context_dim n_estimators gating gating_bias base_variance bias_range bias_variance "
            "learning_rate step base_model min_variance max_variance bias_weight"
        )
        settings = Settings(
            **{name: getattr(self, name) for name in names.split()},
            layer_sizes=tuple(int(size) for size in self.layer_sizes),
            projection="clip",
            barrier=1e-6,
            weight_range=(0.0, 1e3),
            aggregation="last",
            covariance="isotropic",
            standardize=False,
            features=columns,
            outputs=columns,
            seed=seed,
        )
        widened = self.scaling == "noisy"
        return Denoisers(settings, self._levels(), self.noise_unit, widened, self.scaling_rows)
