"""`ggln report`: a page about a model's predictions, to send to somebody."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggln.cli import options, reading
from ggln.cli.app import App
from ggln.cli.show import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggln.tables.inspect import TableRows
    from ggln.tables.model import TableRegressor

app = App()
EFFECT_ROWS = 50
"""Rows that effects are averaged over: each costs as many predictions as there are values to compare with."""


@app.command()
def report(
    model: options.ModelFile,
    table: options.TableFile = "-",
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write.")] = Path("report.html"),
    rows: Annotated[int, typer.Option(min=2, help="How many rows of the table, from its beginning.")] = 5000,
    errors: Annotated[int, typer.Option(min=1, help="How many of the largest errors to list.")] = 20,
    encoding: reading.Encoding = None,
    skip_lines: reading.SkipLines = 0,
    n_jobs: options.Jobs = -1,
    form: options.Format = None,
) -> None:
    """Write a page with scores, calibration, effects and the largest errors for a table with its targets.

    It is one HTML file with its pictures inside, and asks no other host for anything.

    Example: ggln report model.ggln test.csv -o report.html
    """
    options.check_jobs(n_jobs)
    options.check_writable(output, "page", model, table)
    if output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{output} is no name of a page: end it with .html")
    stored = options.read_model(model)
    from ggln.tables.inspect import first_rows
    from ggln.tables.read import open_table

    with open_table(table, form, dialect=reading.dialect(encoding=encoding, skip_lines=skip_lines)) as opened:
        shown = first_rows(stored.schema, opened, rows, targets=True)
    loaded = stored.restore()
    loaded.regressor_.n_jobs = n_jobs
    from ggln import atomic
    from ggln.cli import page
    from ggln.cli.progress import Terminal

    parts = [page.heading(f"{model.name} on {Path(opened.name).name}", _about(loaded, shown))]
    parts += [_scores(loaded, shown, n_jobs)]
    for i, name in enumerate(loaded.targets):
        parts += _pictures(loaded, shown, i, name)
        parts += [_errors(loaded, shown, i, name, errors)]
    atomic.write(output, page.whole(f"ggln: {model.name}", parts).encode("utf-8", "backslashreplace"))
    Terminal().say(f"The report is in {output}")


def _about(model: "TableRegressor", shown: "TableRows") -> str:
    columns = counted(len(model.schema_.columns), "column")
    learnt = counted(model.regressor_.learner_.rows, "row")
    return (
        f"It predicts {', '.join(model.targets)} from {columns} and has learnt {learnt}. It is judged by "
        f"{counted(len(shown), 'row')}; if some of these were learnt, it looks better than it is."
    )


def _scores(model: "TableRegressor", shown: "TableRows", n_jobs: int) -> str:
    from ggln.cli import page
    from ggln.cli.scoring import COLUMNS, TITLES, judge

    found = judge(model, [(model.features(shown.frame), shown.Y)], n_jobs)
    lines = [
        [name, *(format(one[column], form) for column, form in COLUMNS.items())]
        for name, one in found.items()
    ]
    note = (
        "RMSE is the error of the mean; NLL, in nats, and CRPS judge mean and error bars together: less is "
        "better. Intervals are right if they hold as many targets as they say."
    )
    return page.section("Scores", note, page.table(["", *(TITLES[column] for column in COLUMNS)], lines))


def _pictures(model: "TableRegressor", shown: "TableRows", place: int, name: str) -> list[str]:
    from ggln.cli import page
    from ggln.plots import CalibrationDisplay, EffectsDisplay
    from ggln.plots.display import take

    Y = shown.Y[:, 0] if shown.Y.shape[1] == 1 else shown.Y
    calibration: Any = CalibrationDisplay.from_estimator(model, shown.frame, Y, output=place)
    few = take(shown.frame, slice(0, EFFECT_ROWS))
    effects: Any = EffectsDisplay.from_estimator(model, few, output=place)
    return [
        page.section(
            f"Calibration of {name}",
            "Each central interval against the share of targets that it holds: on the diagonal, error bars "
            "are right; below it, they are too narrow, above it too wide.",
            _picture(calibration.figure_, f"calibration of {name}"),
        ),
        page.section(
            f"What moves {name}",
            f"How far each column moves the prediction, on average over {min(len(shown), EFFECT_ROWS)} rows, "
            "compared with its other values.",
            _picture(effects.figure_, f"effects on {name}"),
        ),
    ]


def _picture(figure: "Figure", name: str) -> str:
    import io

    import matplotlib.pyplot as plt

    from ggln.cli import page

    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110, metadata={"Software": None})
    plt.close(figure)
    return page.picture(data.getvalue(), name)


def _errors(model: "TableRegressor", shown: "TableRows", place: int, name: str, count: int) -> str:
    import numpy as np

    from ggln.cli import page

    mean, std = (
        values.reshape(len(shown), -1)[:, place] for values in model.predict(shown.frame, return_std=True)
    )
    error = shown.Y[:, place] - mean
    order = np.argsort(-np.abs(error), kind="stable")[:count]
    columns = [column.name for column in model.schema_.columns]
    lines = [
        [
            str(shown.numbers[i]),
            *(f"{value:.5g}" for value in (shown.Y[i, place], mean[i], std[i], error[i])),
            f"{error[i] / std[i]:+.1f}",
            *(shown.frame[column][i] for column in columns),
        ]
        for i in order
    ]
    head = ["row", name, "predicted", "deviation", "error", "in deviations", *columns]
    note = "Errors of more than three deviations are not to be expected: look at these rows first."
    return page.section(f"Largest errors of {name}", note, page.table(head, lines))
