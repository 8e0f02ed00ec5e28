"""The mixture that predicts: kinds of predictions, each with several spreads, and shares by evidence.

A kind is what a group of networks, or a regression, says together: one Gaussian for each row. It takes part
once for each of `constants.SPREADS`, a factor on its variance. Shares maximise the likelihood of rows that
a kind had not learnt when it predicted them: expectation maximisation finds the only maximum there is. In a
stream they go on by the same rule, row by row.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine import memory
from ggln.engine.jit import exact_kernel
from ggln.engine.newton import constants

FloatArray = NDArray[np.float64]
Numbers = NDArray[Any]
"""Real, or complex where derivatives are carried along."""
Arrays = dict[str, NDArray[Any]]
LOG_SPREADS = np.log(constants.SPREADS)


def log_densities(quadratic: FloatArray, log_determinant: FloatArray, outputs: int) -> FloatArray:
    """Return the log density of each component [n, kinds, spreads], without the constant -D/2 log 2 pi.

    quadratic: (y - mu)' P (y - mu) [n, kinds]; log_determinant: log |P| [n, kinds].
    """
    spread = np.asarray(constants.SPREADS)
    found: FloatArray = 0.5 * (
        log_determinant[..., None] - outputs * LOG_SPREADS - quadratic[..., None] / spread
    )
    return found


def equal_shares(kinds: int) -> FloatArray:
    """Return the shares [kinds * spreads] of nobody who is known."""
    count = kinds * len(constants.SPREADS)
    return np.full(count, 1.0 / count)


def find_shares(logs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the shares [k] that make rows of log densities [n, k] and weights [n] likeliest."""
    shares = np.full(logs.shape[1], 1.0 / logs.shape[1])
    densities = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = constants.SHARE_ROWS / logs.shape[1]
    for _ in range(constants.SHARE_ITERATIONS):
        joint = densities * shares
        shares = weights @ (joint / joint.sum(axis=1, keepdims=True)) + prior
        shares /= shares.sum()
    return shares


