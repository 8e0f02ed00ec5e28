"""What a file has to hold of arms with posteriors in closed form (`engine.checks`)."""

from typing import Any

import numpy as np

from ggln.engine.checks import (
    SQUARES,
    Arrays,
    check_arrays,
    check_values,
    integer,
    number,
    part,
    positive,
    real,
    require,
    several,
    user,
    whole,
)
from ggln.engine.newton.layouts import check_scaler
from ggln.engine.surfaces import constants
from ggln.engine.surfaces.solve import inputs_count, kinds_for

LEAST_EIGENVALUE = -1e-6
"""Of a covariance, as a fraction of its largest: rounding of an ill-conditioned one is far below."""

MOST_UNIT = 1e103
"""Of shifts and scales: rounding, and levels that are found, bring them beyond what users may say."""


def check_surfaces(values: Any, arrays: Arrays) -> None:
    """Raise ValueError unless values and arrays are those of a `SurfaceLearner`."""
    told = {"features": integer(1), "seed": integer(0, 2**64), "names": several(integer(), 1)}
    check_values(values, told | {"due": number(0, 2**53)})
    d, arms = values["features"], len(values["names"])
    require(len(set(values["names"])) == arms, "names of arms are not their own")
    kinds = len(kinds_for(d))
    layout = {
        "plays": whole(arms),
        "told": real(arms, kinds, low=-1e15, high=1e15),
        "pooled": real(kinds, low=-1e15, high=1e15),
        "evidence": real(arms, kinds, constants.WIDTHS.size),
        "moments": real(3, d + 1, low=-1e100, high=SQUARES),
        "level": positive(1, high=1e15),
    }
    for arm in range(arms):
        for kind in ("rows", "borrowed"):
            length = f"{kind}.{arm}"
            layout |= {
                f"{kind}.{arm}.contexts": user(length, d),
                f"{kind}.{arm}.rewards": user(length),
                f"{kind}.{arm}.weights": positive(length, high=1e100),
            }
    check_arrays({name: a for name, a in arrays.items() if not name.startswith("surface.")}, layout)
    check_scaler("moments", arrays["moments"])
    numbers = {name.split(".")[1] for name in arrays if name.startswith("surface.")}
    require(numbers == set(map(str, range(arms * kinds))), "surfaces are not those of the arms")
    for number_of in sorted(numbers):
        check_surface(part(arrays, f"surface.{number_of}."), d)


def check_surface(arrays: Arrays, features: int) -> None:
    """Raise ValueError unless arrays are those of one regression."""
    bumps, products = arrays.get("centres", np.empty(0)), arrays.get("products", np.empty(0))
    require(bumps.ndim == 2 and products.shape == (1,), "surface.centres are no rows")
    count = bumps.shape[1]
    require(not (count and products[0]), "a surface has products or bumps")
    size = inputs_count("products" if products[0] else "bumps", features, count)
    layout = {
        "units": real(2, features, low=-MOST_UNIT, high=MOST_UNIT),
        "paid": real(2, low=-MOST_UNIT, high=MOST_UNIT),
        "widths": real(3, low=0.0, high=1e15),
        "products": whole(1, below=2, dtype=np.bool_),
        "lengths": positive(features),
        "centres": real(features, count),
        "factor": real(count, count, low=-1e15, high=1e15),
        "mean": real(size, low=-1e15, high=1e15),
        "spread": real(size, size, low=-1e15, high=1e15),
        "noise": positive(2),
    }
    check_arrays(arrays, layout)
    require((arrays["units"][1] > 0.0).all() and arrays["paid"][1] > 0.0, "surface.units are none")
    require(arrays["noise"][0] > 1e-3, "surface.noise is none")
    lower = np.tril(arrays["spread"])
    found = np.linalg.eigvalsh(lower + np.tril(lower, -1).T)
    require(found[0] >= LEAST_EIGENVALUE * abs(found[-1]), "surface.spread is no covariance")
