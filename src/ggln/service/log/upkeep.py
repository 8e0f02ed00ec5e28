"""Snapshots of models, what follows them in the log, and what of the log is needed no more."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ggln.service import constants
from ggln.service.figures import sums_of
from ggln.service.kinds import Entry
from ggln.service.log.store import Statements

NO_FEATURES = np.empty(0)


class Snapshot(NamedTuple):
    """Up to where a model had learnt when it was saved."""

    seq: int
    file: str | None  # None: it had learnt nothing
    state: dict[str, Any]


def snapshots(statements: Statements, number: int) -> list[Snapshot]:
    """Return the snapshots of a model, the latest first."""
    found = statements.run("SELECT seq, file, state FROM snapshots WHERE model = ? ORDER BY seq DESC", number)
    return [Snapshot(seq, file, json.loads(state)) for seq, file, state in found]


def newest(statements: Statements, number: int) -> int:
    """Return up to where a model had learnt when it was saved last; 0 if it never was."""
    return int(statements.run("SELECT coalesce(max(seq), 0) FROM snapshots WHERE model = ?", number)[0][0])


def sums(statements: Statements) -> dict[int, tuple[int, dict[str, Any]]]:
    """Return up to where each model had learnt when it was saved last, and the sums that its figures had."""
    found = statements.run(
        "SELECT model, seq, substr(state, 1, ?) FROM snapshots AS own WHERE seq = "
        "(SELECT max(seq) FROM snapshots WHERE model = own.model)",
        constants.SUMS_LENGTH,
    )
    return {number: (seq, sums_of(state)) for number, seq, state in found}


def entries(statements: Statements, numbers: Sequence[int], above: int, most: int) -> list[Entry]:
    """Return entries of some models above a number of the log, in its order."""
    marks = ", ".join("?" * len(numbers))
    found = statements.run(
        f"SELECT seq, kind, event, features, body FROM log WHERE model IN ({marks}) AND seq > ? "
        "ORDER BY seq LIMIT ?",
        *(*numbers, above, most),
    )
    bodies = json.loads(f"[{','.join(row[-1] for row in found)}]")  # at once, in a tenth of the time
    return [
        Entry(seq, kind, event, np.frombuffer(features) if features else NO_FEATURES, body)
        for (seq, kind, event, features, _), body in zip(found, bodies, strict=True)
    ]


def touched(statements: Statements, above: int) -> tuple[list[int], int]:
    """Return the models that have entries above a number of the log, and the last number there is."""
    last = statements.run("SELECT value FROM counters WHERE name = 'seq'")
    if not last or last[0][0] <= above:
        return [], above
    found = statements.run("SELECT DISTINCT model FROM log WHERE seq > ? AND seq <= ?", above, last[0][0])
    return [row[0] for row in found], int(last[0][0])


def waiting(statements: Statements) -> dict[int, int]:
    """Return how many events of each model wait for their truth."""
    return dict(statements.run("SELECT model, count(*) FROM events WHERE state = 0 GROUP BY model"))


def keep(statements: Statements, number: int, snapshot: Snapshot) -> list[str]:
    """Keep a snapshot, and the ones before up to a limit; return files that are needed no more."""
    statements.run(
        "INSERT INTO snapshots VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *(number, snapshot.seq, snapshot.file, json.dumps(snapshot.state)),
    )
    found = statements.run("SELECT seq, file FROM snapshots WHERE model = ? ORDER BY seq DESC", number)
    old = found[constants.SNAPSHOTS :]
    statements.many("DELETE FROM snapshots WHERE model = ? AND seq = ?", [(number, seq) for seq, _ in old])
    kept = {file for _, file in found[: constants.SNAPSHOTS]}
    return [file for _, file in old if file is not None and file not in kept]


def oldest(statements: Statements, number: int) -> int:
    """Return the number of the log from which on a model can still be learnt again."""
    found = statements.run("SELECT count(*), min(seq) FROM snapshots WHERE model = ?", number)
    count, seq = found[0]
    return int(seq) if count >= constants.SNAPSHOTS else 0


def compact(statements: Statements, number: int, below: int) -> list[str]:
    """Remove entries of a model up to a number of the log; return the files that only they needed."""
    found = statements.run(
        "SELECT seq, kind, body FROM log WHERE model = ? AND seq <= ? ORDER BY seq LIMIT ?",
        *(number, below, constants.COMPACTED_ROWS),
    )
    if found:
        statements.run("DELETE FROM log WHERE model = ? AND seq <= ?", number, found[-1][0])
    return [json.loads(body)["file"] for _, kind, body in found if kind == "import"]


def forget(statements: Statements, before: float) -> None:
    """Forget answers that are too old for anybody to ask for again."""
    statements.run(
        "DELETE FROM events WHERE (model, id) IN "
        "(SELECT model, id FROM events WHERE state > 0 AND time < ? LIMIT ?)",
        *(before, constants.COMPACTED_ROWS),
    )
    statements.run("DELETE FROM keys WHERE time < ?", before)
