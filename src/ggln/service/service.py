"""The service: a log, models that are functions of it, a desk that writes it, a learner that follows it."""

import hashlib
import logging
import math
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ggln import atomic, persistence
from ggln.service import checks, constants, spec
from ggln.service.desk import Desk, Job
from ggln.service.errors import bad_request, conflict
from ggln.service.kinds import KINDS
from ggln.service.learner import Alone, Habits, Learner, Lease
from ggln.service.log import operations, upkeep
from ggln.service.log.operations import Group, ModelRow
from ggln.service.log.store import Store
from ggln.service.model import Model
from ggln.service.models import Models

logger = logging.getLogger("ggln.service")


class Limits(NamedTuple):
    """What a request and the service may have at most."""

    body_bytes: int = constants.BODY_BYTES
    import_bytes: int = constants.IMPORT_BYTES
    models: int = constants.MODELS
    loaded: int = constants.LOADED_MODELS


class Service:
    """Everything but HTTP."""

    def __init__(
        self,
        store: Store,
        lease: Lease | None = None,
        habits: Habits | None = None,
        limits: Limits | None = None,
        watch: Any = None,
    ) -> None:
        self.store, self.lease, self.limits = store, lease or Alone(), limits or Limits()
        self.watch = watch  # of metrics
        self.models = Models(store, self.limits.loaded, self.lease.held)
        self.learner = Learner(store, self.models, self.lease, habits or Habits(), self._learnt)
        self.desk = Desk(store, self._committed)
        self.counted, self.counted_at = dict[int, int](), -math.inf
        self.counting = threading.Lock()
        self.last = 0  # number of the log
        self.ready = False

    def start(self) -> None:
        """Begin to learn."""
        self.learner.start()
        self.ready = True

    def close(self) -> None:
        """Finish what was begun, save what was learnt, and stop."""
        self.ready = False
        self.desk.close()
        self.learner.close()
        self.lease.release()
        self.store.close()

    def _committed(self, last: int, jobs: int) -> None:
        if self.watch is not None:
            self.watch.committed(jobs)
        if last > self.last:
            self.last, before = last, self.last
            self.learner.appended(last - before)

    def _learnt(self, name: str, count: int) -> None:
        if self.watch is not None and count:
            self.watch.learnt(name, count)

    def learn_all(self) -> None:
        """Wait until everything in the log is learnt."""
        self.learner.round()

    # Models --------------------------------------------------------------------------------------------

    def create(self, name: str, body: Any) -> tuple[bool, ModelRow]:
        """Make a model; return whether it is new."""
        checks.name(name)
        wanted = spec.parse(body)
        KINDS[wanted.kind].new(wanted)
        features = wanted.features
        if wanted.watches is not None:
            example = self.models.row(wanted.watches)
            other = spec.Spec.from_text(example.spec)
            if (other.kind, other.labels) != (wanted.kind, wanted.labels) or other.watches is not None:
                raise bad_request(
                    f"{name!r} can only watch a {wanted.kind} of the same arms or classes that acts itself"
                )
        text = wanted.text()

        def write(group: Group, now: float, _: Any) -> bool:
            return operations.create(group, name, text, features, now, self.limits.models)

        new = self.desk.call(Job(write))
        return new, self.models.row(name)

    def described(self, row: ModelRow) -> dict[str, Any]:
        """Return what a model is and how it does."""
        model = self.models.get(row)
        self.pending(0.0)
        return self._outline(row) | {
            "rows": model.figures.rows,
            "version": model.position,
            "scores": model.kind.scores(model.figures),
            "error": self.learner.failed.get(row.id),
        }

    def _outline(self, row: ModelRow) -> dict[str, Any]:
        own = spec.Spec.from_text(row.spec)
        labels = {"bandit": "arms", "classifier": "classes"}.get(own.kind)
        return {
            "name": row.name,
            "kind": own.kind,
            "settings": own.settings,
            **({labels: own.labels} if labels else {}),
            "features": row.features,
            "wait_seconds": own.wait_seconds,
            "default_reward": own.default_reward,
            "watches": own.watches,
            "pending": self.pending().get(row.id, 0),
        }

    def outlines(self) -> list[dict[str, Any]]:
        """Return all models, without bringing them to memory: others are told of as they were saved."""
        self.models.refresh()
        with self.store.reading() as statements:
            saved = upkeep.sums(statements)
        found = []
        for row in sorted(self.models.rows.values(), key=lambda row: row.name):
            model = self.models.memory.get(row.id)
            if model is not None:
                kind, figures, position = model.kind, model.figures, model.position
            else:
                own = spec.Spec.from_text(row.spec)
                kind, position = KINDS[own.kind], row.since
                figures = kind.figures(own)
                if row.id in saved:
                    position, sums = saved[row.id]
                    figures.restore_sums(sums)
            scores = {"rows": figures.rows, "version": position, "scores": kind.scores(figures)}
            found.append(self._outline(row) | scores)
        return found

    def pending(self, old: float = 1.0) -> dict[int, int]:
        """Return how many events of each model wait, as of so many seconds ago at most.

        Where there are many, to count them takes longer: then it is done less often, up to once a second.
        """
        with self.counting:
            pause = min(constants.COUNT_SECONDS * sum(self.counted.values()), 1.0)
            if time.monotonic() - self.counted_at >= max(old, pause):
                with self.store.reading() as statements:
                    self.counted = upkeep.waiting(statements)
                self.counted_at = time.monotonic()
            return self.counted

    # Files ---------------------------------------------------------------------------------------------

    def export(self, row: ModelRow) -> bytes:
        """Return the file of a model as it is now."""
        model = self.models.get(row)
        with model.lock:  # a lesson that is under way is waited for
            savable = model.savable
        if not savable:
            raise conflict("nothing_learnt", f"{row.name!r} has learnt nothing yet: there is no file of it")
        with TemporaryDirectory() as folder, self.models.exported(model, Path(folder)) as path:
            return path.read_bytes()

    def take_file(self, row: ModelRow, content: bytes) -> dict[str, Any]:
        """Let a model be what a file holds, from now on; that is an entry of the log like others."""
        model = self.models.get(row)
        name = f"import-{hashlib.sha256(content).hexdigest()[:32]}.ggln"
        with TemporaryDirectory() as folder:
            path = Path(folder) / "sent.ggln"
            path.write_bytes(content)
            names = self._check_file(model, path)
        self.store.files.put(name, lambda place: atomic.write(place, content))

        def write(group: Group, now: float, _: Any) -> dict[str, Any]:
            known = operations.fix_features(group, row.id, names)
            if known != names:
                raise conflict("other_features", f"the features of {row.name!r} are {checks.shown(known)}")
            return {"sequence": group.append(row.id, "import", None, now, None, {"file": name})}

        found: dict[str, Any] = self.desk.call(Job(write))
        self.models.set_features(row.name, names)
        return found

    def _check_file(self, model: Model, path: Path) -> list[str]:
        """Return the names of the features of a model that was sent, if it is of the right kind."""
        try:
            found = persistence.load(path)
        except ValueError as error:
            text = str(error).replace(repr(str(path)), "the file")
            raise bad_request(text) from error
        if type(found).__name__ != model.kind.estimator:
            raise bad_request(f"the file holds a {type(found).__name__}, not a {model.kind.estimator}")
        model.kind.fits(found, model.spec)
        count = getattr(found, "n_features_in_", None)
        if count is None:
            raise bad_request("the file holds a model that has learnt nothing")
        names = getattr(found, "feature_names_in_", None)
        return checks.feature_names([f"x{i}" for i in range(count)] if names is None else list(names))
