"""What a file has to hold of networks that take gradient steps (`engine.checks`)."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ggln.engine import constants
from ggln.engine.checks import (
    COUNT,
    FLAG,
    LAYERS,
    NOTHING,
    SCALE,
    WEIGHT,
    Array,
    Arrays,
    amount,
    anything,
    check_arrays,
    check_shares,
    check_values,
    either,
    integer,
    number,
    one_of,
    positive,
    real,
    require,
    several,
    user,
    whole,
)
from ggln.engine.gating import SAMPLERS
from ggln.engine.neurons.kinds import COVARIANCES
from ggln.engine.newton.layouts import check_scaler, scaler

RATE = number(1e-300, 1e9)
SETTINGS = {
    "layer_sizes": LAYERS,
    "context_dim": integer(0, constants.CONTEXT_DIM_MAX),
    "n_estimators": integer(1),
    "gating": one_of(*SAMPLERS),
    "gating_bias": either(one_of("data"), number(0.0)),
    "base_model": one_of("none", "feature", "axes", "coordinate", "blr", "linear", "logit"),
    "base_variance": either(NOTHING, SCALE),
    "bias_range": SCALE,
    "bias_variance": SCALE,
    "learning_rate": RATE,
    "step": one_of("ogd", "capped", "normalised", "split"),
    "projection": one_of("clip", "exact", "log_barrier"),
    "barrier": number(0.0, 1e9),
    "weight_range": several(number(-1e9, 1e9), 2),
    "min_variance": SCALE,
    "max_variance": SCALE,
    "aggregation": one_of("switching", "last"),
    "covariance": one_of(*COVARIANCES),
    "standardize": one_of(True, False, "inputs"),
    "features": integer(1),
    "outputs": integer(1),
    "seed": integer(0, 2**64),
    "dtype": one_of(np.float32, np.float64),
    "context_dims": several(integer(0, constants.CONTEXT_DIM_MAX)),
    "folds": integer(),
    "family": one_of("gaussian", "bernoulli"),
    "decay": either(NOTHING, RATE),
    "hinges": integer(0, constants.MAX_HINGES),
    "bias_weight": number(0.0, 1e3),
}


def check_settings(settings: Any) -> None:
    """Raise ValueError unless settings can be."""
    check_values(asdict(settings), SETTINGS)
    low, high = (*settings.weight_range, np.nan)[:2]
    together = len(settings.weight_range) == 2 and low < high
    together &= settings.min_variance < settings.max_variance
    together &= settings.base_variance is not None or settings.base_model == "blr"
    together &= settings.base_model != "coordinate" or settings.features == settings.outputs
    together &= (settings.base_model == "logit") == (settings.family == "bernoulli")
    together &= settings.family == "bernoulli" or (settings.hinges == 0 and settings.step != "normalised")
    together &= settings.step != "split" or settings.covariance == "isotropic"
    require(together, "settings do not go together")


def check_gates(arrays: Arrays, settings: Any, networks: int) -> None:
    """Raise ValueError unless there are gates for so many networks, of columns that there are."""
    neurons, normals = networks * sum(settings.layer_sizes), arrays.get("gates.normals", np.empty(0))
    columns = settings.columns
    layout = {
        "gates.codes": whole(neurons, settings.context_dim, below=columns + len(normals), dtype=np.int32),
        "gates.offsets": real(neurons, settings.context_dim, ends=True),
        "gates.normals": real("normals", columns, low=-1e9, high=1e9),
    }
    check_arrays({name: a for name, a in arrays.items() if name.startswith("gates.")}, layout)


def check_ensemble(arrays: Arrays, ensemble: Any, settings: Any, **more: Array) -> None:
    """Raise ValueError unless arrays are those of networks; more: what they have besides.

    ensemble: that knows nothing, of the same gates.
    """
    pool = ensemble.pool
    neurons, contexts = pool.index.shape
    furthest = 1.0 + 1.001 * max(map(abs, settings.weight_range))
    layout = {
        "rows.neuron": whole("rows", below=neurons, dtype=np.int32),
        "rows.context": whole("rows", below=contexts, dtype=np.int32),
        "switching": amount(ensemble.networks, ensemble.neurons),
        "shares": amount(ensemble.networks),
        "spreads": real(ensemble.networks, low=1e-15, high=1e15),
    } | more
    check_arrays({name: arrays[name] for name in layout if name.startswith("rows.")}, layout_of_rows(layout))
    places = arrays["rows.neuron"].astype(np.int64) * contexts + arrays["rows.context"]
    require((np.diff(places) > 0).all(), "rows are not in their order")
    layers = np.bincount(pool.layers_of(arrays["rows.neuron"]), minlength=len(pool.lengths))
    for i, (count, length) in enumerate(zip(layers.tolist(), pool.lengths.tolist(), strict=True)):
        size = length * constants.LANES
        layout[f"weights.{i}"] = real(count, size, low=-furthest, high=furthest, dtype=settings.dtype)
    for name, value in ensemble.base._asdict().items():
        if isinstance(value, np.ndarray):
            layout[f"base.{name}"] = real(*value.shape, low=-WEIGHT, high=WEIGHT, dtype=value.dtype)
    check_arrays({name: a for name, a in arrays.items() if not name.startswith("gates.")}, layout)
    check_shares("switching", arrays["switching"])
    check_shares("shares", arrays["shares"])
    _check_base(arrays)
    if settings.hinges:
        require((np.diagonal(arrays["hinges.triangle"]) > 1e-30).all(), "hinges.triangle is that of no rows")


def layout_of_rows(layout: dict[str, Array]) -> dict[str, Array]:
    """Return the layout of the arrays that say where rows of weights are."""
    return {name: wanted for name, wanted in layout.items() if name.startswith("rows.")}


def _check_base(arrays: Arrays) -> None:
    """Raise ValueError unless what is below networks has learnt from rows."""
    sane = True
    if "base.noise" in arrays:
        sane &= bool((arrays["base.noise"] > 1e-30).all())
    if "base.triangle" in arrays:
        sane &= bool((np.diagonal(arrays["base.triangle"], axis1=1, axis2=2) > 1e-30).all())
    if "base.counts" in arrays:
        sane &= bool((arrays["base.counts"] >= 0.0).all() and (arrays["base.features"][:, 1] >= 0.0).all())
    require(sane, "base holds statistics of no rows")


def check_units(arrays: Arrays, settings: Any, targets: int) -> None:
    """Raise ValueError unless scalers are those of these settings."""
    layout = {"scaler.inputs": scaler(settings.features), "scaler.targets": scaler(targets)}
    check_arrays({name: a for name, a in arrays.items() if name.startswith("scaler.")}, layout)
    for name in layout:
        check_scaler(name, arrays[name])


def check_learner(values: Any, arrays: Arrays, settings: Any) -> None:
    """Raise ValueError unless values, units and gates are those of a `Learner` of these settings."""
    told = {
        "settings": anything,
        "rows": integer(),
        "warming": FLAG,
        "pace": number(1e-9, 1.0),
        "calibrated": FLAG,
        "time": integer(1),
    }
    check_values(values, told)
    check_units(arrays, settings, settings.outputs)
    check_gates(arrays, settings, settings.n_estimators)


def rest_of_learner(arrays: Arrays, settings: Any) -> dict[str, Array]:
    """Return the layout of what a `Learner` has besides its networks."""
    layout = {"scaler.inputs": scaler(settings.features), "scaler.targets": scaler(settings.outputs)}
    if settings.hinges:
        size = settings.hinges + 1
        layout |= {
            "hinges.normals": real(settings.features, settings.hinges),
            "hinges.offsets": real(settings.hinges),
            "hinges.triangle": real(size, size + settings.outputs, low=-WEIGHT, high=WEIGHT),
            "hinges.noise": positive(2, high=WEIGHT),
        }
    if "first.X" in arrays:
        layout |= {"first.X": user("kept", settings.features), "first.Y": user("kept", settings.outputs)}
    return layout


def check_arms(values: Any, arrays: Arrays, settings: Any) -> None:
    """Raise ValueError unless values, units and gates are those of an `ArmLearner` of these settings."""
    reward = number(-constants.MAX_MAGNITUDE, constants.MAX_MAGNITUDE)
    told = {
        "settings": anything,
        "arms": integer(1, 2**31),
        "reward_range": either(NOTHING, several(reward, 2)),
        "rows": integer(),
        "warming": FLAG,
    }
    check_values(values, told)
    span = values["reward_range"]
    require(span is None or (len(span) == 2 and span[0] < span[1]), "reward_range is none")
    bernoulli, outputs = settings.family == "bernoulli", settings.outputs
    require(bernoulli or outputs == 1, "arms have one reward")
    require(outputs & (outputs + 1) == 0, "outputs are not those of a tree")
    require(not bernoulli or span is not None, "reward_range is missing")
    check_units(arrays, settings, 1)
    check_gates(arrays, settings, settings.n_estimators)


def rest_of_arms(settings: Any, arms: int, bins: int, span: Sequence[float] | None) -> dict[str, Array]:
    """Return the layout of what an `ArmLearner` has besides its networks; span: of rewards."""
    paid = user("kept", 1)
    if settings.family == "bernoulli" and span is not None:
        paid = real("kept", 1, low=span[0], high=span[1])  # beyond it, a tree has no bins
    return {
        "scaler.inputs": scaler(settings.features),
        "scaler.targets": scaler(1),
        "tallies": amount(arms, 3, bins, high=COUNT),
        "rows.visits": whole("rows"),
        "plays": whole(arms),
        "first.contexts": user("kept", settings.features),
        "first.arms": whole("kept", below=arms),
        "first.rewards": paid,
        "first.paces": real("kept", low=0.0, high=1e9),
    }
