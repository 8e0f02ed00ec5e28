"""What a file has to hold of learners that solve their problems (`engine.checks`)."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.checks import (
    FLAG,
    LAYERS,
    LEAST,
    NOTHING,
    SCALE,
    SQUARES,
    TEXT,
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
    numbered,
    one_of,
    part,
    positive,
    real,
    require,
    several,
    user,
    whole,
)
from ggln.engine.constants import CONTEXT_DIM_MAX, MAX_MAGNITUDE
from ggln.engine.newton import constants
from ggln.engine.newton.kinds import COVARIANCES
from ggln.engine.newton.network_layouts import check_network, check_regression
from ggln.engine.newton.support import Edges

SPREADS = len(constants.SPREADS)
RING_NUMBERS = 4
"""Numbers behind the features of a stream's latest rows (`correctors.KEPT`)."""
VARIANCE = 1e201
"""Of values in the user's units, at most."""
SETTINGS = {
    "layer_sizes": LAYERS,
    "context_dims": several(integer(0, CONTEXT_DIM_MAX)),
    "n_estimators": either(NOTHING, integer(1)),
    "regressions": FLAG,
    "base_variance": SCALE,
    "bias_range": SCALE,
    "bias_variance": SCALE,
    "min_variance": SCALE,
    "max_variance": SCALE,
    "covariance": one_of("apart", *COVARIANCES),
    "standardize": one_of(True, False, "inputs"),
    "features": integer(1),
    "outputs": integer(1),
    "seed": integer(0, 2**64),
    "online": FLAG,
    "regressors": one_of(0),  # a file cannot hold any
    "gating": one_of("residual", "axis", "mixed"),
    "without": several(TEXT),
    "most_kept": integer(),
    "forgetting": either(NOTHING, one_of("auto"), integer(16)),
}


def check_settings(settings: Any) -> None:
    """Raise ValueError unless settings can be."""
    check_values(asdict(settings), SETTINGS)
    require(settings.min_variance < settings.max_variance, "min_variance is not below max_variance")


def check_scaler(name: str, state: NDArray[np.float64]) -> None:
    """Raise ValueError unless counts, means and squares [3, d] can be those of columns."""
    count, mean, squares = state
    sane = (count >= 0.0) & (np.abs(mean) <= MAX_MAGNITUDE) & (squares >= 0.0)
    sane &= (count == 0.0) | (squares <= VARIANCE * count)
    require(sane.all(), f"{name} holds statistics of no columns")


def scaler(columns: int) -> Array:
    """Return the layout of a scaler's statistics."""
    return real(3, columns, low=-MAX_MAGNITUDE, high=SQUARES)


# What is said of rows --------------------------------------------------------------------------------------


