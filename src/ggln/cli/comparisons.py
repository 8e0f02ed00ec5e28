"""More commands of `ggln reproduce`: comparisons that are not in the paper."""

from typing import Annotated

import typer

from ggln.cli.datasets import DataDir
from ggln.cli.reproduce import RESULTS, Output, Store, Workers, app, chosen, store_folder
from ggln.cli.show import keep, new_console, print_table

Sets = Annotated[str, typer.Option(help="Names of data sets, separated by commas; all by default.")]
Splits = Annotated[int, typer.Option(min=1, help="Splits of each set; protein has five.")]


@app.command()
def peers(
    sets: Sets = "",
    splits: Splits = 20,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Other regressors with error bars on the splits of Table 1, and published numbers.

    The defaults' fits are those of `ggln reproduce uci`. Needs NGBoost: pip install ggln[peers]

    Example: ggln reproduce peers --sets yacht,boston --splits 5 --n-jobs -1
    """
    from ggln.experiments import peers as experiment
    from ggln.plots import peers as picture

    names = chosen(sets, tuple(experiment.PUBLISHED))
    results = experiment.run(names, splits, store_folder(store, output), n_jobs, data_dir)
    console = new_console()
    print_table(console, "Mean over the splits' test rows", *experiment.table(results), {})
    title = "GGLNRegressor() against published numbers, as far as they were rounded"
    print_table(console, title, *experiment.marks(results), {})
    keep(console, results, output, "peers", picture.draw)
