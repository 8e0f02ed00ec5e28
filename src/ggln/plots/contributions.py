"""What features add to a prediction."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes

from ggln.palette import BLUE, GREEN, GREY, ORANGE, SKY
from ggln.plots.display import Display, FloatArray, check_place, count_rows, legend_above, take, unwrap
from ggln.plots.style import styled
from ggln.tables.cells import text

Quantity = Literal["mean", "precision"]
REST = "all others"


class ContributionsDisplay(Display):
    """Contributions to one prediction, from the intercept to their sum.

    Of networks that learn by gradient steps, the biases are drawn as one, since they are large and opposite:
    what they add up to is what gates make of them.

    Parameters
    ----------
    names : list of str
    contributions : (inputs,)
    intercept : float
        Where the sum begins.
    quantity : str
        What they add up to, for the axis.
    """

    def __init__(
        self, *, names: list[str], contributions: FloatArray, intercept: float, quantity: str = "mean"
    ) -> None:
        self.names, self.contributions = names, contributions
        self.intercept, self.quantity = intercept, quantity

    @styled
    def plot(self, ax: Axes | None = None, *, max_display: int = 12) -> Self:
        """Draw a bar for each of the largest contributions, beginning where the one above it ends."""
        names, values = _largest(self.names, self.contributions, max_display)
        ax = self._start(ax, (6.4, 1.2 + 0.3 * len(names)))
        ends = self.intercept + np.cumsum(values)
        starts = ends - values
        colors = [BLUE if value >= 0 else ORANGE for value in values]
        places = np.arange(len(names), dtype=np.float64)
        ax.barh(places, values, left=starts, color=colors, height=0.7)
        for place, end in zip(places[:-1], ends[:-1], strict=True):
            ax.plot([end, end], [place - 0.35, place + 1.35], color=GREY, linewidth=0.8)
        low, high = min(starts.min(), ends.min()), max(starts.max(), ends.max())
        gap = 0.01 * max(high - low, 1e-300)
        for place, value, start, end in zip(places, values, starts, ends, strict=True):
            ax.text(
                max(start, end) + gap,
                place,
                f"{value:+.4g}",
                va="center",
                fontsize="small",
                bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.5},
            )
        for total in (self.intercept, ends[-1]):
            ax.axvline(total, color=GREY, linestyle=":", linewidth=1, zorder=0)
        ax.set_yticks(places, names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.use_sticky_edges = False
        ax.margins(x=0.1)
        title = f"from {self.intercept:.4g} to {ends[-1]:.4g}"
        ax.set(xlabel=f"predicted {self.quantity}", title=title)
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        background: Any = None,
        quantity: Quantity = "mean",
        output: int = 0,
        max_display: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the contributions to the prediction of X's first row.

        background : rows to compare with; by default those that the model keeps.
        """
        model, rows = unwrap(estimator, X, "explain")
        if isinstance(X, np.ndarray) and X.ndim == 1:
            raise ValueError("X has one dimension: give rows, as in X[:1]")
        typical = None if background is None else unwrap(estimator, background)[1]
        explanation = model.explain(take(rows, slice(0, 1)), typical)
        return cls.from_predictions(
            explanation, quantity=quantity, output=output, max_display=max_display, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        explanation: Any,
        *,
        row: int = 0,
        quantity: Quantity = "mean",
        output: int = 0,
        max_display: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw one row of what `explain` returned."""
        if quantity not in ("mean", "precision"):
            raise ValueError(f"quantity must be 'mean' or 'precision', got {quantity!r}")
        every = getattr(explanation, quantity)
        if every is None:
            raise ValueError('there are contributions to precisions for step="capped" and "ogd" only')
        values = _pick(every, row, output)
        intercept = explanation.intercept if quantity == "mean" else 0.0
        if every.ndim == 3:
            intercept = np.broadcast_to(intercept, every.shape[2])[output]
        names = list(explanation.names)
        if explanation.biases:
            inputs = values.size - explanation.biases
            names, values = [*names[:inputs], "biases"], np.append(values[:inputs], values[inputs:].sum())
        display = cls(
            names=names,
            contributions=values,
            intercept=float(intercept),
            quantity=quantity,
        )
        return display.plot(ax, max_display=max_display)


class EffectsDisplay(Display):
    """What features do, through the values that enter the network and through its gates.

    Parameters
    ----------
    names : list of str
    values, gates : (features,)
        Two parts of a feature's effect or importance.
    label : str
        What they are, for the axis.
    """

    def __init__(self, *, names: list[str], values: FloatArray, gates: FloatArray, label: str) -> None:
        self.names, self.values, self.gates, self.label = names, values, gates, label

    @styled
    def plot(self, ax: Axes | None = None, *, max_display: int = 12) -> Self:
        """Draw two bars for each of the features with the largest effects, and a mark at their sum."""
        order = np.argsort(-np.maximum(np.abs(self.values), np.abs(self.gates)), kind="stable")[:max_display]
        ax = self._start(ax, (6.4, 1.4 + 0.38 * len(order)))
        places = np.arange(order.size)
        ax.barh(places - 0.19, self.values[order], height=0.34, color=SKY, label="through values")
        ax.barh(places + 0.19, self.gates[order], height=0.34, color=GREEN, label="through gates")
        ax.axvline(0.0, color=GREY, linewidth=0.8)
        ax.set_yticks(places, [self.names[i] for i in order])
        ax.set_ylim(order.size - 0.5, -0.5)
        ax.set_xlabel(self.label)
        legend_above(ax, 2)
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        background: Any = None,
        *,
        output: int = 0,
        max_display: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the effects of a single row's features, or their importance over several rows.

        background : rows whose values the features are moved to; a `TableRegressor` that was fitted knows
        some by itself, else they have to be given for a single row.
        """
        model, rows = unwrap(estimator, X, "effects")
        typical = None if background is None else unwrap(estimator, background)[1]
        single = count_rows(rows) == 1
        found = model.effects(rows, typical) if single else model.importance(rows, typical)
        if single:
            found = found._replace(names=_with_values(found.names, rows))
        return cls.from_predictions(found, output=output, max_display=max_display, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        effects: Any,
        *,
        row: int = 0,
        output: int = 0,
        max_display: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw what `importance` returned, or one row of what `effects` returned."""
        over_rows = hasattr(effects, "inputs")
        parts = (part[None] if over_rows else part for part in (effects.values, effects.gates))
        values, gates = (_pick(part, 0 if over_rows else row, output) for part in parts)
        label = (
            "mean size of the effect on the predicted mean"
            if over_rows
            else "effect on the predicted mean, against other values of the feature"
        )
        display = cls(names=effects.names, values=values, gates=gates, label=label)
        return display.plot(ax, max_display=max_display)


def _with_values(names: list[str], row: Any) -> list[str]:
    """Return names of features with their values in a single row, where it has names."""
    known = (
        row if isinstance(row, Mapping) else {str(name): row[name] for name in getattr(row, "columns", ())}
    )
    return [f"{name} = {_shown(next(iter(known[name])))}" if name in known else name for name in names]


def _shown(value: Any) -> str:
    cell = text(value)
    number = cell and isinstance(value, Real) and not isinstance(value, bool)
    return f"{value:.4g}" if number else cell or "?"


def _pick(values: FloatArray, row: int, output: int) -> FloatArray:
    """Return one row and one output of values (n, inputs) or (n, inputs, outputs)."""
    several = values.ndim == 3
    check_place("row", row, len(values))
    check_place("output", output, values.shape[2] if several else 1)
    chosen: FloatArray = values[row, :, output] if several else values[row]
    return chosen


def _largest(names: list[str], values: FloatArray, count: int) -> tuple[list[str], FloatArray]:
    """Return the largest values, and the sum of all others as one; the small ones first would hide them."""
    if count < 2:
        raise ValueError(f"max_display must be at least 2, got {count}")
    order = np.argsort(-np.abs(values), kind="stable")
    if order.size <= count:
        return [names[i] for i in order], values[order]
    kept, rest = order[: count - 1], order[count - 1 :]
    return [*(names[i] for i in kept), REST], np.append(values[kept], values[rest].sum())
