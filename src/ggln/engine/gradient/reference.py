"""The plain twin of the compiled engine: Algorithm 1 line by line, sample by sample, neuron by neuron.

Nothing here is fast, and nothing is shared with the kernels but the records and the constants. Every
Gaussian is a mean [D] and a precision matrix [D, D] whatever the structure of the covariance, every weight
is stored as it is, and all numbers are double. Tests hold engine and twin equal.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.bases.reference_regression import JointRegression
from ggln.engine.constants import (
    BARRIER_FLOOR,
    BLR_PRIOR_PRECISION,
    MIN_PRECISION_SUM,
    PRECISION_PACE,
    STEP_CAP,
)
from ggln.engine.gating import Gates
from ggln.engine.gradient.build import Settings, make_rules
from ggln.engine.neurons.description import biases

FloatArray = NDArray[np.float64]

DEPENDENT = 1e-6
"""A constraint's row depends on others if they leave less than this fraction of its squared length."""


class Gaussians(NamedTuple):
    """A number of Gaussians: the inputs of a layer, or its outputs."""

    means: FloatArray  # [m, D]
    precisions: FloatArray  # [m, D, D]


class Constraints(NamedTuple):
    """Linear inequalities A w <= u on a vector of weights, and the scale of each (Appendix E)."""

    rows: FloatArray  # [c, m]  A
    bounds: FloatArray  # [c]  u
    scales: FloatArray  # [c]

    def slacks(self, weights: FloatArray) -> FloatArray:
        """Return u - A w: negative where a constraint is violated."""
        return self.bounds - self.rows @ weights


# Products of Gaussians (section 2, Appendices A and B) ---------------------------------------------------


def product(weights: FloatArray, inputs: Gaussians) -> tuple[FloatArray, FloatArray]:
    """Mean and precision of the weighted product; Eq. 3 and Eq. 5 are special cases of Eq. 4.

    Along a direction without precision, where Eq. 4 divides zero by zero, the mean is 0.
    """
    weighted_means = np.einsum("jde,je->jd", inputs.precisions, inputs.means)
    precision = np.tensordot(weights, inputs.precisions, axes=1)  # Eq. 4, left
    values, vectors = np.linalg.eigh(precision)
    along = vectors.T @ (weights @ weighted_means)
    return vectors @ (along / np.maximum(values, MIN_PRECISION_SUM)), precision  # Eq. 4, right


def loss(y: FloatArray, mean: FloatArray, precision: FloatArray) -> float:
    """Return Eq. 6, log |Sigma| + (y - mu)' Sigma^-1 (y - mu): -2 log density - D log(2 pi)."""
    residual = y - mean
    return float(residual @ precision @ residual - np.linalg.slogdet(precision)[1])


def gradient(y: FloatArray, mean: FloatArray, precision: FloatArray, inputs: Gaussians) -> FloatArray:
    """dl/dw_j = -tr(P^-1 P_j) + (y - mu)' P_j (y + mu - 2 mu_j): Appendix B, for any number of outputs."""
    covariance = np.linalg.inv(precision)
    return np.array(
        [
            -np.trace(covariance @ P_j) + (y - mean) @ P_j @ (y + mean - 2 * mu_j)
            for mu_j, P_j in zip(*inputs, strict=True)
        ]
    )


def hessian_trace(mean: FloatArray, precision: FloatArray, inputs: Gaussians) -> float:
    """Sum over j of tr((P^-1 P_j)^2) + 2 u_j' P^-1 u_j, u_j = P_j (mu_j - mu): the trace of Eq. 15."""
    covariance, total = np.linalg.inv(precision), 0.0
    for mu_j, P_j in zip(*inputs, strict=True):
        u = P_j @ (mu_j - mean)
        total += np.trace(covariance @ P_j @ covariance @ P_j) + 2 * u @ covariance @ u
    return total


def hessian_trace_bound(mean: FloatArray, precision: FloatArray, inputs: Gaussians) -> float:
    """Return a bound on `hessian_trace`: P^-1 replaced by I / l, with l the least eigenvalue of P."""
    least = np.linalg.eigvalsh(precision)[0]
    return hessian_trace(mean, least * np.eye(mean.size), inputs)


