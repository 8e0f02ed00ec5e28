"""Gaussian gated linear networks as the paper writes them, equation by equation.

A Gaussian of D outputs is a mean [D] and a precision matrix [D, D], whatever its structure: one output and
isotropic matrices are special cases. Equation 1 is the Gaussian density itself.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Gaussians(NamedTuple):
    """Experts, m of them."""

    means: FloatArray  # [m, D]
    precisions: FloatArray  # [m, D, D]


def gaussians(means: FloatArray, variances: FloatArray) -> Gaussians:
    """Return isotropic experts of means [m, D] and variances [m]."""
    return Gaussians(means, np.eye(means.shape[1]) / variances[:, None, None])


# Weighted products (section 2.1, Appendix A) ---------------------------------------------------------------


def product(weights: FloatArray, experts: Gaussians) -> tuple[FloatArray, FloatArray]:
    """Return mean [D] and precision [D, D] of the weighted product of experts, Eq. 2.

    Eq. 4; with one output it is Eq. 3, which Appendix A derives (Eq. 13, and with weights of one Eq. 12), and
    with isotropic experts Eq. 5.
    """
    precision = np.einsum("j,jde->de", weights, experts.precisions)
    weighted = np.einsum("j,jde,je->d", weights, *reversed(experts))
    return np.linalg.solve(precision, weighted), precision


# Loss (section 2.2, Appendix B) ----------------------------------------------------------------------------


def loss(y: FloatArray, weights: FloatArray, experts: Gaussians) -> float:
    """Return Eq. 6: -2 log density of the product, but for a constant; Eq. 14 writes it with w / sigma^2."""
    mean, precision = product(weights, experts)
    return float((y - mean) @ precision @ (y - mean) - np.linalg.slogdet(precision)[1])


def gradient(y: FloatArray, weights: FloatArray, experts: Gaussians) -> FloatArray:
    """Return the gradient [m] of Eq. 6 by the weights (Appendix B)."""
    mean, precision = product(weights, experts)
    covariance = np.linalg.inv(precision)
    fit = [(y - mean) @ P @ (y + mean - 2.0 * mu) for mu, P in zip(*experts, strict=True)]
    found: FloatArray = np.array(fit) - np.einsum("de,jed->j", covariance, experts.precisions)
    return found


def hessian(weights: FloatArray, experts: Gaussians) -> FloatArray:
    """Return the Hessian [m, m] of Eq. 6, which does not depend on the target: Eq. 15, for any D."""
    mean, precision = product(weights, experts)
    covariance = np.linalg.inv(precision)
    relative = covariance @ experts.precisions  # [m, D, D]
    pull = np.einsum("jde,je->jd", experts.precisions, experts.means - mean)
    found: FloatArray = np.einsum("jde,ked->jk", relative, relative) + 2.0 * pull @ covariance @ pull.T
    return found


# Weights that are allowed (section 2.2, Appendix E) --------------------------------------------------------


class Limits(NamedTuple):
    """The weight space of Eq. 7, with the bounds of Appendix E for one output."""

    largest_weight: float = 1e3  # b
    largest_mean: float = 1e3
    least_variance: float = 1e-3
    largest_variance: float = 1e3


LIMITS = Limits()


def inequalities(experts: Gaussians, limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Return A [c, m] and u [c] of A w <= u: weights, and variance and mean of one output, are in range."""
    precisions, means = experts.precisions[:, 0, 0], experts.means[:, 0]
    box = np.eye(precisions.size)
    rows = [
        -precisions,
        precisions,
        precisions * (means - limits.largest_mean),
        -precisions * (means + limits.largest_mean),
    ]
    bounds = [-1.0 / limits.largest_variance, 1.0 / limits.least_variance, 0.0, 0.0]
    weights = np.zeros(precisions.size), np.full(precisions.size, limits.largest_weight)
    return np.vstack([-box, box, *rows]), np.concatenate([*weights, bounds])


def project(weights: FloatArray, experts: Gaussians, limits: Limits) -> FloatArray:
    """Return the nearest weights at which violated constraints are just met (Appendix E)."""
    A, u = inequalities(experts, limits)
    violated = A @ weights > u
    if not violated.any():
        return weights
    found: FloatArray = weights - np.linalg.pinv(A[violated]) @ (A[violated] @ weights - u[violated])
    return found


def barrier_gradient(weights: FloatArray, experts: Gaussians, limits: Limits) -> FloatArray:
    """Return the gradient of the barriers Phi; Eq. 16 adds xi times Phi to the loss."""
    A, u = inequalities(experts, limits)
    found: FloatArray = (A / (u - A @ weights)[:, None]).sum(axis=0)
    return found


# Neurons and networks (sections 3 to 5) --------------------------------------------------------------------


