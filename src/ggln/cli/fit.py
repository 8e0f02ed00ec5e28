"""`ggln fit`: from a table to a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ggln import __version__
from ggln.cli import options
from ggln.cli.app import App
from ggln.cli.show import counted, new_console, print_table

if TYPE_CHECKING:
    from ggln.cli.progress import Terminal
    from ggln.tables.train import Training

app = App()
KINDS = {"number": "Numbers", "date": "Dates", "boolean": "Yes or no", "category": "Categories"}
"""What each kind of column is called in messages."""


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
    on_error: Annotated[
        options.OnError, typer.Option(help="What to do at a row that cannot be read.")
    ] = "stop",
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

    source = Input(table, form)
    plan = Plan(
        targets=targets,
        drop=options.names(drop),
        categories=options.names(category),
        settings=options.settings(setting),
        in_memory=in_memory,
        validate=validate,
        seed=seed,
        on_error=on_error,
    )
    source.check(plan)
    from ggln.cli.progress import Terminal
    from ggln.tables.checkpoint import Checkpoint
    from ggln.tables.train import Training

    kept = None
    if checkpoint is not None:
        identity = {**source.identity(plan), "version of ggln": __version__}
        kept = Checkpoint(output.with_name(output.name + ".checkpoint"), checkpoint, identity)
    watch = Terminal()
    training = Training(source, plan, watch, kept, n_jobs)
    model = training.run()
    model.save(output)
    if kept is not None:
        kept.remove()
    _say(training, watch)
    watch.say(f"The model is in {output}")
    if validate:
        _score(training, n_jobs)


def _say(training: "Training", watch: "Terminal") -> None:
    """Say how much was learnt and what was not."""
    regressor, schema = training.model.regressor_, training.model.schema_
    watch.say(
        f"Learnt {counted(regressor.learner_.rows, 'row')}: {', '.join(schema.targets)} from "
        f"{counted(len(schema.columns), 'column')}, as {counted(regressor.n_features_in_, 'feature')}"
    )
    kinds = {kind: [c.name for c in schema.columns if c.kind == kind] for kind in KINDS}
    watch.say("; ".join(f"{KINDS[kind]}: {', '.join(names)}" for kind, names in kinds.items() if names))
    if training.unlabelled:
        watch.say(f"Left out {counted(training.unlabelled, 'row')} without a target")
    if training.unreadable:
        watch.say(f"Left out {counted(training.unreadable, 'row')} that cannot be read")


def _score(training: "Training", n_jobs: int) -> None:
    """Print how good the predictions for the rows are that were held out."""
    from ggln.reproduction.scores import scores
    from ggln.tables.online import Worker

    X, Y = training.held_out_rows()
    if not len(X):
        raise ValueError("no row was held out to compute scores with: the table is too short for --validate")
    with Worker(training.model.regressor_, n_jobs) as worker:
        distribution = worker.distribution(X)
    targets = training.model.targets
    if len(targets) == 1:
        found = {targets[0]: scores(distribution, Y[:, 0])}
    else:
        each = enumerate(targets)
        found = {name: scores(distribution.marginal(i), Y[:, i]) for i, name in each}  # type: ignore[union-attr]
        found["all of them"] = scores(distribution, Y, crps=False)
        found["all of them"]["crps"] = sum(found[name]["crps"] for name in targets) / len(targets)
    columns = {"rmse": ".4g", "nll": ".4f", "crps": ".4g"}
    columns |= {f"coverage_{level}": ".1%" for level in (50, 90, 95)}
    titles = {"rmse": "RMSE", "nll": "NLL", "crps": "CRPS"}
    titles |= {f"coverage_{level}": f"inside {level} %" for level in (50, 90, 95)}
    print_table(new_console(), f"{counted(len(X), 'row')} held out", columns, found, titles)
