"""From settings to an ensemble of networks: choosing kinds, drawing gates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.core import constants, memory
from ggln.core.base_models import CoordinateBase, FeatureBase, NoBase, empty_linear_base
from ggln.core.diagonal import Diagonal
from ggln.core.ensemble import Ensemble
from ggln.core.full import Full
from ggln.core.gating import NO_SPLITS, SAMPLERS, Gates, Splits, take_splits
from ggln.core.isotropic import Isotropic
from ggln.core.network import Rules, make_shape
from ggln.core.neuron import Limits, Step
from ggln.core.projection import Clip, Exact, LogBarrier
from ggln.core.univariate import Univariate

FloatArray = NDArray[np.float64]
COVARIANCES = {"isotropic": Isotropic, "diagonal": Diagonal, "full": Full}
BASE_MODELS = ("none", "feature", "coordinate", "blr")
GATES, ORDER, FOLDS = 0, 1, 2  # streams of random numbers: for drawing gates, shuffling rows, cutting folds


@dataclass(frozen=True)
class Settings:
    """Everything that decides what a network is, and how it learns. `GGLNRegressor` documents each."""

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
    regressors: int = 0  # whose predictions are base inputs, beside the features
    bias_weight: float = 1.0  # initial weight of isotropic biases, as a multiple of the other inputs'

    @property
    def columns(self) -> int:
        """Columns of the side information: the features, and what each regressor predicts of each output."""
        return self.features + self.regressors * self.outputs

    def fold(self, network: int) -> int:
        """Return the fold that a network leaves out."""
        return network % self.folds

    def assign_folds(self, rows: int) -> NDArray[np.int64]:
        """Return the fold of each row: parts of nearly the same size, at random."""
        return self.random(0, FOLDS).permutation(rows) % self.folds

    def kind(self, network: int) -> int:
        """Return which of `context_dims` a network has: networks of one kind leave out all folds in turn."""
        return network // max(self.folds, 1) % max(len(self.context_dims), 1)

    @property
    def needs_data(self) -> bool:
        """Whether networks depend on the first rows: their scale, or gates through them."""
        return bool(self.standardize) or self.gating_bias == "data" or self.gating == "tree"

    def random(self, network: int, purpose: int) -> np.random.Generator:
        """Return a network's own stream of random numbers."""
        return np.random.default_rng([self.seed, network, purpose])


def make_rules(settings: Settings) -> Rules:
    """Choose the kinds of neuron and projection, and give all numbers the weights' type."""
    number = settings.dtype
    low, high = map(number, settings.weight_range)
    projections = {
        "clip": Clip(low, high),
        "exact": Exact(low, high),
        "log_barrier": LogBarrier(low, high, number(settings.barrier)),
    }
    outputs = settings.outputs
    kind = Univariate if outputs == 1 else COVARIANCES[settings.covariance]
    biases = number(settings.bias_range * outputs), number(1 / settings.bias_variance)
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
    steps = {
        "ogd": Step(number(settings.learning_rate), number(np.inf)),
        "capped": Step(number(settings.learning_rate), number(constants.STEP_CAP)),
        # the rate is a fraction of the longest step that is safe
        "split": Step(number(np.inf), number(settings.learning_rate), True),
    }
    return Rules(
        kind(outputs, *biases),
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
    if settings.base_model == "blr":
        networks, features, outputs = settings.n_estimators, settings.features, settings.outputs
        return empty_linear_base(networks, features, outputs, limit, precision), features
    if settings.base_model == "coordinate":
        return CoordinateBase(limit, precision), settings.features
    inputs = settings.features + settings.regressors
    return FeatureBase(limit, settings.features, np.full(inputs, precision)), inputs


def draw_gates(settings: Settings, side: FloatArray, splits: Sequence[Splits] = (NO_SPLITS,)) -> Gates:
    """Draw every network's gates from its own random numbers, and join them.

    side: [n, columns], rows seen; splits: for gates from trees, of the networks in turn.
    """
    sample, neurons = SAMPLERS[settings.gating], sum(settings.layer_sizes)
    numbers = (
        neurons * settings.context_dim * (settings.n_estimators * settings.columns + constants.GATE_ROWS)
    )
    memory.require(8 * numbers, "drawing the gates")
    step = max(1, side.shape[0] // constants.GATE_ROWS)
    side = side[: step * constants.GATE_ROWS : step]
    shape = neurons, settings.context_dim, side, settings.gating_bias
    drawn = []
    for network in range(settings.n_estimators):
        random = settings.random(network, GATES)
        drawn.append(take_splits(sample(*shape, random), splits[network % len(splits)], random))
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
    return Ensemble(rules, shape, base, gates, settings.n_estimators, inputs, switching)
