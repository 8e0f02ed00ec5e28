"""`DenoisingDensity`: a density known by its score, with scikit-learn manners."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ggln import persistence
from ggln.core import constants
from ggln.core.build import Settings
from ggln.core.threads import Threads
from ggln.density import dynamics
from ggln.density.denoiser import Denoiser, Denoisers, draw_noise
from ggln.estimators import SCALE
from ggln.manners import RATE, ROWS, Manners, refuse_bad

FloatArray = NDArray[np.float64]
LANGEVIN_STEPS = 40
"""Steps at each strength of the noise that `sample` takes by default."""
LANGEVIN_SIZE = 0.3
"""Step of the Langevin dynamics, as a fraction of the noise's deviation."""
LANGEVIN_REACH = 5.0
"""Deviations of the noise that Langevin chains may go beyond the bound: noisy rows lie outside the data."""
HMC_SIZE = 0.003
"""The paper's step of the Hamiltonian dynamics, in scaled units."""
START_STEPS = 24
"""Denoising steps that bring random starting points of Hamiltonian chains to the data, as in Figure 4."""


class DenoisingDensity(Manners, BaseEstimator):
    """Density modelling by undoing noise, learnt online: score function, samples, in-filling, anomalies.

    An isotropic Gaussian gated linear network with as many outputs as inputs sees each row with small
    Gaussian noise of variance lambda, and regresses to the row itself. At convergence (mu(x) - x) / lambda is
    the gradient of the log-density of the noisy rows (section 6.4 and Appendix F of the paper).

    Parameters
    ----------
    noise : float or sequence of float
        Standard deviation of the noise, in units of `noise_unit`. Several values give a network for each, as
        annealed sampling wants; all but `sample` and `anomaly_score` use the smallest.
    noise_unit : {"spread", "data"}
        A fraction of the spread of the scaled columns (their root mean square deviation); or the user's
        units.
    layer_sizes : sequence of int
        Neurons in each layer; the first neuron of the last layer is the output.
    context_dim : int, 0 to 16
        Half-spaces of each neuron; it has 2**context_dim rows of weights.
    epochs : int
        Passes of `fit` over its rows, each with fresh noise. `partial_fit` always makes one.
    n_estimators : int
        Networks with different gates, whose means are averaged.
    gating : {"pairs", "sphere", "axis", "mixed"}
        Directions of the half-spaces: from one random row to another; uniform on the sphere; one column each;
        or half on the sphere and half on columns.
    gating_bias : float or "data"
        Offsets of the half-spaces: of this standard deviation, or through a random row.
    learning_rate : float
        How far one row moves a neuron's prediction towards it, as a fraction of the longest safe step.
    step : {"split", "capped", "ogd"}
        "split" bounds the steps of mean and precision apart; the others are those of `GGLNRegressor`.
    base_variance, bias_variance, min_variance, max_variance : float
        As in `GGLNRegressor`, in units of the noise's variance.
    bias_range : float
        Biases lie at +-bias_range times the number of columns on each axis, in scaled units.
    bias_weight : float
        Initial weight of a bias, relative to other inputs; 0 lets an untrained network be the identity.
    scaling : {"data", "noisy"}
        Columns are scaled to [-1, 1]: the range of the rows, or of rows with noise, the paper's rule for
        MNIST.
    scaling_rows : int or None
        Rows, the first ones, that `fit` takes the range from; None for all.
    anneal : bool
        Whether the step of `fit` shrinks to nothing. What is learnt afterwards is learnt at full length.
    shuffle : bool
        Whether `fit` shuffles the rows.
    random_state : None, int or RandomState
        Seed of gates, noise and order.
    n_jobs : None or int
        Threads. The result does not depend on them.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    n_features_in_, feature_names_in_ :
        As in scikit-learn.
    noise_ : array of shape (columns,)
        Deviation of the smallest noise in each column, in the user's units.

    Examples
    --------
    >>> import numpy as np
    >>> from ggln.density import DenoisingDensity
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> density = DenoisingDensity(noise=0.5, random_state=0).fit(X)
    >>> bool(density.score_function([[2.0, 0.0]])[0, 0] < 0)  # uphill is where the data are
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "noise": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "noise_unit": [StrOptions({"spread", "data"})],
        "layer_sizes": ["array-like"],
        "context_dim": [Interval(Integral, 0, constants.CONTEXT_DIM_MAX, closed="both")],
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "gating": [StrOptions({"pairs", "sphere", "axis", "mixed"})],
        "gating_bias": [Interval(Real, 0, None, closed="left"), StrOptions({"data"})],
        "learning_rate": [RATE],
        "step": [StrOptions({"split", "capped", "ogd"})],
        "base_variance": [SCALE],
        "bias_variance": [SCALE],
        "min_variance": [SCALE],
        "max_variance": [SCALE],
        "bias_range": [Interval(Real, 1, 1e6, closed="both")],
        "bias_weight": [Interval(Real, 0, 1e3, closed="both")],
        "scaling": [StrOptions({"data", "noisy"})],
        "scaling_rows": [Interval(Integral, 1, None, closed="left"), None],
        "anneal": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [
            None,
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        noise: float | Sequence[float] = 0.2,
        noise_unit: str = "spread",
        layer_sizes: Sequence[int] = (32, 32, 32, 1),
        context_dim: int = 8,
        epochs: int = 1,
        n_estimators: int = 1,
        gating: str = "pairs",
        gating_bias: float | str = "data",
        learning_rate: float = 0.1,
        step: str = "split",
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

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Learn a table from scratch, whatever was learnt before. `y` is ignored.

        Parameters
        ----------
        X : array-like of shape (n, columns), at least two columns
        """
        self._check_parameters()
        with self._unchanged_on_error():
            rows = self._rows(X, reset=True)
            denoisers = self._new_denoisers(rows.shape[1])
            with (
                self._threads() as threads,
                self._progress("learning", rows.shape[0] * self.epochs) as progress,
            ):
                denoisers.fit(rows, self.epochs, self.shuffle, self.anneal, threads, progress)
        self.denoisers_ = denoisers
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Learn rows once, in their order, going on from what is known. `y` is ignored.

        It makes no difference how rows are cut into calls.
        """
        begin = not hasattr(self, "denoisers_")
        if begin:
            self._check_parameters()
        with self._unchanged_on_error():
            rows = self._rows(X, reset=begin)
            denoisers = self._new_denoisers(rows.shape[1]) if begin else self.denoisers_
            with self._threads() as threads, self._progress("learning", rows.shape[0]) as progress:
                denoisers.partial_fit(rows, threads, progress)
        self.denoisers_ = denoisers
        return self

    @property
    def noise_(self) -> FloatArray:
        """Deviation of the smallest noise in each column, in the user's units."""
        check_is_fitted(self)
        return self.denoisers_.networks[-1].noise * self.denoisers_.range.half

    # The score -----------------------------------------------------------------------------------------

    def score_function(self, X: ArrayLike, level: int = -1) -> FloatArray:
        """Return the gradient (mu(x) - x) / lambda of the log-density of noisy rows, in the user's units.

        level: which strength of the noise, in the order from the largest to the smallest.
        """
        rows = self._known_rows(X)
        network = self.denoisers_.networks[level]
        with self._threads() as threads:
            score = network.score(self.denoisers_.range.to_scaled(rows), threads)
        return score / self.denoisers_.range.half

    def denoise(
        self, X: ArrayLike, steps: int = 1, step_length: float = 1.0, return_path: bool = False
    ) -> FloatArray:
        """Move rows towards the data: x += step_length * (mu(x) - x), `steps` times.

        Returns
        -------
        rows : (n, columns), or with `return_path` (steps + 1, n, columns), the first being X
        """
        return self._walk(self._known_rows(X), None, steps, step_length, return_path)

    def infill(
        self,
        X: ArrayLike,
        mask: ArrayLike,
        steps: int = 3000,
        step_length: float = 0.002,
        return_path: bool = False,
    ) -> FloatArray:
        """Fill in missing values by denoising; known ones are put back after each step.

        Parameters
        ----------
        X : array-like of shape (n, columns)
            What it holds where values are missing is the starting point; NaN starts in the middle of the
            range.
        mask : array-like of bool, of the shape of X or of one row
            True where a value is missing. Something must be known of every row.

        Returns
        -------
        rows : (n, columns), or with `return_path` (steps + 1, n, columns)
        """
        check_is_fitted(self)
        missing = self._check_mask(mask, np.shape(X))
        values = np.array(X, np.float64)
        values = np.where(missing & np.isnan(values), self.denoisers_.range.middle, values)
        return self._walk(self._known_rows(values), ~missing, steps, step_length, return_path)

    def anomaly_score(self, X: ArrayLike, draws: int = 8) -> FloatArray:
        """Return how badly each row is restored from noise: larger is more anomalous.

        The mean, over the strengths of the noise and `draws` of it, of the squared error of mu(x + xi) in
        units of the noise's variance.
        """
        rows = self._scaled(X)
        total = np.zeros(len(rows))
        with self._threads() as threads:
            for network in self.denoisers_.networks:
                for draw in range(draws):
                    xi = draw_noise(network.settings.seed, -(-len(rows) // 64) * 64 * draw, *rows.shape)
                    mean = network.predict(rows + network.noise * xi, threads)[0]
                    total += np.mean(((mean - rows) / network.noise) ** 2, axis=1)
        return total / (draws * len(self.denoisers_.networks))

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002
        """Return minus the mean anomaly score: larger is better, for scikit-learn's searches.

        An anomaly score is in units of the noise, so that models of different `noise` cannot be compared by
        it. The gradient of the log-density is `score_function`.
        """
        return -float(np.mean(self.anomaly_score(X)))

    # Sampling ------------------------------------------------------------------------------------------

    def sample(
        self,
        n: int = 1,
        method: str = "hmc",
        *,
        chains: int | None = None,
        steps: int | None = None,
        substeps: int = 150,
        step_size: float | None = None,
        burn_in: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> FloatArray:
        """Return n samples, (n, columns), drawn by following the learnt score.

        Parameters
        ----------
        method : {"hmc", "langevin"}
            "hmc": Hamiltonian dynamics with unit mass and without an acceptance step, as in the paper, at the
            smallest noise. "langevin": from white noise, through all strengths of the noise, the largest
            first.
        chains : int or None
            "hmc": chains that run side by side, from random points that were denoised; every step of each is
            a sample. By default as many as samples, up to 100.
        steps : int or None
            "hmc": steps from one sample to the next, 1 by default. "langevin": steps at each strength, by
            default 40.
        substeps, step_size :
            "hmc": leapfrog steps of each step, and their size in scaled units, 0.003 by default. "langevin":
            the step's size as a fraction of the noise's deviation, 0.3 by default.
        burn_in : int
            "hmc": steps of each chain before its first sample.
        """
        check_is_fitted(self)
        for name, value in {"n": n, "substeps": substeps, "chains": chains, "steps": steps}.items():
            if value is not None and (not isinstance(value, Integral) or value < 1):
                raise ValueError(f"{name} must be a positive integer, got {value!r}")
        default = {"hmc": HMC_SIZE, "langevin": LANGEVIN_SIZE}
        if method not in default:
            raise ValueError(f'method must be "hmc" or "langevin", got {method!r}')
        size = default[method] if step_size is None else step_size
        if not 0 < size < np.inf:
            raise ValueError(f"step_size must be a positive number, got {step_size!r}")
        random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        with self._threads() as threads:
            if method == "hmc":
                walk = self._hamiltonian(
                    n, chains or min(n, 100), steps or 1, substeps, size, burn_in, random, threads
                )
            else:
                walk = self._langevin(n, steps or LANGEVIN_STEPS, size, random, threads)
        return self._back(walk, "a smaller step_size")

    def _hamiltonian(
        self,
        n: int,
        chains: int,
        steps: int,
        substeps: int,
        size: float,
        burn_in: int,
        random: np.random.Generator,
        threads: Threads,
    ) -> dynamics.Walk:
        network = self.denoisers_.networks[-1]
        start = random.uniform(-1.0, 1.0, (chains, self.n_features_in_))
        now = dynamics.denoise(start, lambda x: network.predict(x, threads)[0], START_STEPS, 1.0, None)
        rows, held = [], [now.held]
        needed = -(-n // chains)
        for step in range(burn_in + needed * steps):
            now = dynamics.hamiltonian(now.rows, lambda x: network.score(x, threads), substeps, size, random)
            if step >= burn_in and (step - burn_in) % steps == steps - 1:
                rows.append(now.rows)
                held.append(now.held)
        kept = np.concatenate(held[1:])[:n] | held[0].any()
        return dynamics.Walk(np.concatenate(rows)[:n], kept)

    def _langevin(
        self, n: int, steps: int, size: float, random: np.random.Generator, threads: Threads
    ) -> dynamics.Walk:
        rows, held = random.uniform(-1.0, 1.0, (n, self.n_features_in_)), np.zeros(n, np.bool_)
        for network in self.denoisers_.networks:
            noise = network.noise
            # in units of the noise, in which one step suits all columns
            walk = dynamics.langevin(
                rows / noise,
                self._scaled_score(network, threads),
                steps,
                size,
                random,
                bound=dynamics.BOUND / noise + LANGEVIN_REACH,
            )
            rows, held = walk.rows * noise, held | walk.held
        mean = self.denoisers_.networks[-1].predict(rows, threads)[0]
        return dynamics.Walk(mean, held)

    @staticmethod
    def _scaled_score(network: Denoiser, threads: Threads) -> dynamics.Field:
        """Return the score of rows in units of the noise."""
        return lambda x: network.noise * network.score(x * network.noise, threads)

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        check_is_fitted(self)
        parameters = self.get_params()
        parameters["random_state"] = self.denoisers_.settings.seed
        names = getattr(self, "feature_names_in_", None)
        values, arrays = self.denoisers_.state()
        header = {
            "estimator": type(self).__name__,
            "parameters": parameters,
            "feature_names": None if names is None else list(names),
            "denoisers": values,
        }
        persistence.write(path, header, arrays)

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        parameters: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in header["parameters"].items()
        }
        model = cls(**parameters)
        model.denoisers_ = Denoisers.from_state(header["denoisers"], arrays)
        model.n_features_in_ = model.denoisers_.settings.features
        if header["feature_names"] is not None:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        return model

    # Small parts ---------------------------------------------------------------------------------------

    def _levels(self) -> list[float]:
        """Return the strengths of the noise, the largest first."""
        levels = list(self.noise) if isinstance(self.noise, Sequence | np.ndarray) else [self.noise]
        if not levels or not all(isinstance(level, Real) and 0 < level < np.inf for level in levels):
            raise ValueError(f"noise must be one or several positive numbers, got {self.noise!r}")
        return sorted((float(level) for level in levels), reverse=True)

    def _check_parameters(self) -> None:
        self._validate_params()
        self._levels()
        sizes = list(self.layer_sizes)
        if not sizes or not all(isinstance(size, Integral) and size > 0 for size in sizes):
            raise ValueError(f"layer_sizes must be a sequence of positive integers, got {self.layer_sizes!r}")
        if self.scaling == "noisy" and self.noise_unit != "data":
            raise ValueError('scaling="noisy" needs noise_unit="data": the range decides what a spread is')
        if not self.min_variance < self.max_variance:
            raise ValueError(
                f"min_variance must be below max_variance, got {self.min_variance} and {self.max_variance}"
            )

    def _new_denoisers(self, columns: int) -> Denoisers:
        seed = self._seed()
        names = (
            "context_dim n_estimators gating gating_bias base_variance bias_range bias_variance "
            "learning_rate step min_variance max_variance bias_weight"
        )
        settings = Settings(
            **{name: getattr(self, name) for name in names.split()},
            layer_sizes=tuple(int(size) for size in self.layer_sizes),
            base_model="coordinate",
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

    def _rows(self, X: ArrayLike, reset: bool) -> FloatArray:
        """Return checked rows; columns must be at least two, since a single one has no isotropic network."""
        fewest = 2 if reset else 1
        rows: FloatArray = validate_data(self, X, reset=reset, ensure_min_features=fewest, **ROWS)
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None))
        return rows

    def _known_rows(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        return self._rows(X, reset=False)

    def _scaled(self, X: ArrayLike) -> FloatArray:
        """Return checked rows in scaled units, held in the box that chains stay in."""
        rows = self._known_rows(X)
        return np.clip(self.denoisers_.range.to_scaled(rows), -dynamics.BOUND, dynamics.BOUND)

    def _check_mask(self, mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        missing = np.asarray(mask)
        if missing.dtype != np.bool_:
            raise ValueError(f"mask must be boolean, True where a value is missing, got {missing.dtype}")
        if missing.shape not in (shape, shape[1:]):
            raise ValueError(f"mask must have the shape of X, {shape}, or of one row, got {missing.shape}")
        missing = np.broadcast_to(missing, shape)
        if missing.ndim == 2 and missing.all(axis=1).any():
            row = int(np.flatnonzero(missing.all(axis=1))[0])
            raise ValueError(
                f"mask hides everything in row {row}: nothing is known to fill in from; use sample"
            )
        return missing

    def _walk(
        self,
        rows: FloatArray,
        known: NDArray[np.bool_] | None,
        steps: int,
        length: float,
        return_path: bool,
    ) -> FloatArray:
        if not isinstance(steps, Integral) or steps < 0:
            raise ValueError(f"steps must be a non-negative integer, got {steps!r}")
        if not (isinstance(length, Real) and 0 < length <= 1):
            raise ValueError(f"step_length must be in (0, 1], got {length!r}")
        network, units = self.denoisers_.networks[-1], self.denoisers_.range
        start = units.to_scaled(rows)
        path = [start.copy()]
        with self._threads() as threads:
            walk = dynamics.denoise(
                start,
                lambda x: network.predict(x, threads)[0],
                steps,
                length,
                known,
                path.append if return_path else None,
            )
        ended = self._back(walk, "rows nearer to the data")
        if known is not None:
            ended = np.where(known, rows, ended)
        return units.to_user(np.array(path)) if return_path else ended

    def _back(self, walk: dynamics.Walk, remedy: str) -> FloatArray:
        """Return rows in the user's units; warn if some had to be held back."""
        if walk.held.any():
            warnings.warn(
                f"{int(walk.held.sum())} of {walk.held.size} rows reached {dynamics.BOUND:g} times the range "
                f"of the data and were held there: they say little about the data; try {remedy}",
                RuntimeWarning,
                stacklevel=3,
            )
        return self.denoisers_.range.to_user(walk.rows)