def split_step(
    y: FloatArray, mean: FloatArray, precision: FloatArray, inputs: Gaussians, hot: int, cap: float
) -> FloatArray:
    """Return the step of isotropic weights in which mean and precision are bounded apart.

    hot: how many inputs, the last ones, have a mean along one axis. With u_j = p_j (mu_j - mu) and r = y - mu
    the gradient is (|r|^2 - D/L) p_j - 2 r . u_j; each term gets its own rate. See
    `isotropic.respond_isotropic`.
    """
    L, size, p = precision[0, 0], mean.size, inputs.precisions[:, 0, 0]
    h, r = p[:, None] * inputs.means, y - mean
    U, first = h - p[:, None] * mean, len(p) - hot
    along_axes = (h[first:] ** 2).sum(axis=0).max()
    tilt = np.linalg.norm(p[first:] @ h[first:]) * np.linalg.norm(mean)
    norm = along_axes + (p[first:] ** 2).sum() * (mean @ mean) + 2 * tilt
    spread = (U[:first] ** 2).sum() + min((U[first:] ** 2).sum(), norm)
    own = PRECISION_PACE * cap * L**2 / (size * (p @ p))
    own /= 1 + PRECISION_PACE * cap * max(L * (r @ r) / size - 1, 0.0)
    step: FloatArray = own * (r @ r - size / L) * p - cap * L / (2 * spread) * 2 * U @ r
    return step


def clip_eigenvalues(matrix: FloatArray, low: float, high: float) -> FloatArray:
    """Return the symmetric matrix with its eigenvalues clipped to [low, high]."""
    values, vectors = np.linalg.eigh(matrix)
    clipped: FloatArray = (vectors * np.clip(values, low, high)) @ vectors.T
    return clipped


# Projections (Appendix E) --------------------------------------------------------------------------------


def box(inputs: int, low: float, high: float) -> Constraints:
    """Return low <= w_j <= high for every weight; their scale is the initial weight."""
    rows = np.concatenate([-np.eye(inputs), np.eye(inputs)])
    return Constraints(rows, np.repeat([-low, high], inputs), np.full(2 * inputs, 1 / inputs))


def join(some: Constraints, others: Constraints) -> Constraints:
    """Return all constraints of both."""
    return Constraints(*map(np.concatenate, zip(some, others, strict=True)))


def constrain(precision: FloatArray, inputs: Gaussians, structure: str, settings: Settings) -> Constraints:
    """Return the bounds on the product's variances and means, as inequalities on the weights.

    precision: [D, D], the product's. The variance along v is in its range for
    1/max_variance <= sum_j w_j v' P_j v <= 1/min_variance; with h_j = P_j mu_j, the mean of output d is in
    [-r, r] for sum_j w_j (+-h_jd - r P_jdd) <= 0. The directions v of a full matrix are its eigenvectors; its
    means are not bounded, which would not be linear.
    """
    least, most, edge = 1 / settings.max_variance, 1 / settings.min_variance, settings.bias_range
    axes = np.eye(settings.outputs)
    directions = {"isotropic": axes[:1], "diagonal": axes, "full": np.linalg.eigh(precision)[1].T}
    found: list[tuple[FloatArray, float, float]] = []
    for v in directions[structure]:
        along = inputs.precisions @ v @ v
        found += [(along, most, most), (-along, -least, least)]
    for d in range(settings.outputs if structure != "full" else 0):
        weighted = np.einsum("je,je->j", inputs.precisions[:, d], inputs.means)
        limit, scale = edge * inputs.precisions[:, d, d], edge * max(precision[d, d], least)
        found += [(weighted - limit, 0.0, scale), (-weighted - limit, 0.0, scale)]
    rows, bounds, scales = zip(*found, strict=True)
    return Constraints(np.array(rows), np.array(bounds), np.array(scales))


def independent(rows: FloatArray) -> list[int]:
    """Return which rows, [c, m], do not depend linearly on the ones before them."""
    kept: list[int] = []
    for k, row in enumerate(rows):
        rest = row - np.linalg.pinv(rows[kept]) @ (rows[kept] @ row) if kept else row
        if rest @ rest > DEPENDENT * (row @ row):
            kept.append(k)
    return kept


