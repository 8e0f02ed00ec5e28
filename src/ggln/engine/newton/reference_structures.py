"""What exact learning has to know of each kind of neuron: its loss, gradient, and factors of its Hessian.

n rows, m inputs, D outputs. With P_j the precision of input j and b_j = P_j mu_j, the product of the inputs
has P = sum_j w_j P_j, h = sum_j w_j b_j and mu = P^-1 h (Eq. 4). With r = y - mu, one row has

  loss      -log |P| + r' P r                               (Eq. 6, twice the NLL without its constant)
  gradient  -tr(P^-1 P_j) + r' P_j r - 2 r' (b_j - P_j mu)  (Appendix B, for D = 1)
  Hessian   tr(P^-1 P_i P^-1 P_j) + 2 (b_i - P_i mu)' P^-1 (b_j - P_j mu)

The Hessian is F'F, with R factors that are the rows of F, and the gradient lies in their span.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Parts = tuple[FloatArray, ...]
"""Natural parameters, of inputs (P_j [n, m, ..], b_j [n, m, ..]) or (logits [n, m],); of totals without m."""

LEAST_PRECISION = 1e-6
"""A product is a density if its precision exceeds this in every direction: with targets of variance one, a
variance of a million says nothing. Newton's steps need 1/L squared, which is soon beyond rounding."""
KEPT = 0.25
"""A row that is learnt online keeps at least this fraction of its precision, in every direction."""
FURTHEST_LOGIT = 2.0
"""A row that is learnt online, if on the wrong side of even odds, gets at most this far beyond them: it is as
far as a Newton step from even odds can lead."""


class Structure(Protocol):
    """A kind of neuron. All but `admissible` expect totals that are."""

    scale: ClassVar[float]  # how many negative log-likelihoods the loss is

    def admissible(self, totals: Parts) -> BoolArray:
        """Return which rows' products are densities, [n]."""

    def loss(self, totals: Parts, y: FloatArray) -> FloatArray:
        """Return the loss of each row, [n], without constants."""

    def gradient(self, inputs: Parts, totals: Parts, y: FloatArray) -> FloatArray:
        """Return its derivatives by the weights, [n, m]."""

    def factors(self, inputs: Parts, totals: Parts) -> FloatArray:
        """Return F, [n, R, m]: the Hessian of a row is F'F."""

    def slopes(self, inputs: Parts, totals: Parts) -> FloatArray:
        """Return the derivatives of the mean, or logit, by the weights, [n, m] or [n, m, D]."""

    def stride(self, totals: Parts, change: Parts) -> FloatArray:
        """Return the largest t <= 1, [n], for which a row may move its own totals by -t change."""


@dataclass(frozen=True)
class Diagonal:
    """D outputs, each as if it were alone. R = 2 D.

    inputs: a, b [n, m, D]; totals: L, q [n, D]; y: [n, D]. All without the axis D for one output.
    """

    least: float = LEAST_PRECISION
    scale: ClassVar[float] = 2.0

    def admissible(self, totals: Parts) -> BoolArray:
        """L_d > least for all d."""
        dense: BoolArray = np.all(_flat(totals[0], 1) > self.least, axis=1)
        return dense

    def loss(self, totals: Parts, y: FloatArray) -> FloatArray:
        """Sum over d of -log L_d + L_d (y_d - mu_d)^2, with mu = q / L (Eq. 6)."""
        L, q = totals
        loss: FloatArray = _flat(-np.log(L) + L * (y - q / L) ** 2, 1).sum(axis=1)
        return loss

    def gradient(self, inputs: Parts, totals: Parts, y: FloatArray) -> FloatArray:
        """Sum over d of (r^2 - 1/L) a_j - 2 r (b_j - mu a_j), with r = y - mu (Appendix B)."""
        (a, b), (L, q) = inputs, (total[:, None] for total in totals)
        r = y[:, None] - q / L
        gradient: FloatArray = _flat((r**2 - 1 / L) * a - 2 * r * (b - q / L * a), 2).sum(axis=2)
        return gradient

    def factors(self, inputs: Parts, totals: Parts) -> FloatArray:
        """a_j / L and sqrt(2 / L) (b_j - mu a_j), for each output (Appendix B)."""
        (a, b), (L, q) = inputs, (total[:, None] for total in totals)
        both = _flat(a / L, 2), _flat(np.sqrt(2 / L) * (b - q / L * a), 2)
        return np.concatenate(both, axis=2).swapaxes(1, 2)

    def slopes(self, inputs: Parts, totals: Parts) -> FloatArray:
        """(b_j - mu a_j) / L, for each output."""
        (a, b), (L, q) = inputs, (total[:, None] for total in totals)
        return (b - q / L * a) / L

    def stride(self, totals: Parts, change: Parts) -> FloatArray:
        """Keep a quarter of L_d for all d."""
        return _keep(_flat(change[0] / totals[0], 1).max(axis=1))


