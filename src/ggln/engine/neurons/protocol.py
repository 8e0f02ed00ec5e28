"""What every kind of neuron provides, and the small records it is given.

A neuron is a weighted product of exponential-family densities. With phi_j the natural parameters of
input j, all kinds share one shape: S = sum_j w_j phi_j decides the prediction, and the gradient of the
neuron's own loss is linear in the inputs again, dl/dw_j = c . phi_j, with a short vector c(S, y). The kind
(`Univariate`, `Isotropic`, `Diagonal`, `Full`, `Bernoulli`) is the first argument of each function below;
Numba picks the implementation when it compiles.

Weights are stored as their difference from the initial value `prior`, so that zeros mean "never touched":
S = row . phi + prior * sum_j phi_j.
"""

from typing import Any, NamedTuple

from ggln.engine import constants
from ggln.engine.jit import Protocol


def padded(length: int) -> int:
    """Return the length rounded up to a multiple of constants.LANES."""
    return -(-length // constants.LANES) * constants.LANES


class Limits(NamedTuple):
    """Bounds of every neuron's output, and constants in the weights' own type."""

    min_precision: Any  # 1 / max_variance
    max_precision: Any  # 1 / min_variance
    mean_range: Any  # means are kept in [-mean_range, mean_range]
    min_sum: Any  # constants.MIN_PRECISION_SUM
    rounding: Any  # constants.ROUNDING, in units of the last place
    floor: Any  # constants.BARRIER_FLOOR
    one: Any
    pace: Any  # constants.PRECISION_PACE


class Step(NamedTuple):
    """Learning rate, and the cap kappa of min(rate, kappa / bound); infinity for plain gradient descent.

    The bound is the Hessian's trace. `split` is for isotropic neurons: see `isotropic.respond_isotropic`.
    """

    rate: Any
    cap: Any
    split: Any = False

    def times(self, pace: float) -> "Step":
        """Return the step at a fraction of its length."""
        rate, cap = (type(number)(pace * number) for number in (self.rate, self.cap))
        return Step(rate, cap, self.split)


class Layer(NamedTuple):
    """Where a layer lies and how its rows of weights are laid out: dense inputs, then one-hot ones."""

    first: Any  # index of its first neuron within the network
    size: Any  # neurons
    dense: Any  # inputs that are general members of the family
    stride: Any  # `dense`, padded to a multiple of constants.LANES
    hot: Any  # inputs with a mean along one axis and an isotropic precision
    hot_stride: Any  # `hot`, padded
    prior: Any  # initial weight
    bias_prior: Any  # that of one-hot biases


class Messages(NamedTuple):
    """The inputs of a layer for a block of rows, as natural parameters."""

    dense: Any  # [T, F, stride]  natural parameters, a line for each of them; [T, stride, F] if isotropic
    hot: Any  # [T, hot_stride]  precision times mean of base inputs along one axis each, in their order
    hot_precision: Any  # [hot_stride]
    sums: Any  # [T, F]  sum over all inputs of their natural parameters
    moments: Any  # [T, C]  sums of squares that the Hessian's trace needs
    paces: Any  # [T]  factors on the step of each row, for kinds whose step depends on the time


def send_base(kind, layer, means, precisions, messages, start, stop):
    """Fill `messages` # OUT with the base predictions, isotropic Gaussians, of rows start to stop.

    means: [T, inputs, D], or [T, inputs, 1] for inputs along one axis each; precisions: [T, inputs].
    """


def send(kind, layer, below, outputs, messages, start, stop):
    """Fill the `messages` # OUT to `layer` with rows start to stop of the outputs [T, N, P] `below`."""


def learn(
    kind, projection, limits, step, layer, pool, slots, columns, messages, targets, outputs, start, stop
):
    """Predict and update neurons `start` to `stop` of a layer over a block, row by row (Algorithm 1).

    pool: the weights # OUT; slots: [N, n], where each neuron's active row lies; columns: [T], the column of
    `slots` that belongs to each row of the block; targets: [T, D];
    outputs: [T, N, P] # OUT, each neuron's mean and precision from before the update.
    """


def infer(kind, limits, layer, pool, slots, columns, messages, outputs, start, stop):
    """As `learn`, without the update."""


def energies(kind, outputs, target, energy, scale):
    """Write each neuron's density at the target as scale * exp(-energy), up to a common factor # OUT.

    outputs: [N, P]; target: [D]; energy, scale: [N].
    """


def add_moments(kind, outputs, weights, spread, mean, second):
    """Add the neurons' weighted means and second moments to mean and second # OUT.

    outputs: [N, P]; weights: [N]; spread: a factor on the variances; mean, second: [D].
    """


SendBase = Protocol(send_base)
Send = Protocol(send)
Learn = Protocol(learn)
Infer = Protocol(infer)
Energies = Protocol(energies)
AddMoments = Protocol(add_moments)
