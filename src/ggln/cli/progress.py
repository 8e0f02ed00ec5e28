"""How far work is, on standard error: a bar in a terminal, a line now and then elsewhere."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ggln.cli.show import line
from ggln.tables.names import Answer, Question
from ggln.tables.read import Bad
from ggln.tables.watch import Advance, fault, left_out

LOSS_EVERY = 1.0
"""Seconds between two looks at the loss: each costs a little time."""

ANSWERS: dict[Answer, str] = {
    "keep": "yes, they are numbers",
    "category": "no, they are names, and rows of the same name have something in common",
    "drop": "no, leave them out",
}
LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal: a log of an hour has 360 of them."""


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
        self.console.print(line(remark), highlight=False, soft_wrap=True, markup=False)

    def ask(self, question: Question) -> Answer:
        """Ask a person at the terminal; elsewhere, say which options are the answer, and keep the column."""
        if not (self.shown and sys.stdin.isatty()):
            self.say(str(question))
            return "keep"
        self.say(f"column {question.column!r} {question.why}: are they numbers?")
        for answer in question.answers:
            self.say(f"  {answer}: {ANSWERS[answer]} (--{answer} {question.column})")
        while True:
            given = typer.prompt("keep, or another", default="keep", show_default=False, err=True)
            for answer in question.answers:
                if answer.startswith(given.strip().lower()):
                    return answer
            self.say(f"Answer one of {', '.join(question.answers)}")

    def left_out(self, bad: Bad) -> None:
        """Speak of a row that is left out, or only count it."""
        kind = fault(bad)
        self.faults[kind] += 1
        remark = left_out(bad, self.faults[kind])
        if remark:
            self.say(remark)

    def stage(
        self, what: str, total: int | None, unit: str = "rows", done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Draw a bar, or a spinner where nobody knows how many there are; without a terminal, print lines."""
        draw = self._bar if self.shown else self._lines
        return draw(what, total, unit, done)

    @contextmanager
    def _bar(self, what: str, total: int | None, unit: str, done: int) -> Iterator[Advance]:
        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            *([BarColumn(), TimeRemainingColumn()] if total else []),
            TextColumn(f"{{task.completed:,}}{f' of {total:,}' if total else ''} {unit}"),
            *([Rate()] if unit == "rows" else []),
            TimeElapsedColumn(),
            TextColumn("{task.fields[loss]}"),
            console=self.console,
            transient=True,
        ) as bar:
            task = bar.add_task(what, total=total, completed=done, loss="")

            def advance(more: int, loss: float | None) -> None:
                if loss is not None:
                    bar.update(task, loss=f"loss {loss:.3f}")
                bar.advance(task, more)

            yield advance

    @contextmanager
    def _lines(self, what: str, total: int | None, unit: str, done: int) -> Iterator[Advance]:
        """A thread prints them: the work itself may be in one call for minutes."""
        began, ended, count = time.monotonic(), threading.Event(), done
        of = f" of {total:,}" if total else ""

        def speak() -> None:
            while not ended.wait(LINE_EVERY):
                why = " (the first time, kernels are compiled)" if count == done else ""
                self.say(f"{what}: {count:,}{of} {unit}, {time.monotonic() - began:.0f} s{why}")

        def advance(more: int, _: float | None) -> None:
            nonlocal count
            count += more

        speaker = threading.Thread(target=speak, daemon=True)
        speaker.start()
        try:
            yield advance
        finally:
            ended.set()
            speaker.join()

    def loss_due(self) -> bool:
        """Return whether it is time for a new running loss."""
        now = time.monotonic()
        if not self.shown or now - self.looked < LOSS_EVERY:
            return False
        self.looked = now
        return True
