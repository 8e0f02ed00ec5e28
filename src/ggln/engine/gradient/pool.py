"""The rows of weights of all neurons: where they lie, and how their memory grows.

A row exists from the first visit to its context on. All rows lie in one array, which grows by half when it
is full; what is not used of it stays zero pages, which cost nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine import constants, memory
from ggln.engine.gradient.network import FIRST, LENGTH, SIZE, Shape, claim_rows

Slots = NDArray[np.int32]
Positions = NDArray[np.intp]


class Pool:
    """Rows of weights of some networks of one shape, in slots of `constants.LANES` numbers.

    Parameters
    ----------
    shape
        The layers of each network.
    networks
        How many networks; their neurons are numbered through.
    context_dim
        Half-spaces of a neuron: it has 2 ** context_dim contexts, each with a row of its own.
    """

    def __init__(self, shape: Shape, networks: int, context_dim: int) -> None:
        self.shape, self.context_dim = shape, context_dim
        self.neurons = int(shape.table[:, SIZE].sum())  # of one network
        self.lengths: NDArray[np.int64] = shape.table[:, LENGTH] // constants.LANES  # of a row of each layer
        self.slots_per_visit = networks * int((self.lengths * shape.table[:, SIZE]).sum())
        memory.require(4 * networks * self.neurons * 2**context_dim, "the index of contexts")
        self.index = np.zeros((networks * self.neurons, 2**context_dim), constants.SLOT)
        self.used = int(self.lengths.max())  # slot 0 is the row of zeros that all unvisited contexts share
        self.numbers = memory.aligned_zeros(self.used * constants.LANES, shape.priors.dtype)

    def require(self, slots: int) -> None:
        """Raise MemoryError if so many slots need more memory than there is."""
        more = slots * constants.LANES - self.numbers.size
        purpose = f"a context_dim of {self.context_dim} with these layers"
        memory.require(more * self.numbers.itemsize, purpose)

    def reserve(self, slots: int) -> None:
        """Make room for so many slots."""
        if slots * constants.LANES > self.numbers.size:
            size = max(slots * constants.LANES, self.numbers.size * 3 // 2)
            grown = memory.aligned_zeros(size, self.numbers.dtype)
            grown[: self.numbers.size] = self.numbers
            self.numbers = grown

    def claim(self, found: list[tuple[Slots, int]]) -> None:
        """Turn contexts into slots # OUT, of networks whose first neurons' numbers are beside them.

        Contexts without a row get one.
        """
        before = self.used
        for some, first in found:
            self.used = int(claim_rows(self.index, some, first, self.shape, self.used))
        try:
            self.require(self.used)
            self.reserve(self.used)
        except MemoryError:
            self.index[self.index >= before] = 0
            self.used = before
            raise

    def layers_of(self, neurons: NDArray[Any]) -> Positions:
        """Return the layers of neurons, which are numbered through all networks."""
        sizes = self.shape.table[:, SIZE]
        layers: Positions = np.repeat(np.arange(sizes.size), sizes)[neurons % self.neurons]
        return layers

    def visited(self) -> tuple[Positions, Positions, list[Positions]]:
        """Return the neurons and contexts that have a row of weights, in order, and for each layer its rows.

        The rows of a layer are positions [rows, length] of its numbers.
        """
        neurons, visited_contexts = np.nonzero(self.index)
        layers = self.layers_of(neurons)
        starts = self.index[neurons, visited_contexts].astype(np.intp) * constants.LANES
        lengths = self.lengths * constants.LANES
        places = [starts[layers == i, None] + np.arange(length) for i, length in enumerate(lengths)]
        return neurons, visited_contexts, places

    def places(self, slots: Slots, layer: int, within: NDArray[Any]) -> Positions:
        """Return positions [n, neurons, some] of numbers `within` the rows that a layer's neurons select.

        slots: [neurons of a network, n].
        """
        first, size = self.shape.table[layer, [FIRST, SIZE]]
        starts = slots[first : first + size].T[..., None].astype(np.intp) * constants.LANES
        positions: Positions = starts + within
        return positions

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the rows, wherever they lie."""
        neurons, visited_contexts, places = self.visited()
        arrays: dict[str, NDArray[Any]] = {
            "rows.neuron": neurons.astype(np.int32),
            "rows.context": visited_contexts.astype(np.int32),
        }
        return arrays | {f"weights.{i}": self.numbers[place] for i, place in enumerate(places)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over the rows of a state; there are none yet."""
        neurons, visited_contexts = arrays["rows.neuron"], arrays["rows.context"]
        lengths = self.lengths[self.layers_of(neurons)]
        starts = self.used + np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.index[neurons, visited_contexts] = starts[:-1]
        self.used = int(starts[-1])
        self.reserve(self.used)
        for i, place in enumerate(self.visited()[2]):
            self.numbers[place] = arrays[f"weights.{i}"]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the unused room."""
        return {**vars(self), "numbers": self.numbers[: self.used * constants.LANES].copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle, also from memory that cannot be written to: kernels are compiled for arrays that can."""
        vars(self).update({name: memory.writeable(value) for name, value in state.items()})
