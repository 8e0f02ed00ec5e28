"""`ggln explain`: why a model predicts what it predicts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggln.cli import options, reading
from ggln.cli.app import App
from ggln.cli.predict import EscapeFormulas
from ggln.cli.show import new_console, print_rows, write_csv

if TYPE_CHECKING:
    from ggln.tables.inspect import TableRows
    from ggln.tables.model import TableRegressor

app = App()
Lines = list[tuple[str, ...]]


@app.command()
def explain(
    model: options.ModelFile,
    table: options.TableFile = "-",
    contributions: Annotated[
        bool,
        typer.Option(
            "--contributions",
            help="What columns add to the prediction, instead of effects: these add up to it.",
        ),
    ] = False,
    importance: Annotated[
        bool, typer.Option("--importance", help="One line for each column, over all rows, instead.")
    ] = False,
    rows: Annotated[int, typer.Option(min=1, help="How many rows of the table, from its beginning.")] = 10,
    top: Annotated[
        int, typer.Option(min=0, help="How many columns of each row, the largest effects first; 0 for all.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="CSV file to write, instead of standard output.", show_default=False
        ),
    ] = None,
    encoding: reading.Encoding = None,
    skip_lines: reading.SkipLines = 0,
    n_jobs: options.Jobs = -1,
    form: options.Format = None,
    escape_formulas: EscapeFormulas = False,
) -> None:
    """Say for each row what its columns do to the prediction.

    An effect is how far a column's value moves the mean, compared with its other values among the rows that
    were learnt: through the values that enter the network, and through the gates that choose its weights.
    A terminal gets tables to read, a pipe or a file gets CSV.

    Example: ggln explain model.ggln new.csv --rows 1 --top 5

    Example: ggln explain model.ggln train.csv --importance --rows 100
    """
    options.check_jobs(n_jobs)
    if contributions and importance:
        raise ValueError("--contributions and --importance exclude each other: choose one of them")
    if output is not None:
        options.check_writable(output, "explanation", model, table)
    from ggln.tables.inspect import first_rows
    from ggln.tables.read import open_table

    stored = options.read_model(model)
    dialect = reading.dialect(encoding=encoding, skip_lines=skip_lines)
    with open_table(table, form, dialect=dialect) as opened:
        shown = first_rows(stored.schema, opened, rows, targets=False)
    loaded = stored.restore()
    loaded.regressor_.n_jobs = n_jobs
    if not contributions:
        options.check_comparable(loaded, len(shown))
    if importance:
        head, lines = _importance(loaded, shown)
    elif contributions:
        head, lines = _contributions(loaded, shown)
    else:
        head, lines = _effects(loaded, shown)
    _show(head, _largest(head, lines, top), output, escape_formulas)


def _effects(model: "TableRegressor", rows: "TableRows") -> tuple[tuple[str, ...], Lines]:
    """Cells are shown as they stand in the table."""
    head = ("row", "target", "prediction", "column", "value", "effect", "through_values", "through_gates")
    found, predictions = model.effects(rows.frame), _predictions(model, rows)
    parts = [_outputs(part, model) for part in found[1:]]
    lines = [
        (
            str(number),
            target,
            predictions[i][k],
            name,
            rows.frame[name][i],
            *(f"{p[i, j, k]:.6g}" for p in parts),
        )
        for i, number in enumerate(rows.numbers)
        for k, target in enumerate(model.targets)
        for j, name in enumerate(found.names)
    ]
    return head, lines


def _contributions(model: "TableRegressor", rows: "TableRows") -> tuple[tuple[str, ...], Lines]:
    import numpy as np

    head: tuple[str, ...] = ("row", "target", "prediction", "input", "contribution")
    found = model.explain(rows.frame)
    parts = [_outputs(found.mean, model)]
    if found.precision is not None:
        head, parts = (*head, "precision"), [*parts, _outputs(found.precision, model)]
    predictions, start = _predictions(model, rows), np.atleast_1d(found.intercept)
    lines: Lines = []
    for i, number in enumerate(rows.numbers):
        for k, target in enumerate(model.targets):
            place = (str(number), target, predictions[i][k])
            lines.append((*place, "(intercept)", f"{start[k]:.6g}", *[""] * (len(parts) - 1)))
            lines += [
                (*place, name, *(f"{part[i, j, k]:.6g}" for part in parts))
                for j, name in enumerate(found.names)
            ]
    return head, lines


def _importance(model: "TableRegressor", rows: "TableRows") -> tuple[tuple[str, ...], Lines]:
    head = ("target", "column", "effect", "through_values", "through_gates")
    found = model.importance(rows.frame)
    parts = [_outputs(part[None], model)[0] for part in (found.total, found.values, found.gates)]
    lines = []
    for k, target in enumerate(model.targets):
        order = sorted(range(len(found.names)), key=lambda j, k=k: -parts[0][j, k])  # type: ignore[misc]
        lines += [(target, found.names[j], *(f"{part[j, k]:.6g}" for part in parts)) for j in order]
    return head, lines


def _outputs(values: Any, model: "TableRegressor") -> Any:
    """Return [n, inputs, outputs], also for a single target."""
    return values.reshape(*values.shape[:2], len(model.targets))


def _predictions(model: "TableRegressor", rows: "TableRows") -> list[list[str]]:
    mean = model.predict(rows.frame).reshape(len(rows), -1)
    return [[f"{value:.9g}" for value in row] for row in mean]


def _largest(head: tuple[str, ...], lines: Lines, top: int) -> Lines:
    """Return the largest `top` of each row and target, or all of them, the largest first."""
    from itertools import groupby

    size = head.index("contribution" if "contribution" in head else "effect")
    place = [head.index(name) for name in ("row", "target") if name in head]
    groups = (list(group) for _, group in groupby(lines, key=lambda line: [line[i] for i in place]))
    return [
        line
        for group in groups
        for line in sorted(group, key=lambda line: -abs(float(line[size])))[: top or None]
    ]


def _show(head: tuple[str, ...], lines: Lines, output: Path | None, escape: bool) -> None:
    """Write CSV to a file or to a pipe; print a table for each row and target to a terminal."""
    from itertools import groupby

    console = new_console()
    if output is not None or not console.is_terminal:
        write_csv([head, *lines], output, escape)
        return
    titles = [name for name in ("row", "target", "prediction") if name in head]
    for key, group in groupby(lines, key=lambda line: line[: len(titles)]):
        title = ", ".join(f"{name} {value}" for name, value in zip(titles, key, strict=True))
        names = [name.replace("_", " ") for name in head[len(titles) :]]
        print_rows(console, title, names, [line[len(titles) :] for line in group])
