"""`ggln stream`: each row predicted, then learnt, as it comes."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggln.cli import options
from ggln.cli.app import App
from ggln.cli.predict import Quantiles
from ggln.cli.show import counted

if TYPE_CHECKING:
    from ggln.tables import read
    from ggln.tables.stream import Stream

app = App()
SIGNALS = (signal.SIGINT, signal.SIGTERM)
STANDARD_OUTPUT = 1
LONGEST_WAIT = 1e6
"""Milliseconds that are waited for input at a time: a poll cannot be asked for any number of them."""


class Waiting:
    """Waits for input, until a signal says that it is over, or nobody reads the answers any more.

    Meanwhile it keeps the model in its file.
    """

    def __init__(self, every: float) -> None:
        self.every, self.stopped, self.saved = every, False, time.monotonic()
        self.save: Callable[[], None] = lambda: None
        self.wake, self.alarm = os.pipe()
        os.set_blocking(self.alarm, False)

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Let signals end the input, and nothing else: a row that is being learnt is learnt."""
        before = {number: signal.signal(number, self._stop) for number in SIGNALS}
        descriptor = signal.set_wakeup_fd(self.alarm)
        try:
            yield
        finally:
            signal.set_wakeup_fd(descriptor)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def __call__(self, descriptor: int) -> bool:
        """Wait for bytes to read; return False once it is over."""
        watched = select.poll()
        for number, events in ((descriptor, select.POLLIN), (self.wake, select.POLLIN), (STANDARD_OUTPUT, 0)):
            watched.register(number, events)  # of the output errors are reported, asked for or not
        while not self.stopped:
            self.keep()
            ready = dict(watched.poll(min(1000.0 * self.every, LONGEST_WAIT)))
            self.require_reader(ready.get(STANDARD_OUTPUT, 0))
            if descriptor in ready and not self.stopped:
                return True
        return False

    def require_reader(self, events: int | None = None) -> None:
        """Raise BrokenPipeError if nobody reads the answers any more: further rows are not to be learnt."""
        if events is None:
            output = select.poll()
            output.register(STANDARD_OUTPUT, 0)
            events = dict(output.poll(0)).get(STANDARD_OUTPUT, 0)
        if events & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
            raise BrokenPipeError

    def keep(self) -> None:
        """Save the model if it is time to."""
        if time.monotonic() - self.saved >= self.every:
            self.save()
            self.saved = time.monotonic()


