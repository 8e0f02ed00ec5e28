"""Where a table comes from and as what it is to be learnt, checked before anything heavy is imported."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ggln.tables.dialect import UNSAID, Dialect
from ggln.tables.infer import check_target, feature_columns
from ggln.tables.read import STANDARD_INPUT, Bad, Format, OpenTable, open_table

OnError = Literal["stop", "skip"]

IN_MEMORY = 50_000
"""Rows that are fitted together."""
LOOK = 1000
"""Rows of a file that are looked at before it is learnt."""


@dataclass(frozen=True)
class Plan:
    """How a table is to be learnt."""

    targets: list[str]
    drop: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    in_memory: int = IN_MEMORY
    validate: float = 0.0
    seed: int = 0
    on_error: OnError = "stop"
    keep: list[str] = field(default_factory=list)


@dataclass
class Input:
    """Where a table comes from."""

    path: str
    form: Format | None = None
    dialect: Dialect = UNSAID
    looked_at: OpenTable | None = field(default=None, repr=False, compare=False)

    @property
    def repeatable(self) -> bool:
        """Whether it can be read twice."""
        return self.path != STANDARD_INPUT and Path(self.path).is_file()

    def open(self) -> OpenTable:
        """Open the table at its beginning."""
        table, self.looked_at = self.looked_at, None
        return table or open_table(self.path, self.form, dialect=self.dialect)

    def check(self, plan: Plan) -> None:
        """Look at the beginning of the table, and raise ValueError where the plan does not suit it.

        Of a pipe, that is the line of names; of a file, also some rows.
        """
        table = open_table(self.path, self.form, dialect=self.dialect)
        if not self.repeatable:
            feature_columns(table, plan.targets, plan.drop, (*plan.categories, *plan.keep))
            self.looked_at = table
            return
        with table:
            feature_columns(table, plan.targets, plan.drop, (*plan.categories, *plan.keep))
            chunk = table.chunk(LOOK, wait=True)
            if not chunk.rows and not chunk.bad:
                raise ValueError(f"{table.name} has no rows")
            if plan.on_error == "stop":
                for row in chunk.bad:
                    raise unreadable(self.path, row)
                for name in plan.targets:
                    place = table.columns.index(name)
                    check_target(table, name, [row[place] for row in chunk.rows])

    def identity(self, plan: Plan) -> dict[str, Any]:
        """Return what makes a command the same command, as JSON gives it back."""
        place: dict[str, Any] = {
            "table": self.path,
            "format": self.form,
            "way to read it": asdict(self.dialect),
        }
        if self.repeatable:
            status = Path(self.path).stat()
            place |= {"size of the table": status.st_size, "date of the table": status.st_mtime_ns}
        same: dict[str, Any] = json.loads(json.dumps(place | asdict(plan)))
        return same


def unreadable(name: str, row: Bad) -> ValueError:
    """Return the error for a row that cannot be read."""
    place = "standard input" if name == STANDARD_INPUT else name
    end = " Correct" if row.reason.endswith("?") else ": correct"
    return ValueError(f"{place}, {row}{end} it, or leave out such rows with --on-error skip")