def project_exact(weights: FloatArray, limits: Constraints, low: float, high: float) -> FloatArray:
    """Return w - A'^+ (A' w - u'), A' the rows of all violated constraints; then clipped to [low, high].

    Of rows that depend on each other, for which the paper's (A' A'^T)^-1 does not exist, the first count.
    """
    every = join(box(weights.size, low, high), limits)
    violated = np.flatnonzero(every.slacks(weights) < 0)
    violated = violated[independent(every.rows[violated])]
    A, u = every.rows[violated], every.bounds[violated]
    moved = weights - np.linalg.pinv(A) @ (A @ weights - u) if violated.size else weights
    return np.clip(moved, low, high)


def project_in_turn(weights: FloatArray, limits: Constraints, low: float, high: float) -> FloatArray:
    """Return the log-barrier's backstop: a projection onto each violated constraint in turn; then a clip."""
    for k in np.flatnonzero(limits.slacks(weights) < 0):
        row = limits.rows[k]
        excess = row @ weights - limits.bounds[k]
        if excess > 0:
            weights = weights - row * excess / (row @ row)
    return np.clip(weights, low, high)


def barrier_gradient(weights: FloatArray, limits: Constraints) -> FloatArray:
    """Gradient of Phi(w) = -sum_k log(u_k - A_k w), each slack at least BARRIER_FLOOR times its scale."""
    slacks = np.maximum(limits.slacks(weights), BARRIER_FLOOR * limits.scales)
    push: FloatArray = (1 / slacks) @ limits.rows
    return push


# Gating, switching, base models (section 3, Appendices D and C) ------------------------------------------


def fused_multiply_add(x: float, y: float, z: float) -> float:
    """Return x y + z, rounded once: the engine's sums, so that no bit of a context can differ."""
    return float(Fraction(x) * Fraction(y) + Fraction(z))


def context(gates: Gates, neuron: int, z: FloatArray) -> int:
    """Index of the context that z selects: bit i is z . v >= b of the neuron's gate i."""
    index = 0
    for i, (code, offset) in enumerate(zip(gates.codes[neuron], gates.offsets[neuron], strict=True)):
        projection = 0.0
        if code < z.size:
            projection = z[code]
        else:
            for v, x in zip(gates.normals[code - z.size], z, strict=True):
                projection = fused_multiply_add(v, x, projection)
        index |= int(projection >= offset) << i
    return index


def switch(weights: FloatArray, time: int, log_densities: FloatArray) -> FloatArray:
    """Weights of time t + 1 from those of time t and every model's log-density at y_t (Appendix D)."""
    models = weights.size
    if models < 2:
        return weights
    posterior = weights * np.exp(log_densities - log_densities.max())
    posterior /= posterior.sum()
    alpha = 1 / (time + 1)
    updated = alpha / (models - 1) + (1 - alpha - alpha / (models - 1)) * posterior
    normalised: FloatArray = updated / updated.sum()
    return normalised


