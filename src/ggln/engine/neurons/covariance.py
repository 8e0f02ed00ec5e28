"""What a structure of the covariance provides, for neurons of several outputs.

Each function works on the natural parameters, or on the prediction, of one neuron. `diagonal` and `full`
implement all of them; `multivariate` has the loops over inputs, rows and neurons, which they share.
`isotropic` has loops of its own and implements what concerns its constraints and its predictions.
"""

from ggln.engine.jit import Protocol


def predict(kind, natural, initial, limits, output, scratch):
    """Write the product's mean, then its precision, both in their ranges, into `output` # OUT.

    natural: [F]; initial: [F], natural parameters with the initial weights, times limits.rounding;
    output: [P]; scratch: [D, D + 1] # OUT, what `respond` needs of a full matrix.
    """


def respond(kind, output, scratch, target, moments, coefficients):
    """Write c of dl/dw_j = c . phi_j into `coefficients` # OUT; return the Hessian's trace, or a bound."""


def count_constraints(kind):
    """How many constraints `constrain` writes."""


def constrain(kind, natural, limits, constraints, bounds, scales):
    """Write the constraints C . S <= u on precision and mean, and the scale of each # OUT."""


def to_natural(kind, output, natural):
    """Write the natural parameters of a Gaussian given as mean and precision # OUT."""


def add_isotropic(kind, natural, precision):
    """Add precision * I to the precision part of `natural` # OUT."""


def count_biases(kind):
    """How many bias inputs a neuron has."""


def write_bias(kind, i, natural):
    """Write the natural parameters of dense bias i # OUT."""


def add_moments(kind, natural, moments):
    """Add one input's share of the sums that `respond` needs for the trace # OUT."""


def marginals(kind, output, mean, variance):
    """Write each output's mean and variance of a prediction # OUT. output: [P]; mean, variance: [D]."""


def log_determinant(kind, output):
    """Log |P| of a prediction, in double precision."""


def squared_distance(kind, output, target):
    """(y - mu)' P (y - mu) of a prediction, in double precision."""


Predict, Respond = Protocol(predict), Protocol(respond)
CountConstraints, Constrain = Protocol(count_constraints), Protocol(constrain)
ToNatural, AddIsotropic = Protocol(to_natural), Protocol(add_isotropic)
CountBiases, WriteBias, AddMoments = Protocol(count_biases), Protocol(write_bias), Protocol(add_moments)
LogDeterminant, SquaredDistance = Protocol(log_determinant), Protocol(squared_distance)
Marginals = Protocol(marginals)
