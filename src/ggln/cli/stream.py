"""`ggln stream`: each row predicted, then learnt, as it comes."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ggln.cli import lock, options, reading
from ggln.cli.app import App
from ggln.cli.predict import EscapeFormulas, Quantiles
from ggln.cli.show import counted
from ggln.cli.waiting import Waiting

if TYPE_CHECKING:
    from ggln.cli.progress import Terminal
    from ggln.tables import read
    from ggln.tables.dialect import Dialect
    from ggln.tables.stream import TableStream
    from ggln.tables.write import OutputOptions

app = App()


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
    on_error: options.OnError = "skip",
    max_rejected: reading.MaxRejected = "5%",
    drop: options.Drop = None,
    category: options.Categories = None,
    keep: reading.Keep = None,
    decimal: reading.Decimal = None,
    thousands: reading.Thousands = None,
    day_first: reading.DayFirst = None,
    encoding: reading.Encoding = None,
    skip_lines: reading.SkipLines = 0,
    setting: options.Settings = None,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    form: Annotated[
        options.TextForm | None, typer.Option("--format", help="Format of the input.", show_default=False)
    ] = None,
    output_format: Annotated[options.TextForm, typer.Option(help="Format of the output.")] = "csv",
    escape_formulas: EscapeFormulas = False,
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
    levels, most = options.levels(quantiles), reading.share(max_rejected)
    dialect = reading.dialect(decimal, thousands, day_first, encoding, skip_lines)
    if model is not None:
        options.check_writable(model, "model")
        options.check_model_name(model)
    with lock.locked(model):
        stored = options.read_model(model) if model is not None and model.exists() else None
        targets = options.names(target) if stored else options.required(target)
        if stored and targets and targets != stored.schema.targets:
            raise ValueError(f"{model} predicts {', '.join(stored.schema.targets)}, not {', '.join(targets)}")
        if stored and (drop or category or setting or keep or dialect.about_cells()):
            raise ValueError(
                f"{model} goes on as it is: --drop, --category, --keep, --set and what is said about numbers "
                "and dates are for a new model"
            )
        names = Names(targets, *map(options.names, (drop, category, keep)))
        from ggln.tables.write import OutputOptions

        shape = OutputOptions(output_format, levels, escape_formulas)
        waiting = Waiting(save_every)
        with waiting.signals():
            table = open_unless_stopped(form, waiting, dialect, model)
            run = StreamRun(model, stored, names, waiting, shape, on_error == "stop", most, n_jobs)
            run(table, lambda: options.settings(setting), seed)


class Names(NamedTuple):
    """Columns that options name."""

    targets: list[str]
    drop: list[str]
    categories: list[str]
    keep: list[str]


class StreamRun(NamedTuple):
    """One stream, with all that was said about it."""

    model: Path | None
    stored: "options.StoredModel | None"
    names: Names
    waiting: Waiting
    shape: "OutputOptions"
    stop: bool  # at the first row that cannot be read
    most: float  # share of rows that may be unreadable
    n_jobs: int

    def __call__(self, table: "read.OpenTable", settings: Callable[[], dict[str, Any]], seed: int) -> None:
        """Predict and learn all rows."""
        header, undecided = self._columns(table)
        given = settings()
        from ggln.cli.progress import Terminal
        from ggln.tables import stream as online
        from ggln.tables.read import NOT_UTF8
        from ggln.tables.write import convention, open_writer

        watch = Terminal()
        if table.foreign:
            watch.say(f"{table.name}: {NOT_UTF8}")
        rejected = Rejected(watch, self.stop, self.most)
        first = first_rows(table, undecided, rejected)
        if not first:
            if self.waiting.stopped:
                raise stopped(self.model)
            raise ValueError(f"{table.name} has no rows")
        values = online.first_values([row for chunk in first for row in chunk.rows])
        guessed: list[str] = []
        if self.stored:
            known = self.stored.restore()
        else:
            known, questions = online.begin(table, values, *self.names, given, seed)
            for question in questions:
                watch.say(str(question))  # standard input holds the rows: nobody can answer
            told = self.names.categories
            guessed = [c.name for c in known.schema_.columns if c.kind == "category" and c.name not in told]
        written = convention(table, known.schema_, self.shape.escape, values)
        with open_writer(None, self.shape.form, header, {}, written) as writer:
            parts = (known, table, writer, self.shape.quantiles)
            rejected.running = online.TableStream(*parts, rejected, self.n_jobs, watch.say, guessed)
            self._learn(rejected.running, chain(first, table.chunks(online.LONGEST, wait=False)), watch)
        if self.waiting.stopped:
            return
        if table.count and not rejected.running.predicted:
            raise ValueError("none of the rows could be read: is a column a --category, or one to --drop?")
        rejected.check()

    def _columns(self, table: "read.OpenTable") -> tuple[list[str], list[str]]:
        """Return the columns of the output, and those whose kind is still open; check all names."""
        from ggln.tables.infer import feature_columns
        from ggln.tables.write import check_output, prediction_names

        names, undecided = self.names, []
        if self.stored:
            self.stored.schema.bind(table, targets=True)
        else:  # an error of the command, whatever the rows are like
            features = feature_columns(table, names.targets, names.drop, (*names.categories, *names.keep))
            undecided = [name for name in features if name not in names.categories]
        targets = self.stored.schema.targets if self.stored else names.targets
        header = [*table.columns, *prediction_names(targets, self.shape.quantiles)]
        check_output(None, self.shape.form, header)
        return header, undecided

    def _learn(self, running: "TableStream", chunks: "Iterator[read.Chunk]", watch: "Terminal") -> None:
        """Take rows as they come; whatever happens, what was learnt is saved."""
        self.waiting.save = lambda: save(running, self.model)
        try:
            for chunk in chunks:
                self.waiting.require_reader()
                running.take(chunk)
                self.waiting.keep()
        finally:
            save(running, self.model)
            watch.say(summary(running, watch.faults.total(), self.model, self.waiting.stopped))


class Rejected:
    """Rows that cannot be read: they are spoken of and left out, unless they are too many."""

    def __init__(self, watch: "Terminal", stop: bool, most: float) -> None:
        self.watch, self.stop, self.most = watch, stop, most
        self.running: TableStream | None = None  # once there is a row that can be read

    def __call__(self, bad: "read.Bad") -> None:
        """Speak of a row, or end the stream at it."""
        from ggln.tables.plan import unreadable

        if self.stop:
            raise unreadable("standard input", bad)
        self.watch.left_out(bad)
        self.check(str(bad), ended=False)

    def check(self, last: str = "", ended: bool = True) -> None:
        """Refuse to go on, or to have ended well, if too many rows were left out."""
        count = self.watch.faults.total()
        rows = count + (self.running.predicted if self.running else 0)
        if reading.too_many(count, rows, self.most, ended):
            raise ValueError(f"standard input: {reading.about_rejected(count, rows, self.most, last)}")


def summary(running: "TableStream", unreadable: int, model: Path | None, stopped: bool) -> str:
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


def open_unless_stopped(
    form: "read.Format | None", waiting: Waiting, dialect: "Dialect", model: Path | None
) -> "read.OpenTable":
    """Open standard input; it is no error if a signal comes before the first line."""
    from ggln.tables.read import open_table

    try:
        return open_table("-", form, waiting, dialect)
    except ValueError:
        if waiting.stopped:
            raise stopped(model) from None
        raise


def first_rows(
    table: "read.OpenTable", undecided: list[str], report: "Callable[[read.Bad], None]"
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


def save(running: "TableStream", model: Path | None) -> None:
    """Save the model, if there is a file for it."""
    if model is not None:
        running.save(model)