class Univariate(Diagonal):
    """One output (Eq. 3). R = 2.

    inputs: a, b [n, m]; totals: L, q [n]; y: [n].
    """


@dataclass(frozen=True)
class Isotropic:
    """D outputs of one variance, P_j = a_j I (Eq. 5). R = 1 + D.

    inputs: a [n, m], b [n, m, D]; totals: L [n], q [n, D]; y: [n, D].
    """

    least: float = LEAST_PRECISION
    scale: ClassVar[float] = 2.0

    def admissible(self, totals: Parts) -> BoolArray:
        """L > least."""
        return totals[0] > self.least

    def loss(self, totals: Parts, y: FloatArray) -> FloatArray:
        """-D log L + L |y - mu|^2, with mu = q / L (Eq. 6)."""
        L, q = totals
        r = y - q / L[:, None]
        loss: FloatArray = -y.shape[1] * np.log(L) + L * np.sum(r**2, axis=1)
        return loss

    def gradient(self, inputs: Parts, totals: Parts, y: FloatArray) -> FloatArray:
        """(|r|^2 - D/L) a_j - 2 r . (b_j - a_j mu), with r = y - mu."""
        (a, _), (L, q) = inputs, totals
        r = y - q / L[:, None]
        own = np.sum(r**2, axis=1) - y.shape[1] / L
        across = np.einsum("njd,nd->nj", self._offsets(inputs, totals), r)
        gradient: FloatArray = own[:, None] * a - 2 * across
        return gradient

    def factors(self, inputs: Parts, totals: Parts) -> FloatArray:
        """sqrt(D) a_j / L, and sqrt(2 / L) (b_j - a_j mu) for each output."""
        (a, b), L = inputs, totals[0][:, None, None]
        of_means = np.sqrt(2 / L) * self._offsets(inputs, totals).swapaxes(1, 2)
        return np.concatenate([np.sqrt(b.shape[2]) * a[:, None] / L, of_means], axis=1)

    def slopes(self, inputs: Parts, totals: Parts) -> FloatArray:
        """(b_j - a_j mu) / L."""
        return self._offsets(inputs, totals) / totals[0][:, None, None]

    def stride(self, totals: Parts, change: Parts) -> FloatArray:
        """Keep a quarter of L."""
        return _keep(change[0] / totals[0])

    def _offsets(self, inputs: Parts, totals: Parts) -> FloatArray:
        (a, b), (L, q) = inputs, totals
        return b - a[:, :, None] * (q / L[:, None])[:, None]


