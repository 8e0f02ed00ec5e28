"""`ggln reproduce`: the paper's tables and figures, one command each.

The longer ones keep every finished job, so that a run that was stopped goes on where it was.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ggln.cli.app import App
from ggln.cli.datasets import DataDir
from ggln.cli.options import check_folder, check_jobs
from ggln.cli.show import keep, new_console, print_table

app = App(no_args_is_help=True, help="Reproduce the paper's tables and figures, one command each.")

Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for results and picture.")]
Store = Annotated[
    Path | None, typer.Option(help="Folder of finished jobs. By default .jobs in the output folder.")
]
Workers = Annotated[
    int,
    typer.Option("--n-jobs", help="Jobs at a time; -1 for one on each core.", callback=check_jobs),
]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of samples, gates and order.")]
Sets = Annotated[
    str | None,
    typer.Option(help="Names of data sets, separated by commas; all by default.", show_default=False),
]
Seeds = Annotated[int, typer.Option(min=1, help="Networks with different gates for each fit, averaged.")]
Networks = Literal["all", "paper", "defaults"]
RESULTS = Path("results")


def store_folder(store: Path | None, output: Path) -> Path:
    """Return where finished jobs are kept; see that results can be written, before there are any."""
    check_folder(output)
    return output / ".jobs" if store is None else store


def chosen(
    names: str | None, default: tuple[str, ...], known: tuple[str, ...] = (), option: str = "--sets"
) -> tuple[str, ...]:
    """Return the names that an option lists, of all known ones, or the default ones."""
    from ggln.tables.read import suggestion

    if names is None:
        return default
    known = known or default
    found = tuple(name.strip() for name in names.split(","))
    for name in found:
        if not name:
            raise ValueError(f"{option} lacks a name in {names!r}: write names with one comma between two")
        if name not in known:
            raise ValueError(f"{option} knows no {name!r}{suggestion(name, known)}")
    return found


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


@app.command()
def uci(
    sets: Sets = None,
    splits: Annotated[int, typer.Option(min=1, help="Splits of each set; protein has five.")] = 20,
    seeds: Seeds = 1,
    networks: Annotated[Networks, typer.Option(help="The paper's network, the defaults, or both.")] = "all",
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the settings' own numbers.")] = None,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Table 1: nine data sets, the paper's network with twelve settings, and the defaults.

    Finished jobs of other sets and splits are part of the table, so it can be filled piece by piece.

    Example: ggln reproduce uci --sets yacht,boston --splits 5 --n-jobs -1
    """
    from ggln.plots import uci as picture
    from ggln.reproduction import uci as experiment

    names = chosen(sets, tuple(experiment.PAPER))
    results = experiment.run(
        names, splits, seeds, store_folder(store, output), n_jobs, data_dir, networks, **_given(epochs=epochs)
    )
    console = new_console()
    columns, rows = experiment.table(results)
    print_table(console, "Test RMSE, and its standard error over splits (and over seeds)", columns, rows, {})
    keep(console, results, output, "uci-paper" if networks == "paper" else "uci", picture.draw)


