"""`ggln fit`: from a table to a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggln import __version__
from ggln.cli import lock, options, reading, signals
from ggln.cli.app import App
from ggln.cli.show import counted, new_console, print_table

if TYPE_CHECKING:
    from ggln.tables.train import Training

app = App()
KINDS = {"number": "Numbers", "date": "Dates", "boolean": "Yes or no", "category": "Categories"}
"""What each kind of column is called in messages."""
MOST_NAMED = 20
"""Columns of a kind that are named."""


@app.command()
def fit(
    table: options.TableFile = "-",
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
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the model.")] = Path("model.ggln"),
    validate: Annotated[
        float,
        typer.Option(min=0.0, max=0.9, metavar="SHARE", help="Share of the rows to hold out, for scores."),
    ] = 0.0,
    checkpoint: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="SECONDS",
            help="How often to keep what is learnt so far: after a crash, the same command goes on.",
            show_default=False,
        ),
    ] = None,
    in_memory: Annotated[
        int, typer.Option(min=0, help="Rows to fit together; further ones are learnt as they come.")
    ] = 50_000,
    drop: options.Drop = None,
    category: options.Categories = None,
    on_error: options.OnError = "stop",
    max_rejected: reading.MaxRejected = "5%",
    keep: reading.Keep = None,
    decimal: reading.Decimal = None,
    thousands: reading.Thousands = None,
    day_first: reading.DayFirst = None,
    encoding: reading.Encoding = None,
    skip_lines: reading.SkipLines = 0,
    setting: options.Settings = None,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    form: options.Format = None,
) -> None:
    """Learn a table and write a model file.

    Columns may hold numbers, booleans, dates or categories; what they are is remembered in the model. A table
    longer than --in-memory is read in pieces, so that memory does not grow with it.

    Example: ggln fit train.csv --target price --validate 0.1 -o model.ggln
    """
    options.check_writable(output, "model", table)
    options.check_model_name(output)
    options.check_jobs(n_jobs)
    targets = options.required(target)
    from ggln.tables.plan import Input, Plan

    source = Input(table, form, reading.dialect(decimal, thousands, day_first, encoding, skip_lines))
    plan = Plan(
        targets=targets,
        drop=options.names(drop),
        categories=options.names(category),
        settings=options.settings(setting),
        in_memory=in_memory,
        validate=validate,
        seed=seed,
        on_error=on_error,
        keep=options.names(keep),
    )
    most = reading.share(max_rejected)
    source.check(plan)
    from ggln.cli.progress import Terminal
    from ggln.tables.checkpoint import Checkpoint
    from ggln.tables.train import Training

    kept = None
    if checkpoint is not None:
        identity = {**source.identity(plan), "version of ggln": __version__}
        kept = Checkpoint(output, checkpoint, identity, signals.SignalledPieces())
    training = Training(source, plan, Terminal(), kept, n_jobs)
    with lock.locked(output):
        _learn(training, output)
    _say(training)
    training.watch.say(f"The model is in {output}")
    if validate:
        _print_scores(training)
    _check_rejected(training, most)


def _learn(training: "Training", output: Path) -> None:
    """Learn the table and write the model."""
    try:
        model = training.run()
        if training.plan.validate:
            _score(training, training.n_jobs)
        model.save(output)  # also where there was no row to compute scores with
    except (KeyboardInterrupt, signals.StoppedError):
        training.watch.say(_interrupted(training))
        raise
    if training.checkpoint is not None:
        training.checkpoint.remove()


def _check_rejected(training: "Training", most: float) -> None:
    """Refuse to have ended well with a model that has not seen a large part of its table."""
    rows = training.done if training.rows is None else training.rows
    if reading.too_many(training.unreadable, rows, most):
        raise ValueError(f"{training.source.path}: {reading.about_rejected(training.unreadable, rows, most)}")


def _interrupted(training: "Training") -> str:
    """Return what becomes of the work of a command that was told to end."""
    kept = training.checkpoint
    if kept is None:
        return "Nothing was saved: with --checkpoint 60, what is learnt is kept every 60 seconds"
    if not kept.path.exists():
        return "Nothing was saved: the rows that are fitted together are kept once all of them are learnt"
    return f"What was learnt is in {kept.path}: the same command goes on from there"


def _say(training: "Training") -> None:
    """Say how much was learnt and what was not."""
    watch = training.watch
    regressor, schema = training.model.regressor_, training.model.schema_
    watch.say(
        f"Learnt {counted(regressor.learner_.rows, 'row')}: {', '.join(schema.targets)} from "
        f"{counted(len(schema.columns), 'column')}, as {counted(regressor.n_features_in_, 'feature')}"
    )
    kinds = {kind: [c.name for c in schema.columns if c.kind == kind] for kind in KINDS}
    watch.say("; ".join(f"{KINDS[kind]}: {_named(names)}" for kind, names in kinds.items() if names))
    if training.unlabelled:
        watch.say(f"Left out {counted(training.unlabelled, 'row')} without a target")
    if training.unreadable:
        watch.say(f"Left out {counted(training.unreadable, 'row')} that cannot be read")


def _named(names: list[str]) -> str:
    """Return names, the first of them if they are many."""
    more = f", ... ({len(names) - MOST_NAMED:,} more)" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _score(training: "Training", n_jobs: int | None) -> None:
    """Keep in the model how good the predictions for the rows are that were held out."""
    from ggln.cli.scoring import judge

    X, Y = training.held_out_rows()
    model = training.model
    if not len(X):
        return
    found = judge(model, [(X, Y)], n_jobs)
    plain = {name: {key: float(value) for key, value in one.items()} for name, one in found.items()}
    model.scores_ = {"rows": len(X), "learnt": model.regressor_.learner_.rows, "targets": plain}


def _print_scores(training: "Training") -> None:
    """Print them."""
    from ggln.cli.scoring import COLUMNS, TITLES

    kept = training.model.scores_
    if kept is None:
        raise ValueError("no row was held out to compute scores with: the table is too short for --validate")
    title = f"{counted(kept['rows'], 'row')} held out"
    print_table(new_console(), title, COLUMNS, kept["targets"], TITLES)
