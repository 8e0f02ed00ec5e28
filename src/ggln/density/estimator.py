"""`DenoisingDensity`: a density known by its score, as an estimator of scikit-learn."""

from __future__ import annotations

import os
import warnings
from operator import methodcaller
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ggln import persistence
from ggln.density import anomaly, dynamics, sampling
from ggln.density.checks import check_counts, check_length, check_mask, check_size, refuse_hidden
from ggln.density.denoiser import Denoisers
from ggln.density.exact import GatedGaussians, Level
from ggln.density.parameters import Parameters
from ggln.estimators.base import ROWS, refuse_bad, restored, take_names
from ggln.estimators.numeric import naming_text
from ggln.estimators.whole import learn_part, lock_of, parts

GAPS = (
    'Networks that learn by gradient steps need every value: use step="exact", which takes missing values as '
    "they are, or leave out such rows"
)
"""What to do about a missing value."""

FloatArray = NDArray[np.float64]


class DenoisingDensity(Parameters):
    """Density modelling by undoing noise: score function, samples, in-filling, anomalies.

    The best way to undo Gaussian noise of variance lambda, mu(x), gives the gradient of the log-density of
    noisy rows: (mu(x) - x) / lambda (section 6.4 and Appendix F of the paper). By default it is solved by
    local Gaussians. Each is a linear denoiser in closed form, and gates that read the noisy row mix them.
    One model serves every strength of the noise. NaN is a missing value: a value with infinite noise. The
    other values of `step` give the paper's network, which sees rows with noise and regresses to the rows
    themselves.

    Parameters
    ----------
    noise : None, float or sequence of float
        Standard deviation of the noise, in units of `noise_unit`, or several; all but `sample` and
        `anomaly_score` use the smallest. None: five from 0.05 to 0.8; 0.2 with gradient steps.
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
    step : {"exact", "split", "capped", "ogd"}
        "exact" solves, and needs only the arguments `noise`, `noise_unit` and `random_state`. The others are
        gradient steps of the paper's network: "split" bounds the steps of mean and precision separately;
        the others are those of `GGLNRegressor`.
    base_model : {"coordinate", "none"}
        The inputs of the first layer beside biases: the noisy row, so that an untrained network is nearly
        the identity; or nothing, so that only gates say where a row belongs, which is best for
        `anomaly_score`.
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
        Whether the step of `fit` shrinks to zero. Later rows are learnt with the full step.
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
    >>> density = DenoisingDensity(random_state=0).fit(X)
    >>> bool(density.score_function([[2.0, 0.0]])[0, 0] < 0)  # uphill is where the data are
    True
    """

    denoisers_: Denoisers | GatedGaussians
    """`GatedGaussians`, or `Denoisers` that learn by gradient steps."""

    # Learning ------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Learn a table from scratch, whatever was learnt before. `y` is ignored.

        Parameters
        ----------
        X : array-like of shape (n, columns)
            NaN is a missing value. Gradient steps do not take it, and need at least two columns.
        """
        self._require_parameters(begin=True)
        with lock_of(self), self._unchanged_on_error():
            rows = self._rows(X, reset=True, gaps=True)
            denoisers = self._new_denoisers(rows.shape[1])
            steps = rows.shape[0] * (1 if self.step == "exact" else self.epochs)
            with self._threads() as threads, self._progress("learning", steps) as progress:
                if isinstance(denoisers, GatedGaussians):
                    denoisers.fit(rows, threads, progress)
                else:
                    denoisers.fit(rows, self.epochs, self.shuffle, self.anneal, threads, progress)
            self.denoisers_ = denoisers
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002
        """Learn rows once, in their order, starting from what is known. `y` is ignored.

        How rows are cut into calls makes no difference.
        """
        with lock_of(self):
            begin = not hasattr(self, "denoisers_")
            self._require_parameters(begin)
            with self._unchanged_on_error():
                rows = self._rows(X, reset=begin, gaps=True)
                denoisers = self._new_denoisers(rows.shape[1]) if begin else self.denoisers_
                with self._threads() as threads, self._progress("learning", rows.shape[0]) as progress:
                    for own in parts(rows.shape[0]):
                        lesson = methodcaller("partial_fit", rows[own], threads, progress)
                        denoisers, _ = learn_part(denoisers, own.stop - own.start, lesson, self._keep)
        return self

    def _keep(self, denoisers: Denoisers | GatedGaussians) -> None:
        self.denoisers_ = denoisers

    def _begun(self) -> bool:
        return hasattr(self, "denoisers_")

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
        """Move rows towards the data: x += step_length * (mu(x) - x), `steps` times, at the smallest noise.

        Returns
        -------
        rows : (n, columns), or with `return_path` (steps + 1, n, columns), the first being X
        """
        return self._walk(self._known_rows(X), None, steps, step_length, return_path)

    def infill(
        self,
        X: ArrayLike,
        mask: ArrayLike | None = None,
        steps: int | None = None,
        step_length: float = 0.002,
        return_path: bool = False,
        *,
        sample: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> FloatArray:
        """Fill in missing values: by what is expected given the known ones, or by a draw.

        Parameters
        ----------
        X : array-like of shape (n, columns)
        mask : None, or array-like of bool, of the shape of X or of one row
            True where a value is missing; None: where X is NaN.
        steps, step_length : int or None, float
            None: at once, in closed form; with gradient steps 3000. A number of steps walks by denoising, and
            puts the known values back after each. What X holds where values are missing is then the starting
            point; NaN starts in the middle of the range.
        sample : bool
            Whether to draw missing values, together, from their distribution given the known ones (multiple
            imputation) instead of expecting them. Needs `step="exact"`.
        random_state : None, int or RandomState
            Of the draw.

        Returns
        -------
        rows : (n, columns), or with `return_path` (steps + 1, n, columns)
        """
        check_is_fitted(self)
        exact = self.denoisers_ if isinstance(self.denoisers_, GatedGaussians) and steps is None else None
        if sample and exact is None:
            raise ValueError('sample=True needs step="exact", and no steps')
        with naming_text(X=X):
            values = np.array(X, np.float64) if mask is not None else self._known_rows(X, gaps=True)
        missing = np.isnan(values) if mask is None else check_mask(mask, np.shape(X))
        if exact is not None:
            rows = self._known_rows(np.where(missing, np.nan, values), gaps=True)
            random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
            filled = self._fill(exact, rows, random if sample else None)
            return np.array([np.where(missing, exact.range.middle, rows), filled]) if return_path else filled
        refuse_hidden(missing)
        values = np.where(missing & np.isnan(values), self.denoisers_.range.middle, values)
        steps = sampling.INFILL_STEPS if steps is None else steps
        return self._walk(self._known_rows(values), ~missing, steps, step_length, return_path)

    def anomaly_score(self, X: ArrayLike, draws: int = 8) -> FloatArray:
        """Return how unlike the data each row is: larger is more anomalous. Rows may have missing values.

        How far the log-density of noisy rows lies below its largest value, doubled, for each known value: for
        a single Gaussian the squared distance from its middle in deviations, a mean over the columns. Then
        the mean over the strengths of the noise. Away from the data it grows with the square of the distance.

        With gradient steps: the squared error of mu(x + xi), averaged over columns and `draws` of the noise,
        in units of the noise's variance. With `base_model="none"` the unit is mostly the variance that the
        network expects at the restored row: how much worse than rows like it.
        """
        check_counts(1, draws=draws)
        rows = self.denoisers_.range.to_scaled(self._known_rows(X, gaps=True))
        found = []
        with self._threads() as threads:
            for network in self.denoisers_.networks:
                if isinstance(network, Level):
                    found.append(network.surprise(rows, threads))
                else:
                    found.append(anomaly.relative_errors(network, rows, draws, threads))
        score: FloatArray = np.mean(found, axis=0)
        return score

    @available_if(lambda self: self.step == "exact")  # type: ignore[untyped-decorator]
    def score_samples(self, X: ArrayLike, level: int = -1) -> FloatArray:
        """Return the log-density of noisy rows, (n,), in the user's units. Needs `step="exact"`.

        Of rows with missing values it is the density of those that are known. level: which strength of the
        noise, in the order from the largest to the smallest.
        """
        rows = self._known_rows(X, gaps=True)
        network: Any = self.denoisers_.networks[level]
        units = self.denoisers_.range
        sizes = np.log(units.half * network.units.deviations)
        with self._threads() as threads:
            found = network.log_density(units.to_scaled(rows), threads)
        density: FloatArray = found - (~np.isnan(rows) @ sizes)
        return density

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002
        """Return the mean log-density of rows with the smallest noise, for scikit-learn's searches.

        With gradient steps: minus the mean squared error of restoring rows from the smallest noise, over its
        variance, which compares settings of equal noise. The gradient of the log-density is `score_function`.
        """
        check_is_fitted(self)
        network = self.denoisers_.networks[-1]
        if isinstance(network, Level):
            return float(self.score_samples(X).mean())
        rows = self._known_rows(X)
        rows = np.clip(self.denoisers_.range.to_scaled(rows), -dynamics.BOUND, dynamics.BOUND)
        with self._threads() as threads:
            return -anomaly.restoring_error(network, rows, threads)

    # Sampling ------------------------------------------------------------------------------------------

    def sample(
        self,
        n: int = 1,
        method: str | None = None,
        *,
        chains: int | None = None,
        steps: int | None = None,
        substeps: int = 150,
        step_size: float | None = None,
        burn_in: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> FloatArray:
        """Return n samples, (n, columns): drawn as they are, or by following the learnt score.

        Parameters
        ----------
        method : None, "direct", "hmc" or "langevin"
            "direct", by default: one of the Gaussians by its share, and a row from it; needs `step="exact"`.
            "hmc", by default with gradient steps: Hamiltonian dynamics with unit mass and without an
            acceptance step, as in the paper, at the smallest noise. "langevin": from white noise, through all
            strengths of the noise, the largest first.
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
        chosen = {
            name: value for name, value in {"chains": chains, "steps": steps}.items() if value is not None
        }
        check_counts(1, n=n, substeps=substeps, **chosen)
        check_counts(0, burn_in=burn_in)
        random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        if isinstance(self.denoisers_, GatedGaussians) and method in (None, "direct"):
            return self.denoisers_.range.to_user(self.denoisers_.sample(n, random))
        default = {"hmc": sampling.HMC_SIZE, "langevin": sampling.LANGEVIN_SIZE}
        method = method or "hmc"
        if method not in default:
            raise ValueError(f'method must be "direct", "hmc" or "langevin", got {method!r}')
        size = default[method] if step_size is None else step_size
        check_size(size)
        networks: Any = self.denoisers_.networks
        with self._threads() as threads:
            if method == "hmc":
                leaps = sampling.Leaps(chains or min(n, 100), steps or 1, substeps, size, burn_in)
                walk = sampling.hamiltonian(networks[-1], n, leaps, random, threads)
            else:
                steps = steps or sampling.LANGEVIN_STEPS
                walk = sampling.langevin(networks, n, steps, size, random, threads)
        return self._back(walk, "a smaller step_size")

    # Saving --------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `ggln.load` reads, replacing an older one only when complete."""
        check_is_fitted(self)
        self._require_parameters()  # a file that holds others could not be loaded
        parameters = self.get_params()
        parameters["random_state"] = self.denoisers_.seed
        names = getattr(self, "feature_names_in_", None)
        values, arrays = self.denoisers_.state()
        header = {
            "estimator": type(self).__name__,
            "parameters": parameters,
            "feature_names": None if names is None else list(names),
            "exact": isinstance(self.denoisers_, GatedGaussians),
            "denoisers": values,
        }
        persistence.write(path, header, arrays)

    @classmethod
    def _from_state(cls, header: dict[str, Any], arrays: persistence.Arrays) -> Self:
        model: Self = restored(cls, header, list(header["parameters"]))
        exact = header.get("exact", model.step == "exact")
        kind = GatedGaussians if exact else Denoisers
        model.denoisers_ = kind.from_state(header["denoisers"], arrays)
        model.n_features_in_ = model.denoisers_.features
        take_names(model, header)
        return model

    # Small parts ---------------------------------------------------------------------------------------

    def _rows(self, X: ArrayLike, reset: bool, gaps: bool = False) -> FloatArray:
        """Return checked rows; a single column has no isotropic network.

        gaps: whether NaN is a missing value, if the model can do with it.
        """
        exact = self.step == "exact" if reset else isinstance(self.denoisers_, GatedGaussians)
        fewest = 2 if reset and not exact else 1
        with naming_text(X=X):
            rows: FloatArray = validate_data(self, X, reset=reset, ensure_min_features=fewest, **ROWS)
        about_gaps = "Fill in missing values first, with infill" if exact else GAPS
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None), gaps and exact, about_gaps)
        return rows

    def _known_rows(self, X: ArrayLike, gaps: bool = False) -> FloatArray:
        check_is_fitted(self)
        return self._rows(X, reset=False, gaps=gaps)

    def _fill(
        self, exact: GatedGaussians, rows: FloatArray, random: np.random.Generator | None
    ) -> FloatArray:
        """Return rows with what is expected where they are NaN, or what is drawn."""
        # beyond, what is known would carry the others with it, however far
        seen = np.clip(exact.range.to_scaled(rows), -dynamics.BOUND, dynamics.BOUND)
        with self._threads() as threads:
            found = exact.infill(seen, threads) if random is None else exact.draw(seen, random)
        return np.where(np.isnan(rows), exact.range.to_user(found), rows)

    def _walk(
        self,
        rows: FloatArray,
        known: NDArray[np.bool_] | None,
        steps: int,
        length: float,
        return_path: bool,
    ) -> FloatArray:
        check_counts(0, steps=steps)
        check_length(length)
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
