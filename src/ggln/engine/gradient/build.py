"""From settings to an ensemble of networks: choosing kinds, drawing gates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine import constants, memory
from ggln.engine.bases.base_models import (
    AxesBase,
    CoordinateBase,
    FeatureBase,
    LogitBase,
    NoBase,
    empty_linear_base,
)
from ggln.engine.bases.regression import empty_joint_base
from ggln.engine.gating import NO_SPLITS, SAMPLERS, Gates, Splits, shift, take_splits
from ggln.engine.gradient.ensemble import Ensemble
from ggln.engine.gradient.layouts import check_settings
from ggln.engine.gradient.network import Rules, make_shape
from ggln.engine.neurons.bernoulli import Bernoulli
from ggln.engine.neurons.kinds import COVARIANCES
from ggln.engine.neurons.projection import Clip, Exact, LogBarrier
from ggln.engine.neurons.protocol import Limits, Step
from ggln.engine.neurons.univariate import Univariate

FloatArray = NDArray[np.float64]
BASE_MODELS = ("none", "feature", "axes", "coordinate", "blr", "linear")
GATES, ORDER, FOLDS, BASIS = range(4)
"""Streams of random numbers: for gates, the order of rows, folds, and the hinges that a regression sums."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides what a network is, and how it learns. `GGLNRegressor` documents each.

    Of Bernoulli networks, `bias_range` bounds the logits; see `bernoulli_settings`.
    """

    layer_sizes: tuple[int, ...]
    context_dim: int
    n_estimators: int
    gating: str
    gating_bias: float | str
    base_model: str
    base_variance: float | None
    bias_range: float
    bias_variance: float
    learning_rate: float
    step: str
    projection: str
    barrier: float
    weight_range: tuple[float, float]
    min_variance: float
    max_variance: float
    aggregation: str
    covariance: str
    standardize: bool | str
    features: int
    outputs: int
    seed: int
    dtype: Any = constants.WEIGHT
    context_dims: tuple[
        int, ...
    ] = ()  # of the networks in turn, where they differ; context_dim is the largest
    folds: int = 0  # parts of the rows that networks leave out in turn, for calibration
    family: str = "gaussian"  # or "bernoulli": what neurons predict
    decay: float | None = None  # rows after which the step of Bernoulli neurons falls as 1 / time
    hinges: int = 0  # of a regression that learns with Bernoulli networks, and is below them
    bias_weight: float = 1.0  # initial weight of isotropic biases, as a multiple of the other inputs'

    @property
    def columns(self) -> int:
        """Columns of the side information: the features, and what a regression on hinges says of outputs."""
        return self.features + (self.outputs if self.hinges else 0)

    @property
    def first_gated(self) -> int:
        """The first column that gates look at.

        What a regression on hinges says of three classes or more tells better than the features which rows
        belong together: gates between two rows then ask which of two classes is likelier.
        """
        return self.features if self.hinges and self.outputs > 1 else 0

    def fold(self, network: int) -> int:
        """Return the fold that a network leaves out."""
        return network % self.folds

    def members(self, fold: int) -> list[int]:
        """Return the networks that leave out a fold."""
        return [network for network in range(self.n_estimators) if self.fold(network) == fold]

    def assign_folds(self, rows: int) -> NDArray[np.int64]:
        """Return the fold of each row: parts of nearly the same size, at random."""
        return self.random(0, FOLDS).permutation(rows) % self.folds

    def kind(self, network: int) -> int:
        """Return which of `context_dims` a network has: networks of one kind leave out all folds in turn."""
        return network // max(self.folds, 1) % max(len(self.context_dims), 1)

    @property
    def needs_data(self) -> bool:
        """Whether networks depend on the first rows: their scale, or gates through them."""
        drawn = self.gating_bias == "data" or self.gating in ("tree", "pairs", "residual") or self.hinges > 0
        return bool(self.standardize) or drawn

    def random(self, network: int, purpose: int) -> np.random.Generator:
        """Return a network's own stream of random numbers."""
        return np.random.default_rng([self.seed, network, purpose])


def settings_from(values: dict[str, Any]) -> Settings:
    """Return the settings whose fields were kept as plain values.

    Files of older versions may have regressors below the networks, which there are no more.
    """
    values = dict(values)
    regressors, online = values.pop("regressors", 0), values.pop("online", False)
    if online or (regressors and not values["hinges"]):
        raise ValueError(
            "the file holds a model of an older version of ggln, with regressors below networks that take "
            "gradient steps: let a new model learn the rows"
        )
    tuples = {name: tuple(values[name]) for name in ("layer_sizes", "weight_range", "context_dims")}
    settings = Settings(**{**values, **tuples, "dtype": np.dtype(values["dtype"]).type})
    check_settings(settings)
    return settings


def bernoulli_settings(
    *,
    layer_sizes: tuple[int, ...],
    context_dim: int,
    features: int,
    outputs: int,
    seed: int,
    n_estimators: int = 1,
    gating: str = "sphere",
    gating_bias: float | str = "data",
    learning_rate: float = 0.2,
    step: str = "normalised",
    decay: float | None = None,
    weight_range: tuple[float, float] = (-200.0, 200.0),
    min_probability: float = 0.01,
    aggregation: str = "switching",
    standardize: bool = True,
    dtype: Any = constants.WEIGHT,
    context_dims: tuple[int, ...] = (),
    hinges: int = 0,
) -> Settings:
    """Return the settings of Bernoulli networks: one output for two classes, or one for each of several.

    Targets are 0 or 1. Features, standardised, are the logits of the base predictions. Probabilities are kept
    in [min_probability, 1 - min_probability]. The step is "ogd", or "normalised": the learning rate divided
    by a bound of the curvature. What concerns Gaussians only is filled in.
    """
    return Settings(
        layer_sizes=layer_sizes,
        context_dim=context_dim,
        n_estimators=n_estimators,
        gating=gating,
        gating_bias=gating_bias,
        base_model="logit",
        base_variance=1.0,
        bias_range=float(np.log1p(-min_probability) - np.log(min_probability)),
        bias_variance=1.0,
        learning_rate=learning_rate,
        step=step,
        projection="clip",
        barrier=0.0,
        weight_range=weight_range,
        min_variance=min_probability * (1.0 - min_probability),
        max_variance=1.0,
        aggregation=aggregation,
        covariance="isotropic",
        standardize="inputs" if standardize else False,
        features=features,
        outputs=outputs,
        seed=seed,
        dtype=dtype,
        context_dims=context_dims,
        family="bernoulli",
        decay=decay,
        hinges=hinges,
    )