def check_form(arrays: Arrays, kinds: int) -> None:
    """Raise ValueError unless arrays are those of a mixture of one output, without or with a form."""
    base, classes = kinds * SPREADS, constants.CLASSES
    if "form.ring" not in arrays:
        check_arrays(arrays, {"shares": amount(base)})
        check_shares("shares", arrays["shares"])
        return
    layout = {
        "shares": amount(base),
        "form.offsets": real("offsets"),
        "form.widths": positive("offsets"),
        "form.atoms": real("atoms"),
        "form.values": real("values"),
        "form.narrow": positive(1),
        "form.knots": real(2, classes),
        "form.tables": amount("tables", classes, "parts"),
        "form.seen": positive("tables", classes, high=WEIGHT),
        "form.experts": amount("experts"),
        "form.ring": real("latest", "numbers", low=-WEIGHT, high=WEIGHT),
        "form.counts": whole(3),
    }
    sizes = check_arrays(arrays, layout)
    tables, parts = sizes["tables"], base + sizes["offsets"] + sizes["atoms"]
    plain = sizes["offsets"] == sizes["atoms"] == sizes["values"] == sizes["parts"] == 0
    sane = plain if tables == 0 else tables in (2, 4) and sizes["parts"] == parts
    require(sane and sizes["experts"] == tables + 2, "form.tables are not those of its components")
    sane = bool((np.diff(arrays["form.values"]) > 0.0).all()) and sizes["values"] <= constants.MOST_VALUES
    require(sane, "form.values are no lattice")
    for name in ("shares", "form.experts", "form.tables"):
        check_shares(name, arrays[name])
    require(sizes["values"] or arrays["form.experts"][-1] == 0.0, "form.experts believe in no lattice")
    from_rows, since, latest = arrays["form.counts"].tolist()
    # a form is due at a number of rows: one that has gone by would be waited for without end
    sane = since < max(constants.FEWEST_RECENT, from_rows // 2)
    sane &= sizes["latest"] == min(latest, constants.RECENT_ROWS)
    sane &= sizes["numbers"] == 2 * kinds + 3 or sizes["latest"] == from_rows == 0
    require(sane, "form.counts are not those of its rows")


def check_copula(arrays: Arrays, outputs: int) -> None:
    """Raise ValueError unless arrays are those of a copula."""
    count = len(constants.FREEDOMS)
    layout = {
        "copula.scatters": real(count, outputs, outputs),
        "copula.evidence": real(count, low=-WEIGHT, high=WEIGHT),
        "copula.judged": positive(1, high=WEIGHT),
    }
    check_arrays(arrays, layout)
    check_positive_definite("copula.scatters", arrays["copula.scatters"])


def edges(features: int) -> dict[str, Array]:
    """Return the layout of where rows end."""
    layout = {
        "features": whole("edges", below=features),
        "low": user("edges"),
        "high": user("edges"),
        "furthest": positive("edges", high=1e102, low=LEAST),
        "factors": amount("edges"),
        "powers": real("edges", low=0.5, high=16.0),
        "needed": amount("edges"),
        "gaps": amount("edges", high=WEIGHT),
        "typical": amount(1),
    }
    assert layout.keys() == set(Edges._fields)
    return {f"edges.{name}": wanted for name, wanted in layout.items()}


def first_rows(goals: str, outputs: int) -> dict[str, Array]:
    """Return the layout of rows that are kept, and of targets of this name."""
    return {
        "first.X": user("kept", "columns", gaps=True),
        f"first.{goals}": user("kept", outputs),
        "first.weights": amount("kept", high=MAX_MAGNITUDE),
    }


# Learners ------------------------------------------------------------------------------------------------


def check_exact(values: Any, arrays: Arrays, settings: Any, kind: Any, flat: Any) -> None:
    """Raise ValueError unless values and arrays are those of an `ExactLearner` of these settings."""
    d, outputs, models = settings.features, settings.outputs, settings.base_models
    weight = number(0.0, WEIGHT)
    told = {"settings": anything, "rows": integer(1), "due": integer()}
    check_values(values, told | {"judged": several(weight, outputs) if outputs > 1 else weight})
    require(values["due"] == 0 or values["due"] > values["rows"], "due is before the rows that came")
    networks = numbered(arrays, "network.")
    groups = min(settings.kinds, len(networks))
    kinds = models + groups if models + groups else 1
    rest = {name: a for name, a in arrays.items() if not name.startswith(("network.", "bumps."))}
    own = {name: a for name, a in rest.items() if name.startswith(("scaler.", "errors", "edges.", "first."))}
    if "seen" in rest:
        own["seen"] = rest["seen"]
    said = {name: a for name, a in rest.items() if name not in own}
    layout = {
        "scaler.inputs": scaler(d),
        "scaler.targets": scaler(outputs),
        "errors": amount(models, outputs + 1, high=SQUARES),
    }
    layout |= edges(d) if "edges.low" in own else {}  # files of earlier versions have none
    layout |= {"seen": user(2, "seen", gaps=True)} if "seen" in own else {}
    layout |= first_rows("Y", outputs) if values["due"] else {}
    sizes = check_arrays(own, layout)
    require(sizes.get("seen", d) >= d and sizes.get("columns", d) >= d, "rows have too few columns")
    require(sizes.get("kept", 1) > 0, "first.X holds no rows")
    check_scaler("scaler.inputs", own["scaler.inputs"])
    check_scaler("scaler.targets", own["scaler.targets"])
    squares, weights = own["errors"][:, :-1], own["errors"][:, -1:]
    require((weights > 0.0).all() and (squares <= 1e50 * weights).all(), "errors are those of no rows")
    _check_said(said, kinds, outputs)
    if settings.regressions:
        check_regression(part(arrays, "bumps."), d, outputs)
    else:
        require(not part(arrays, "bumps."), "bumps are nothing that it should hold")
    for e, network in enumerate(networks):
        shape = settings.shape(e, 1)
        check_network(network, kind, shape, d, flat)
        dim = len(network["gates.records"][0]).bit_length()
        require(not settings.context_dims or dim == shape.context_dim, "gates are not those of context_dim")


def _check_said(arrays: Arrays, kinds: int, outputs: int) -> None:
    """Raise ValueError unless arrays are those of the mixture of so many kinds of predictions."""
    if outputs == 1:
        check_form(arrays, kinds)
        return
    rest = {name: a for name, a in arrays.items() if not name.startswith(("marginal.", "copula."))}
    check_arrays(rest, {"factors": positive(kinds, outputs)})
    check_copula({name: a for name, a in arrays.items() if name.startswith("copula.")}, outputs)
    marginals = numbered(arrays, "marginal.")
    require(len(marginals) == outputs, "marginals are not as many as outputs")
    for own in marginals:
        check_form(own, kinds)


def check_drift(values: Any, arrays: Arrays, settings: Any, blank: Arrays) -> None:
    """Raise ValueError unless values and arrays, without those of its learners, are of a `DriftLearner`.

    blank: the bank of a stream that knows nothing, and the shares of its experts.
    """
    told = {
        "settings": anything,
        "rows": integer(1),
        "until": integer(1),
        "alarm": number(1e-3, 1e300),
        "changed": integer(),
        "steady": FLAG,
        "learners": several(anything, 1),
    }
    check_values(values, told)
    count = len(arrays.get("born", ()))
    layout = {
        name: Array(array.dtype, (count + 1, *array.shape[1:]), -SQUARES, SQUARES, False, False)
        for name, array in blank.items()
    }
    kept = min(values["rows"], constants.RING_ROWS)
    layout |= {
        "shares": amount(count + 1, blank["shares"].shape[1]),
        "stream": real(4, low=-WEIGHT, high=WEIGHT),
        "gains": real(count, low=-WEIGHT, high=WEIGHT),
        "born": whole(count, below=values["rows"] + 1),
        "ring": user(kept, "numbers", gaps=True),
    }
    sizes = check_arrays(arrays, layout)
    sane = 1 <= count <= 2 and count <= len(values["learners"]) <= count + constants.REMEMBERED
    sane &= values["until"] > values["rows"] >= values["changed"]
    require(sane, "decisions are due that nobody took")
    require(sizes["numbers"] >= settings.features + RING_NUMBERS, "ring has too few columns")
    require(np.isfinite(arrays["ring"][:, -RING_NUMBERS:]).all(), "ring lacks targets")
    require(abs(arrays["stream"][-1]) <= 2.0 * constants.MOST_FACTOR, "stream has a factor beyond its bounds")
    check_shares("shares", arrays["shares"].reshape(-1))
    numbers, scatter = arrays["bank.numbers"], arrays["bank.scatter"]
    sane = bool((numbers[..., [0, 3]] >= 0.0).all() and (numbers[..., 2] > 0.0).all())
    diagonal = np.diagonal(scatter, axis1=2, axis2=3)
    require(sane and (diagonal >= 0.0).all(), "bank holds variances that are none")


def check_classes(values: Any, arrays: Arrays, settings: Any, temperatures: int, kinds: int) -> None:
    """Raise ValueError unless values and arrays, without networks, are those of a `ClassLearner`.

    kinds: of networks, if there are any.
    """
    check_values(values, {"settings": anything, "rows": integer(), "judged": number(0.0, WEIGHT)})
    rest = {name: a for name, a in arrays.items() if not name.startswith(("network.", "bumps."))}
    count = kinds + bool(settings.regressions) if kinds else 1
    layout = {
        "scaler.inputs": scaler(settings.features),
        "shares": amount(count * temperatures),
        "units": real(2, settings.outputs, low=1e-100, high=1.0),
    }
    layout |= first_rows("goals", settings.outputs) if "first.X" in rest else {}
    sizes = check_arrays(rest, layout)
    require(sizes.get("columns", settings.features) >= settings.features, "rows have too few columns")
    require(sizes.get("kept", 1) > 0, "first.X holds no rows")
    if "first.X" in rest:
        goals = rest["first.goals"]
        sane = np.isin(goals, (0.0, 1.0)).all() and (
            settings.outputs == 1 or (goals.sum(axis=1) == 1.0).all()
        )
        require(sane, "first.goals are no classes")
    check_scaler("scaler.inputs", rest["scaler.inputs"])
    check_shares("shares", rest["shares"])
    if settings.regressions and values["rows"]:
        check_regression(part(arrays, "bumps."), settings.features, settings.outputs)
    else:
        require(not part(arrays, "bumps."), "bumps are nothing that it should hold")
