"""Which mixture there is for what settings ask for, and what is predicted before it knows a row."""

from dataclasses import replace
from typing import Any

import numpy as np

from ggln.engine.newton.copula import nothing_known
from ggln.engine.newton.joint import JointMixture
from ggln.engine.newton.kinds import kind_of
from ggln.engine.newton.mixture import Blend, SpreadMixture
from ggln.engine.newton.settings import Settings
from ggln.engine.newton.shapes import ShapeMixture


def before_any_row(rows: int, outputs: int) -> Any:
    """Return what is predicted before anything is known."""
    if outputs > 1:
        return nothing_known(rows, outputs)
    return Blend(np.ones((rows, 1)), np.zeros((rows, 1, 1)), np.ones((rows, 1, 1)))


def make_mixture(settings: Settings, kind: Any) -> Any:
    """Return a mixture that knows nothing; for several outputs at once, one for each, joined."""
    if settings.outputs > 1:
        alone = replace(settings, outputs=1)
        return JointMixture(kind, lambda: make_mixture(alone, kind_of(1, "")))
    one_factor = "spreads" in settings.without
    if one_factor or "shapes" in settings.without:
        return SpreadMixture(kind, one_factor)
    return ShapeMixture(kind)