class LinearRegression:
    """Bayesian linear regression of the targets on each feature alone (Appendix C), from all rows so far.

    noise: tau; None asks for type-II maximum likelihood, one step of Bishop's equation 3.95 after each row.
    """

    def __init__(self, features: int, outputs: int, noise: float | None, limit: float) -> None:
        self.X, self.Y = np.empty((0, features)), np.empty((0, outputs))
        self.estimate, self.limit = noise is None, limit
        self.noise = np.full(features, 1.0 if noise is None else noise)

    def posterior(self, j: int) -> tuple[FloatArray, float, FloatArray, float]:
        """mu_theta [D], tau_theta, mu_beta [D] and tau_beta of feature j."""
        x, tau = self.X[:, j], self.noise[j]
        tau_theta = BLR_PRIOR_PRECISION + tau * np.sum(x**2)
        tau_beta = BLR_PRIOR_PRECISION + tau * len(x)
        return tau / tau_theta * (x @ self.Y), tau_theta, tau / tau_beta * self.Y.sum(axis=0), tau_beta

    def predict(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means [d, D] and variances [d] of the posterior predictive distributions."""
        means, variances = [], []
        for j, x in enumerate(z):
            theta, tau_theta, beta, tau_beta = self.posterior(j)
            means.append(theta * x + beta)
            variances.append(x**2 / tau_theta + 1 / tau_beta + 1 / self.noise[j])
        return np.array(means), np.array(variances)

    def learn(self, z: FloatArray, y: FloatArray) -> None:
        """Add a row; then move each tau to (N - gamma) / (sum of squared residuals), within bounds."""
        self.X, self.Y = np.vstack([self.X, z]), np.vstack([self.Y, y])
        rows, outputs = self.Y.shape
        if not self.estimate or rows <= 2:
            return
        for j, x in enumerate(self.X.T):
            theta, tau_theta, beta, tau_beta = self.posterior(j)
            gamma = self.noise[j] * np.sum(x**2) / tau_theta + self.noise[j] * rows / tau_beta  # Bishop 3.91
            residuals = np.sum((self.Y - np.outer(x, theta) - beta) ** 2)
            variance = residuals / (outputs * (rows - gamma))  # Bishop 3.95
            self.noise[j] = 1 / np.clip(variance, 1 / self.limit**2, self.limit**2)


# The network (Algorithm 1) -------------------------------------------------------------------------------


class Twin:
    """What the twins of all kinds of neuron share: gates, tables of weights, switching."""

    settings: Settings
    gates: Gates
    weights: list[FloatArray]  # of each layer [K_i, 2^s, .., inputs]
    switching: FloatArray  # [N]

    def mixture(self) -> FloatArray:
        """Return how much each neuron is believed, in the order of the layers."""
        if self.settings.aggregation == "switching":
            return self.switching.copy()
        weights = np.zeros_like(self.switching)
        weights[-self.settings.layer_sizes[-1]] = 1
        return weights

    def contexts(self, z: FloatArray) -> list[NDArray[np.intp]]:
        """Return c_ik(z) of every neuron, layer by layer."""
        found = np.array([context(self.gates, neuron, z) for neuron in range(self.switching.size)])
        return np.split(found, np.cumsum(self.settings.layer_sizes)[:-1])

    def active_weights(self, z: FloatArray) -> list[FloatArray]:
        """Return the weights [K_i, .., inputs] that z selects, layer by layer (Eq. 8)."""
        return [W[np.arange(len(c)), c] for W, c in zip(self.weights, self.contexts(z), strict=True)]


class ReferenceNetwork(Twin):
    """One network. settings.n_estimators and settings.dtype are ignored: it is one, in double precision."""

    def __init__(self, settings: Settings, gates: Gates) -> None:
        self.settings, self.gates = settings, gates
        self.structure = "isotropic" if settings.outputs == 1 else settings.covariance
        eye = np.eye(settings.outputs)
        means, spreads = biases(make_rules(settings).kind)
        self.biases = Gaussians(means, spreads if spreads.ndim == 3 else spreads[:, :, None] * eye)
        noise = None if settings.base_variance is None else 1 / settings.base_variance
        self.regression = LinearRegression(settings.features, settings.outputs, noise, settings.bias_range)
        self.joint = JointRegression(settings.features, settings.outputs, settings.min_variance)
        counts = {"none": 0, "linear": settings.features + 1, "axes": settings.features * settings.outputs}
        self.base_inputs = counts.get(settings.base_model, settings.features)
        inputs = [below + len(means) for below in (self.base_inputs, *settings.layer_sizes)]
        self.weights = []  # W_i: [K_i, 2^s, inputs]
        for size, m in zip(settings.layer_sizes, inputs, strict=False):
            initial = np.ones(m)
            if self.structure == "isotropic" and settings.outputs > 1:
                initial[m - len(means) :] = settings.bias_weight
            self.weights.append(np.tile(initial / initial.sum(), (size, 2**settings.context_dim, 1)))
        neurons = sum(settings.layer_sizes)
        self.time = 1  # t of Appendix D
        self.switching = np.full(neurons, 1 / neurons)

    def predict(self, z: FloatArray) -> list[Gaussians]:
        """Return every layer's Gaussians for the side information z [d]."""
        return self._pass(z, None)

    def learn(self, z: FloatArray, y: FloatArray) -> list[Gaussians]:
        """Return what `predict` does, from before the update; then learn the target y [D]."""
        layers = self._pass(z, y)
        densities = [-0.5 * loss(y, *gaussian) for layer in layers for gaussian in zip(*layer, strict=True)]
        self.switching = switch(self.switching, self.time, np.array(densities))
        self.time += 1
        self.regression.learn(z, y)
        self.joint.learn(z, y)
        return layers

    def base(self, z: FloatArray) -> Gaussians:
        """Return layer 0: the base predictions (section 6 and Appendix C), within their range."""
        settings, r, eye = self.settings, self.settings.bias_range, np.eye(self.settings.outputs)
        if settings.base_model == "none":
            return Gaussians(np.empty((0, eye.shape[0])), np.empty((0, *eye.shape)))
        if settings.base_model == "blr":
            means, variances = self.regression.predict(z)
            means = np.clip(means, -r, r)
        else:
            along_axes = settings.base_model == "coordinate"
            directions = settings.outputs * eye if along_axes else np.ones(settings.outputs)
            means = np.clip(z, -r, r)[:, None] * directions
            if settings.base_model == "axes":
                means = (np.clip(z, -r * len(eye), r * len(eye))[:, None, None] * eye).reshape(-1, len(eye))
            variances = np.full(len(means), settings.base_variance, np.float64)
        if settings.base_model == "linear":
            mean, variance = self.joint.predict(z)
            means, variances = np.vstack([means, np.clip(mean, -r, r)]), np.append(variances, variance)
        return Gaussians(means, eye / variances[:, None, None])

    def _pass(self, z: FloatArray, y: FloatArray | None) -> list[Gaussians]:
        """Algorithm 1: inference, with an update where there is a target."""
        layers, below = [], self.base(z)
        for W, contexts in zip(self.weights, self.contexts(z), strict=True):  # line 5
            inputs = Gaussians(*map(np.concatenate, zip(below, self.biases, strict=True)))
            outputs = []
            for k, c in enumerate(contexts):  # line 6
                w = W[k, c]  # line 7
                outputs.append(self._output(w, inputs))  # lines 8 and 9
                if y is not None:
                    W[k, c] = self._update(w, inputs, y)  # line 10
            below = Gaussians(*map(np.array, zip(*outputs, strict=True)))
            layers.append(below)
        return layers

    def _output(self, weights: FloatArray, inputs: Gaussians) -> tuple[FloatArray, FloatArray]:
        """Mean and precision of a neuron (Eq. 4), brought into their ranges."""
        settings = self.settings
        mean, precision = product(weights, inputs)
        mean = np.clip(mean, -settings.bias_range, settings.bias_range)
        return mean, clip_eigenvalues(precision, 1 / settings.max_variance, 1 / settings.min_variance)

    def _update(self, weights: FloatArray, inputs: Gaussians, y: FloatArray) -> FloatArray:
        """Proj[w - eta grad l(y; z)] (Eq. 11), with the chosen step and projection."""
        settings, (low, high) = self.settings, self.settings.weight_range
        mean, precision = self._output(weights, inputs)
        slope, rate = gradient(y, mean, precision, inputs), settings.learning_rate
        if settings.step == "capped":
            trace = hessian_trace_bound if self.structure == "full" else hessian_trace
            rate = min(rate, STEP_CAP / trace(mean, precision, inputs))
        if settings.step == "split":
            first_layer = len(weights) == self.base_inputs + len(self.biases.means)
            along_axes = settings.base_model in ("coordinate", "axes") and first_layer
            hot = len(weights) if along_axes else len(self.biases.means)
            step = split_step(y, mean, precision, inputs, hot, settings.learning_rate)
            return np.clip(weights - step, low, high)
        if settings.projection == "clip":
            return np.clip(weights - rate * slope, low, high)
        if settings.projection == "exact":
            moved = weights - rate * slope
            return project_exact(moved, self._constraints(moved, inputs), low, high)
        limits = join(box(weights.size, low, high), self._constraints(weights, inputs))
        slope = slope + settings.barrier * barrier_gradient(weights, limits)  # Eq. 16
        moved = np.clip(weights - rate * slope, low, high)
        return project_in_turn(moved, self._constraints(moved, inputs), low, high)

    def _constraints(self, weights: FloatArray, inputs: Gaussians) -> Constraints:
        return constrain(product(weights, inputs)[1], inputs, self.structure, self.settings)
