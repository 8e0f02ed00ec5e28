"""Which layers the switching mixture believes, over time."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from ggln.plots.display import Display, FloatArray, networks_of
from ggln.plots.prequential import learn_in_chunks
from ggln.plots.style import in_order, styled


class SwitchingDisplay(Display):
    """The share of each layer's neurons in the switching mixture of gradient networks, row by row.

    Parameters
    ----------
    shares : (n, layers)
        Non-negative, with sum 1 in each row.
    """

    def __init__(self, *, shares: FloatArray) -> None:
        self.shares = shares

    @styled
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the shares stacked, the first layer at the bottom and darkest."""
        ax = self._start(ax)
        rows, layers = self.shares.shape
        labels = [f"layer {i + 1}" for i in range(layers)]
        time = np.arange(1, rows + 1)
        ax.stackplot(time, *self.shares.T, colors=in_order(layers), labels=labels, linewidth=0)
        ax.set(xlabel="rows learnt", ylabel="share in the switching mixture", ylim=(0, 1))
        ax.set_xlim(1, max(rows, 2))
        handles, names = ax.get_legend_handles_labels()
        ax.legend(handles[::-1], names[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
        return self

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Self:
        """Draw how the shares move while a copy of the estimator, fitted or not, learns a stream."""
        found, networks = [], networks_of(estimator)
        if networks.step == "newton":
            raise ValueError(
                'networks that learn with step="newton" have no switching mixture of their neurons: '
                'give an estimator with step="capped" or "ogd"'
            )
        for _, distribution in learn_in_chunks(estimator, X, y):
            if distribution.weights.ndim == 1:
                raise ValueError(
                    "the switching weights of this estimator do not move: it has aggregation='last', or fit "
                    "has calibrated them (folds > 0); give one that has not been fitted, or folds=0"
                )
            found.append(distribution.weights)
        return cls(shares=_by_layer(np.concatenate(found), networks.layer_sizes)).plot(ax)

    @classmethod
    def from_predictions(
        cls, distribution: Any, layer_sizes: Sequence[int], *, ax: Axes | None = None
    ) -> Self:
        """Draw the shares of a stream's predictions, such as `prequential` returns."""
        return cls(shares=_by_layer(distribution.weights, layer_sizes)).plot(ax)


def _by_layer(weights: FloatArray, layer_sizes: Sequence[int]) -> FloatArray:
    """Sum the weights (n, networks * neurons) of each layer over its neurons and over the networks."""
    neurons = sum(layer_sizes)
    if weights.ndim != 2 or weights.shape[1] % neurons:
        raise ValueError(
            f"weights must have shape (n, networks * {neurons}) for these layer_sizes, got {weights.shape}"
        )
    each = weights.reshape(len(weights), -1, neurons).sum(axis=1)
    shares: FloatArray = np.add.reduceat(each, np.cumsum((0, *layer_sizes[:-1])), axis=1)
    return shares
