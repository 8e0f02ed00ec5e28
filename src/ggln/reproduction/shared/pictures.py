"""Pictures of results. matplotlib is an extra, and is imported when something is drawn."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ggln.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:
    Axes = Figure = Any

__all__ = ["Axes", "Figure", "new_figure", "styled"]

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
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
