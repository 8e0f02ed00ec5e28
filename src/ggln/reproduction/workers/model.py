"""How long a fit takes on some workers: what they compute, what travels, and how often the client waits.

Assumptions. Partitions are as long as each other, and each worker has as many. All workers are as fast as
the one that was measured, and their time grows with their rows alone. A link has one rate in either direction
and is shared by nothing else. A message goes from the client to a worker, then from those that have it to
those that do not, twice as many each time. A sum is added as `partitions` says: of eight neighbours, one
worker fetches those that are elsewhere, one after the other. Nothing is computed while something travels.
"""

import math
from typing import NamedTuple

from ggln.distributed.partitions import FAN_IN
from ggln.reproduction.shared.record import Results

HERE, FAST, SLOW = "this machine", "10 Gbit/s", "1 Gbit/s"


class Network(NamedTuple):
    """What lies between workers."""

    rate: float  # bytes a second, beside the time that they take on this machine: packing and unpacking
    delay: float = 0.0  # seconds that each round takes longer than on this machine


NETWORKS = {HERE: Network(math.inf), FAST: Network(1.25e9, 0.0005), SLOW: Network(1.25e8, 0.0005)}


class Costs(NamedTuple):
    """What a fit costs, counted on one worker."""

    work: float  # seconds that workers compute, all together
    client: float  # and the client
    rounds: int  # answers that the client waits for
    messages: int  # bytes, to each worker
    sums: int  # bytes of each partition
    singles: int  # bytes of single rows, of all partitions
    partitions: int
    wait: float  # seconds of a round with nothing to do
    wait_each: float  # and for each partition
    rate: float  # bytes a second on this machine

    @classmethod
    def of(cls, one: Results, rounds: Results, partitions: int) -> "Costs":
        """Return the costs of a fit on one worker."""
        return cls(
            work=sum(one["work"]),
            client=one["client"],
            rounds=one["rounds"],
            messages=one["messages"],
            sums=one["sums"],
            singles=one["singles"],
            partitions=partitions,
            wait=rounds["seconds"],
            wait_each=rounds["seconds_each"],
            rate=rounds["rate"],
        )


def seconds_of(costs: Costs, workers: int, network: Network, times: int = 1) -> Results:
    """Return the seconds of a fit by what they are spent on, with `times` as many rows.

    A table that is cut into fewer partitions than there are workers is cut into one for each.
    """
    partitions = max(costs.partitions, workers)
    share = math.ceil(partitions / workers) / partitions  # of the rows, on the worker that has most
    found = {
        "work": costs.work * share * times,
        "client": costs.client,
        "waiting": costs.rounds * (costs.wait + costs.wait_each * partitions + network.delay),
        "traffic": _bytes(costs, workers, partitions) * (1.0 / costs.rate + 1.0 / network.rate),
    }
    return {"seconds": sum(found.values()), **found}


def _bytes(costs: Costs, workers: int, partitions: int) -> float:
    """Return the bytes that pass one after the other."""
    messages = costs.messages * (1 + math.ceil(math.log2(workers)))
    fetched, left = 0.0, partitions
    while left > 1:
        fetched += (min(left, FAN_IN) - 1) * (1.0 - 1.0 / workers)
        left = math.ceil(left / FAN_IN)
    return messages + costs.sums * (fetched + 1.0) + costs.singles