@dataclass(frozen=True)
class Full:
    """D outputs (Eq. 4). R = D^2 + D.

    inputs: P_j [n, m, D, D], b [n, m, D]; totals: P [n, D, D], h [n, D]; y: [n, D].
    """

    least: float = LEAST_PRECISION
    scale: ClassVar[float] = 2.0

    def admissible(self, totals: Parts) -> BoolArray:
        """All eigenvalues of P > least."""
        return np.linalg.eigvalsh(totals[0])[:, 0] > self.least

    def loss(self, totals: Parts, y: FloatArray) -> FloatArray:
        """-log |P| + (y - mu)' P (y - mu), with mu = P^-1 h (Eq. 6)."""
        r = y - self._means(totals)
        loss: FloatArray = np.einsum("nd,nde,ne->n", r, totals[0], r) - np.linalg.slogdet(totals[0])[1]
        return loss

    def gradient(self, inputs: Parts, totals: Parts, y: FloatArray) -> FloatArray:
        """-tr(P^-1 P_j) + r' P_j r - 2 r' (b_j - P_j mu), with r = y - mu."""
        r = y - self._means(totals)
        own = r[:, :, None] * r[:, None] - np.linalg.inv(totals[0])
        across = np.einsum("njd,nd->nj", self._offsets(inputs, totals), r)
        gradient: FloatArray = np.einsum("nde,njde->nj", own, inputs[0]) - 2 * across
        return gradient

    def factors(self, inputs: Parts, totals: Parts) -> FloatArray:
        """All entries of C^-1 P_j C^-T, and sqrt(2) C^-1 (b_j - P_j mu), with P = C C'."""
        whiten = self._whiten(totals)[:, None]
        matrices = whiten @ inputs[0] @ whiten.swapaxes(2, 3)
        of_means = np.sqrt(2) * whiten @ self._offsets(inputs, totals)[..., None]
        return np.concatenate([_flat(matrices, 2), _flat(of_means, 2)], axis=2).swapaxes(1, 2)

    def slopes(self, inputs: Parts, totals: Parts) -> FloatArray:
        """P^-1 (b_j - P_j mu)."""
        slopes: FloatArray = np.einsum(
            "nde,nje->njd", np.linalg.inv(totals[0]), self._offsets(inputs, totals)
        )
        return slopes

    def stride(self, totals: Parts, change: Parts) -> FloatArray:
        """Keep a quarter of P: no eigenvalue of C^-1 (t change) C^-T above 3/4."""
        whiten = self._whiten(totals)
        lost = np.linalg.eigvalsh(whiten @ change[0] @ whiten.swapaxes(1, 2))[:, -1]
        return _keep(lost.astype(np.float64))

    def _means(self, totals: Parts) -> FloatArray:
        return np.linalg.solve(totals[0], totals[1][:, :, None])[:, :, 0].astype(np.float64)  # Eq. 4

    def _offsets(self, inputs: Parts, totals: Parts) -> FloatArray:
        offsets: FloatArray = inputs[1] - np.einsum("njde,ne->njd", inputs[0], self._means(totals))
        return offsets

    def _whiten(self, totals: Parts) -> FloatArray:
        return np.linalg.inv(np.linalg.cholesky(totals[0])).astype(np.float64)


@dataclass(frozen=True)
class Bernoulli:
    """A probability p = sigma(z). R = 1.

    inputs: logits x [n, m]; totals: z [n]; y: [n], in [0, 1]. The loss is the negative log-likelihood.
    """

    scale: ClassVar[float] = 1.0

    def admissible(self, totals: Parts) -> BoolArray:
        """All finite z."""
        return np.isfinite(totals[0])

    def loss(self, totals: Parts, y: FloatArray) -> FloatArray:
        """-y log p - (1 - y) log(1 - p)."""
        return np.logaddexp(0.0, totals[0]) - y * totals[0]

    def gradient(self, inputs: Parts, totals: Parts, y: FloatArray) -> FloatArray:
        """(p - y) x_j."""
        return (np.exp(-np.logaddexp(0.0, -totals[0])) - y)[:, None] * inputs[0]

    def factors(self, inputs: Parts, totals: Parts) -> FloatArray:
        """sqrt(p (1 - p)) x_j."""
        spread = np.exp(-np.logaddexp(totals[0] / 2, -totals[0] / 2))
        return spread[:, None, None] * inputs[0][:, None]

    def slopes(self, inputs: Parts, totals: Parts) -> FloatArray:  # noqa: ARG002
        """x_j: the logit stands for the mean."""
        return inputs[0]

    def stride(self, totals: Parts, change: Parts) -> FloatArray:
        """Move the logit by at most |z| + `FURTHEST_LOGIT`."""
        furthest = np.abs(totals[0]) + FURTHEST_LOGIT
        return furthest / np.maximum(np.abs(change[0]), furthest)


def _flat(x: FloatArray, axes: int) -> FloatArray:
    """Return x with one axis, whatever there was, after the first ones."""
    return x.reshape(*x.shape[:axes], int(np.prod(x.shape[axes:])))


def _keep(lost: FloatArray) -> FloatArray:
    """min(1, 3/4 / lost), where a whole step would take away the fraction `lost`, [n], of a precision."""
    return (1 - KEPT) / np.maximum(lost, 1 - KEPT)
