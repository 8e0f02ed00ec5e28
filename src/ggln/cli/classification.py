"""Commands of `ggln reproduce` for the Bernoulli member of the family."""

from typing import Annotated

import typer

from ggln.cli.app import App
from ggln.cli.datasets import DataDir
from ggln.cli.reproduce import RESULTS, Output, Seed, Store, Workers, chosen, store_folder
from ggln.cli.show import keep, new_console, print_table

app = App()


@app.command("mnist-classifier")
def mnist_classifier(
    variants: Annotated[
        str | None, typer.Option(help="Names of variants, separated by commas; all by default.")
    ] = None,
    rows: Annotated[int | None, typer.Option(min=100, help="Images to learn; all by default.")] = None,
    seed: Seed = 0,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """MNIST in a single pass, each digit against all others; the variant is chosen on training images.

    Example: ggln reproduce mnist-classifier --variants deskewed --rows 5000
    """
    from ggln.plots import mnist_classifier as picture
    from ggln.reproduction import mnist_classifier as experiment

    names = chosen(variants, tuple(experiment.VARIANTS), option="--variants")
    results = experiment.run(names, rows, seed, store_folder(store, output), n_jobs, data_dir)
    console = new_console()
    print_table(console, "Accuracy after one pass over MNIST, %", *experiment.table(results), {})
    keep(console, results, output, "mnist-classifier", picture.draw)


@app.command()
def classification(
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="Times that the rows are cut into folds.")] = 2,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """The classifier's defaults on scikit-learn's tables, statlog and adult, beside its classifiers.

    The last two take part where their files are found.

    Example: ggln reproduce classification --repeats 1
    """
    from ggln.plots import classification as picture
    from ggln.reproduction import classification as experiment

    results = experiment.run(folds, repeats, store_folder(store, output), n_jobs, data_dir)
    console = new_console()
    for score, title in experiment.TITLES.items():
        print_table(console, title, *experiment.table(results, score), {})
    keep(console, results, output, "classification", picture.draw)
