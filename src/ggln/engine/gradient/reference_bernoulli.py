"""The plain twin of the Bernoulli network: sample by sample, neuron by neuron, class by class.

ProbabilityMixin go in and out of every neuron, as in Veness et al. (2019); the engine passes logits instead.
"""

import numpy as np
from numpy.typing import NDArray

from ggln.engine.constants import BIAS_LOGIT
from ggln.engine.gating import Gates
from ggln.engine.gradient.build import Settings
from ggln.engine.gradient.reference import Twin, switch

FloatArray = NDArray[np.float64]


def sigmoid(z: FloatArray) -> FloatArray:
    """1 / (1 + e^-z)."""
    return np.exp(-np.logaddexp(0.0, -z))


def logit(p: FloatArray) -> FloatArray:
    """Log p / (1 - p)."""
    return np.log(p) - np.log1p(-p)


def mix(weights: FloatArray, probabilities: FloatArray) -> float:
    """Geometric mixing, prod p_j^w_j / (prod p_j^w_j + prod (1 - p_j)^w_j): it is sigma(w . logit(p))."""
    return float(sigmoid(weights @ logit(probabilities)))


def loss(y: float, probability: float) -> float:
    """Return the log-loss -y log p - (1 - y) log(1 - p), in nats."""
    return float(-y * np.log(probability) - (1 - y) * np.log1p(-probability))


def gradient(y: float, probability: float, inputs: FloatArray) -> FloatArray:
    """dl/dw_j = (p - y) logit(p_j), with p the mixture of the inputs p_j."""
    return (probability - y) * logit(inputs)


class ReferenceBernoulli(Twin):
    """One network. settings.n_estimators and settings.dtype are ignored: it is one, in double precision."""

    def __init__(self, settings: Settings, gates: Gates) -> None:
        self.settings, self.gates = settings, gates
        self.least = float(sigmoid(np.array(-settings.bias_range)))
        inputs = [below + 1 for below in (settings.features, *settings.layer_sizes)]
        self.weights = [  # [K_i, 2^s, classes, inputs]
            np.full((size, 2**settings.context_dim, settings.outputs, m), 1 / m)
            for size, m in zip(settings.layer_sizes, inputs, strict=False)
        ]
        neurons = sum(settings.layer_sizes)
        self.time = 1
        self.switching = np.full(neurons, 1 / neurons)

    def predict(self, z: FloatArray) -> list[FloatArray]:
        """Return every layer's probabilities [neurons, classes] for the side information z [d]."""
        return self._pass(z, None)

    def learn(self, z: FloatArray, y: FloatArray) -> list[FloatArray]:
        """Return what `predict` does, from before the update; then learn the targets y [classes]."""
        layers = self._pass(z, y)
        losses = [sum(map(loss, y, neuron)) for layer in layers for neuron in layer]
        self.switching = switch(self.switching, self.time, -np.array(losses))
        self.time += 1
        return layers

    def _pass(self, z: FloatArray, y: FloatArray | None) -> list[FloatArray]:
        """Inference, with an update where there are targets."""
        classes, bias = self.settings.outputs, sigmoid(np.array([BIAS_LOGIT]))
        below = np.repeat(self._clip(sigmoid(z))[:, None], classes, axis=1)  # the base predictions
        layers = []
        for W, contexts in zip(self.weights, self.contexts(z), strict=True):
            outputs = np.empty((len(contexts), classes))
            for k, c in enumerate(contexts):
                for d in range(classes):
                    inputs = np.concatenate([below[:, d], bias])
                    outputs[k, d] = self._clip(np.array(mix(W[k, c, d], inputs)))
                    if y is not None:
                        W[k, c, d] = self._update(W[k, c, d], inputs, outputs[k, d], y[d])
            below = outputs
            layers.append(outputs)
        return layers

    def _clip(self, probability: FloatArray) -> FloatArray:
        return np.clip(probability, self.least, 1 - self.least)

    def _update(self, weights: FloatArray, inputs: FloatArray, probability: float, y: float) -> FloatArray:
        """Online gradient descent, projected onto the weights' hypercube."""
        settings, (low, high) = self.settings, self.settings.weight_range
        rate = settings.learning_rate
        if settings.step == "normalised":
            rate /= 0.25 * np.sum(logit(inputs) ** 2)
        if settings.decay is not None:
            rate *= min(1.0, settings.decay / self.time)
        return np.clip(weights - rate * gradient(y, probability, inputs), low, high)
