"""Colours and sizes that all pictures share."""

from typing import Any

import matplotlib as mpl
import numpy as np

# Okabe and Ito's palette, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#7F7F7F"
PURPLE, SKY, RED = "#CC79A7", "#56B4E9", "#D55E00"

STYLE: Any = {
    "figure.dpi": 120,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}

styled = mpl.rc_context(STYLE)
"""Decorates functions that draw: the reader's own settings are as before when they are done."""


def in_order(count: int) -> list[Any]:
    """Return colours for things that have an order, dark to light, as the colour-blind see them too."""
    return list(mpl.colormaps["cividis"](np.linspace(0.0, 0.92, count)))
