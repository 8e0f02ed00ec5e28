"""Which layers the switching mixture believes, over time."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from ggln.plots.display import Display, FloatArray, networks_of
from ggln.plots.prequential import learn_in_chunks
from ggln.plots.style import in_order, styled


class SwitchingDisplay(Display):
    """The share of each layer's neurons in the switching mixture, row by row.

    Parameters
    ----------
    shares : (n, layers)
        Non-negative, with sum 1 in each row.
    regressions : (n,)
        The share of the regressions that are in a stream's mixture beside the networks, if any are: what the
        layers' shares leave.
    """

    def __init__(self, *, shares: FloatArray, regressions: FloatArray | None = None) -> None:
        self.shares, self.regressions = shares, regressions

    @styled
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the shares stacked, the first layer at the bottom and darkest."""
        ax = self._start(ax)
        rows, layers = self.shares.shape
        labels = [f"layer {i + 1}" for i in range(layers)]
        time = np.arange(1, rows + 1)
        bands, colors = [*self.shares.T], [*in_order(layers)]
        if self.regressions is not None:
            bands, colors, labels = [*bands, self.regressions], [*colors, "0.75"], [*labels, "regressions"]
        ax.stackplot(time, *bands, colors=colors, labels=labels, linewidth=0)
        ax.set(xlabel="rows learnt", ylabel="share in the switching mixture", ylim=(0, 1))
        ax.set_xlim(1, max(rows, 2))
        handles, names = ax.get_legend_handles_labels()
        ax.legend(handles[::-1], names[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
        return self

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Self:
        """Draw how the shares move while a copy of the estimator, fitted or not, learns a stream."""
        found, networks = [], networks_of(estimator)
        for _, distribution in learn_in_chunks(estimator, X, y):
            if distribution.weights.ndim == 1:
                raise ValueError(
                    "the switching weights of this estimator do not move: it has aggregation='last', or fit "
                    "has calibrated them (folds > 0); give one that has not been fitted, or folds=0"
                )
            found.append(distribution.weights)
        weights, neurons = np.concatenate(found), networks.n_estimators * sum(networks.layer_sizes)
        return cls._from_weights(weights[:, :neurons], weights[:, neurons:], networks.layer_sizes).plot(ax)

    @classmethod
    def from_predictions(
        cls, distribution: Any, layer_sizes: Sequence[int], *, regressions: int = 0, ax: Axes | None = None
    ) -> Self:
        """Draw the shares of a stream's predictions, such as `prequential` returns.

        regressions: how many are in the mixture beside the networks, as its last components; a default stream
        has four.
        """
        neurons = distribution.weights.shape[-1] - regressions
        weights, others = distribution.weights[..., :neurons], distribution.weights[..., neurons:]
        return cls._from_weights(weights, others, layer_sizes).plot(ax)

    @classmethod
    def _from_weights(cls, weights: FloatArray, others: FloatArray, layer_sizes: Sequence[int]) -> Self:
        regressions = others.sum(axis=1) if others.shape[-1] else None
        return cls(shares=_by_layer(weights, layer_sizes), regressions=regressions)


def _by_layer(weights: FloatArray, layer_sizes: Sequence[int]) -> FloatArray:
    """Sum the weights (n, networks * neurons) of each layer over its neurons and over the networks."""
    neurons = sum(layer_sizes)
    if weights.ndim != 2 or weights.shape[1] % neurons:
        raise ValueError(
            f"weights must have shape (n, networks * {neurons}) for these layer_sizes, got {weights.shape}; "
            "a default stream's mixture ends with four regressions: say regressions=4"
        )
    each = weights.reshape(len(weights), -1, neurons).sum(axis=1)
    shares: FloatArray = np.add.reduceat(each, np.cumsum((0, *layer_sizes[:-1])), axis=1)
    return shares
