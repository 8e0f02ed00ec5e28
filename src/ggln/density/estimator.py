"""`DenoisingDensity`: a density known by its score, with scikit-learn manners."""

from __future__ import annotations

import os
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ggln import persistence
from ggln.density import anomaly, dynamics, sampling
from ggln.density.checks import check_counts, check_length, check_mask, check_size
from ggln.density.denoiser import Denoisers
from ggln.density.parameters import Parameters
from ggln.manners import ROWS, refuse_bad

FloatArray = NDArray[np.float64]


class DenoisingDensity(Parameters):
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
    base_model : {"coordinate", "none"}
        What the first layer is given beside biases: the noisy row, so that an untrained network is nearly the
        identity; or nothing, so that gates alone say where a row belongs, which `anomaly_score` likes best.
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
        missing = check_mask(mask, np.shape(X))
        values = np.array(X, np.float64)
        values = np.where(missing & np.isnan(values), self.denoisers_.range.middle, values)
        return self._walk(self._known_rows(values), ~missing, steps, step_length, return_path)

    def anomaly_score(self, X: ArrayLike, draws: int = 8) -> FloatArray:
        """Return how badly each row is restored from noise: larger is more anomalous.

        The squared error of mu(x + xi), averaged over columns and `draws` of the noise, in units of the
        noise's variance; then the mean over the strengths of the noise. Away from the data it grows with the
        square of the distance.

        With `base_model="none"`, which cannot pass a row on and tells unseen kinds of rows best, the unit is
        mostly the variance that the network expects at the restored row: how much worse than rows like it.
        """
        check_counts(1, draws=draws)
        rows = self._known_rows(X)
        rows = self.denoisers_.range.to_scaled(rows)
        with self._threads() as threads:
            found = [
                anomaly.relative_errors(network, rows, draws, threads) for network in self.denoisers_.networks
            ]
        score: FloatArray = np.mean(found, axis=0)
        return score

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002
        """Return minus the mean squared error of restoring rows from the smallest noise, over its variance.

        Larger is better, for scikit-learn's searches over settings of equal noise. The gradient of the
        log-density is `score_function`.
        """
        rows = self._known_rows(X)
        rows = np.clip(self.denoisers_.range.to_scaled(rows), -dynamics.BOUND, dynamics.BOUND)
        with self._threads() as threads:
            return -anomaly.restoring_error(self.denoisers_.networks[-1], rows, threads)

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
        chosen = {
            name: value for name, value in {"chains": chains, "steps": steps}.items() if value is not None
        }
        check_counts(1, n=n, substeps=substeps, **chosen)
        check_counts(0, burn_in=burn_in)
        default = {"hmc": sampling.HMC_SIZE, "langevin": sampling.LANGEVIN_SIZE}
        if method not in default:
            raise ValueError(f'method must be "hmc" or "langevin", got {method!r}')
        size = default[method] if step_size is None else step_size
        check_size(size)
        random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        with self._threads() as threads:
            if method == "hmc":
                leaps = sampling.Leaps(chains or min(n, 100), steps or 1, substeps, size, burn_in)
                walk = sampling.hamiltonian(self.denoisers_.networks[-1], n, leaps, random, threads)
            else:
                steps = steps or sampling.LANGEVIN_STEPS
                walk = sampling.langevin(self.denoisers_.networks, n, steps, size, random, threads)
        return self._back(walk, "a smaller step_size")

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

    def _rows(self, X: ArrayLike, reset: bool) -> FloatArray:
        """Return checked rows; columns must be at least two, since a single one has no isotropic network."""
        fewest = 2 if reset else 1
        rows: FloatArray = validate_data(self, X, reset=reset, ensure_min_features=fewest, **ROWS)
        refuse_bad("X", rows, getattr(self, "feature_names_in_", None))
        return rows

    def _known_rows(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        return self._rows(X, reset=False)

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
