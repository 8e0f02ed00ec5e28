"""What networks learn from the rows of one partition: sums for contexts, and rows left out of solved ones.

All functions take the state of a partition, and a message with an entry for each network. The networks of a
group go through their layers together; each has a `Lesson` in the state.
"""

from typing import Any, NamedTuple

import numpy as np

from ggln.distributed import kernels
from ggln.distributed.rows import KIND, NOTHING, FloatArray, IntArray, Part, weighted
from ggln.engine.newton.contexts import Rows, make_work, order_by_context
from ggln.engine.newton.gates import Gates, contexts_of
from ggln.engine.newton.lanes import padded
from ggln.engine.newton.network import Network, fill_inputs, find_centres, pool_neurons, settle_rows
from ggln.engine.newton.online import ask

NOBODY = np.empty(0, np.int64)
ROOT = -1
"""The place of a neuron that all others of a layer begin with."""


class Lesson(NamedTuple):
    """A partition's rows as one network sees them, in the layer that it is at."""

    known: IntArray  # [k]  the rows that it learns
    judges: IntArray  # [j]  those among them by which shared gates are picked
    targets: FloatArray  # [k, 1]
    weights: FloatArray  # [k]
    residuals: FloatArray  # [k, 1]  of what is below
    below: FloatArray  # [k, K, Q]
    inputs: FloatArray = NOTHING  # [k, Q, M]
    centres: FloatArray = NOTHING  # [k, 1]
    reaches: FloatArray = NOTHING  # [k]
    root: FloatArray = NOTHING  # [k, Q]  what all rows together predict of each left out
    spread: FloatArray = NOTHING  # [k]  and how wide
    nodes: IntArray = NOBODY  # [G, k]  where rows are in gates that grow
    order: IntArray = NOBODY  # [K, k]  rows by contexts
    starts: IntArray = NOBODY  # [K, C + 1]
    above: FloatArray = NOTHING  # [K, k, Q]  what the contexts solved so far predict, in this order
    wide: FloatArray = NOTHING  # [K, k]
    left: FloatArray = NOTHING  # [K, k, Q]  what those of the latest level do
    widths: FloatArray = NOTHING  # [K, k]

    def ordered(self, place: int) -> Rows:
        """Return the rows in the order of a neuron's contexts."""
        if place == ROOT:
            return Rows(self.inputs, self.targets, self.weights)
        order = self.order[place]
        inputs = np.take(self.inputs, order, axis=0, mode="clip")
        return Rows(inputs, self.targets[order], self.weights[order])


class Contexts(NamedTuple):
    """Some contexts of a network's layer: nodes of its neurons' trees, sorted by neurons."""

    places: IntArray  # [B]  of the neuron in its layer, or ROOT
    firsts: IntArray  # [B]  the first leaf below
    lasts: IntArray  # [B]  and the one after the last

    def taken(self, chosen: Any) -> "Contexts":
        """Return some of them."""
        return Contexts(*(array[chosen] for array in self))

    def of(self, lesson: Lesson, place: int) -> tuple[slice, IntArray, IntArray]:
        """Return which contexts a neuron has, and where their rows start and stop."""
        own = slice(*np.searchsorted(self.places, [place, place + 1]))
        if place == ROOT:
            return own, np.zeros(1, np.int64), np.array([len(lesson.targets)])
        starts = lesson.starts[place]
        return own, starts[self.firsts[own]], starts[self.lasts[own]]


def changed(part: Part, lessons: list[Lesson]) -> Part:
    """Return a partition with other lessons."""
    return part._replace(lessons=tuple(lessons))


# Networks ----------------------------------------------------------------------------------------------


def begin(part: Part, message: list[tuple[int, float | None]]) -> Part:
    """Begin with a group of networks; for each: the fold that it leaves out, and what is below it.

    That is a constant, or None for the mean of the regressions.
    """
    found = []
    for fold, constant in message:
        known = np.flatnonzero(part.folds != fold)
        goals = np.ascontiguousarray(part.goals[known])
        before = part.left[known].mean(axis=1) if constant is None else constant
        below = np.empty((known.size, 0, KIND.planes))
        found.append(Lesson(known, NOBODY, goals, part.weights[known], goals - before, below))
    return changed(part, found)


def describe(part: Part, _: None) -> list[list[Any]]:
    """Return for each network how many rows there are, and the range of their targets."""
    ends = [(own.targets.min(initial=np.inf), own.targets.max(initial=-np.inf)) for own in part.lessons]
    return [[len(own.targets), *pair] for own, pair in zip(part.lessons, ends, strict=True)]


def appoint(part: Part, message: list[tuple[IntArray, int]]) -> Part:
    """Choose the rows that judge shared gates: rows before each partition, and the stride."""
    found = []
    for own, (firsts, stride) in zip(part.lessons, message, strict=True):
        numbers = np.arange(len(own.targets)) + firsts[part.number]
        found.append(own._replace(judges=np.flatnonzero(numbers % stride == 0)))
    return changed(part, found)


