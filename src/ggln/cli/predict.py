"""`ggln predict`: predictions beside the columns of a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ggln.cli import options, reading
from ggln.cli.app import App
from ggln.cli.show import counted

app = App()
MOST_REMARKS = 3
"""Columns that are named for rows beyond what was learnt."""

Quantiles = Annotated[
    str, typer.Option(help="Quantiles to add, such as 0.05,0.5,0.95.", show_default=False, metavar="LEVELS")
]
Support = Annotated[
    bool, typer.Option("--support", help="Add how well each row is covered by what was learnt, 0 to 1.")
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas", help="Put an apostrophe before cells that a spreadsheet would run (=, +, -, @)."
    ),
]
OutFormat = Annotated[
    options.Form | None,
    typer.Option(
        "--output-format",
        help="By default it follows from the output's name, or is CSV as the table is.",
        show_default=False,
    ),
]


@app.command()
def predict(
    model: options.ModelFile,
    table: options.TableFile = "-",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write to, instead of standard output.", show_default=False
        ),
    ] = None,
    quantiles: Quantiles = "",
    support: Support = False,
    on_error: options.OnError = "stop",
    encoding: reading.Encoding = None,
    skip_lines: reading.SkipLines = 0,
    n_jobs: options.Jobs = -1,
    form: options.Format = None,
    output_format: OutFormat = None,
    escape_formulas: EscapeFormulas = False,
) -> None:
    """Append mean, standard deviation and quantiles to the columns of a table.

    It works in a pipe, and its memory does not grow with the table.

    Example: ggln predict model.ggln new.csv --quantiles 0.05,0.95 -o predicted.csv

    Example: zcat new.csv.gz | ggln predict model.ggln --support | head
    """
    options.check_jobs(n_jobs)
    levels = options.levels(quantiles)
    if output is not None:
        options.check_writable(output, "predictions", model, table)
    from ggln.tables.read import Bad, open_table
    from ggln.tables.write import check_output, prediction_names

    stored = options.read_model(model)
    with open_table(table, form, dialect=reading.dialect(None, None, None, encoding, skip_lines)) as opened:
        stored.schema.bind(opened, targets=False)
        added = prediction_names(stored.schema.targets, levels, support)
        check_output(output, output_format, [*opened.columns, *added])
        from ggln.cli.progress import Terminal
        from ggln.tables.plan import unreadable
        from ggln.tables.predict import THIN, predict_table

        watch = Terminal()

        def report(rows: Sequence[Bad]) -> None:
            for bad in rows:
                if on_error == "stop":
                    raise unreadable(opened.name, bad)
                watch.left_out(bad)

        model_itself = stored.restore()
        shape = (output, output_format, levels)
        found = predict_table(model_itself, opened, *shape, report, n_jobs, support, escape_formulas)
    for name, rows in found.beyond.most_common(MOST_REMARKS):
        watch.say(
            f"{counted(rows, 'row')} far from what was learnt of {name!r} ({stored.schema.range_of(name)})"
        )
    if found.thin:
        watch.say(
            f"{counted(found.thin, 'row')} with a support below {THIN}: most of their variance is there "
            "because they lie outside what was learnt"
        )
    if watch.faults:
        watch.say(f"Left out {counted(watch.faults.total(), 'row')} that cannot be read")
    if output is not None:
        watch.say(f"Wrote {counted(found.rows, 'prediction')} to {output}")