def one_spread(logs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the log densities [n, k] with a single spread for all kinds, the likeliest; others cannot be."""
    spreads = len(constants.SPREADS)
    best = max(range(spreads), key=lambda s: _likelihood(logs[:, s::spreads], weights))
    return np.where(np.arange(logs.shape[1]) % spreads == best, logs, -np.inf)


def _likelihood(logs: FloatArray, weights: FloatArray) -> float:
    """Return the log likelihood of rows with the best shares."""
    shares, top = find_shares(logs, weights), logs.max(axis=1)
    return float(weights @ (top + np.log(np.exp(logs - top[:, None]) @ shares)))


@exact_kernel
def follow_shares(logs, weights, shares, seen, history):
    """Let shares # OUT [k] follow the evidence row by row; history: [n, k] # OUT, what they were before each.

    logs: [n, k]; weights: [n]; seen: the weight of all rows before. Return that of all rows after.
    """
    components = shares.size
    for t in range(logs.shape[0]):
        if history.shape[0] > 0:
            history[t] = shares
        top = -np.inf
        for k in range(components):
            top = max(top, logs[t, k])
        total = 0.0
        for k in range(components):
            total += shares[k] * np.exp(logs[t, k] - top)
        if weights[t] > 0.0 and total > 0.0:
            seen += weights[t]
            pace = weights[t] / seen
            for k in range(components):
                shares[k] += pace * (shares[k] * np.exp(logs[t, k] - top) / total - shares[k])
    return seen


class Blend(NamedTuple):
    """What all kinds predict for some rows: Gaussians, in the user's units, and their shares."""

    weights: FloatArray  # [k], or [n, k] where they change from row to row
    means: FloatArray  # [n, k, D]
    covariances: FloatArray  # [n, k, D] variances, or [n, k, D, D]

    def moved(self, shift: FloatArray, scale: FloatArray) -> "Blend":
        """Return the mixture of shift + scale y of one output."""
        return Blend(self.weights, shift + scale * self.means, self.covariances * scale**2)


def joined(blends: list[Blend]) -> Blend:
    """Return the mixtures of rows one after the other; where components are missing, some have no weight."""
    if len(blends) == 1:
        return blends[0]
    most, wide = max(blend.means.shape[1] for blend in blends), []
    for weights, means, covariances in blends:
        rows, missing = len(means), most - means.shape[1]
        shares = np.pad(np.broadcast_to(weights, (rows, means.shape[1])), ((0, 0), (0, missing)))
        more = ((0, 0), (0, missing), *[(0, 0)] * (means.ndim - 2))
        deviations = np.pad(
            covariances, ((0, 0), (0, missing), *[(0, 0)] * (covariances.ndim - 2)), mode="edge"
        )
        wide.append((shares, np.pad(means, more, mode="edge"), deviations))
    return Blend(*map(np.concatenate, zip(*wide, strict=True)))


class SpreadMixture:
    """Kinds of predictions of one output with several spreads each; standardised units.

    kind: the kind of neuron, which knows its natural parameters, the planes Q.
    """

    def __init__(self, kind: Any, one_factor: bool = False) -> None:
        self.kind, self.one_factor = kind, one_factor
        self.shares = equal_shares(1)
        self.judged = 0.0  # weight of the rows that shares come from

    def judge(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray, every: FloatArray) -> None:
        """Find the shares from what each kind said of rows that it did not know.

        kinds: [n, K, Q]; goals: [n, D]; weights: [n]; every: [N, D], the targets of all rows.
        """
        del every  # spreads need not know what targets there are
        logs = self._logs(kinds, goals)
        if self.one_factor:
            logs = one_spread(logs, weights)
        self.shares, self.judged = find_shares(logs, weights), float(weights.sum()) + constants.SHARE_ROWS
        if self.one_factor:
            self.shares = np.where(np.isfinite(logs).all(axis=0), self.shares, 0.0)
            self.shares /= self.shares.sum()

    def _logs(self, kinds: FloatArray, goals: FloatArray) -> FloatArray:
        """Return the log density of each component at the targets, [n, K * spreads]."""
        quadratic, log_determinant = self.kind.score(kinds, goals)
        logs = log_densities(quadratic, log_determinant, goals.shape[1])
        return logs.reshape(len(goals), -1)

    def follow(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray, record: bool) -> Any:
        """Let the shares follow rows; return the mixture before each, if asked to `record`."""
        history = np.empty((len(goals) if record else 0, self.shares.size))
        self.judged = follow_shares(self._logs(kinds, goals), weights, self.shares, self.judged, history)
        return self._components(kinds, history) if record else None

    def follow_components(self, kinds: FloatArray, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """As `follow`, of one output; return weights, means and deviations before each row, [3, n, P]."""
        shares, means, variances = self.follow(kinds, goals, weights, True)
        return np.stack([shares, means[..., 0], np.sqrt(variances[..., 0])])

    def blend(self, kinds: FloatArray) -> Blend:
        """Return the mixture of kinds [n, K, Q]."""
        return self._components(kinds, self.shares.copy())

    def _components(self, kinds: FloatArray, weights: FloatArray) -> Blend:
        means, covariances = self.kind.gaussians(kinds)
        spreads = np.asarray(constants.SPREADS)
        wide = np.repeat(covariances, spreads.size, axis=1)
        factors = np.tile(spreads, kinds.shape[1]).reshape(-1, *[1] * (wide.ndim - 2))
        return Blend(weights, np.repeat(means, spreads.size, axis=1), wide * factors)

    def moments(self, kinds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation [n, D] of the mixture."""
        means, covariances = self.kind.gaussians(kinds)
        shares = self.shares.reshape(means.shape[1], -1)
        mean = np.einsum("k,nkd->nd", shares.sum(axis=1), means)
        variance = np.einsum(
            "k,nkd->nd", shares @ np.asarray(constants.SPREADS), self.kind.variances(covariances)
        )
        variance += np.einsum("k,nkd->nd", shares.sum(axis=1), (means - mean[:, None]) ** 2)
        return mean, np.sqrt(variance)

    def mean(self, means: Numbers, kinds: Numbers) -> Numbers:
        """Return the mean [.., D] of the mixture of kinds of means [K, .., D] and planes [K, .., Q]."""
        totals = self.shares.reshape(len(kinds), -1).sum(axis=1)
        found: Numbers = np.tensordot(totals, means, 1)
        return found

    def state(self) -> Arrays:
        """Return the arrays of a model file."""
        return {"shares": self.shares}

    def restore(self, arrays: Arrays) -> None:
        """Take over what `state` gave."""
        self.shares = arrays["shares"]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to."""
        vars(self).update({name: memory.writeable(value) for name, value in state.items()})
