"""What a file has to hold of networks that were solved, and of the regression on bumps below them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.checks import (
    SQUARES,
    WEIGHT,
    Arrays,
    amount,
    check_arrays,
    like,
    positive,
    real,
    require,
    whole,
)
from ggln.engine.constants import MAX_MAGNITUDE
from ggln.engine.newton.bump_kernels import STREAM_ROWS
from ggln.engine.newton.gates import FEATURES, LACKING, OFFSET, RECORD
from ggln.engine.newton.network import Shape, blank_network

WIDEST = 40
"""Gates of a neuron, at most, where rows decide: as many as there are powers of two in a number of rows."""
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
