"""`ggln stream`: each row predicted, then learnt, as it comes."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggln.cli import options
from ggln.cli.predict import Quantiles

if TYPE_CHECKING:
    from ggln.tables import read
    from ggln.tables.model import TableRegressor
    from ggln.tables.stream import Stream

app = typer.Typer()
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Waiting:
    """Waits for input, unless a signal says that it is over; meanwhile keeps the model in its file."""

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
        while not self.stopped:
            self.keep()
            ready, _, _ = select.select([descriptor, self.wake], [], [], self.every)
            if descriptor in ready and not self.stopped:
                return True
        return False

    def keep(self) -> None:
        """Save the model if it is time to."""
        if time.monotonic() - self.saved >= self.every:
            self.save()
            self.saved = time.monotonic()


@app.command()
def stream(
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", "-t", help="The column to predict. May be given several times.", show_default=False
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            "-m",
            help="File that keeps the model: gone on with if it is there.",
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
    n_jobs: options.Jobs = 1,
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
    options.check_jobs(n_jobs)
    levels = options.levels(quantiles)
    if model is not None:
        options.check_writable(model, "model")
    known = options.load_model(model) if model is not None and model.exists() else None
    targets = options.names(target) if known else options.required(target)
    if known and targets and targets != known.targets:
        raise ValueError(f"{model} predicts {', '.join(known.targets)}, not {', '.join(targets)}")
    if known and (drop or category or setting):
        raise ValueError(
            f"{model} is gone on with as it is: --drop, --category and --set are for a new model"
        )
    settings = {} if known else options.settings(setting)
    from ggln.cli.progress import Terminal
    from ggln.tables import predict, read
    from ggln.tables import stream as online
    from ggln.tables.write import open_writer

    watch, waiting = Terminal(), Waiting(save_every)

    def report(bad: read.Bad) -> None:
        if on_error == "stop":
            raise ValueError(
                f"standard input, {bad}: correct it, or leave out such rows with --on-error skip"
            )
        watch.say(f"{bad}: left out")

    def begin(table: read.Table, first: read.Chunk) -> "TableRegressor":
        for name in targets:  # an error of the command, whatever the rows are like
            table.require(name, "target column")
        row = first.rows[0]
        return online.begin(table, row, targets, options.names(drop), options.names(category), settings, seed)

    with waiting.signals():
        table = open_unless_stopped(form, waiting)
        first = first_rows(table, report)
        if not first.rows:
            raise ValueError(f"{table.name} has no rows") if not waiting.stopped else typer.Exit
        known = known or begin(table, first)
        added = predict.prediction_names(known.targets, levels)
        with open_writer(None, output_format, [*table.columns, *added], []) as writer:
            running = online.Stream(known, table, writer, levels, report, n_jobs)
            waiting.save = lambda: keep(running, model)
            try:
                running.take(first)
                for chunk in table.chunks(online.LONGEST, wait=False):
                    running.take(chunk)
                    waiting.keep()
            finally:
                keep(running, model)
                place = f"; the model is in {model}" if model is not None else ""
                watch.say(f"Predicted {running.predicted:,} rows and learnt {running.learnt:,}{place}")


def open_unless_stopped(form: "read.Format | None", waiting: Waiting) -> "read.Table":
    """Open standard input; it is no error if a signal comes before the first line."""
    from ggln.tables.read import open_table

    try:
        return open_table("-", form, waiting)
    except ValueError:
        if waiting.stopped:
            raise typer.Exit from None
        raise


def first_rows(table: "read.Table", report: "Callable[[read.Bad], None]") -> "read.Chunk":
    """Return the first rows that are rows at all; from them on there is a model that could be lost."""
    from ggln.tables.stream import LONGEST

    for chunk in table.chunks(LONGEST, wait=False):
        if chunk.rows:
            return chunk
        for bad in chunk.bad:
            report(bad)
    return table.chunk(0, wait=False)


def keep(running: "Stream", model: Path | None) -> None:
    """Save the model, if there is a file for it."""
    if model is not None:
        running.save(model)
