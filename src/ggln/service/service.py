"""The service: a log, models that are functions of it, a desk that writes it, and a learner that follows it."""

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln import atomic, persistence
from ggln.service import checks, constants, spec
from ggln.service.desk import Desk, Job
from ggln.service.errors import bad_request, conflict
from ggln.service.kinds import KINDS
from ggln.service.learner import Alone, Habits, Learner, Lease, rewarded
from ggln.service.log import operations, upkeep
from ggln.service.log.operations import Asked, Group, ModelRow, Told
from ggln.service.log.store import Store
from ggln.service.models import Model, Models

FloatArray = NDArray[np.float64]
logger = logging.getLogger("ggln.service")


class Limits(NamedTuple):
    """What a request and the service may have at most."""

    body_bytes: int = constants.BODY_BYTES
    import_bytes: int = constants.IMPORT_BYTES
    models: int = constants.MODELS
    loaded: int = constants.LOADED_MODELS


def new_event() -> str:
    """Return an id that nobody else has; later ones come later in the alphabet."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(8).hex()}"


class Service:
    """Everything but HTTP. Methods that end in `_job` give what is to be done at the desk."""

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
        self.counted: tuple[float, dict[int, int]] = (0.0, {})
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
        self.store.close()

    def _committed(self, last: int, jobs: int) -> None:
        if self.watch is not None:
            self.watch.committed(jobs)
        if last > self.last:
            self.last = last
            self.learner.wake.set()

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
        """Return all models, without bringing them to memory: rows and scores of those that are there."""
        self.models.refresh()
        found = []
        for row in sorted(self.models.rows.values(), key=lambda row: row.name):
            model = self.models.memory.get(row.id)
            own = {"rows": None, "version": None, "scores": None}
            if model is not None:
                own = {
                    "rows": model.figures.rows,
                    "version": model.position,
                    "scores": model.kind.scores(model.figures),
                }
            found.append(self._outline(row) | own)
        return found

    def pending(self) -> dict[int, int]:
        """Return how many events of each model wait, as of a second ago at most."""
        with self.counting:
            if time.monotonic() - self.counted[0] > 1.0:
                with self.store.reading() as statements:
                    self.counted = time.monotonic(), upkeep.waiting(statements)
            return self.counted[1]

    # What comes with a request -------------------------------------------------------------------------

    def _acting(self, model: Model, call: str) -> None:
        """Refuse a call that a model does not answer."""
        kind = model.kind
        if call not in (kind.ask, kind.tell):
            raise bad_request(
                f"{model.row.name!r} is a {model.spec.kind}: it answers {kind.ask} and learns by {kind.tell}"
            )
        if model.spec.watches is not None:
            raise conflict(
                "model_watches", f"{model.row.name!r} watches {model.spec.watches!r}, and does not act itself"
            )

    def _rows(self, model: Model, rows: Sequence[Any]) -> FloatArray:
        """Return rows of features in their order, [n, d]; the first row says which features there are."""
        names = model.row.features
        assert names is not None
        return np.array([checks.feature_row(row, names, model.kind.gaps) for row in rows], np.float64)

    def features_job(self, model: Model, rows: Sequence[Any]) -> Job | None:
        """Return what has to be done first: the first row of a model names its features."""
        if model.row.features is not None or not rows:
            return None
        names = checks.names_of(rows[0])
        for row in rows:
            checks.feature_row(row, names, model.kind.gaps)

        def write(group: Group, now: float, _: Any) -> Any:
            del now
            return operations.fix_features(group, model.row.id, names)

        return Job(write)

    def ask_job(self, model: Model, call: str, body: Any, key: str | None) -> Job:
        """Return the job of `predict` or `decide`."""
        self._acting(model, call)
        single, items = _items(body, ASKED[call])
        field = "features" if call == "predict" else "context"
        rows = self._rows(model, [_field(item, field) for item in items])
        events = [new_event() if "event" not in item else checks.name(item["event"], "event") for item in items]
        if len(set(events)) < len(events):
            raise bad_request("events of one call must differ from each other")
        made = [_made(model, item) for item in items]

        def write(group: Group, now: float, answers: list[dict[str, Any]]) -> dict[str, Any]:
            asked = []
            for item, row, answer, own in zip(items, rows, answers, made, strict=True):
                if own:  # by somebody else: what the model would have done is told, too
                    answer |= {"would": answer["arm"], **own}
                asked.append(Asked(answer["event"], row.tobytes(), answer, "event" in item, answer.get("arm")))
            found = operations.ask(group, model.row.id, model.spec.wait_seconds, asked, now)
            return found[0] if single else {PLURAL[call]: found}

        own = any("event" in item for item in items)
        several = len(items) > 1 and own
        return Job(self._keyed(model, call, body, key, write), model.answers, rows, events, several)

    def tell_job(self, model: Model, call: str, body: Any, key: str | None) -> Job:
        """Return the job of `learn` or `reward`."""
        self._acting(model, call)
        single, items = _items(body, TOLD[call])
        truth = "target" if call == "learn" else "reward"
        rows = iter(self._rows(model, [item["features"] for item in items if "features" in item]))
        told = []
        for item in items:
            if "event" not in item and "features" not in item:
                raise bad_request(f"{call} needs the event, or the features" if call == "learn" else "reward needs the event")
            features = next(rows).tobytes() if "features" in item else None
            event = checks.name(item["event"], "event") if "event" in item else None
            told.append(Told(event, features, model.kind.truth(_field(item, truth), model.spec)))
        lesson = rewarded if call == "reward" else _as_it_is

        def write(group: Group, now: float, _: Any) -> dict[str, Any]:
            found = operations.tell(group, model.row.id, call, told, lesson, now)
            return ({"event": told[0].event} if single and told[0].event else {}) | found

        return Job(self._keyed(model, call, body, key, write), several=len(items) > 1)

    def _keyed(
        self, model: Model, call: str, body: Any, key: str | None, write: Callable[..., dict[str, Any]]
    ) -> Callable[..., dict[str, Any]]:
        """Return what is written, but only once for each Idempotency-Key."""
        if key is None:
            return write
        digest = hashlib.sha256(json.dumps([call, body], sort_keys=True).encode()).hexdigest()

        def once(group: Group, now: float, answers: Any) -> dict[str, Any]:
            found = operations.answered(group.statements, model.row.id, key, digest)
            if found is None:
                found = write(group, now, answers)
                operations.remember(group.statements, model.row.id, key, digest, found, now)
            return found

        return once

    # Files ---------------------------------------------------------------------------------------------

    def export(self, row: ModelRow) -> bytes:
        """Return the file of a model as it is now."""
        model = self.models.get(row)
        if not model.savable:
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


ASKED = {"predict": ("features", "event"), "decide": ("context", "event", "arm", "propensity")}
TOLD = {"learn": ("event", "features", "target"), "reward": ("event", "reward")}
PLURAL = {"predict": "predictions", "decide": "decisions"}


def _items(body: Any, known: Sequence[str]) -> tuple[bool, list[dict[str, Any]]]:
    """Return whether a body is of a single item, and all items."""
    values = checks.fields(body, (*known, "rows"))
    if "rows" not in values:
        return True, [values]
    if len(values) > 1:
        raise bad_request("rows stand alone: other fields belong into them")
    return False, [checks.fields(item, known, "each of the rows") for item in checks.some_rows(values["rows"])]


def _field(item: dict[str, Any], name: str) -> Any:
    if name not in item:
        raise bad_request(f"{name!r} is missing")
    return item[name]


def _made(model: Model, item: dict[str, Any]) -> dict[str, Any]:
    """Return what a caller who decided himself says of his decision: the model is then an apprentice."""
    if "arm" not in item:
        if "propensity" in item:
            raise bad_request("a propensity comes with the arm that was played")
        return {}
    if item["arm"] not in model.spec.labels or isinstance(item["arm"], bool):
        labels = checks.shown(model.spec.labels)
        raise bad_request(f"arm must be one of {labels}, got {checks.shown(item['arm'])}")
    propensity = checks.number(item.get("propensity", 1.0), "propensity")
    if not 0.0 < propensity <= 1.0:
        raise bad_request(f"propensity must be in (0, 1], got {propensity:g}")
    return {"arm": item["arm"], "propensity": propensity, "apprentice": True}


def _as_it_is(answer: dict[str, Any], truth: Any) -> Any:
    del answer
    return truth