def make_kind(settings: Settings) -> Any:
    """Choose the kind of neuron."""
    number, outputs = settings.dtype, settings.outputs
    if settings.family == "bernoulli":
        return Bernoulli(outputs, number(constants.BIAS_LOGIT))
    kind = Univariate if outputs == 1 else COVARIANCES[settings.covariance]
    return kind(outputs, number(settings.bias_range * outputs), number(1 / settings.bias_variance))


def make_rules(settings: Settings) -> Rules:
    """Choose the kinds of neuron and projection, and give all numbers the weights' type."""
    number = settings.dtype
    low, high = map(number, settings.weight_range)
    projections = {
        "clip": Clip(low, high),
        "exact": Exact(low, high),
        "log_barrier": LogBarrier(low, high, number(settings.barrier)),
    }
    limits = Limits(
        min_precision=number(1 / settings.max_variance),
        max_precision=number(1 / settings.min_variance),
        mean_range=number(settings.bias_range),
        min_sum=number(constants.MIN_PRECISION_SUM),
        rounding=number(constants.ROUNDING * np.finfo(number).eps),
        floor=number(constants.BARRIER_FLOOR),
        one=number(1),
        pace=number(constants.PRECISION_PACE),
    )
    rate = number(settings.learning_rate)
    steps = {
        "ogd": Step(rate, number(np.inf)),
        "capped": Step(rate, number(constants.STEP_CAP)),
        "normalised": Step(number(np.inf), rate),
        # the rate is a fraction of the longest step that is safe
        "split": Step(number(np.inf), rate, True),
    }
    return Rules(
        make_kind(settings),
        projections[settings.projection],
        limits,
        steps[settings.step],
    )


def make_base(settings: Settings) -> tuple[Any, int]:
    """Return the base model and how many Gaussians it provides."""
    limit, variance = settings.bias_range, settings.base_variance
    precision = None if variance is None else 1 / variance
    if settings.base_model == "none":
        return NoBase(limit), 0
    if settings.base_model == "logit":
        return LogitBase(limit), settings.columns
    size = settings.n_estimators, settings.features, settings.outputs
    if settings.base_model == "blr":
        return empty_linear_base(*size, limit, precision), settings.features
    if settings.base_model == "linear":
        return empty_joint_base(*size, limit, settings.min_variance, precision), settings.features + 1
    if settings.base_model == "coordinate":
        return CoordinateBase(limit, precision), settings.features
    if settings.base_model == "axes" and settings.outputs > 1:  # as far out as biases along the axes lie
        base = AxesBase(limit * settings.outputs, settings.features, settings.outputs, precision)
        return base, settings.features * settings.outputs
    return FeatureBase(limit, precision), settings.features


def draw_gates(
    settings: Settings,
    side: FloatArray,
    splits: Sequence[Splits] = (NO_SPLITS,),
    picked: Sequence[Gates] = (),
) -> Gates:
    """Draw every network's gates from its own random numbers, and join them.

    side: [n, columns], rows seen; splits: for gates from trees, of the networks in turn; picked: gates of
    each network that are there already.
    """
    sample, neurons = SAMPLERS[settings.gating], sum(settings.layer_sizes)
    numbers = (
        neurons * settings.context_dim * (settings.n_estimators * settings.columns + constants.GATE_ROWS)
    )
    memory.require(8 * numbers, "drawing the gates")
    step, first = max(1, side.shape[0] // constants.GATE_ROWS), settings.first_gated
    side = side[: step * constants.GATE_ROWS : step, first : settings.columns]
    shape = neurons, settings.context_dim, side, settings.gating_bias
    drawn = []
    for network in range(settings.n_estimators):
        random = settings.random(network, GATES)
        gates = picked[network] if picked else shift(sample(*shape, random), first)
        drawn.append(take_splits(gates, splits[network % len(splits)], random))
    for network, gates in enumerate(drawn):
        if settings.context_dims:  # gates that no row passes leave a network with fewer contexts
            gates.offsets[:, settings.context_dims[settings.kind(network)] :] = np.inf
    codes, normals = [], 0
    for gates in drawn:
        general = gates.codes >= settings.columns
        codes.append(np.where(general, gates.codes + normals, gates.codes).astype(np.int32))
        normals += gates.normals.shape[0]
    return Gates(
        np.concatenate(codes),
        np.concatenate([gates.offsets for gates in drawn]),
        np.concatenate([gates.normals for gates in drawn]),
    )


def build(settings: Settings, gates: Gates) -> Ensemble:
    """Return untrained networks with the given gates."""
    rules = make_rules(settings)
    base, inputs = make_base(settings)
    shape = make_shape(settings.layer_sizes, rules.kind, base, inputs, settings.bias_weight, settings.dtype)
    switching = settings.aggregation == "switching"
    return Ensemble(rules, shape, base, gates, settings.n_estimators, inputs, switching, settings.decay)