@app.command()
def sarcos(
    rows: Annotated[int | None, typer.Option(min=50, help="Training rows to use; all by default.")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the paper's 2000.")] = None,
    models: Annotated[
        str | None,
        typer.Option(
            help="Of G-GLN, defaults, linear regression, random forest, gradient boosting and MLP, separated "
            "by commas; all by default.",
            show_default=False,
        ),
    ] = None,
    protocols: Annotated[
        str | None,
        typer.Option(
            help="Of paper and leak-free, separated by commas; both by default.", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Table 2: seven torques at once, beside scikit-learn's regressors on the same rows.

    Example: ggln reproduce sarcos --epochs 20 --n-jobs -1
    """
    from ggln.plots import sarcos as picture
    from ggln.reproduction import sarcos as experiment

    names = chosen(models, experiment.MODELS, option="--models")
    asked = chosen(protocols, tuple(experiment.PROTOCOLS), option="--protocols")
    folder = store_folder(store, output)
    results = experiment.run(rows, seed, folder, n_jobs, data_dir, names, asked, **_given(epochs=epochs))
    console = new_console()
    columns, lines = experiment.table(results)
    print_table(console, "Test MSE over the seven torques", columns, lines, {})
    if not results["complete"]:
        note = "Trained on a part of the official training rows: published errors do not compare."
        console.print(note, soft_wrap=True)
    keep(console, results, output, "sarcos", picture.draw)


@app.command("base-models")
def base_models(
    sets: Annotated[
        str | None,
        typer.Option(help="Names of data sets, separated by commas; six by default.", show_default=False),
    ] = None,
    seeds: Seeds = 5,
    rows: Annotated[int | None, typer.Option(min=20, help="Rows of each set; all by default.")] = None,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Appendix C: what a base model that learns is worth in the first epoch.

    Example: ggln reproduce base-models --sets boston,energy
    """
    from ggln.plots import base_models as picture
    from ggln.reproduction import base_models as experiment
    from ggln.reproduction import uci as uci_experiment

    names = chosen(sets, experiment.SETS, tuple(uci_experiment.PAPER))
    results = experiment.run(names, seeds, store_folder(store, output), n_jobs, data_dir, rows)
    console = new_console()
    columns, lines = experiment.table(results)
    title = "RMSE of all predictions of the first epoch, best of the paper's twelve settings"
    print_table(console, title, columns, lines, {})
    keep(console, results, output, "base-models", picture.draw)


@app.command()
def gating(
    neurons: Annotated[int, typer.Option(min=1, help="Neurons of the network.")] = 4,
    context_dim: Annotated[int, typer.Option(min=1, max=8, help="Half-spaces of each neuron.")] = 3,
    seed: Seed = 0,
    output: Output = RESULTS,
) -> None:
    """Figure 1A: the regions into which half-spaces cut the plane.

    Example: ggln reproduce gating --context-dim 4
    """
    from ggln.plots import gating as picture
    from ggln.reproduction import gating as experiment

    check_folder(output)
    results = experiment.run(neurons, context_dim, seed)
    console = new_console()
    lines = {
        f"neuron {number}": {"regions": len(shares), "largest": max(shares.values())}
        for number, shares in enumerate(results["regions"], start=1)
    }
    names = {
        "regions": f"regions of {2**context_dim} contexts",
        "largest": "largest region, of the plane shown",
    }
    print_table(console, "Half-spaces in two dimensions", {"regions": "d", "largest": ".0%"}, lines, names)
    console.print(f"All neurons together: {results['polytopes']} regions")
    keep(console, results, output, "gating", picture.draw)


@app.command()
def hetero(
    rows: Annotated[int, typer.Option(min=2, help="Samples to learn from.")] = 5000,
    seed: Seed = 0,
    output: Output = RESULTS,
) -> None:
    """Figure 1C: neurons of different layers, and the network, on a heteroskedastic function.

    Example: ggln reproduce hetero -o results
    """
    from ggln.plots import hetero as picture
    from ggln.reproduction import hetero as experiment

    check_folder(output)
    console = new_console()
    with console.status("learning"):
        results = experiment.run(rows, seed)
    scores = {f"layer {n['layer']}": {"mean": n["layer_nll"], "best": n["nll"]} for n in results["neurons"]}
    scores["network"] = {"mean": results["nll"], "best": results["nll"]}
    scores["the truth"] = {"mean": results["nll_of_the_truth"], "best": results["nll_of_the_truth"]}
    names = {"mean": "NLL, mean of its neurons", "best": "NLL, best neuron"}
    print_table(console, f"{rows} samples, tested on as many", {"mean": ".3f", "best": ".3f"}, scores, names)
    keep(console, results, output, "hetero", picture.draw)