@app.command(context_settings={"allow_extra_args": True})  # to say what to do with them
def stream(
    context: typer.Context,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column to predict. May be given several times.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            "-m",
            help="File that keeps the model: it goes on if it is there.",
            show_default=False,
        ),
    ] = None,
    quantiles: Quantiles = "",
    save_every: Annotated[
        float,
        typer.Option(min=0.1, metavar="SECONDS", help="How often to save the model, besides at the end."),
    ] = 300.0,
    on_error: Annotated[
        options.OnError, typer.Option(help="What to do at a row that cannot be read.")
    ] = "skip",
    drop: options.Drop = None,
    category: options.Categories = None,
    setting: options.Settings = None,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    form: Annotated[
        options.TextForm | None, typer.Option("--format", help="Format of the input.", show_default=False)
    ] = None,
    output_format: Annotated[options.TextForm, typer.Option(help="Format of the output.")] = "csv",
) -> None:
    """Predict each row from standard input before learning from it.

    Every prediction is written at once. Rows without a target are predicted only. An interruption saves the
    model.

    Example: tail -f -n +1 sensors.csv | ggln stream --target temperature --model live.ggln

    Example: ggln stream --target y < rows.csv | cut -d, -f3-
    """
    if context.args not in ([], ["-"]):
        given = " ".join(context.args)
        raise ValueError(f"ggln stream reads rows as they come from standard input: say < {given} instead")
    options.check_jobs(n_jobs)
    levels = options.levels(quantiles)
    if model is not None:
        options.check_writable(model, "model")
    stored = options.read_model(model) if model is not None and model.exists() else None
    targets = options.names(target) if stored else options.required(target)
    if stored and targets and targets != stored.schema.targets:
        raise ValueError(f"{model} predicts {', '.join(stored.schema.targets)}, not {', '.join(targets)}")
    if stored and (drop or category or setting):
        raise ValueError(f"{model} goes on as it is: --drop, --category and --set are for a new model")
    dropped, categories = options.names(drop), options.names(category)
    from ggln.tables.schema import feature_columns
    from ggln.tables.write import check_output, open_writer, prediction_names

    waiting = Waiting(save_every)
    with waiting.signals():
        table = open_unless_stopped(form, waiting, model)
        features: list[str] = []
        if stored:
            stored.schema.bind(table, targets=True)
        else:  # an error of the command, whatever the rows are like
            features = feature_columns(table, targets, dropped, categories)
        header = [*table.columns, *prediction_names(stored.schema.targets if stored else targets, levels)]
        check_output(None, output_format, header)
        settings = options.settings(setting)
        from ggln.cli.progress import Terminal
        from ggln.tables import read
        from ggln.tables import stream as online
        from ggln.tables.plan import unreadable

        watch = Terminal()

        def report(bad: read.Bad) -> None:
            if on_error == "stop":
                raise unreadable("standard input", bad)
            watch.left_out(bad)

        undecided = [] if stored else [name for name in features if name not in categories]
        first = first_rows(table, undecided, report)
        if not first:
            if waiting.stopped:
                raise stopped(model)
            raise ValueError(f"{table.name} has no rows")
        if stored:
            known = stored.restore()
        else:
            values = online.first_values([row for chunk in first for row in chunk.rows])
            known = online.begin(table, values, targets, dropped, categories, settings, seed)
        with open_writer(None, output_format, header, []) as writer:
            running = online.Stream(known, table, writer, levels, report, n_jobs)
            waiting.save = lambda: keep(running, model)
            try:
                for chunk in chain(first, table.chunks(online.LONGEST, wait=False)):
                    waiting.require_reader()
                    running.take(chunk)
                    waiting.keep()
            finally:
                keep(running, model)
                watch.say(summary(running, watch.faults.total(), model, waiting.stopped))
        if table.count and not running.predicted and not waiting.stopped:
            raise ValueError("none of the rows could be read: is a column a --category, or one to --drop?")


def summary(running: "Stream", unreadable: int, model: Path | None, stopped: bool) -> str:
    """Return what was done with the rows, and where the model is."""
    begin = "Interrupted: predicted" if stopped else "Predicted"
    skipped = f", left out {unreadable:,} that cannot be read" if unreadable else ""
    place = ""
    if model is not None:
        place = f"; the model is in {model}" if model.exists() else "; there is no model yet"
    elif stopped:
        place = "; nothing was saved, since --model names no file"
    rows = counted(running.predicted, "row")
    return f"{begin} {rows} and learnt {running.learnt:,}{skipped}{place}"


def stopped(model: Path | None) -> typer.Exit:
    """Say that a signal came before the first row, and return what ends the command."""
    from ggln.cli.progress import Terminal

    place = f"; {model} is as it was" if model is not None and model.exists() else ""
    Terminal().say(f"Interrupted before the first row{place}")
    return typer.Exit()


def open_unless_stopped(form: "read.Format | None", waiting: Waiting, model: Path | None) -> "read.Table":
    """Open standard input; it is no error if a signal comes before the first line."""
    from ggln.tables.read import open_table

    try:
        return open_table("-", form, waiting)
    except ValueError:
        if waiting.stopped:
            raise stopped(model) from None
        raise


def first_rows(
    table: "read.Table", undecided: list[str], report: "Callable[[read.Bad], None]"
) -> "list[read.Chunk]":
    """Return the first rows that are rows at all; from them on there is a model that could be lost.

    They are as many as it takes until all `undecided` columns have had a value, within reason.
    """
    from ggln.tables.cells import is_missing
    from ggln.tables.stream import HELD_UP, LONGEST, first_values

    held: list[read.Chunk] = []
    for chunk in table.chunks(LONGEST, wait=False):
        if held or chunk.rows:
            held.append(chunk)
            rows = [row for some in held for row in some.rows]
            values = dict(zip(table.columns, first_values(rows), strict=True))
            if len(rows) >= HELD_UP or not any(is_missing(values[name]) for name in undecided):
                break
        else:
            for bad in chunk.bad:
                report(bad)
    return held


def keep(running: "Stream", model: Path | None) -> None:
    """Save the model, if there is a file for it."""
    if model is not None:
        running.save(model)
