"""Pictures of results. matplotlib is an extra, and is imported when something is drawn."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ggln.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:
    Axes = Figure = Any

__all__ = ["Axes", "Figure", "name_lines", "new_figure", "styled"]

LEAST_WIDTH = 1200
"""Pixels, so that a picture is sharp on a page."""

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def styled(draw: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Let a function draw with the sizes that all pictures share."""

    @functools.wraps(draw)
    def drawn(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        from ggln.plots.style import styled as with_style

        return with_style(draw)(*args, **kwargs)

    return drawn


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches, which arranges what is drawn on it."""
    require("matplotlib", "drawing")
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    sharp = max(rcParams["figure.dpi"], LEAST_WIDTH / width)
    return Figure(figsize=(width, height), dpi=sharp, layout="constrained")


def name_lines(panels: Sequence[Axes], names: Sequence[str]) -> None:
    """Name the lines of panels that share their vertical axis, the first line on top."""
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    for axes in panels:
        axes.tick_params(axis="y", length=0)
