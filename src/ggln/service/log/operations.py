"""What is done to the log, each within a transaction: models, what is asked, what is told, what is over."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ggln.service import constants
from ggln.service.errors import RefusedError, conflict, not_found
from ggln.service.log.schema import LEARNT, OVER, WAITS
from ggln.service.log.store import Statements

INSERT_EVENT = (
    "INSERT INTO events (model, id, state, time, due, features, asked, told) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_LOG = "INSERT INTO log (seq, model, kind, event, time, features, body) VALUES (?, ?, ?, ?, ?, ?, ?)"


class Group:
    """Appends to the log within one transaction, in the order of calls."""

    def __init__(self, statements: Statements) -> None:
        self.statements = statements
        self.first = self.last = _counter(statements, "seq")
        self.rows: list[tuple[Any, ...]] = []
        self.events: list[tuple[Any, ...]] = []  # new ones, whose ids nobody knows yet

    def append(self, model: int, kind: str, event: str | None, now: float, features: Any, body: Any) -> int:
        """Append an entry and return its number."""
        self.last += 1
        self.rows.append((self.last, model, kind, event, now, features, json.dumps(body)))
        return self.last

    def flush(self) -> None:
        """Write all entries; to be called before the transaction ends."""
        if self.events:
            self.statements.many(INSERT_EVENT, self.events)
        if self.rows:
            self.statements.many(INSERT_LOG, self.rows)
            self.statements.run("UPDATE counters SET value = ? WHERE name = 'seq'", self.last)


def _counter(statements: Statements, name: str) -> int:
    found = statements.run("SELECT value FROM counters WHERE name = ?", name)
    if not found:
        statements.run("INSERT INTO counters VALUES (?, 0)", name)
    return int(found[0][0]) if found else 0


# Models ------------------------------------------------------------------------------------------------


class ModelRow(NamedTuple):
    """A model as the log knows it."""

    id: int
    name: str
    spec: str
    features: list[str] | None
    since: int  # the log's number when it was made


MODEL_COLUMNS = "SELECT id, name, spec, features, since FROM models"


def _model_row(number: int, name: str, spec: str, features: str | None, since: int) -> ModelRow:
    return ModelRow(number, name, spec, None if features is None else json.loads(features), since)


def models(statements: Statements) -> list[ModelRow]:
    """Return all models."""
    return [_model_row(*row) for row in statements.run(f"{MODEL_COLUMNS} ORDER BY id")]


def model(statements: Statements, name: str) -> ModelRow | None:
    """Return a model by its name."""
    found = statements.run(f"{MODEL_COLUMNS} WHERE name = ?", name)
    return _model_row(*found[0]) if found else None


def create(group: Group, name: str, spec: str, features: list[str] | None, now: float, most: int) -> bool:
    """Make a model; return False if the same is there already, and refuse another of the same name."""
    known = model(group.statements, name)
    if known is not None:
        if known.spec != spec:
            raise conflict(
                "model_exists", f"there is a model {name!r} with other settings: choose another name"
            )
        return False
    if group.statements.run("SELECT count(*) FROM models")[0][0] >= most:
        raise RefusedError(409, "too_many_models", f"there are {most} models already, which is the limit")
    number = _counter(group.statements, "models") + 1
    group.statements.run("UPDATE counters SET value = ? WHERE name = 'models'", number)
    kept = None if features is None else json.dumps(features)
    group.statements.run(
        "INSERT INTO models (id, name, spec, features, since, created) VALUES (?, ?, ?, ?, ?, ?)",
        *(number, name, spec, kept, group.last, now),
    )
    return True


def fix_features(group: Group, number: int, names: Sequence[str]) -> list[str]:
    """Let a model have features, unless it has some; return those that it has."""
    group.statements.run(
        "UPDATE models SET features = ? WHERE id = ? AND features IS NULL", json.dumps(list(names)), number
    )
    found: list[str] = json.loads(
        group.statements.run("SELECT features FROM models WHERE id = ?", number)[0][0]
    )
    return found


# What is asked -----------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """Something that was asked, and its answer."""

    event: str
    features: bytes
    answer: str  # JSON
    own: bool  # whether the id is the caller's
    arm: Any = None  # that a bandit plays


def ask(group: Group, number: int, wait: float, asked: Sequence[Asked], now: float) -> list[str]:
    """Keep what was asked under its ids, and return the answers; what was asked before has its answer."""
    answers = []
    for one in asked:
        answer = _asked_before(group.statements, number, one) if one.own else None
        if answer is None:
            answer = one.answer
            row = (number, one.event, WAITS, now, now + wait, one.features, answer, None)
            if one.own:
                group.statements.run(INSERT_EVENT, *row)
            else:
                group.events.append(row)
            if one.arm is not None:
                group.append(number, "decide", one.event, now, None, one.arm)
        answers.append(answer)
    return answers


def _asked_before(statements: Statements, number: int, one: Asked) -> str | None:
    found = statements.run("SELECT features, asked FROM events WHERE model = ? AND id = ?", number, one.event)
    if not found:
        return None
    features, asked = found[0]
    if asked is None or (features is not None and bytes(features) != one.features):
        raise conflict("event_exists", f"event {one.event!r} is there already, with other features")
    return str(asked)


# What is told ------------------------------------------------------------------------------------------


class Told(NamedTuple):
    """What was observed: of an event, or of features that come with it."""

    event: str | None
    features: bytes | None
    truth: Any


Lesson = Callable[[dict[str, Any], Any], Any]
"""Gives what is learnt of an answer and a truth."""


def tell(
    group: Group, number: int, kind: str, told: Sequence[Told], lesson: Lesson, now: float
) -> dict[str, Any]:
    """Append what was observed to the log, once; return how much that was, and the number of the last."""
    last = 0
    for one in told:
        if one.event is None:
            last = max(last, group.append(number, kind, None, now, one.features, lesson({}, one.truth)))
        else:
            last = max(last, _join(group, number, kind, one, lesson, now))
    return {"accepted": len(told), "sequence": last}


def _join(group: Group, number: int, kind: str, one: Told, lesson: Lesson, now: float) -> int:
    """Join a truth with its event; return the number that it has in the log."""
    found = group.statements.run(
        "SELECT state, features, asked, told FROM events WHERE model = ? AND id = ?", number, one.event
    )
    if not found:
        if one.features is None:
            raise not_found(
                "unknown_event", f"there is no event {one.event!r}: ask first, or send the features"
            )
        seq = group.append(number, kind, one.event, now, one.features, lesson({}, one.truth))
        known = json.dumps({"truth": one.truth, "sequence": seq})
        group.statements.run(INSERT_EVENT, number, one.event, LEARNT, now, now, None, None, known)
        return seq
    state, features, asked, before = found[0]
    if state == LEARNT:
        known = json.loads(before)
        if known["truth"] != one.truth:
            raise conflict(
                "already_told", f"event {one.event!r} has been told another truth, {known['truth']!r}"
            )
        return int(known["sequence"])
    if state == OVER:
        raise RefusedError(410, "expired", f"event {one.event!r} has waited too long, and is over")
    if one.features is not None and one.features != bytes(features):
        raise conflict("event_exists", f"event {one.event!r} was asked with other features")
    seq = group.append(number, kind, one.event, now, features, lesson(json.loads(asked), one.truth))
    known = json.dumps({"truth": one.truth, "sequence": seq})
    group.statements.run(
        "UPDATE events SET state = ?, features = NULL, told = ?, time = ? WHERE model = ? AND id = ?",
        *(LEARNT, known, now, number, one.event),
    )
    return seq


def expire(
    group: Group, now: float, default: Callable[[int], tuple[str, float] | None], lesson: Lesson
) -> int:
    """End the wait of events whose time is over; return how many there were, up to a limit.

    default: gives, for a model, the kind of entry and the reward that is learnt instead, if one is.
    """
    found = group.statements.run(
        "SELECT model, id, features, asked FROM events WHERE state = 0 AND due <= ? ORDER BY due, model, id "
        "LIMIT ?",
        *(now, constants.EXPIRED_ROWS),
    )
    for number, event, features, asked in found:
        instead = default(number)
        if instead is not None:
            body = lesson(json.loads(asked), instead[1])
            group.append(number, instead[0], event, now, bytes(features), body)
    group.statements.many(
        "UPDATE events SET state = 2, features = NULL, time = ? WHERE model = ? AND id = ?",
        [(now, number, event) for number, event, _, _ in found],
    )
    return len(found)


# Calls that are repeated -------------------------------------------------------------------------------


def answered(statements: Statements, number: int, key: str, digest: str) -> str | None:
    """Return the answer that a call with the same Idempotency-Key got, if there was one."""
    found = statements.run("SELECT digest, answer FROM keys WHERE model = ? AND key = ?", number, key)
    if not found:
        return None
    if found[0][0] != digest:
        raise conflict("key_reused", f"the Idempotency-Key {key!r} was used for another call")
    return str(found[0][1])


def remember(statements: Statements, number: int, key: str, digest: str, answer: str, now: float) -> None:
    """Remember the answer to a call with an Idempotency-Key."""
    statements.run("INSERT INTO keys VALUES (?, ?, ?, ?, ?)", number, key, digest, answer, now)
