"""The `ggln` command.

Heavy modules are imported inside the commands, so that `--help` and completion answer at once.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ggln import __version__
from ggln.cli import comparisons, datasets, density, reproduce
from ggln.cli.show import new_console, print_table, save

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Gaussian Gated Linear Networks: online regression with error bars.",
)
reproduce.app.add_typer(comparisons.app)  # without a name: its commands join the others
reproduce.app.add_typer(density.app)
app.add_typer(reproduce.app, name="reproduce")
app.add_typer(datasets.app, name="datasets")


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
    console = new_console()
    console.print("Learning 331 patients of the diabetes data (the first time, kernels are compiled)")
    from ggln.experiments import demo as experiment
    from ggln.plots import intervals

    results = experiment.run(verbose=1, seed=seed)
    columns = {"rmse": ".2f", "nll": ".3f", "crps": ".2f", "coverage_90": ".0%", "seconds": ".2f"}
    names = {"coverage_90": "90 % interval covers"}
    print_table(console, "111 patients that were not learnt", columns, results["scores"], names)
    save(console, intervals.draw(results), plot)
