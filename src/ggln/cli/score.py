"""`ggln score`: how good predictions are, of one model or of several side by side."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ggln.cli import options, reading
from ggln.cli.app import App
from ggln.cli.show import counted, new_console, print_rows, write_csv

if TYPE_CHECKING:
    from ggln.cli.progress import Terminal
    from ggln.reproduction.shared.record import Results
    from ggln.tables.plan import Input
    from ggln.tables.read import Bad

app = App()


@app.command()
def score(
    model: options.ModelFile,
    table: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE",
            help="Tables with their targets, - for standard input; further models may stand among them.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV file to write, instead of a table.", show_default=False),
    ] = None,
    on_error: options.OnError = "stop",
    encoding: reading.Encoding = None,
    skip_lines: reading.SkipLines = 0,
    n_jobs: options.Jobs = -1,
    form: options.Format = None,
) -> None:
    """Judge predictions by rows whose targets are known.

    RMSE is the error of the mean; NLL (in nats) and CRPS judge mean and error bars together: less is better.
    "Inside 90 %" is the share of targets in the central 90 % interval. Judge by rows that were not learnt. A
    terminal gets a table to read, a pipe or a file gets CSV.

    Example: ggln score old.ggln new.ggln test.csv
    """
    options.check_jobs(n_jobs)
    files = [str(model), *table]
    if output is not None:
        options.check_writable(output, "scores", *files)
    for file in files:
        if file != "-" and not Path(file).exists():
            raise FileNotFoundError(f"there is no file {file}")
    models = [Path(file) for file in files if is_model(Path(file))]
    tables = [file for file in files if Path(file) not in models]
    if not models:
        raise ValueError(f"none of {', '.join(files)} is a model file: name one, then a table")
    if not tables:
        raise ValueError("name a table after the models, or - for standard input")
    dialect = reading.dialect(encoding=encoding, skip_lines=skip_lines)
    from ggln.tables.plan import Input

    inputs = [Input(path, form, dialect) for path in tables]
    if len(models) > 1 and not all(source.repeatable for source in inputs):
        raise ValueError("a pipe can be read once only: name a file to compare models")
    stored = {path: options.read_model(path) for path in models}
    for source in inputs:
        opened = source.open()
        with opened if source.repeatable else nullcontext():
            for one in stored.values():
                one.schema.bind(opened, targets=True)
        source.looked_at = None if source.repeatable else opened
    from ggln.cli.progress import Terminal

    watch, lines = Terminal(), []
    for source in inputs:
        for path, one in stored.items():
            found = _judged(one, source, on_error == "stop", watch, n_jobs)
            lines += [Line((str(path), source.path, name), scores) for name, scores in found.items()]
    _show(lines, output)


class Line(NamedTuple):
    """Scores of a model for a table, and for which target."""

    about: tuple[str, str, str]
    scores: "Results"


def is_model(path: Path) -> bool:
    """Return whether a file is named or begins as model files do: the length of a header, and the header."""
    if path.suffix == ".ggln":
        return True
    try:
        if not path.is_file():  # what is taken from a pipe would be missed later
            return False
        with path.open("rb") as file:
            start = file.read(9)
        size = path.stat().st_size
    except OSError:
        return False
    return len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") <= size


def _judged(
    stored: options.StoredModel, source: "Input", stop: bool, watch: "Terminal", n_jobs: int
) -> "dict[str, Results]":
    """Return the scores of one model for one table."""
    from ggln.cli.scoring import Labelled, judge
    from ggln.tables.plan import unreadable

    def report(bad: "Bad") -> None:
        if stop:
            raise unreadable(source.path, bad)
        watch.left_out(bad)

    model = stored.restore()
    with source.open() as table:
        rows = Labelled(model, table, report)
        found = judge(model, rows, n_jobs)
    if not found:
        raise ValueError(f"{table.name} has no row with a value of {', '.join(model.targets)}")
    left_out = f", {counted(rows.unlabelled, 'row')} without a target left out" if rows.unlabelled else ""
    watch.say(f"{stored.path}: {counted(rows.rows, 'row')} of {table.name}{left_out}")
    return found


def _show(lines: list[Line], output: Path | None) -> None:
    """Write CSV to a file or to a pipe; print a table to a terminal."""
    from ggln.cli.scoring import COLUMNS, TITLES

    console, places = new_console(), ("model", "table", "target")
    if output is not None or not console.is_terminal:
        numbers = [[f"{float(line.scores[name]):.6g}" for name in COLUMNS] for line in lines]
        rows = [(*line.about, *some) for line, some in zip(lines, numbers, strict=True)]
        write_csv([(*places, *COLUMNS), *rows], output)
        return
    differ = [i for i in range(len(places)) if len({line.about[i] for line in lines}) > 1]
    title = ", ".join(lines[0].about[i] for i in range(len(places)) if i not in differ)
    shown = [
        [
            *(line.about[i] for i in differ),
            *(format(line.scores[name], form) for name, form in COLUMNS.items()),
        ]
        for line in lines
    ]
    head = [*(places[i] for i in differ), *(TITLES[name] for name in COLUMNS)]
    print_rows(console, title, head, shown, left=len(differ))
