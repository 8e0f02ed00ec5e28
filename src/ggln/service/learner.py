"""The learner: one thread that follows the log, saves models, ends waits, and removes what is learnt.

Where several machines share a log, it learns only while it holds the lease, and otherwise takes over what the
one that does has published.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from ggln.service import constants
from ggln.service.errors import DamagedError, RefusedError
from ggln.service.log import operations, upkeep
from ggln.service.log.store import Statements, Store
from ggln.service.model import Model
from ggln.service.models import Models
from ggln.service.spec import Spec

logger = logging.getLogger("ggln.service")


class Habits(NamedTuple):
    """How often models are saved, and what is kept."""

    snapshot_events: int = constants.SNAPSHOT_EVENTS
    snapshot_seconds: float | None = None  # None: by events alone
    keep_log: bool = False
    remember_seconds: float = constants.REMEMBER_SECONDS


class Lease(Protocol):
    """Who may learn."""

    def held(self) -> bool:
        """Return whether this process learns."""

    def check(self, statements: Statements) -> bool:
        """Return whether it still does, within a transaction that publishes."""

    def release(self) -> None:
        """Let another learn at once."""


class Alone:
    """The lease of a log that one process has for itself."""

    def held(self) -> bool:
        """Return that this process learns."""
        return True

    def check(self, statements: Statements) -> bool:
        """Return that it does."""
        del statements
        return True

    def release(self) -> None:
        """Do nothing: there is nobody else."""


class Learner:
    """Follows the log."""

    def __init__(
        self, store: Store, models: Models, lease: Lease, habits: Habits, learnt: Callable[[str, int], None]
    ) -> None:
        self.store, self.models, self.lease, self.habits, self.learnt = store, models, lease, habits, learnt
        models.save = self.save
        self.seen = 0  # up to where the log was looked at
        self.count = 0  # events of the last round
        self.next_tick = 0.0
        self.failed: dict[int, str] = {}
        self.stopping = False
        self.told = 0  # entries that were appended since the last round began
        self.wake, self.many = threading.Event(), threading.Event()
        self.busy = threading.Lock()  # held while the log is followed
        self.thread = threading.Thread(target=self._work, name="ggln-learner", daemon=True)

    def start(self) -> None:
        """Begin to follow the log."""
        self.thread.start()

    def appended(self, count: int) -> None:
        """Take notice of entries that were appended; where there are many, no others are waited for."""
        self.told += count
        self.wake.set()
        if self.told >= constants.GATHERED_ROWS:
            self.many.set()

    def close(self) -> None:
        """Stop, and save what was learnt."""
        self.stopping = True
        self.wake.set()
        self.many.set()
        if self.thread.is_alive():
            self.thread.join()
        if self.lease.held():
            for model in list(self.models.memory.values()):
                self._save_if(model, 1)

    def _work(self) -> None:
        wait = constants.POLL_SECONDS if self.store.shared else constants.TICK_SECONDS
        while not self.stopping:
            self.wake.wait(wait)
            self.wake.clear()
            self.many.clear()
            self.told = 0
            try:
                self.round()
            except Exception:
                logger.exception("the learner had to leave out a round")
                time.sleep(wait)
            if self.count < constants.GATHERED_ROWS:
                self.many.wait(constants.LEARN_SECONDS)

    def round(self) -> None:
        """Do all that is to be done now."""
        with self.busy:
            if not self.lease.held():
                for model in list(self.models.memory.values()):
                    self.models.renew(model)
                self.seen = 0  # whoever takes over looks at everything
                return
            now = time.monotonic()
            if now >= self.next_tick:
                self.next_tick = now + constants.TICK_SECONDS
                self._end_waits()
                self.store.tidy()
            self._follow()
            self._save_late()

    # Learning ------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Let all models learn that have news, or whose example has."""
        self.count = 0
        with self.store.reading() as statements:
            numbers, last = upkeep.touched(statements, self.seen)
        rows = {number: self.models.by_number(number) for number in numbers}
        for row in list(rows.values()):
            rows |= {watcher.id: watcher for watcher in self.models.watchers(row)}
        for row in rows.values():
            if not self.stopping:
                self._follow_one(row)
        if not self.stopping:
            self.seen = last

    def _follow_one(self, row: operations.ModelRow) -> None:
        if row.id in self.failed:
            return
        try:
            if self.seen == 0 and self._is_saved(row):
                return
            model = self.models.get(row)
            count = self.models.follow(model)
            self.count += count
            self.learnt(row.name, count)
            self._save_if(model, self.habits.snapshot_events)
        except Exception as error:
            if isinstance(error, RefusedError) and not isinstance(error, DamagedError):
                raise  # the disk is full, or the database away: later again
            logger.exception("the model %r cannot learn on", row.name)
            self.failed[row.id] = f"{type(error).__name__}: {error}"

    def _is_saved(self, row: operations.ModelRow) -> bool:
        """Return whether all of a model's events are in its snapshot: then it need not be in memory."""
        watched = Spec.from_text(row.spec).watches
        numbers = [row.id] if watched is None else [row.id, self.models.row(watched).id]
        with self.store.reading() as statements:
            saved = upkeep.newest(statements, row.id) or row.since
            return not upkeep.entries(statements, numbers, saved, 1)

    # Snapshots -----------------------------------------------------------------------------------------

    def _save_if(self, model: Model, events: int) -> None:
        """Save a model if it has learnt so many numbers of the log; a full disk is for later."""
        with model.lock:
            if model.gone or model.position - model.saved < events:
                return
            try:
                self.save(model)
            except (RefusedError, OSError) as error:
                logger.warning("the model %r cannot be saved now: %s", model.row.name, error)

    def _save_late(self) -> None:
        """Save models whose last snapshot is too long ago, where others wait for it."""
        patience = self.habits.snapshot_seconds
        if patience is None:
            return
        for model in list(self.models.memory.values()):
            if time.monotonic() - model.saved_at >= patience:
                self._save_if(model, 1)

    def save(self, model: Model) -> None:
        """Save a model: its file first, then the note that it is there; remove what that makes needless."""
        with model.lock:
            seq, file = model.position, None
            if model.savable:
                file = f"{model.row.id}-{seq}.ggln"
                self.store.files.put(file, model.save)
            snapshot = upkeep.Snapshot(seq, file, model.figures.state())
            with self.store.writing() as statements:
                if not self.lease.check(statements):
                    return  # somebody else learns, and has published
                needless = upkeep.keep(statements, model.row.id, snapshot)
            model.saved, model.saved_at = seq, time.monotonic()
        if not self.habits.keep_log:
            needless += self._compact(model)
        for name in needless:
            self.store.files.remove(name)

    def _compact(self, model: Model) -> list[str]:
        """Remove entries that a model, and those that watch it, have learnt and saved."""
        row = model.row
        with self.store.writing() as statements:
            if not self.lease.check(statements):
                return []
            below = [upkeep.oldest(statements, row.id)]
            below += [upkeep.oldest(statements, watcher.id) for watcher in self.models.watchers(row)]
            return upkeep.compact(statements, row.id, min(below))

    # Waits ---------------------------------------------------------------------------------------------

    def _end_waits(self) -> None:
        """End the wait of events whose time is over, and forget what is long ago."""
        now = time.time()
        with self.store.reading() as statements:
            due = statements.run("SELECT 1 FROM events WHERE state = 0 AND due <= ? LIMIT 1", now)
        while due:
            with self.store.writing() as statements:
                group = operations.Group(statements)
                count = operations.expire(group, now, self._default, rewarded)
                group.flush()
            if count < constants.EXPIRED_ROWS:
                break
        with self.store.reading() as statements:
            old = now - self.habits.remember_seconds
            over = statements.run("SELECT 1 FROM events WHERE state > 0 AND time < ? LIMIT 1", old)
            over += statements.run("SELECT 1 FROM keys WHERE time < ? LIMIT 1", old)
        if over:
            with self.store.writing() as statements:
                upkeep.forget(statements, old)

    def _default(self, number: int) -> tuple[str, float] | None:
        spec = Spec.from_text(self.models.by_number(number).spec)
        return None if spec.default_reward is None else ("reward", spec.default_reward)


def rewarded(answer: dict[str, object], reward: float) -> dict[str, object]:
    """Return what is learnt of a decision and its reward."""
    expectations = answer["expectations"]
    assert isinstance(expectations, dict)
    return {
        "arm": answer["arm"],
        "propensity": answer["propensity"],
        "reward": reward,
        "expectations": list(expectations.values()),
    }
