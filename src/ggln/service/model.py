"""A model in memory: it answers, learns in parts, lets copies learn what takes long, and is saved."""

import copy
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln import persistence
from ggln.service import constants
from ggln.service.kinds import KINDS, Entry
from ggln.service.log.operations import ModelRow
from ggln.service.spec import Spec
from ggln.service.turns import Turns


class Model:
    """A model in memory.

    position: the number of the log up to which it has learnt; saved: up to which it is on disk.
    """

    def __init__(self, row: ModelRow, watched: int | None) -> None:
        self.row, self.spec = row, Spec.from_text(row.spec)
        self.kind = KINDS[self.spec.kind]
        self.numbers = [row.id] if watched is None else [row.id, watched]
        self.estimator = self.kind.new(self.spec)
        self.figures = self.kind.figures(self.spec)
        self.position = self.saved = row.since
        self.latest: deque[NDArray[np.float64]] = deque(maxlen=constants.EXPLAINED_ROWS)
        self.saved_at = time.monotonic()
        self.lock = threading.RLock()  # of whoever lets it learn, saves or replaces it
        self.turns = Turns()  # at the estimator: an answer is that of a number of the log, to the last bit
        self.asked_at = -math.inf
        self.practised = 0  # rows learnt by this process: the first ones may wait for a compiler
        self.gone = False
        self.warm = False  # whether answers take no longer than usual

    def answers(self, rows: NDArray[np.float64], events: Any) -> list[dict[str, Any]]:
        """Return what is answered for rows; one object for all jobs of a group."""
        self.asked_at = time.monotonic()
        with self.turns:
            position = self.position
            found = self.kind.answers(self.estimator, rows, events)
        for answer in found:
            answer["version"] = position
        self.warm = self.warm or self.figures.rows >= constants.WARM_ROWS
        return found

    def outputs(self, rows: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return what is expected for rows [n, d], as [n, k]; None as long as nothing was learnt."""
        with self.turns:
            return self.kind.outputs(self.estimator, rows)

    def slow(self) -> bool:
        """Return whether an answer has to wait: for a lesson, or perhaps for a compiler."""
        return not self.warm or self.turns.taken

    def learn(self, entries: list[Entry], files: Callable[[str], Any]) -> None:
        """Learn entries of the log in their order."""
        own: list[Entry] = []
        for entry in entries:
            if entry.kind == "import":
                self._learn(own)
                own = []
                if entry.seq > self.position:
                    self.replace(files(entry.body["file"]), entry.seq)
            else:
                own.append(entry)
        self._learn(own)

    def _learn(self, entries: list[Entry]) -> None:
        """Learn entries in parts, between which others are answered."""
        while entries:
            asked = time.monotonic() - self.asked_at < constants.ASKED_SECONDS
            most = constants.ASKED_ROWS if asked else constants.PART_ROWS
            count = most - self.figures.rows % most  # parts end where streams look back, too
            self._learn_part(entries[:count])
            self.latest.extend(entry.features for entry in entries[:count] if entry.features.size)
            entries = entries[count:]

    def _learn_part(self, entries: list[Entry]) -> None:
        """Learn entries; a copy does so that would keep others waiting, who are answered as before."""
        last, lesson = entries[-1].seq, (self.spec, entries, self.figures)
        if self.practised < constants.WARM_ROWS or self.kind.takes_long(self.estimator, entries):
            learnt = copy.deepcopy(self.estimator)
            self.kind.learn(learnt, *lesson)
            self.replace(learnt, last)
        else:
            with self.turns:
                self.kind.learn(self.estimator, *lesson)
                self.position = last
        self.practised += len(entries)

    def replace(self, estimator: Any, position: int) -> None:
        """Answer by another estimator from now on, which has learnt up to a number of the log.

        First it is asked something here: kernels are looked up anew for it, under the compiler's lock. The
        loop of events would wait there for whatever another thread compiles, which may take a minute.
        """
        if self.row.features is None:
            self.warm = False
        else:
            row = np.zeros((1, len(self.row.features)))
            self.kind.answers(estimator, row, [""])
            self.kind.outputs(estimator, row)
        with self.turns:
            self.estimator, self.position = estimator, position

    def save(self, path: Path) -> None:
        """Write the estimator to a file, with the names of the features, which it does without in here."""
        named = copy.copy(self.estimator)
        if self.row.features is not None and hasattr(named, "n_features_in_"):
            named.feature_names_in_ = np.array(self.row.features, dtype=object)
        named.save(path)

    @property
    def savable(self) -> bool:
        """Whether there is anything to save: a regressor or classifier begins with its first row."""
        return self.spec.kind == "bandit" or hasattr(self.estimator, "learner_")


def load_estimator(path: Path) -> Any:
    """Return an estimator from a file, without the names of its features: the service has them."""
    estimator = persistence.load(path)
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return estimator
