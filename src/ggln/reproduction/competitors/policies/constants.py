"""Settings of the competitors: those of the example that Riquelme et al. (2018) published, if it has them."""

from typing import Any

PULLS = 2  # of each arm, in turn, before a policy decides
A0, B0 = 6.0, 6.0  # of the noise's inverse gamma prior: LinFullPost, NeuralLinear
PRECISION = 0.25  # of the weights' prior
HIDDEN = 50  # neurons of the one hidden layer
INIT = 0.3  # first weights are uniform within this, biases zero
ROUND = 50  # decisions between two trainings
STEPS = 100  # minibatches of a training
MINIBATCH = 512  # rows, drawn with replacement
RATE, RATE_DECAY = 0.1, 0.5  # step k of a training has the rate RATE / (1 + RATE_DECAY k)
MAX_NORM = 5.0  # of a gradient
RMS = {"decay": 0.9, "eps": 1e-10, "initial_scale": 1.0}
KEEP = 0.8  # probability of a neuron to be kept, Dropout
MODELS, INCLUDED = 3, 0.95  # networks, and probability of a row to be seen by one of them, BootRMS
NOISE, NOISE_EPS, NOISE_ROWS = 0.05, 0.1, 300  # ParamNoise
NOISE_FACTOR, EPS_FACTOR = 1.01, 0.99
SGD_NOISE = 0.1  # deviation of rewards that constSGD assumes
SGD_MEMORY, SGD_MAX_RATE = 0.99, 0.01
ADAM_RATE = 0.1  # of Adam, which BBB and BBAlphaDiv are trained with
REWARD_NOISE = 0.1  # deviation of rewards
FIRST_DEVIATION = 0.05  # of the means, which are drawn
FIRST_LOG_STD = -5.0  # of the weights: nearly a plain network at first
JITTER = 1e-6  # under a root, whose derivative at 0 is infinite
ALPHA = 1.0
PRIOR_VARIANCE = 0.1  # of a weight, α-divergence
SAMPLES = 10  # networks that estimate a divergence


def all_of_them() -> dict[str, Any]:
    """Return all settings by name, to stand beside results."""
    return {name.lower(): value for name, value in globals().items() if name.isupper()}