def show_judges(part: Part, _: None) -> list[list[FloatArray]]:
    """Return features and weights of the rows that judge."""
    return [[part.side[own.known[own.judges]], own.weights[own.judges]] for own in part.lessons]


def show_residuals(part: Part, _: None) -> list[FloatArray]:
    """Return their residuals."""
    return [own.residuals[own.judges] for own in part.lessons]


def add_moments(part: Part, _: None) -> list[list[Any]]:
    """Return for each network what residuals, and their correlations with features, are made of."""
    found = []
    for own in part.lessons:
        values = np.hstack([own.residuals, np.abs(own.residuals)])
        X = part.side[own.known]
        missing = np.isnan(X)
        columns = np.hstack([np.where(missing, 0.0, X), missing])
        squares = weighted(own.weights, own.residuals**2), own.weights.sum()
        sums = columns.sum(axis=0), (columns**2).sum(axis=0), values.sum(axis=0), (values**2).sum(axis=0)
        products = np.stack([weighted(value, columns) for value in values.T], axis=1)
        found.append([*squares, *sums, products])
    return found


def begin_layer(part: Part, message: tuple[int, list[Network]]) -> Part:
    """Write the inputs of a layer, and around which means it stays."""
    layer, networks = message
    found = []
    for own, network in zip(part.lessons, networks, strict=True):
        rows, count = len(own.targets), padded(int(network.inputs[layer]))
        inputs, X = np.zeros((rows, KIND.planes, count)), part.side[own.known]
        fill_inputs(KIND, network, layer, X, part.base[own.known], own.below, inputs)
        centres, reaches = np.empty((rows, 1)), np.empty(rows)
        find_centres(KIND, network, layer, inputs, centres, reaches)
        found.append(own._replace(below=own.below[:, :0], inputs=inputs, centres=centres, reaches=reaches))
    return changed(part, found)


def sort_rows(part: Part, message: list[Gates]) -> Part:
    """Sort rows by the contexts of each neuron."""
    found = []
    for own, gates in zip(part.lessons, message, strict=True):
        neurons, rows, X = len(gates.grown), len(own.targets), part.side[own.known]
        contexts, starts = np.empty(rows, np.int64), np.empty((neurons, gates.records.shape[1] + 2), np.int64)
        order = np.empty((neurons, rows), np.int64)
        for place in range(neurons):
            contexts_of(gates, place, X, contexts)
            order_by_context(contexts, starts[place], order[place])
        above, wide = own.root[order], own.spread[order]
        found.append(own._replace(nodes=NOBODY, order=order, starts=starts, above=above, wide=wide))
    return changed(part, found)


def count_contexts(part: Part, _: None) -> list[list[FloatArray]]:
    """Return how many rows each context of each neuron has, and their weight: [K, C] each."""
    found = []
    for own in part.lessons:
        weights = np.zeros((len(own.starts), own.starts.shape[1] - 1))
        for place, order in enumerate(own.order):
            weights[place] = _by_context(own.weights[order], own.starts[place])
        found.append([np.diff(own.starts, axis=1), weights])
    return found


def _by_context(values: FloatArray, starts: IntArray) -> FloatArray:
    """Return the sums of values [k], in the order of contexts, of each context."""
    contexts = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    return np.bincount(contexts, values, starts.size - 1).astype(np.float64)


def add_losses(part: Part, message: list[tuple[Contexts, int, FloatArray, FloatArray] | None]) -> list[Any]:
    """Return losses, gradients and Hessians of contexts, for each network that asks.

    message: contexts, their inputs, where rows have to be a density, and where the sums are taken.
    """
    return [None if asked is None else _losses(own, *asked) for own, asked in _pairs(part, message)]


def _pairs(part: Part, message: list[Any]) -> list[tuple[Lesson, Any]]:
    return list(zip(part.lessons, message, strict=True))


