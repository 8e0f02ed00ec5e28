"""The `ggln` command.

Heavy modules are imported inside the commands, so that `--help` and completion answer at once.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggln import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Gaussian Gated Linear Networks: online regression with error bars.",
)
reproduce = typer.Typer(
    no_args_is_help=True, help="Reproduce the paper's tables and figures, one command each."
)
app.add_typer(reproduce, name="reproduce")
data_sets = typer.Typer(no_args_is_help=True, help="List the public data sets and get them.")
app.add_typer(data_sets, name="datasets")

DataDir = Annotated[
    Path | None, typer.Option(help="A folder of data sets, to look in before GGLN_DATA and the cache.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for the results and the picture.")]


def run() -> None:
    """Run the command; an error is one sentence and exit code 2."""
    try:
        app()
    except (ValueError, OSError, MemoryError) as error:
        print(f"ggln: {error}", file=sys.stderr)
        sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Gaussian Gated Linear Networks: online regression with error bars."""


@app.command()
def demo(
    plot: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path("ggln-demo.png"),
    seed: Annotated[int, typer.Option(help="Seed of the split and of the networks.")] = 0,
) -> None:
    """Learn a small table, compare with two baselines, and draw the predictions.

    Example: ggln demo --plot /tmp/demo.png
    """
    console = _console()
    console.print("Learning 331 patients of the diabetes data (the first time, kernels are compiled)")
    from ggln.experiments import demo as experiment
    from ggln.plots import intervals

    results = experiment.run(verbose=1, seed=seed)
    columns = {"rmse": ".2f", "nll": ".3f", "crps": ".2f", "coverage": ".0%", "seconds": ".2f"}
    names = {"coverage": "90 % interval covers"}
    _print_table(console, "111 patients that were not learnt", columns, results["scores"], names)
    _save(console, intervals.draw(results), plot)


@reproduce.command()
def hetero(
    rows: Annotated[int, typer.Option(min=2, help="Samples to learn from.")] = 5000,
    seed: Annotated[int, typer.Option(help="Seed of samples and gates.")] = 0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for results and picture.")] = Path(
        "results"
    ),
) -> None:
    """Figure 1C: neurons of different layers, and the network, on a heteroskedastic function.

    Example: ggln reproduce hetero -o results
    """
    from ggln.experiments import hetero as experiment
    from ggln.experiments import record
    from ggln.plots import hetero as picture

    console = _console()
    with console.status("learning"):
        results = experiment.run(rows, seed)
    record.write(output / "hetero.json", results)
    scores = {f"layer {n['layer']}": {"mean": n["layer_nll"], "best": n["nll"]} for n in results["neurons"]}
    scores["network"] = {"mean": results["nll"], "best": results["nll"]}
    scores["the truth"] = {"mean": results["nll_of_the_truth"], "best": results["nll_of_the_truth"]}
    names = {"mean": "NLL, mean of its neurons", "best": "NLL, best neuron"}
    _print_table(console, f"{rows} samples, tested on as many", {"mean": ".3f", "best": ".3f"}, scores, names)
    console.print(f"Results are in {output / 'hetero.json'}", highlight=False, soft_wrap=True)
    _save(console, picture.draw(record.plain(results)), output / "hetero.png")


@data_sets.command("list")
def list_data_sets(data_dir: DataDir = None) -> None:
    """List all known data sets, and where they are.

    Example: ggln datasets list
    """
    from rich.table import Table

    from ggln import datasets

    table = Table(title="Data sets", title_justify="left")
    for heading in ("name", "rows", "features", "outputs", "source", "where"):
        numeric = heading in ("rows", "features", "outputs")
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for entry in datasets.ENTRIES.values():
        sizes = (f"{size:,}" for size in (entry.rows, entry.features, entry.outputs))
        folders = {str(path.parent): None for path in datasets.find(entry.name, data_dir) or ()}
        table.add_row(entry.name, *sizes, entry.source, "\n".join(folders) or "not here")
    _console().print(table)


@data_sets.command("get")
def get_data_set(
    name: Annotated[str, typer.Argument(help="A name from `ggln datasets list`.")], data_dir: DataDir = None
) -> None:
    """Make sure that a data set is here, verify it, and say where it is; download it if need be.

    Example: ggln datasets get boston --data-dir ~/data
    """
    from ggln import datasets

    console = _console()
    for path in datasets.get(name, data_dir):
        console.print(f"{name} is in {path}", highlight=False, soft_wrap=True)


def _console() -> "Console":
    from rich.console import Console

    return Console()


def _print_table(
    console: "Console", title: str, columns: dict[str, str], rows: dict[str, Any], names: dict[str, str]
) -> None:
    """Print one line for each of `rows`; `columns` maps the values to show to their formats."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("")
    for column in columns:
        table.add_column(names.get(column, column), justify="right")
    for name, values in rows.items():
        table.add_row(name, *(format(values[column], form) for column, form in columns.items()))
    console.print(table)


def _save(console: "Console", figure: "Figure", path: Path) -> None:
    """Write a picture and say where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    console.print(f"The plot is in {path}", highlight=False, soft_wrap=True)