class HalfSpaces(NamedTuple):
    """Gates of one neuron: a row z is inside the i-th if z . normals[i] >= offsets[i]."""

    normals: FloatArray  # [s, d]
    offsets: FloatArray  # [s]

    def context(self, z: FloatArray) -> int:
        """Return c(z), which picks the weights of the neuron in Eq. 8; the first gate is the lowest bit."""
        inside = self.normals @ z >= self.offsets
        return int(inside @ (1 << np.arange(inside.size)))


def draw_half_spaces(count: int, features: int, random: np.random.Generator) -> HalfSpaces:
    """Draw normals evenly on the unit sphere, and offsets from a standard normal (section 4)."""
    normals = random.standard_normal((count, features))
    return HalfSpaces(normals / np.linalg.norm(normals, axis=1, keepdims=True), random.standard_normal(count))


def biases(outputs: int, reach: float = 5.0) -> Gaussians:
    """Return the constant inputs of every neuron, so that any mean in [-reach, reach]^D is in their hull."""
    axes = reach * outputs * np.eye(outputs)
    return gaussians(np.vstack([axes, -axes]), np.ones(2 * outputs))


def with_biases(experts: Gaussians) -> Gaussians:
    """Return experts and, after them, the biases."""
    parts = zip(experts, biases(experts.means.shape[1]), strict=True)
    return Gaussians(*(np.concatenate(pair) for pair in parts))


class Network:
    """Layers of neurons, each with gates and a table of weights, and Algorithm 1."""

    def __init__(
        self, gates: list[list[HalfSpaces]], inputs: int, outputs: int = 1, limits: Limits = LIMITS
    ) -> None:
        self.gates, self.limits = gates, limits
        self.weights, size = [], inputs + 2 * outputs  # W [K_i, 2^s, K_(i-1)] of each layer
        for layer in gates:
            contexts = 1 << layer[0].offsets.size
            self.weights.append(np.full((len(layer), contexts, size), 1.0 / size))
            size = len(layer) + 2 * outputs

    def pass_through(
        self, base: Gaussians, z: FloatArray, y: FloatArray | None = None, rate: float = 0.1
    ) -> list[Gaussians]:
        """Return what all layers predict (Algorithm 1); with a target they learn it.

        Each density is the gated product of those below (Eq. 9). Each neuron has its own loss (Eq. 10), and
        takes a step of online gradient descent (Eq. 11).
        """
        found, below = [], with_biases(base)
        for gates, tables in zip(self.gates, self.weights, strict=True):  # line 5
            means, precisions = [], []
            for gate, table in zip(gates, tables, strict=True):  # line 6
                weights = table[gate.context(z)]  # line 7
                mean, precision = product(weights, below)  # lines 8 and 9
                if y is not None:
                    moved = weights - rate * gradient(y, weights, below)
                    weights[:] = project(moved, below, self.limits)  # line 10
                means.append(mean)
                precisions.append(precision)
            found.append(Gaussians(np.array(means), np.array(precisions)))
            below = with_biases(found[-1])
        return found  # line 13: the last layer's first neuron


# Base models (Appendix C) ----------------------------------------------------------------------------------


class LinearRegression:
    """Bayesian regression of the target on one feature, of which noise and prior precisions are known."""

    def __init__(self, noise: float = 1.0, prior: float = 1.0) -> None:
        self.noise, self.prior = noise, prior  # tau, tau_0
        self.xy, self.xx, self.y, self.count = 0.0, 0.0, 0.0, 0

    def learn(self, x: float, y: float) -> None:
        """Add a row to the sufficient statistics."""
        self.xy, self.xx, self.y, self.count = self.xy + x * y, self.xx + x * x, self.y + y, self.count + 1

    def predict(self, x: float) -> tuple[float, float]:
        """Return mean and variance of the posterior predictive distribution."""
        slope, level = self.prior + self.noise * self.xx, self.prior + self.noise * self.count
        mean = self.noise * (self.xy / slope * x + self.y / level)
        return mean, x * x / slope + 1.0 / level + 1.0 / self.noise


# Aggregation and denoising (Appendices D and F) ------------------------------------------------------------


def switch(shares: FloatArray, densities: FloatArray, time: int) -> FloatArray:
    """Return the shares [m] after time t, at which neurons gave the target these densities [m]."""
    rate = 1.0 / (time + 1)
    posterior = shares * densities / (shares @ densities)
    found: FloatArray = rate / (shares.size - 1) + (1.0 - rate - rate / (shares.size - 1)) * posterior
    found /= found.sum()  # of rounding
    return found


def score(denoised: FloatArray, x: FloatArray, noise: float) -> FloatArray:
    """Return the gradient of the log density at x, by what a denoiser makes of x: Eq. 17 solved for it."""
    return (denoised - x) / noise


def exploration_bonus(time: int, pseudocount: float) -> float:
    """Return what GLCB adds to an arm's expected reward (Appendix G.1)."""
    return float(np.sqrt(np.log(time) / pseudocount))
