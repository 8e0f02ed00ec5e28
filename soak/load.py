"""Clients that keep on asking and telling, whatever happens to the server, and note what was acknowledged."""

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ggln.service import Client, ServiceError
from soak.models import MODELS, class_of, reward_of, row_of, target_of
from soak.pulse import Pulse

PATIENCE = 900.0
"""Seconds that a client waits for a server that is restarted: longer than a machine may be stopped."""
PAUSE = 0.02
"""Seconds until a client tries again where the disk was full."""
BATCH = 5


class Patient(Client):
    """A client that notes how long servers keep it waiting: until they answer, or are killed."""

    def __init__(self, load: "Load") -> None:
        super().__init__(load.url, patience=PATIENCE)
        self.load = load

    def _try(self, *call: Any) -> tuple[int, bytes]:
        begin = self.load.pulse.now()
        try:
            return super()._try(*call)
        finally:
            self.load.longest_try = max(self.load.longest_try, self.load.pulse.now() - begin)


class Load:
    """Several clients at once.

    told: what was acknowledged, by model; each entry is an event id, or the target of rows without one.
    """

    def __init__(self, url: str, seed: int, clients: int) -> None:
        self.url, self.seed = url, seed
        self.numbers: Iterator[int] = itertools.count()
        self.told: dict[str, list[Any]] = {name: [] for name in MODELS}
        self.errors: list[BaseException] = []
        self.refused = 0  # calls that found a disk full, and changed nothing
        self.done = 0  # rounds of calls that were answered
        self.longest, self.longest_try = 0.0, 0.0  # seconds of rounds, and of tries: for one server each
        self.pulse = Pulse()
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._work, args=(i,)) for i in range(clients)]

    def start(self) -> None:
        """Make the models, and begin."""
        with Client(self.url, patience=PATIENCE) as client:
            for name, body in MODELS.items():
                client.create(name, **body)
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        """End when all that was begun is acknowledged."""
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def _work(self, own: int) -> None:
        draw = random.Random(self.seed * 1000 + own)
        calls: list[Callable[[Client, int], None]] = [
            self._predict_and_learn,
            self._classify,
            self._decide,
            self._learn_directly,
            self._learn_rows,
        ]
        try:
            with Patient(self) as client:
                while not self.stopping.is_set():
                    begin = self.pulse.now()
                    try:
                        draw.choice(calls)(client, next(self.numbers))
                    except ServiceError as error:
                        if error.code != "storage":
                            raise
                        self.refused += 1
                        time.sleep(PAUSE)
                    self.done += 1
                    self.longest = max(self.longest, self.pulse.now() - begin)
        except BaseException as error:
            self.errors.append(error)

    def _predict_and_learn(self, client: Client, number: int) -> None:
        event = f"event-{number}"
        first = client.predict("regressor", row_of(number), event=event)
        again = client.predict("regressor", row_of(number), event=event)
        assert first == again, (first, again)
        client.learn("regressor", target_of(number), event=event)
        self.told["regressor"].append(event)
        client.learn("regressor", target_of(number), event=event)  # which changes nothing

    def _classify(self, client: Client, number: int) -> None:
        event = f"event-{number}"
        client.predict("classifier", row_of(number), event=event)
        client.learn("classifier", class_of(number), event=event)
        self.told["classifier"].append(event)

    def _decide(self, client: Client, number: int) -> None:
        event = f"event-{number}"
        decision = client.decide("bandit", row_of(number), event=event)
        client.reward("bandit", event, reward_of(number, decision["arm"]))
        self.told["bandit"].append(event)

    def _learn_directly(self, client: Client, number: int) -> None:
        client.learn("regressor", target_of(number), features=row_of(number), key=f"key-{number}")
        self.told["regressor"].append(target_of(number))

    def _learn_rows(self, client: Client, number: int) -> None:
        numbers = [number * 10 + 10_000_000 + i for i in range(BATCH)]
        rows = [{"features": row_of(n), "target": target_of(n)} for n in numbers]
        client.learn_rows("regressor", rows, key=f"rows-{number}")
        self.told["regressor"].extend(map(target_of, numbers))
