"""What the neurons of different layers predict (Figure 1C)."""

from collections.abc import Sequence
from typing import Any, Self

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.utils.validation import check_is_fitted

from ggln.estimators.distributional import NeuronLayer
from ggln.palette import BLUE, GREY
from ggln.plots.band import BandDisplay
from ggln.plots.display import FloatArray, Samples, check_place, one_target, show_dates, target_name
from ggln.plots.style import styled
from ggln.plots.view import look

NORMAL_95 = 1.6449  # the band of a Gaussian that holds nine in ten


def normal_band(mean: FloatArray, std: FloatArray) -> dict[float, tuple[FloatArray, FloatArray]]:
    """Return the 90 % interval of Gaussians, as `BandDisplay` wants it."""
    return {0.9: (mean - NORMAL_95 * std, mean + NORMAL_95 * std)}


class NeuronsDisplay:
    """What each neuron predicts along one feature, a panel for each layer.

    Parameters
    ----------
    x : (n,), in ascending order
    means, stds : one array (n, neurons) for each layer
    best : for each layer the neuron to draw with its band, optional
    scores : the best neurons' negative log-likelihoods, optional
    titles : of the panels
    samples : (x, y), (m,) each, optional
        Observations to draw beneath.
    x_name, y_name : str

    Attributes
    ----------
    axes_ : array of matplotlib axes
    figure_ :
        Where `plot` has drawn.
    """

    def __init__(
        self,
        *,
        x: FloatArray,
        means: Sequence[FloatArray],
        stds: Sequence[FloatArray],
        titles: Sequence[str],
        best: Sequence[int] | None = None,
        scores: Sequence[float] | None = None,
        samples: Samples | None = None,
        x_name: str = "x",
        y_name: str = "y",
    ) -> None:
        self.x, self.means, self.stds, self.titles = x, means, stds, titles
        self.best, self.scores = best, scores
        self.samples = samples
        self.x_name, self.y_name = x_name, y_name

    @styled
    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draw all neurons' means as thin lines, and the best one, if it is known, with its 90 % band."""
        layers = len(self.means)
        if ax is None:
            size = (3.0 * layers, 3.2)
            _, panels = plt.subplots(
                1, layers, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
            )
            ax = panels[0]
        if len(ax) != layers:
            raise ValueError(f"ax must hold {layers} axes, one for each layer, got {len(ax)}")
        for i, axes in enumerate(ax):
            self._panel(axes, i)
        ax[0].set_ylabel(self.y_name)
        self.axes_ = np.array(ax)
        figure = ax[0].get_figure(root=True)
        assert isinstance(figure, Figure)
        self.figure_ = figure
        return self

    def _panel(self, axes: Axes, i: int) -> None:
        title = self.titles[i]
        if self.best is None:
            if self.samples is not None:
                axes.scatter(*self.samples, s=3, color=GREY, alpha=0.4, linewidths=0)
            axes.plot(self.x, self.means[i], color=BLUE, linewidth=0.6, alpha=0.6)
        else:
            axes.plot(self.x, self.means[i], color="black", linewidth=0.4, alpha=0.35)
            mean, std = self.means[i][:, self.best[i]], self.stds[i][:, self.best[i]]
            BandDisplay(x=self.x, mean=mean, intervals=normal_band(mean, std), samples=self.samples).plot(
                axes, legend=False
            )
            if self.scores is not None:
                title += f"\nNLL of the best {self.scores[i]:.3f}"
        axes.set(xlabel=self.x_name, ylabel="", title=title)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        feature: int | str = 0,
        layers: Sequence[int] | None = None,
        grid_resolution: int = 200,
        at: Any = None,
        output: int = 0,
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw what a fitted estimator's neurons predict while one feature goes over its range in X.

        Parameters
        ----------
        estimator : fitted `GGLNRegressor` or `TableRegressor`, or a pipeline that ends with one
        X : array-like of shape (n, features), or a table
            Rows that give the feature's range.
        y : array-like of shape (n,) or (n, outputs), optional
            Targets, drawn beneath; the neuron of each layer that predicts them best is drawn with its band.
        feature : int or str
            Of a table, a column of numbers or dates.
        layers : sequence of int, optional
            Layers to show, the first being 0; by default the first, the middle and the last one.
        grid_resolution, at, output :
            As for `BandDisplay`.
        ax : sequence of matplotlib axes, one for each layer, optional
        """
        view = look(estimator, X, at, needs="neurons")
        model = view.model
        check_is_fitted(model)
        path = view.along(feature, grid_resolution)
        if path.x.dtype.kind == "U":
            raise ValueError(
                f"{path.name!r} has no order to draw neurons along: name a column of numbers or dates"
            )
        count = len(model.learner_.settings.layer_sizes)
        shown = sorted({0, count // 2, count - 1}) if layers is None else layers
        for layer in shown:
            check_place("layers", layer, count)
        found = _single(model.neurons(path.rows), output)
        best, scores, samples = None, None, None
        if y is not None:
            targets = one_target(y, output)
            samples = path.samples, targets
            tested = _single(model.neurons(view.rows), output)
            losses = [tested[i].nll(targets) for i in shown]
            best, scores = [int(loss.argmin()) for loss in losses], [float(loss.min()) for loss in losses]
        display = cls(
            x=path.x,
            means=[found[i].mean for i in shown],
            stds=[np.sqrt(found[i].variance) for i in shown],
            titles=[f"layer {i + 1} of {count}" for i in shown],
            best=best,
            scores=scores,
            samples=samples,
            x_name=path.name,
            y_name=target_name(estimator, y, output),
        ).plot(ax)
        for axes in display.axes_ if path.date else ():
            show_dates(axes.xaxis)
        return display

    @classmethod
    def from_predictions(
        cls, x: FloatArray, neurons: Sequence[Any], *, output: int = 0, ax: Sequence[Axes] | None = None
    ) -> Self:
        """Draw what `neurons` returned for rows at the points x, all layers of it."""
        layers = _single(neurons, output)
        means, stds = [layer.mean for layer in layers], [np.sqrt(layer.variance) for layer in layers]
        titles = [f"layer {i + 1}" for i in range(len(means))]
        return cls(x=x, means=means, stds=stds, titles=titles).plot(ax)


def _single(layers: Sequence[NeuronLayer], output: int) -> list[NeuronLayer]:
    """Return what the neurons predict of one output."""
    several = layers[0].mean.ndim == 3
    check_place("output", output, layers[0].mean.shape[2] if several else 1)
    if not several:
        return list(layers)
    return [NeuronLayer(layer.mean[..., output], layer.variance[..., output]) for layer in layers]
