"""More commands of `ggln reproduce`: comparisons that are not in the paper."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggln.cli.app import App
from ggln.cli.datasets import DataDir
from ggln.cli.options import check_folder
from ggln.cli.reproduce import RESULTS, Output, Seeds, Sets, Store, Workers, chosen, store_folder
from ggln.cli.show import keep, new_console, print_table

if TYPE_CHECKING:
    from rich.console import Console

app = App()

Splits = Annotated[int, typer.Option(min=1, help="Splits of each set; protein has five.")]


Models = Annotated[
    str | None,
    typer.Option(help="Names of models, separated by commas; all by default.", show_default=False),
]


@app.command()
def peers(
    sets: Sets = None,
    splits: Splits = 20,
    models: Models = None,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Other regressors with error bars on the splits of Table 1, and published numbers.

    The defaults' fits are those of `ggln reproduce uci`. Needs NGBoost and CatBoost, which the extra
    `peers` of the package installs. CatBoost's RMSE is that of its defaults, its NLL and intervals are those
    of its loss RMSEWithUncertainty.

    Example: ggln reproduce peers --sets yacht,boston --splits 5 --n-jobs -1
    """
    from ggln.plots import peers as picture
    from ggln.reproduction import peers as experiment

    names = chosen(sets, tuple(experiment.PUBLISHED))
    own = chosen(models, experiment.MODELS, option="--models")
    results = experiment.run(names, splits, store_folder(store, output), n_jobs, data_dir, own)
    console = new_console()
    print_table(console, "Mean over the splits' test rows", *experiment.table(results), {})
    for model, note in results["notes"].items():
        console.print(f"{model}: {note}", highlight=False, soft_wrap=True)
    title = "GGLNRegressor() against published numbers, as far as they were rounded"
    print_table(console, title, *experiment.marks(results), {})
    keep(console, results, output, "peers", picture.draw)


