"""What comes with a request, checked, as a job for the desk; its answer is JSON."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.service import checks, constants
from ggln.service.desk import Job
from ggln.service.errors import bad_request, conflict, not_found
from ggln.service.figures import json_of
from ggln.service.learner import rewarded
from ggln.service.log import operations
from ggln.service.log.operations import Asked, Group, Told
from ggln.service.model import Model

FloatArray = NDArray[np.float64]
ASKED = {"predict": ("features", "event"), "decide": ("context", "event", "arm", "propensity")}
TOLD = {"learn": ("event", "features", "target"), "reward": ("event", "reward")}
FIELDS = {**ASKED, **TOLD}
PLURAL = {"predict": "predictions", "decide": "decisions"}
Write = Callable[[Group, float, list[dict[str, Any]]], str]


def new_event() -> str:
    """Return an id that nobody else has; later ones come later in the alphabet."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(8).hex()}"


def features_of(model: Model, call: str, body: Any) -> list[str]:
    """Return the names of a model's features; where it has none yet, those of the first row."""
    if model.row.features is not None:
        return model.row.features
    field = "context" if call == "decide" else "features"
    items = _items(body, FIELDS[call])[1]
    for item in items:
        if field not in item:
            if call in TOLD and "event" in item:  # without features nobody can have asked
                event = checks.shown(item["event"])
                raise not_found("unknown_event", f"there is no event {event}: ask first")
            raise bad_request(f"{field!r} is missing")
    return checks.names_of(items[0][field])


def features_job(model: Model, names: list[str]) -> Job:
    """Return what has to be done before the first event of a model: its features are kept."""

    def write(group: Group, now: float, _: Any) -> Any:
        del now
        return operations.fix_features(group, model.row.id, names)

    return Job(write)


def ask_job(model: Model, call: str, body: Any, key: str | None, names: Sequence[str]) -> Job:
    """Return the job of `predict` or `decide`; names: of the features."""
    single, items = _items(body, ASKED[call])
    field = "features" if call == "predict" else "context"
    rows = _rows(model, [_field(item, field) for item in items], names)
    events = [checks.name(item["event"], "event") if "event" in item else new_event() for item in items]
    if len(items) > 1 and len(set(events)) < len(events):
        raise bad_request("events of one call must differ from each other")
    made = [_made(model, item) for item in items]

    def write(group: Group, now: float, answers: list[dict[str, Any]]) -> str:
        asked = []
        for item, row, answer, own in zip(items, rows, answers, made, strict=True):
            # decided by somebody else: what the model would have done is told, too
            told = answer | {"would": answer["arm"], **own} if own else answer
            text, arm = json_of(told), told.get("arm")
            asked.append(Asked(answer["event"], row.tobytes(), text, "event" in item, arm))
        found = operations.ask(group, model.row.id, model.spec.wait_seconds, asked, now)
        for own, kept in zip(made, found, strict=True):
            if own and not own.items() <= json.loads(kept).items():
                raise conflict("event_exists", "this event is there already, with another decision")
        return found[0] if single else f'{{"{PLURAL[call]}": [{", ".join(found)}]}}'

    several = len(items) > 1 and any("event" in item for item in items)
    once = _once(model, call, body, key, write)
    return Job(once, model.answers, rows, events, several, len(items), model.slow)


def tell_job(model: Model, call: str, body: Any, key: str | None, names: Sequence[str]) -> Job:
    """Return the job of `learn` or `reward`; names: of the features."""
    single, items = _items(body, TOLD[call])
    truth = "target" if call == "learn" else "reward"
    rows = iter(_rows(model, [item["features"] for item in items if "features" in item], names))
    told = []
    for item in items:
        if "event" not in item and "features" not in item:
            raise bad_request(f"'event' is missing{', or features' if call == 'learn' else ''}")
        features = next(rows).tobytes() if "features" in item else None
        event = checks.name(item["event"], "event") if "event" in item else None
        told.append(Told(event, features, model.kind.truth(_field(item, truth), model.spec)))
    lesson = rewarded if call == "reward" else _as_it_is

    def write(group: Group, now: float, _: Any) -> str:
        found = operations.tell(group, model.row.id, call, told, lesson, now)
        return json.dumps(({"event": told[0].event} if single and told[0].event else {}) | found)

    return Job(_once(model, call, body, key, write), several=len(items) > 1, size=len(items))


def _once(model: Model, call: str, body: Any, key: str | None, write: Write) -> Write:
    """Return what is written, but only once for each Idempotency-Key."""
    if key is None:
        return write
    digest = hashlib.sha256(json.dumps([call, body], sort_keys=True).encode()).hexdigest()

    def once(group: Group, now: float, answers: list[dict[str, Any]]) -> str:
        found = operations.answered(group.statements, model.row.id, key, digest)
        if found is None:
            found = write(group, now, answers)
            operations.remember(group.statements, model.row.id, key, digest, found, now)
        return found

    return once


def check_call(model: Model, call: str) -> None:
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


def _rows(model: Model, rows: Sequence[Any], names: Sequence[str]) -> FloatArray:
    """Return rows of features in their order, [n, d]."""
    return np.array([checks.feature_row(row, names, model.kind.gaps) for row in rows], np.float64)


def _items(body: Any, known: Sequence[str]) -> tuple[bool, list[dict[str, Any]]]:
    """Return whether a body is of a single item, and all items."""
    values = checks.fields(body, (*known, "rows"))
    if "rows" not in values:
        return True, [values]
    if len(values) > 1:
        raise bad_request("rows stand alone: other fields belong into them")
    items = checks.some_rows(values["rows"])
    return False, [checks.fields(item, known, "each of the rows") for item in items]


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
    propensity, least = checks.number(item.get("propensity", 1.0), "propensity"), constants.LEAST_PROPENSITY
    if not least <= propensity <= 1.0:
        raise bad_request(f"propensity must be in [{least:g}, 1], got {propensity:g}")
    arm = model.spec.labels[model.spec.labels.index(item["arm"])]  # 1.0 is 1
    return {"arm": arm, "propensity": propensity, "apprentice": True}


def _as_it_is(answer: dict[str, Any], truth: Any) -> Any:
    del answer
    return truth
