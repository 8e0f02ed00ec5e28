"""Progress bars on standard error: rows, rows per second, the running loss. Quiet unless it is a terminal."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ggln.tables.read import Bad
from ggln.tables.watch import Advance, fault, left_out

LOSS_EVERY = 1.0
"""Seconds between two looks at the loss: each costs a little time."""


class Rate(ProgressColumn):
    """Rows per second."""

    def render(self, task: Task) -> Text:
        """Show the average speed."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} rows/s" if speed else "", style="progress.data.speed")


class Terminal:
    """Shows how learning goes, as `ggln.tables.watch.Watch` asks for."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self.shown = self.console.is_terminal
        self.looked = 0.0
        self.faults: Counter[str] = Counter()  # of rows that were left out, by kind

    def say(self, remark: str) -> None:
        """Print a line."""
        self.console.print(remark, highlight=False, soft_wrap=True, markup=False)

    def left_out(self, bad: Bad) -> None:
        """Speak of a row that is left out, or only count it."""
        kind = fault(bad)
        self.faults[kind] += 1
        remark = left_out(bad, self.faults[kind])
        if remark:
            self.say(remark)

    @contextmanager
    def stage(self, what: str, total: int | None, unit: str = "rows") -> Iterator[Advance]:
        """Draw a bar, or a spinner where nobody knows how many there are."""
        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            *([BarColumn(), TimeRemainingColumn()] if total else []),
            TextColumn(f"{{task.completed:,}} {unit}"),
            *([Rate()] if unit == "rows" else []),
            TextColumn("{task.fields[loss]}"),
            console=self.console,
            disable=not self.shown,
            transient=True,
        ) as bar:
            task = bar.add_task(what, total=total, loss="")

            def advance(done: int, loss: float | None) -> None:
                if loss is not None:
                    bar.update(task, loss=f"loss {loss:.3f}")
                bar.advance(task, done)

            yield advance

    def loss_due(self) -> bool:
        """Return whether it is time for a new running loss."""
        now = time.monotonic()
        if not self.shown or now - self.looked < LOSS_EVERY:
            return False
        self.looked = now
        return True
