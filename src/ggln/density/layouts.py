"""What a file has to hold of a density (`engine.checks`)."""

from typing import Any

from numpy.typing import NDArray

from ggln.engine.checks import (
    FLAG,
    LEAST,
    NOTHING,
    WEIGHT,
    Array,
    Arrays,
    amount,
    anything,
    check_arrays,
    check_positive_definite,
    check_shares,
    check_values,
    either,
    integer,
    number,
    one_of,
    part,
    positive,
    real,
    require,
    several,
    user,
)
from ggln.engine.gradient.layouts import check_gates

LEVELS = several(number(1e-100, 1e100), 1)
UNIT = one_of("spread", "data")
FURTHEST = 1e6
"""Noise in spreads of the data, at most."""


def check_noise(values: Any) -> None:
    """Raise ValueError unless strengths of the noise can be."""
    sane = values["unit"] == "data" or max(values["levels"]) <= FURTHEST
    require(sane and 1e-30 <= values["spread"] <= 1e30, "levels cannot be so many spreads")


def half(columns: int) -> Array:
    """Return the layout of the halves of ranges."""
    return positive(columns, low=LEAST, high=1e100)


def check_gaussians(values: Any, arrays: Arrays, block: int) -> None:
    """Raise ValueError unless values and arrays are those of `GatedGaussians`, which learn in blocks."""
    told = {
        "columns": integer(1),
        "levels": LEVELS,
        "unit": UNIT,
        "seed": integer(0, 2**64),
        "rows": integer(),
        "keeps": FLAG,
        "spread": number(),
        "choice": several(number(0.0), 3),
    }
    check_values(values, told)
    check_noise(values)
    d = values["columns"]
    sane = len(values["choice"]) == 3 and integer(1)(values["choice"][0])
    require(sane and values["choice"][2] > 0.0, "choice is none")
    layout = {
        "kept": user("kept", d, gaps=True),
        "waiting": user("waiting", d, gaps=True),
        "middle": user(d),
        "half": half(d),
        "deviations": positive(d),
        "low": user(d, ends=True),
        "high": user(d, ends=True),
        "model.shares": amount("gaussians"),
        "model.means": real("gaussians", d),
        "model.covariances": real("gaussians", d, d),
        "sums.counts": amount("gaussians", high=WEIGHT),
        "sums.sums": real("gaussians", d, low=-WEIGHT, high=WEIGHT),
        "sums.squares": real("gaussians", d, d, low=-WEIGHT, high=WEIGHT),
    }
    sizes = check_arrays(arrays, layout)
    # a block is learnt when it is full: one that is would be waited for without end
    require(sizes["waiting"] < block and sizes["gaussians"] > 0, "waiting rows are too many")
    require((arrays["low"] <= arrays["high"]).all(), "low is above high")
    check_shares("model.shares", arrays["model.shares"])
    check_positive_definite("model.covariances", arrays["model.covariances"])


def check_denoisers(values: Any, arrays: Arrays, settings: Any) -> list[dict[str, NDArray[Any]]]:
    """Raise ValueError unless values and arrays are those of `Denoisers`; return those of each strength."""
    told = {
        "settings": anything,
        "levels": LEVELS,
        "unit": UNIT,
        "widened": FLAG,
        "range_rows": either(NOTHING, integer(1)),
        "rows": integer(),
        "warming": FLAG,
        "spread": number(),
        "times": several(integer(1), 1),
    }
    check_values(values, told)
    check_noise(values)
    require(len(values["times"]) == len(values["levels"]), "times are not as many as levels")
    require(settings.features == settings.outputs > 1, "networks do not restore rows")
    levels = [str(number_of) for number_of in range(len(values["levels"]))]
    own = {name: a for name, a in arrays.items() if name.partition(".")[0] not in levels}
    d = settings.features
    layout = {"range.middle": user(d), "range.half": half(d), "first_rows": user("kept", d)}
    check_arrays(own, layout)
    parts = [part(arrays, f"{level}.") for level in levels]
    for network in parts:
        check_gates(network, settings, settings.n_estimators)
    return parts