def _losses(
    lesson: Lesson, contexts: Contexts, size: int, centres: FloatArray, trials: FloatArray
) -> list[FloatArray]:
    count = len(contexts.places)
    values, gradients = np.zeros(count), np.zeros((count, size))
    hessians = np.zeros((count, size * (size + 1) // 2))
    work = make_work(len(lesson.targets), KIND.planes, size)
    for place in np.unique(contexts.places):
        own, starts, stops = contexts.of(lesson, place)
        given = lesson.ordered(place), starts, stops, centres[own], trials[own], np.zeros(size), work
        kernels.add_losses(KIND, *given, values[own], gradients[own], hessians[own])
    return [values, gradients, hessians]


Solved = tuple[Contexts, int, FloatArray, FloatArray, FloatArray, bool]


def leave_out(part: Part, message: list[Solved | None]) -> Part:
    """Write what solved contexts predict of their rows left out, for each network that asks.

    message: contexts, their inputs, where rows have to be a density, weights, inverses of Hessians, and
    whether that is what the neurons predict: nothing is mixed.
    """
    return changed(
        part, [own if asked is None else _left_out(own, *asked) for own, asked in _pairs(part, message)]
    )


def _left_out(
    lesson: Lesson,
    contexts: Contexts,
    size: int,
    centres: FloatArray,
    weights: FloatArray,
    inverses: FloatArray,
    final: bool,
) -> Lesson:
    rows, neurons = len(lesson.targets), len(lesson.order)
    work = make_work(rows, KIND.planes, size)
    left, widths = np.zeros((neurons or 1, rows, KIND.planes)), np.ones((neurons or 1, rows))
    before = (lesson.above, lesson.wide) if final else (lesson.left, lesson.widths)
    if neurons and before[0].size:  # the others of this level may be left out already
        left, widths = before[0].copy(), before[1].copy()
    for place in np.unique(contexts.places):
        own, starts, stops = contexts.of(lesson, place)
        given = lesson.ordered(place), starts, stops, centres[own], weights[own], inverses[own], size, work
        kernels.leave_contexts(KIND, *given, left[place], widths[place])
    if not neurons:
        return lesson._replace(root=left[0], spread=widths[0])
    return lesson._replace(above=left, wide=widths) if final else lesson._replace(left=left, widths=widths)


def add_gains(part: Part, message: list[Contexts | None]) -> list[Any]:
    """Return by how much contexts of the latest level are better than their parents."""
    return [None if asked is None else _gains(own, asked) for own, asked in _pairs(part, message)]


def _gains(lesson: Lesson, contexts: Contexts) -> FloatArray:
    gains = np.zeros(len(contexts.places))
    for place in np.unique(contexts.places):
        own, starts, stops = contexts.of(lesson, place)
        said = (array[place] for array in (lesson.above, lesson.wide, lesson.left, lesson.widths))
        kernels.add_gains(KIND, lesson.ordered(place), starts, stops, *said, gains[own])
    return gains


def mix(part: Part, message: list[tuple[Contexts, FloatArray] | None]) -> Part:
    """Mix what contexts of the latest level predict with what their parents do, by shares."""
    return changed(
        part, [own if asked is None else _mixed(own, *asked) for own, asked in _pairs(part, message)]
    )


def _mixed(lesson: Lesson, contexts: Contexts, shares: FloatArray) -> Lesson:
    above, wide = lesson.above.copy(), lesson.wide.copy()
    for place in np.unique(contexts.places):
        own, starts, stops = contexts.of(lesson, place)
        for start, stop, share in zip(starts, stops, shares[own], strict=True):
            rows = place, slice(start, stop)
            above[rows] += share * (lesson.left[rows] - above[rows])
            wide[rows] += share * (lesson.widths[rows] - wide[rows])
    return lesson._replace(above=above, wide=wide, left=NOTHING, widths=NOTHING)


def add_widths(part: Part, _: None) -> list[FloatArray]:
    """Return the weighted widths of all contexts, [K, C]."""
    found = []
    for own in part.lessons:
        widths = np.zeros((len(own.starts), own.starts.shape[1] - 1))
        for place, order in enumerate(own.order):
            widths[place] = _by_context(own.weights[order] * own.wide[place], own.starts[place])
        found.append(widths)
    return found


def end_layer(part: Part, message: list[tuple[FloatArray, FloatArray]]) -> Part:
    """Write what a layer predicts of each row left out, and its residuals: below the next layer.

    message: the mean width of each context [K, C], and the range of precisions.
    """
    found = []
    for own, (spreads, limits) in zip(part.lessons, message, strict=True):
        rows, neurons = len(own.targets), len(spreads)
        below, means = np.empty((rows, neurons, KIND.planes)), np.empty((rows, 1))
        for place in range(neurons):
            wide = np.repeat(spreads[place], np.diff(own.starts[place]))
            given = own.above[place], wide, own.order[place], own.centres, own.reaches, limits
            settle_rows(KIND, *given, below, place)
        pool_neurons(KIND, below, np.empty((rows, KIND.planes)), means)
        found.append(Lesson(own.known, own.judges, own.targets, own.weights, own.targets - means, below))
    return changed(part, found)


def tell(part: Part, message: list[tuple[Network, int, int]]) -> Part:
    """Let networks say something of the rows that they have left out, and end their lessons.

    message: networks, their groups, and how many groups there are.
    """
    groups = message[0][2]
    said = part.said if part.said.size else np.zeros((groups, len(part.goals), KIND.planes))
    heard = part.heard if part.heard.size else np.zeros((groups, len(part.goals)))
    said, heard = said.copy(), heard.copy()
    for own, (network, group, _) in zip(part.lessons, message, strict=True):
        out = np.setdiff1d(np.arange(len(part.goals)), own.known, assume_unique=True)
        rows = part.side[out], part.base[out], np.ascontiguousarray(part.goals[out]), part.weights[out]
        said[group, out] += ask(KIND, network, *rows)
        heard[group, out] += 1.0
    return part._replace(lessons=(), said=said, heard=heard)
