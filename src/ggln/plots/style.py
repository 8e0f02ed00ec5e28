"""Sizes that all pictures share, and colours for things in order."""

from typing import Any

import matplotlib as mpl
import numpy as np

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
