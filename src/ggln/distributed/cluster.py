"""Partitions on the workers of a Dask cluster.

States are futures, each made of the one before it and of a message: while somebody holds the latest ones,
Dask knows how to make them again, from the rows on, if a worker dies. A message is a task of its own: it is
sent once, and workers fetch it from each other.
"""

import pickle
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ggln.distributed.partitions import FAN_IN, Partitions, added, owned
from ggln.extras import require


def unpacked(payload: bytes) -> Any:
    """Return what was sent."""
    return pickle.loads(payload)  # what our own client has packed


def send(client: Any, value: Any, name: str) -> Any:
    """Return a future of something that the scheduler keeps packed: no worker has to live for it."""
    with quiet():
        return client.submit(unpacked, pickle.dumps(value, protocol=5), key=f"ggln-{name}-{uuid.uuid4().hex}")


@contextmanager
def quiet() -> Iterator[None]:
    """Let messages be large: Dask warns of graphs beyond 10 MB, which mostly hold data by mistake."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield


def perform(state: Any, function: Callable[[Any, Any], Any], message: Any) -> Any:
    """Do something with the state of a partition, on its worker."""
    return function(owned(state), owned(message))


class OnCluster(Partitions):
    """Partitions on workers; every partition stays where its rows are, as long as that worker lives."""

    def __init__(self, client: Any, states: list[Any]) -> None:
        super().__init__(len(states))
        self.client, self.states = client, states
        self._homes: dict[str | None, list[int]] = {}
        self._token, self._tasks = uuid.uuid4().hex, 0

    def settle(self) -> None:
        """Wait for all partitions, and note where they are."""
        distributed: Any = require("distributed", "DaskGGLNRegressor")
        distributed.wait(self.states)
        homes = self.client.who_has(self.states)
        for index, state in enumerate(self.states):
            holders = sorted(homes.get(state.key, ()))
            self._homes.setdefault(holders[0] if holders else None, []).append(index)

    def _map(self, function: Callable[[Any, Any], Any], message: Any) -> list[Any]:
        """Return futures of function(state, message) for all partitions, each on its own worker."""
        sent = None if message is None else send(self.client, message, "message")
        found: list[Any] = [None] * self.count
        for home, own in self._homes.items():
            keys = [self._key(function.__name__, index) for index in own]
            given = [self.states[i] for i in own], [function] * len(own), [sent] * len(own)
            where = {} if home is None else {"workers": [home], "allow_other_workers": True}
            futures = self.client.map(perform, *given, key=keys, pure=False, **where)
            for index, future in zip(own, futures, strict=True):
                found[index] = future
        return found

    def _key(self, name: str, index: int) -> str:
        self._tasks += 1
        return f"ggln-{name}-{self._token}-{self._tasks}-{index}"

    def _advance(self, step: Callable[[Any, Any], Any], message: Any) -> None:
        self.states = self._map(step, message)

    def _total(self, measure: Callable[[Any, Any], Any], message: Any) -> Any:
        found = self._map(measure, message)
        while len(found) > 1:
            groups = [found[first : first + FAN_IN] for first in range(0, len(found), FAN_IN)]
            found = [
                self.client.submit(added, group, key=self._key("added", i), pure=False)
                for i, group in enumerate(groups)
            ]
        return owned(found[0].result())

    def _each(self, look: Callable[[Any, Any], Any], message: Any) -> list[Any]:
        return [owned(one) for one in self.client.gather(self._map(look, message))]
