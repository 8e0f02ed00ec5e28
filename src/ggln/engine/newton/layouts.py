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
    like,
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
from ggln.engine.newton.bump_kernels import STREAM_ROWS
from ggln.engine.newton.gates import FEATURES, LACKING, OFFSET, RECORD
from ggln.engine.newton.network import Shape, blank_network
from ggln.engine.newton.support import Edges

SPREADS = len(constants.SPREADS)
RING_NUMBERS = 4
"""Numbers behind the features of a stream's latest rows (`correctors.KEPT`)."""
VARIANCE = 1e201
"""Of values in the user's units, at most."""
WIDEST = 40
"""Gates of a neuron, at most, where rows decide: as many as there are powers of two in a number of rows."""
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
    "covariance": one_of("apart", "isotropic", "diagonal", "full"),
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


# Networks ------------------------------------------------------------------------------------------------

NETWORK = {
    "precisions": amount("layers", 2),
    "reach": real("layers", low=0.0, ends=True),
    "tables": real(dtype=np.float32),
    "pulls": amount(),
    "curvatures": real(low=-WEIGHT, high=WEIGHT),
    "told": amount(high=WEIGHT),
    "counts": amount(high=WEIGHT),
    "fresh": amount(high=WEIGHT),
    "spread": amount(high=SQUARES),
    "gates.records": real(ends=True),
    "gates.grown": whole(below=2),
    "span": real(),
}
"""Ranges; names and shapes are those of a network that knows nothing."""
FIXED = "sizes", "first", "inputs", "regressions", "along_axes", "bias_range", "pace", "limits"
"""What settings decide alone."""


def check_network(arrays: Arrays, kind: Any, shape: Shape, features: int, flat: Any) -> None:
    """Raise ValueError unless arrays are those of a network; flat: how a network becomes arrays.

    shape: without its gates, whose number the arrays tell.
    """
    neurons, records = sum(shape.layer_sizes), arrays.get("gates.records", np.empty(0))
    nodes = records.shape[1] if records.ndim == 3 else -1
    dim = nodes.bit_length()
    sane = nodes == (1 << dim) - 1 and dim <= WIDEST and records.shape == (neurons, nodes, RECORD)
    require(sane, f"gates.records has the shape {records.shape}, which no gates have")
    layers, looked_at = len(shape.layer_sizes), min(features, shape.most_features)
    indices = whole(layers, looked_at, below=features, dtype=np.int32)
    check_arrays({"features": arrays.get("features", np.empty(0))}, {"features": indices})
    span = np.zeros((2, int(kind.outputs)))
    blank = flat(blank_network(kind, shape._replace(context_dim=dim), arrays["features"], span))
    layout = like(blank)
    for name, wanted in NETWORK.items():
        layout[name] = wanted._replace(shape=blank[name].shape, dtype=blank[name].dtype)
    width = blank["gradients.values"].shape[1]
    places = blank["tables"].shape[0] * blank["tables"].shape[1]
    layout["gradients.places"] = whole("pending", below=places)
    layout["gradients.values"] = real("pending", width, low=-WEIGHT, high=WEIGHT)
    layout["features"] = indices
    check_arrays(arrays, layout)
    for name in FIXED:
        require(np.array_equal(arrays[name], blank[name]), f"{name} is not what the settings make of it")
    low, high = arrays["span"]
    require((low <= high).all(), "span ends before it begins")
    told = np.array_equal(arrays["gradients.places"], np.flatnonzero(arrays["fresh"]))
    require(told, "gradients.places are not the places of fresh rows")
    check_gates(records, features)


def check_gates(records: NDArray[np.float64], features: int) -> None:
    """Raise ValueError unless gates look at features that there are."""
    looked_at, sides = records[..., FEATURES:LACKING], records[..., LACKING]
    sane = (looked_at >= 0) & (looked_at < features) & (looked_at == np.floor(looked_at))
    sane &= (np.isfinite(records[..., :OFFSET])) & np.isin(sides, (0.0, 1.0))[..., None]
    require(sane.all(), "gates.records holds gates of features that there are not")


def check_regression(arrays: Arrays, features: int, outputs: int) -> None:
    """Raise ValueError unless arrays are those of the regression on bumps."""
    bumps, inputs = arrays.get("centres", np.empty(0)), arrays.get("lengths", np.empty(0))
    require(bumps.ndim == 2 and inputs.ndim == 1, "bumps.centres are no rows")
    size = bumps.shape[1] + 1 + inputs.size
    layout = {
        "lengths": positive("looked_at"),
        "centres": real("looked_at", "bumps"),
        "offset": real(outputs),
        "ridge": real(1, low=0.0, high=SQUARES, ends=True),
        "sums": real(size * (size + 1) // 2 + outputs * size, low=-WEIGHT, high=WEIGHT),
        "weights": real(outputs, size),
        "errors": amount(outputs + 1, high=SQUARES),
        "rows": real(STREAM_ROWS, "looked_at"),
        "targets": real(STREAM_ROWS, outputs),
        "row_weights": amount(STREAM_ROWS, high=MAX_MAGNITUDE),
        "counts": whole(3),
        "chosen": whole("chosen", below=features),
        "gaps": whole("gaps", below=features),
        "features": whole(1, low=features, below=features + 1),
    }
    sizes = check_arrays(arrays, layout)
    waiting, all_rows, solved = arrays["counts"].tolist()
    sane = sizes["chosen"] + sizes["gaps"] == sizes["looked_at"] and sizes["bumps"] > 0
    # rows that wait are taken in when there is no room left: a full place would be waited for without end
    require(sane and waiting < STREAM_ROWS and solved <= all_rows, "bumps are not what rows could leave")


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
    d, outputs, advisers = settings.features, settings.outputs, settings.advisers
    weight = number(0.0, WEIGHT)
    told = {"settings": anything, "rows": integer(1), "due": integer()}
    check_values(values, told | {"judged": several(weight, outputs) if outputs > 1 else weight})
    require(values["due"] == 0 or values["due"] > values["rows"], "due is before the rows that came")
    networks = numbered(arrays, "network.")
    groups = min(settings.kinds, len(networks))
    kinds = advisers + groups if advisers + groups else 1
    rest = {name: a for name, a in arrays.items() if not name.startswith(("network.", "bumps."))}
    own = {name: a for name, a in rest.items() if name.startswith(("scaler.", "errors", "edges.", "first."))}
    if "seen" in rest:
        own["seen"] = rest["seen"]
    said = {name: a for name, a in rest.items() if name not in own}
    layout = {
        "scaler.inputs": scaler(d),
        "scaler.targets": scaler(outputs),
        "errors": amount(advisers, outputs + 1, high=SQUARES),
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
