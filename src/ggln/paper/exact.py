"""Beyond the paper, for one output: neurons that solve their problems, and gates picked by residuals.

Eq. 6 is convex in a neuron's weights, and few: Newton's method solves it for all rows of a context. With
natural parameters a_j = 1 / sigma_j^2 and b_j = mu_j / sigma_j^2 of the inputs, L = w . a and mu = w . b / L,
a row's gradient is F'r and its Hessian F'F (Eq. 15), with two factors as rows of F:

  u = a / L,  v = sqrt(2 / L) (b - mu a),  r = (e^2 - 1, -sqrt(2) e),  e = sqrt(L) (y - mu).

Contexts are the leaves of a neuron's tree of gates. They are solved from the root down, each pulled towards
its parent. Rows go up to the next layer as they are predicted without themselves.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
STEPS, HALVINGS = 20, 12
LEAST_PRECISION = 1e-6


class Inputs(NamedTuple):
    """What a layer is given of n rows: natural parameters of m Gaussians each."""

    a: FloatArray  # [n, m]
    b: FloatArray  # [n, m]

    def take(self, rows: NDArray[np.int64]) -> "Inputs":
        """Return some of the rows."""
        return Inputs(self.a[rows], self.b[rows])


def losses(inputs: Inputs, y: FloatArray, w: FloatArray) -> FloatArray:
    """Return Eq. 6 of each row [n]; infinite where the product is no density."""
    L = inputs.a @ w
    there = L > LEAST_PRECISION
    L = np.where(there, L, 1.0)
    return np.where(there, L * (y - inputs.b @ w / L) ** 2 - np.log(L), np.inf)


def factors(inputs: Inputs, y: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return F [n, 2, m] and r [n, 2] of each row."""
    L = (inputs.a @ w)[:, None]
    mu = (inputs.b @ w)[:, None] / L
    F = np.stack([inputs.a / L, np.sqrt(2.0 / L) * (inputs.b - mu * inputs.a)], axis=1)
    e = np.sqrt(L) * (y[:, None] - mu)
    return F, np.hstack([e**2 - 1.0, -np.sqrt(2.0) * e])


def solve(inputs: Inputs, y: FloatArray, centre: FloatArray, pull: float) -> tuple[FloatArray, FloatArray]:
    """Return the weights [m] that minimise the rows' losses and pull / 2 |w - centre|^2, and H^-1 [m, m]."""
    w, pulled = centre, pull * np.eye(centre.size)

    def objective(w: FloatArray) -> float:
        return float(losses(inputs, y, w).sum() + 0.5 * pull * np.sum((w - centre) ** 2))

    for _ in range(STEPS):
        F, r = factors(inputs, y, w)
        slope = np.einsum("nij,ni->j", F, r) + pull * (w - centre)
        direction = np.linalg.solve(np.einsum("nij,nik->jk", F, F) + pulled, slope)
        steps = 0.5 ** np.arange(HALVINGS)
        better = (s for s in steps if objective(w - s * direction) < objective(w))
        step = next(better, 0.0)
        w = w - step * direction
        if step == 0.0:
            break
    F, _ = factors(inputs, y, w)
    return w, np.linalg.inv(np.einsum("nij,nik->jk", F, F) + pulled)


def leave_out(inputs: Inputs, y: FloatArray, w: FloatArray, inverse: FloatArray) -> Inputs:
    """Return each row's L and w . b ([n] each) with the weights that its context would have without it.

    To first order these are w + (H - F'F)^-1 F'r = w + H^-1 F' (I - S)^-1 r, with S = F H^-1 F'.
    """
    F, r = factors(inputs, y, w)
    S = F @ inverse @ F.swapaxes(1, 2)
    moved = np.linalg.solve(np.eye(2) - S, r[..., None])[..., 0]
    weights = w + np.einsum("ni,nij->nj", moved, F) @ inverse
    return Inputs(np.sum(weights * inputs.a, axis=1), np.sum(weights * inputs.b, axis=1))


# Gates -----------------------------------------------------------------------------------------------------


def gain(inside: NDArray[np.bool_], residuals: FloatArray, prior: float = 5.0) -> float:
    """Return how well a gate splits residuals: squares of their sums on both sides, over the rows there."""
    return float(sum(residuals[side].sum() ** 2 / (side.sum() + prior) for side in (inside, ~inside)))