@app.command("one-pass")
def one_pass(
    sets: Sets = None,
    rows: Annotated[int | None, typer.Option(min=20, help="Rows of each set; all by default.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Orders of the rows, averaged.")] = 5,
    models: Models = None,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Online regressors in a single pass: each row is predicted before it is learnt.

    Needs River, which the extra `peers` of the package installs.

    Example: ggln reproduce one-pass --sets yacht,boston --rows 300 --seeds 2
    """
    from ggln.plots import one_pass as picture
    from ggln.reproduction import one_pass as experiment

    names = chosen(sets, experiment.SETS)
    own = chosen(models, tuple(experiment.METHODS), option="--models")
    results = experiment.run(names, seeds, rows, store_folder(store, output), n_jobs, data_dir, own)
    console = new_console()
    title = f"Predictions of one pass, after the first {experiment.UNSCORED} rows"
    print_table(console, title, *experiment.table(results), {})
    keep(console, results, output, "one-pass", picture.draw)


@app.command()
def forgetting(
    sets: Annotated[
        str | None,
        typer.Option(
            help="Of regions, tasks, power, kin8nm, separated by commas; all by default.", show_default=False
        ),
    ] = None,
    rows: Annotated[int | None, typer.Option(min=80, help="Rows of each set; all by default.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Repetitions, averaged.")] = 5,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Learn region after region, and task after task: what is left of the first ones.

    Example: ggln reproduce forgetting --sets regions,tasks --seeds 2
    """
    from ggln.plots import forgetting as picture
    from ggln.reproduction import forgetting as experiment

    names = chosen(sets, experiment.DATA)
    results = experiment.run(names, seeds, rows, store_folder(store, output), n_jobs, data_dir)
    console = new_console()
    title = "RMSE on held-out rows, in deviations of the target"
    print_table(console, title, *experiment.table(results), {})
    keep(console, results, output, "forgetting", picture.draw)


@app.command()
def ablation(
    sets: Sets = None,
    splits: Splits = 5,
    rows: Annotated[
        int | None, typer.Option(min=20, help="Training rows of each split; all by default.")
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Learn each set in one pass, in as many orders as splits.")
    ] = False,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """The defaults with one ingredient changed, on slices of the training rows of Table 1, or in a stream.

    Example: ggln reproduce ablation --sets yacht,boston --splits 2 --rows 400 --n-jobs -1
    """
    from ggln.plots import ablation as picture
    from ggln.reproduction import ablation as experiment

    names = chosen(sets, experiment.SETS)
    results = experiment.run(names, splits, rows, store_folder(store, output), n_jobs, data_dir, stream)
    console = new_console()
    title = "Errors less the defaults': over all sets, and of the best … worst set"
    print_table(console, title, *experiment.table(results), {"of sets ": "of sets"})
    keep(console, results, output, results["experiment"], picture.draw)


@app.command()
def shapes(
    noises: Annotated[
        str | None,
        typer.Option(
            help="Names of kinds of noise, separated by commas; all by default.", show_default=False
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=20, help="Training rows.")] = 1000,
    seeds: Annotated[int, typer.Option(min=1, help="Tables of each kind, averaged.")] = 5,
    models: Models = None,
    n_jobs: Workers = 1,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Error bars under ten kinds of noise: tails, halves and quarters, and the CRPS of other regressors.

    Needs NGBoost and CatBoost, which the extra `peers` of the package installs, unless --models leaves
    them out.

    Example: ggln reproduce shapes --noises normal,counts --seeds 1 --models "GGLNRegressor()"
    """
    from ggln.plots import shapes as picture
    from ggln.reproduction import shapes as experiment
    from ggln.reproduction.tasks.noises import NOISES

    names = chosen(noises, tuple(NOISES), option="--noises")
    own = chosen(models, experiment.MODELS, option="--models")
    results = experiment.run(names, rows, seeds, store_folder(store, output), n_jobs, own)
    console = new_console()
    for model in (experiment.PLAIN, experiment.OURS):
        if model in own:
            title = f"{model}: new rows in percent; a star is out of its range"
            print_table(console, title, *experiment.table(results, model), {})
    print_table(console, "CRPS on new rows", *experiment.crps_table(results), {})
    keep(console, results, output, "shapes", picture.draw)


@app.command("going-on")
def going_on(
    sets: Annotated[
        str | None,
        typer.Option(
            help="Names of data sets, separated by commas; those above 1,000 rows by default.",
            show_default=False,
        ),
    ] = None,
    splits: Splits = 5,
    seeds: Seeds = 1,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Half of a table by fit and the other half by partial_fit, against fit on all of it.

    The fits on all rows are those of `ggln reproduce uci`.

    Example: ggln reproduce going-on --sets concrete,wine --splits 2 --n-jobs -1
    """
    from ggln.reproduction import going_on as experiment
    from ggln.reproduction import uci as uci_experiment

    names = chosen(sets, experiment.SETS, tuple(uci_experiment.PAPER))
    results = experiment.run(names, splits, seeds, store_folder(store, output), n_jobs, data_dir)
    console = new_console()
    print_table(console, "Mean over the splits' test rows", *experiment.table(results), {})
    _write(console, results, output, "going-on")


@app.command()
def costs(
    rows: Annotated[
        int, typer.Option(min=20, help="Rows of the table; one ten times as large is fitted too.")
    ] = 10_000,
    output: Output = RESULTS,
) -> None:
    """Times, memory and file of the defaults beside their goals, on a table of ten features.

    Needs CatBoost, which the extra `peers` of the package installs, and a machine that does nothing else.

    Example: ggln reproduce costs -o results
    """
    from ggln.reproduction import costs as experiment

    check_folder(output)
    console = new_console()
    with console.status("measuring"):
        results = experiment.run(rows)
    title = f"{rows:,} rows of {results['features']} features"
    print_table(console, title, *experiment.table(results), {})
    load = results["machine"]["load before"]
    console.print(f"{results['machine']['cpu']}, load before {load:.1f}", highlight=False)
    _write(console, results, output, "costs")


def _write(console: "Console", results: dict[str, Any], output: Path, name: str) -> None:
    """Write results that have no picture, and say where."""
    from ggln.reproduction.shared import record

    path = output / f"{name}.json"
    record.write(path, results)
    console.print(f"Results are in {path}", highlight=False, soft_wrap=True)


@app.command()
def missing(
    rows: Annotated[int, typer.Option(min=100, help="Rows to learn.")] = 800,
    seeds: Annotated[int, typer.Option(min=1, help="Draws of each table and its gaps, averaged.")] = 3,
    n_jobs: Workers = 1,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Tables that lack values: left as they are, or filled, beside gradient boosting that takes gaps, too.

    Example: ggln reproduce missing --seeds 1
    """
    from ggln.plots import missing as picture
    from ggln.reproduction import missing as experiment

    results = experiment.run(rows, seeds, store_folder(store, output), n_jobs)
    console = new_console()
    print_table(console, "RMSE in deviations of the target", *experiment.table(results), {})
    keep(console, results, output, "missing", picture.draw)


@app.command()
def outputs(
    cases: Annotated[
        str | None,
        typer.Option(help="Names of cases, separated by commas; all by default.", show_default=False),
    ] = None,
    rows: Annotated[int, typer.Option(min=20, help="Training rows.")] = 600,
    seeds: Annotated[int, typer.Option(min=1, help="Tables of each case, averaged.")] = 3,
    models: Models = None,
    n_jobs: Workers = 1,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Several outputs with noise of unequal size: intervals, joint regions, correlations and likelihood.

    Needs CatBoost, which the extra `peers` of the package installs, unless --models leaves it out.

    Example: ggln reproduce outputs --cases "1:10 r=0.8" --seeds 1 --models apart,diagonal
    """
    from ggln.plots import outputs as picture
    from ggln.reproduction import outputs as experiment

    names = chosen(cases, tuple(experiment.CASES), option="--cases")
    own = chosen(models, experiment.MODELS, option="--models")
    results = experiment.run(names, rows, seeds, store_folder(store, output), n_jobs, own)
    console = new_console()
    title = f"{rows} rows learnt, {results['new_rows']} new ones; a star is out of its range"
    print_table(console, title, *experiment.table(results), {})
    keep(console, results, output, "outputs", picture.draw)


@app.command()
def outside(
    functions: Annotated[
        str | None,
        typer.Option(help="Names of functions, separated by commas; all by default.", show_default=False),
    ] = None,
    rows: Annotated[int, typer.Option(min=50, help="Rows to learn.")] = 300,
    seeds: Annotated[int, typer.Option(min=1, help="Tables of each function, averaged.")] = 2,
    models: Models = None,
    n_jobs: Workers = 1,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Error bars outside the data: what 90 % intervals cover at 1.5 and 3 times the range learnt.

    Needs NGBoost and CatBoost, which the extra `peers` of the package installs, unless --models leaves
    them out.

    Example: ggln reproduce outside --functions "line,fast sine" --seeds 1 --models "GGLNRegressor()"
    """
    from ggln.plots import outside as picture
    from ggln.reproduction import outside as experiment

    names = chosen(functions, tuple(experiment.TASKS), option="--functions")
    own = chosen(models, experiment.MODELS, option="--models")
    results = experiment.run(names, rows, seeds, store_folder(store, output), n_jobs, own)
    console = new_console()
    title = "Percent within 90 % intervals: inside, and outside at 1.5 and 3 times the range (*: below 80)"
    print_table(console, title, *experiment.table(results), {})
    keep(console, results, output, "outside", picture.draw)


@app.command()
def drift(
    streams: Annotated[
        str | None,
        typer.Option(help="Names of streams, separated by commas; all by default.", show_default=False),
    ] = None,
    rows: Annotated[int, typer.Option(min=1000, help="Rows of each stream.")] = 10_000,
    seeds: Annotated[int, typer.Option(min=1, help="Draws of each stream, averaged.")] = 1,
    models: Models = None,
    n_jobs: Workers = 1,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Streams that change: errors, coverage window by window, and how fast a change is made up for.

    CapyMOA's SOKNL takes part if it is installed, and Java with it. Needs River (the extra `peers`).

    Example: ggln reproduce drift --streams "no change,alternating" --rows 3000 --models "GGLNRegressor()"
    """
    from ggln.plots import drift as picture
    from ggln.reproduction import drift as experiment
    from ggln.reproduction.competitors.drift_regressors import peers
    from ggln.reproduction.tasks.changing_streams import NAMES

    names = chosen(streams, NAMES, option="--streams")
    own = chosen(models, (experiment.OURS, experiment.NEVER, *peers()), option="--models")
    results = experiment.run(names, rows, seeds, store_folder(store, output), n_jobs, own)
    console = new_console()
    for score in ("rmse", "nll"):
        print_table(
            console, f"{score.upper()} of each row before it is learnt", *experiment.table(results, score), {}
        )
    if experiment.OURS in own:
        title = (
            f"Windows of {experiment.WINDOW:,} rows, and the RMSE of {experiment.AFTER} rows after a change"
        )
        print_table(console, title, *experiment.own_table(results), {})
    keep(console, results, output, "drift", picture.draw)
