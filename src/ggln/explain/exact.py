"""Explanations of networks that were solved."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton import inspect
from ggln.engine.newton.inspect import View
from ggln.engine.newton.learner import ExactLearner
from ggln.engine.newton.network import Network
from ggln.engine.threads import Threads
from ggln.explain.contributions import Explanation
from ggln.explain.effects import grouped
from ggln.explain.gates import ActiveGates
from ggln.explain.shapley import contributions

FloatArray = NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]


class ExactInspector:
    """What can be said of a learner that solves: one for all outputs, or one for each of them."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        parts = getattr(learner, "learners", [learner])
        self.parts: list[ExactLearner] = [getattr(part, "leader", part) for part in parts]

    def typical(self) -> FloatArray | None:
        """Return rows that the model keeps, ordered by what it predicts of them; None if it keeps none."""
        return inspect.kept_rows(self.parts[0])

    def explain(
        self,
        rows: FloatArray,
        features: list[str],
        groups: Mapping[str, Sequence[str]],
        background: FloatArray | None,
        count: int,
        threads: Threads,
    ) -> Explanation:
        """Return contributions of groups of features against the background, by default the rows kept."""
        given = self.typical() if background is None else background
        if given is None:  # all rows' mean stands for them
            given = self.parts[0].inputs.shift_and_scale()[0][None]
        if len(given) > count:
            given = given[((np.arange(count) + 0.5) / count * len(given)).astype(np.int64)]

        def mean(at: FloatArray) -> FloatArray:
            found: FloatArray = self.learner.moments(np.ascontiguousarray(at), threads)[0]
            return found

        names, places = grouped(features, groups)
        found, start = contributions(mean, rows, given, places)
        if start.size == 1:
            return Explanation(names, found[..., 0], None, float(start[0]), 0)
        return Explanation(names, found, None, start, 0)

    def slopes(self, rows: FloatArray) -> FloatArray:
        """Return derivatives [n, features, D]."""
        return np.concatenate([inspect.slopes(part, rows) for part in self.parts], axis=2)

    def view(self, rows: FloatArray) -> list[View]:
        """Return rows as networks see them."""
        return [inspect.look(part, rows) for part in self.parts]

    def mean(self, values: list[View], gates: list[View], threads: Threads) -> FloatArray:
        """Return predicted means [n, D] of some rows' values with other rows' gates."""
        pairs = zip(self.parts, values, gates, strict=True)
        return np.hstack([inspect.mean(part, own, other.side, threads) for part, own, other in pairs])

    def contexts(self, rows: FloatArray) -> NDArray[np.int32]:
        """Return contexts [n, networks, neurons], bit i of gate i; networks of all outputs in turn."""
        found = []
        for part in self.parts:
            side = part.inputs.transform(rows)
            for network in part.networks:
                inside = inspect.paths(network, side).inside
                found.append(inside @ (1 << np.arange(inside.shape[2])))
        shape = len(rows), len(found), sum(self.parts[0].settings.layer_sizes)
        return np.reshape(np.stack(found, axis=1) if found else [], shape).astype(np.int32)

    def active_gates(self, row: FloatArray, names: list[str]) -> ActiveGates:
        """Return the gates that a row [1, d] meets in all neurons, and the sides on which it lies."""
        sizes = self.parts[0].settings.layer_sizes
        layer_of = np.repeat(np.arange(len(sizes)), sizes)
        place_of = np.concatenate([np.arange(size) for size in sizes])
        every = [_half_spaces(part, network, row) for part in self.parts for network in part.networks]
        if not every:
            every = [
                MetHalfSpaces(
                    layer_of[:0], np.empty((0, row.shape[1])), np.empty(0), *np.empty((2, 0), np.bool_)
                )
            ]
        neuron, normals, offsets, inside, grown = (np.concatenate(part) for part in zip(*every, strict=True))
        return ActiveGates(
            names,
            np.repeat(np.arange(len(every)), [own.neuron.size for own in every]),
            layer_of[neuron],
            place_of[neuron],
            normals,
            offsets,
            np.where((normals != 0.0) @ np.isnan(row[0]), np.nan, normals @ np.nan_to_num(row[0])),
            inside,
            _bounds(normals, offsets, inside, np.isnan(row[0])),
            grown,
        )

    def neurons(self, rows: FloatArray, threads: Threads) -> list[Pair]:  # noqa: ARG002
        """Return every neuron's mean and variance [n, neurons, D], layer by layer."""
        parts = [inspect.neurons(part, rows) for part in self.parts]
        return [
            (np.concatenate([mean for mean, _ in own], 2), np.concatenate([wide for _, wide in own], 2))
            for own in zip(*parts, strict=True)
        ]


class MetHalfSpaces(NamedTuple):
    """The gates of one network that a row meets, in the user's units."""

    neuron: NDArray[np.intp]  # [g]
    normals: FloatArray  # [g, d]
    offsets: FloatArray  # [g]
    inside: NDArray[np.bool_]  # [g]  whether a row is
    grown: NDArray[np.bool_]  # [g]  whether it is a node of a tree


def _half_spaces(learner: ExactLearner, network: Network, row: FloatArray) -> MetHalfSpaces:
    """Return the gates of a network that a row [1, d] meets, and where it is."""
    gates = network.gates
    features, weights, offsets = gates.features, gates.weights, gates.offsets
    met, inside = (array[0] for array in inspect.paths(network, learner.inputs.transform(row)))
    every = np.arange(len(met))[:, None]
    # others no row passes, or they ask nothing but whether there is a value
    neurons, levels = np.nonzero(np.isfinite(offsets[every, met]))
    places = met[neurons, levels]
    shift, scale = learner.inputs.shift_and_scale()
    normals = np.zeros((neurons.size, row.shape[1]))
    np.add.at(
        normals, (np.arange(neurons.size)[:, None], features[neurons, places]), weights[neurons, places]
    )
    normals /= scale
    thresholds = offsets[neurons, places] + normals @ shift
    # a single feature keeps the weight 1, so that its offset is a threshold
    single = (np.count_nonzero(normals, axis=1) == 1) & (normals.sum(axis=1) > 0.0)
    size = np.where(single, normals.sum(axis=1), 1.0)
    trees = gates.grown[neurons] == 1
    return MetHalfSpaces(neurons, normals / size[:, None], thresholds / size, inside[neurons, levels], trees)


def _bounds(
    normals: FloatArray, offsets: FloatArray, inside: NDArray[np.bool_], missing: NDArray[np.bool_]
) -> FloatArray:
    """Return for each column the nearest thresholds below and above of gates on it alone, if it is there."""
    bounds = np.tile([-np.inf, np.inf], (normals.shape[1], 1))
    gates = np.flatnonzero((np.count_nonzero(normals, axis=1) == 1) & ~((normals != 0.0) @ missing))
    columns = np.argmax(normals[gates] != 0.0, axis=1)
    weights = normals[gates, columns]
    thresholds, above = offsets[gates] / weights, inside[gates] == (weights > 0.0)
    np.maximum.at(bounds[:, 0], columns[above], thresholds[above])
    np.minimum.at(bounds[:, 1], columns[~above], thresholds[~above])
    return bounds
