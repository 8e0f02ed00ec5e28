"""`ggln score`: how good predictions are, of one model or of several side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggln.cli import options, reading
from ggln.cli.app import App
from ggln.cli.show import counted, new_console, print_rows, write_csv

if TYPE_CHECKING:
    from ggln.cli.progress import Terminal
    from ggln.reproduction.record import Results
    from ggln.tables.plan import Input
    from ggln.tables.read import Bad

app = App()


@app.command()
def score(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL... TABLE...",
            help="Models from `ggln fit` or `ggln stream`, and tables with their targets, in any order.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV file to write, instead of a table.", show_default=False),
    ] = None,
    on_error: Annotated[
        options.OnError, typer.Option(help="What to do at a row that cannot be read.")
    ] = "stop",
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
    if output is not None:
        options.check_writable(output, "scores", *files)
    models = [Path(file) for file in files if is_model(Path(file))]
    tables = [file for file in files if Path(file) not in models]
    if not models:
        raise ValueError(f"none of {', '.join(files)} is a model file: name one, then a table")
    if not tables:
        raise ValueError("name a table after the models, or - for standard input")
    if "-" in tables and len(models) > 1:
        raise ValueError("standard input can be read once only: name a file to compare models")
    stored = {path: options.read_model(path) for path in models}
    dialect = reading.dialect(encoding=encoding, skip_lines=skip_lines)
    from ggln.tables.plan import Input

    inputs = [Input(table, form, dialect) for table in tables]
    for source in inputs:
        if source.repeatable or len(inputs) == 1:
            source.looked_at = source.open()
            for model in stored.values():
                model.schema.bind(source.looked_at, targets=True)
    from ggln.cli.progress import Terminal

    watch, lines = Terminal(), []
    for source in inputs:
        for path, model in stored.items():
            found = _judged(model, source, on_error == "stop", watch, n_jobs)
            lines += [(str(path), source.path, name, *_shown(one)) for name, one in found.items()]
    _show(lines, output)


def is_model(path: Path) -> bool:
    """Return whether a file begins as model files do: with the length of a header, and the header."""
    try:
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
        raise ValueError(f"{source.path} has no row with a value of {', '.join(model.targets)}")
    left_out = f", {counted(rows.unlabelled, 'row')} without a target left out" if rows.unlabelled else ""
    watch.say(f"{stored.path}: {counted(rows.rows, 'row')} of {source.path}{left_out}")
    return found


def _shown(scores: "Results") -> list[str]:
    from ggln.cli.scoring import COLUMNS

    return [format(scores[name], form) for name, form in COLUMNS.items()]


def _show(lines: list[tuple[str, ...]], output: Path | None) -> None:
    """Write CSV to a file or to a pipe; print a table to a terminal."""
    from ggln.cli.scoring import COLUMNS, TITLES

    console = new_console()
    if output is None and console.is_terminal:
        several = [len({line[i] for line in lines}) > 1 for i in range(3)] + [True] * len(COLUMNS)
        head = ["model", "table", "target", *(TITLES[name] for name in COLUMNS)]
        rows = [[cell for cell, wanted in zip(line, several, strict=True) if wanted] for line in lines]
        shown = [cell for cell, wanted in zip(head, several, strict=True) if wanted]
        same = [cell for cell, wanted in zip(lines[0], several, strict=True) if not wanted]
        print_rows(console, ", ".join(same), shown, rows)
        return
    write_csv([("model", "table", "target", *COLUMNS), *lines], output)