def pick_gate(
    X: FloatArray, residuals: FloatArray, candidates: int, random: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return normal [d] and offset of the best of some random half-spaces, which end at random rows."""
    best, found = -np.inf, (np.zeros(X.shape[1]), np.inf)
    for _ in range(candidates):
        normal = np.zeros(X.shape[1])
        looked_at = random.choice(
            X.shape[1], min(X.shape[1], random.choice([1, 3], p=[0.7, 0.3])), replace=False
        )
        normal[looked_at] = random.standard_normal(looked_at.size)
        along = X @ normal
        offset = float(along[random.integers(len(X))])
        value = gain(along >= offset, residuals)
        if value > best:
            best, found = value, (normal, offset)
    return found


# A neuron and a network ------------------------------------------------------------------------------------


class Neuron(NamedTuple):
    """Gates that cut all rows alike, and weights of each context."""

    normals: FloatArray  # [s, d]
    offsets: FloatArray  # [s]
    weights: FloatArray  # [2^s, m]

    def contexts(self, X: FloatArray, gates: int | None = None) -> NDArray[np.int64]:
        """Return the context of each row by the first gates, of which the first is the highest bit."""
        inside = (self.offsets <= X @ self.normals.T)[:, :gates]
        return inside @ (1 << np.arange(inside.shape[1])[::-1])

    def predict(self, X: FloatArray, inputs: Inputs) -> Inputs:
        """Return L and w . b of rows, [n] each."""
        w = self.weights[self.contexts(X)]
        return Inputs(np.sum(w * inputs.a, axis=1), np.sum(w * inputs.b, axis=1))


def fit_neuron(
    X: FloatArray, inputs: Inputs, y: FloatArray, gates: tuple[FloatArray, FloatArray], pull: float
) -> tuple[Neuron, Inputs]:
    """Solve a neuron down its tree of gates; return it, and what it predicts of each row left out."""
    size = inputs.a.shape[1]
    root, inverse = solve(inputs, y, np.full(size, 1.0 / size), pull)
    neuron, left = Neuron(*gates, root[None]), leave_out(inputs, y, root, inverse)
    for level in range(1, len(gates[1]) + 1):
        table = np.repeat(neuron.weights, 2, axis=0)  # without rows, a context is its parent
        contexts = neuron.contexts(X, level)
        for c in np.unique(contexts):
            rows = np.flatnonzero(contexts == c)
            own = inputs.take(rows)
            table[c], inverse = solve(own, y[rows], table[c], pull)
            left.a[rows], left.b[rows] = leave_out(own, y[rows], table[c], inverse)
        neuron = neuron._replace(weights=table)
    return neuron, left


def layer_inputs(X: FloatArray, below: Inputs, error: float) -> Inputs:
    """Return what a layer is given: the layer below, features as wide as its errors, and biases at +-5."""
    more = np.hstack([X, np.full((len(X), 1), 5.0), np.full((len(X), 1), -5.0)])
    return Inputs(np.hstack([below.a, np.full(more.shape, 1.0 / error)]), np.hstack([below.b, more / error]))


class Network:
    """Layers that are solved one after the other. Rows and targets are standardised."""

    def __init__(
        self,
        layer_sizes: tuple[int, ...],
        context_dim: int,
        seed: int = 0,
        pull: float = 3.0,
        candidates: int = 20,
    ) -> None:
        self.layer_sizes, self.context_dim, self.pull = layer_sizes, context_dim, pull
        self.candidates, self.random = candidates, np.random.default_rng(seed)
        self.layers: list[tuple[float, list[Neuron]]] = []

    def fit(self, X: FloatArray, y: FloatArray) -> "Network":
        """Solve all layers: gates go where the layer below errs, and features correct it there."""
        below, residuals = Inputs(np.empty((len(y), 0)), np.empty((len(y), 0))), y
        for size in self.layer_sizes:
            error = float(np.sqrt(np.mean(residuals**2))) if self.layers else 1.0
            inputs, neurons, left = layer_inputs(X, below, error), [], []
            for _ in range(size):
                picks = (
                    pick_gate(X, residuals, self.candidates, self.random) for _ in range(self.context_dim)
                )
                normals, offsets = zip(*picks, strict=True)
                neuron, own = fit_neuron(X, inputs, y, (np.array(normals), np.array(offsets)), self.pull)
                neurons.append(neuron)
                left.append(_dense(own))
            below = Inputs(*(np.stack(parts, axis=1) for parts in zip(*left, strict=True)))
            residuals = y - below.b.sum(axis=1) / below.a.sum(axis=1)
            self.layers.append((error, neurons))
        return self

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of rows, [n] each: the last layer's product, of the mean precision."""
        below = Inputs(np.empty((len(X), 0)), np.empty((len(X), 0)))
        for error, neurons in self.layers:
            inputs = layer_inputs(X, below, error)
            found = [_dense(neuron.predict(X, inputs)) for neuron in neurons]
            below = Inputs(*(np.stack(parts, axis=1) for parts in zip(*found, strict=True)))
        L, q = below.a.mean(axis=1), below.b.mean(axis=1)
        return q / L, 1.0 / L


def _dense(total: Inputs) -> Inputs:
    """Return products as densities: where there is none, a mean of 0 and nearly no precision."""
    there = total.a > LEAST_PRECISION
    return Inputs(np.where(there, total.a, LEAST_PRECISION), np.where(there, total.b, 0.0))
