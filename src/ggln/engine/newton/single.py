"""A row that comes alone: all that happens to it before the mixture, in three calls of compiled code.

Blocks of rows go the same way in `learner`, in smaller steps. So many calls from Python, and as many small
arrays, would take as long as the row itself.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.engine.jit import Specialized, exact_kernel
from ggln.engine.newton import bump_kernels
from ggln.engine.newton.bumps import Bumps
from ggln.engine.newton.network import Network
from ggln.engine.newton.neurons.protocol import put
from ggln.engine.newton.online import follow, make_scratch
from ggln.engine.pinned import Pinned, record_at
from ggln.engine.scaling import Scaler, hold_constants, standardize_rows

FloatArray = NDArray[np.float64]


class Reader(NamedTuple):
    """What a row of one output meets below networks: scalers, the regression on bumps, and its errors."""

    inputs: Any  # [3, d]  of the scaler
    targets: Any  # [3, 1]
    limits: Any  # [2]  of inputs and targets
    active: Any  # [2]  whether they are standardised
    chosen: Any  # features that the regression looks at
    gaps: Any  # of these, features whose absence it looks at
    learnt: Any  # bump_kernels.Learnt
    errors: Any  # [1, 2]  squares of the regression's errors, and the weight of rows
    least: Any  # variance


def make_reader(inputs: Scaler, targets: Scaler, bumps: Bumps, errors: FloatArray, least: float) -> Reader:
    """Return all that a row meets below networks."""
    return Reader(
        inputs.state,
        targets.state,
        np.array([inputs.limit, targets.limit]),
        np.array([inputs.active, targets.active]),
        bumps.chosen,
        bumps.gaps,
        bumps.learnt,
        errors,
        least,
    )


@exact_kernel
def pool_kinds(base, said, kinds):
    """Write what each kind says # OUT [n, R + groups, Q]: regressions, and groups of networks in turn.

    base: [n, R, Q]; said: [E, n, Q], by all networks. A group says the mean, summed up in their order.
    """
    (rows, models, planes), networks = base.shape, said.shape[0]
    groups = kinds.shape[1] - models
    for t in range(rows):
        for q in range(planes):
            for r in range(models):
                kinds[t, r, q] = base[t, r, q]
            for g in range(groups):
                value, count = said[g, t, q], 1
                for e in range(g + groups, networks, groups):
                    value += said[e, t, q]
                    count += 1
                kinds[t, models + g, q] = value / count


@exact_kernel
def read_rows(kind, readers, X, Y, weights, learning, side, goals, base):
    """Write standardised rows [n, d] and targets # OUT, and what the regression says # OUT [n, 1, 2].

    readers: a pinned `Reader`; Y: [n, 1], or empty if nothing is to be learnt.
    """
    reader, rows = record_at(readers, 0), X.shape[0]
    limits, active, learnt, errors = reader.limits, reader.active, reader.learnt, reader.errors
    means, unasked = np.empty((rows, 1)), np.empty((0, 0))
    found = np.empty((rows, reader.chosen.size + reader.gaps.size))
    hold_constants(reader.inputs, X, side)
    standardize_rows(reader.inputs, side, limits[0], active[0], False, side, unasked, unasked)
    bump_kernels.look_at(side, reader.chosen, reader.gaps, found)
    if learning:
        standardize_rows(reader.targets, Y, limits[1], active[1], False, goals, unasked, unasked)
        bump_kernels.follow(learnt, found, goals, weights, means)
    else:
        bump_kernels.predict_rows(learnt, found, means)
    for t in range(rows):
        variance = max(errors[0, 0] / errors[0, 1], reader.least)
        put(kind, 0, means[t, 0], 1.0 / variance, base[t, 0])
        if learning:
            errors[0, 0] += weights[t] * (means[t, 0] - goals[t, 0]) ** 2
            errors[0, 1] += weights[t]


class Alone:
    """Networks, and what is below them, for rows that come alone."""

    def __init__(self, kind: Any, networks: list[Network], groups: int, reader: Reader | None) -> None:
        self.kind, self.groups, self.count = kind, groups, len(networks)
        self.networks, self.firsts = Pinned(networks), networks[:groups]
        self.reader = None if reader is None else Pinned([reader])
        self._kernels = Specialized()
        self._scratch: dict[int, Pinned] = {}

    def _own_scratch(self) -> Pinned:
        """Return the calling thread's buffers: threads may predict side by side."""
        thread = threading.get_ident()
        if thread not in self._scratch:
            self._scratch[thread] = Pinned([make_scratch(network, self.kind) for network in self.firsts])
        return self._scratch[thread]

    def ask_networks(
        self, X: FloatArray, base: FloatArray, Y: FloatArray, weights: FloatArray, learning: bool
    ) -> FloatArray:
        """Return what each kind says of standardised rows [n, R + groups, Q]; the rest as in `follow`."""
        rows, models, planes = base.shape
        said, kinds = np.empty((self.count, rows, planes)), np.empty((rows, models + self.groups, planes))
        known = self.kind, self.networks, 0, self._own_scratch(), self.groups
        self._kernels.call(follow, (*known, X, base, Y, weights, learning, said))
        self._kernels.call(pool_kinds, (base, said, kinds))
        return kinds

    def ask(self, X: FloatArray, Y: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what each kind says of rows [n, 1 + groups, 2], and standardised targets [n, 1].

        With targets, which may be empty, rows are learnt.
        """
        assert self.reader is not None
        features = self.reader.records[0].inputs.shape[1]
        if X.shape[1] != features:  # others wait until a young stream is solved
            X = np.ascontiguousarray(X[:, :features])
        side, goals, base = np.empty(X.shape), np.empty(Y.shape), np.empty((len(X), 1, 2))
        lesson = weights, len(Y) > 0
        self._kernels.call(read_rows, (self.kind, self.reader, X, Y, *lesson, side, goals, base))
        return self.ask_networks(side, base, goals, *lesson), goals
