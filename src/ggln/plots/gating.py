"""Gating regions in the plane of two features (Figure 1A)."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ggln.plots.display import Display, FloatArray, check_place, column, span, take, vary
from ggln.plots.style import styled
from ggln.plots.view import look

LINE = 1.5
"""Width of one neuron's boundaries: as wide as the cells of the grid, whose edges are steps."""
SMALLEST = 0.01
"""Regions below this share of the picture get no label."""


class GatingDisplay(Display):
    """The contexts that points of a plane select: those of one neuron, or the gates of many.

    Parameters
    ----------
    x, y : (n,) and (m,)
        Values of the two features.
    contexts : (neurons, m, n)
        The context of each point; bit i is set inside the half-space of gate i.
    context_dim : int
        Gates of each neuron.
    normals, offsets : (gates, 2) and (gates,), optional
        Boundaries ``normals @ (x, y) = offsets`` to draw.
    names : (str, str)
        Names of the features.
    """

    def __init__(
        self,
        *,
        x: FloatArray,
        y: FloatArray,
        contexts: NDArray[np.integer[Any]],
        context_dim: int,
        normals: FloatArray | None = None,
        offsets: FloatArray | None = None,
        names: tuple[str, str] = ("x0", "x1"),
    ) -> None:
        self.x, self.y, self.contexts, self.context_dim = x, y, contexts, context_dim
        self.normals = np.empty((0, 2)) if normals is None else normals
        self.offsets = np.empty(0) if offsets is None else offsets
        self.names = names

    @property
    def regions(self) -> int:
        """How many different combinations of contexts the points have."""
        return int(np.unique(self.contexts.reshape(len(self.contexts), -1), axis=1).shape[1])

    @property
    def inside(self) -> NDArray[np.integer[Any]]:
        """How many half-spaces hold each point, (m, n)."""
        bits = self.contexts[:, None] >> np.arange(self.context_dim)[:, None, None] & 1
        held: NDArray[np.integer[Any]] = bits.sum(axis=(0, 1))
        return held

    @styled
    def plot(self, ax: Axes | None = None, *, labels: bool = True) -> Self:
        """Draw one neuron's contexts with their bits, or how many half-spaces of all neurons hold a point."""
        ax = self._start(ax, (5.2, 4.2))
        if len(self.contexts) == 1:
            ax.pcolormesh(
                self.x, self.y, self.contexts[0], cmap="cividis", vmin=0, vmax=2**self.context_dim - 1
            )
            if labels:
                self._name_regions(ax)
            ax.set_title(f"{self.regions} regions")
        else:
            inside = ax.pcolormesh(self.x, self.y, self.inside, cmap="cividis")
            bar = self.figure_.colorbar(inside, ax=ax, shrink=0.85, label="half-spaces that hold the point")
            bar.locator = MaxNLocator(integer=True)
            ax.set_title(f"{len(self.contexts)} neurons: {self.regions} regions")
        self._lines(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(6))
        return self

    def _lines(self, ax: Axes) -> None:
        """Draw the boundaries of the half-spaces, from one edge of the picture to the other.

        Where they are not known, or end at each other as those of a tree do, contexts are drawn around.
        """
        width = LINE if len(self.contexts) == 1 else LINE / 2
        if not len(self.normals):
            for own in self.contexts:
                for context in np.unique(own)[1:]:
                    ax.contour(self.x, self.y, own == context, [0.5], colors="white", linewidths=width)
        for (a, b), offset in zip(self.normals, self.offsets, strict=True):
            if abs(b) * np.ptp(self.y) > abs(a) * np.ptp(self.x):
                ends = np.array([self.x[0], self.x[-1]])
                ax.plot(ends, (offset - a * ends) / b, color="white", linewidth=width)
            elif a != 0.0:
                ends = np.array([self.y[0], self.y[-1]])
                ax.plot((offset - b * ends) / a, ends, color="white", linewidth=width)
        ax.set(xlim=(self.x[0], self.x[-1]), ylim=(self.y[0], self.y[-1]))

    def _name_regions(self, ax: Axes) -> None:
        """Write each context's bits, the first gate's first, into the middle of its region."""
        contexts = self.contexts[0]
        for context in np.unique(contexts):
            rows, columns = np.nonzero(contexts == context)
            if rows.size < SMALLEST * contexts.size:
                continue
            bits = "".join(str(int(context) >> bit & 1) for bit in range(self.context_dim))
            ax.text(
                self.x[columns].mean(),
                self.y[rows].mean(),
                bits,
                ha="center",
                va="center",
                fontsize=8,
                bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1.5},
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: tuple[int | str, int | str] | None = None,
        neuron: int | None = None,
        layer: int = 0,
        network: int = 0,
        grid_resolution: int = 150,
        at: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the regions that a fitted estimator's gates cut out of the plane of two features.

        Parameters
        ----------
        estimator : fitted `GGLNRegressor` or `TableRegressor`, or a pipeline that ends with one
            In a pipeline, features are those that reach the last step.
        X : array-like of shape (n, features), or a table
            Rows that give the features' ranges.
        features : two ints or strs, optional
            The first two by default. Of a table, columns or their features, such as "city = Rome"; by default
            two columns of numbers, if there are as many.
        neuron : int, optional
            Of this layer, to be shown with its contexts; all neurons of the layer by default.
        layer, network : int
        grid_resolution : int
            Points along each feature.
        at : row of features, optional
            Where the other features are held; at their medians by default.
        ax : matplotlib axes, optional
        """
        view = look(estimator, X, at, needs="contexts")
        model, rows = view.model, view.rows
        first, second = view.two(features)
        x, y = (span(column(rows, place), grid_resolution) for place in (first, second))
        across, up = np.meshgrid(x, y)
        grid = vary(rows, {first: across.ravel(), second: up.ravel()}, view.at)
        check_is_fitted(model)
        sizes = list(model.learner_.settings.layer_sizes)
        check_place("layer", layer, len(sizes))
        if neuron is not None:
            check_place("neuron", neuron, sizes[layer])
        start = sum(sizes[:layer])
        chosen = range(start, start + sizes[layer]) if neuron is None else [start + neuron]
        every = model.contexts(grid)
        check_place("network", network, every.shape[1])
        contexts = every[:, network, list(chosen)].T.reshape(-1, y.size, x.size)
        normals, offsets, context_dim = _boundaries(model, grid, (first, second), (network, layer, neuron))
        display = cls(
            x=x,
            y=y,
            contexts=contexts,
            context_dim=context_dim,
            normals=normals,
            offsets=offsets,
            names=(view.name(first), view.name(second)),
        ).plot(ax)
        view.show_dates(display.ax_.xaxis, first)
        view.show_dates(display.ax_.yaxis, second)
        return display

    @classmethod
    def from_predictions(
        cls,
        x: FloatArray,
        y: FloatArray,
        contexts: NDArray[np.integer[Any]],
        *,
        context_dim: int,
        names: tuple[str, str] = ("x0", "x1"),
        ax: Axes | None = None,
    ) -> Self:
        """Draw contexts that were found for the points of a grid."""
        return cls(x=x, y=y, contexts=contexts, context_dim=context_dim, names=names).plot(ax)


def _boundaries(
    model: Any, grid: Any, places: tuple[int, int], which: tuple[int, int, int | None]
) -> tuple[FloatArray, FloatArray, int]:
    """Return the boundaries of a layer's gates, or a neuron's, in the plane of the grid's two features.

    And how many gates each neuron has. Gates of a tree have no boundaries of their own.
    """
    network, layer, neuron = which
    gates = model.active_gates(take(grid, slice(0, 1)))
    own = (gates.network == network) & (gates.layer == layer)
    context_dim = int(np.bincount(gates.neuron[own], minlength=1).max())
    if neuron is not None:
        own &= gates.neuron == neuron
    if gates.grown[own].any():
        own[:] = False
    normals = gates.normals[own]
    held = np.asarray(grid, np.float64)[0].copy()
    held[list(places)] = 0.0
    return normals[:, list(places)], gates.offsets[own] - normals @ held, context_dim
