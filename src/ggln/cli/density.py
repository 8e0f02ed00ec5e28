"""More commands of `ggln reproduce`: density modelling by denoising."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ggln.cli.app import App
from ggln.cli.datasets import DataDir
from ggln.cli.reproduce import RESULTS, Output, Seed, Store, Workers, store_folder
from ggln.cli.show import keep, new_console, print_table

app = App()

Repeats = Annotated[int, typer.Option(min=1, help="Repetitions, averaged.")]
Threads = Annotated[int, typer.Option("--n-jobs", help="Threads; -1 for one on each core.")]


def _numbers(text: str, name: str) -> tuple[int, ...]:
    """Return the positive whole numbers that an option lists."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ValueError(f"{name} must be positive whole numbers, separated by commas, got {text!r}")
    return tuple(map(int, parts))


@app.command("swiss-roll")
def swiss_roll(
    samples: Annotated[str, typer.Option(help="Numbers of samples to learn from.")] = "500,5000",
    seeds: Repeats = 3,
    n_jobs: Workers = 1,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Figures 3A and 4: a grid through 24 denoising steps, beside the paper's perceptrons.

    Needs JAX and Optax, which the extra `peers` of the package installs.

    Example: ggln reproduce swiss-roll --samples 500 --seeds 1
    """
    from ggln.plots import swiss_roll as picture
    from ggln.reproduction import swiss_roll as experiment

    sizes = _numbers(samples, "samples")
    results = experiment.run(sizes, seeds, store_folder(store, output), n_jobs)
    console = new_console()
    print_table(console, "Denoised grid to the roll, and the score's error", *experiment.table(results), {})
    keep(console, results, output, "swiss-roll", picture.draw)


@app.command()
def hmc(
    rows: Annotated[int, typer.Option(min=100, help="Samples to learn from.")] = 5000,
    steps: Annotated[int, typer.Option(min=100, help="Hamiltonian steps of all chains together.")] = 15_000,
    substeps: Annotated[int, typer.Option(min=1, help="Leapfrog steps in each.")] = 150,
    chains: Annotated[int, typer.Option(min=1, help="Chains that run side by side.")] = 100,
    seed: Seed = 0,
    n_jobs: Threads = -1,
    output: Output = RESULTS,
) -> None:
    """Figure 3B: Hamiltonian dynamics along the learnt scores of the Swiss roll.

    Needs JAX and Optax, which the extra `peers` of the package installs.

    Example: ggln reproduce hmc --steps 1500
    """
    from ggln.plots import hmc as picture
    from ggln.reproduction import hmc as experiment

    console = new_console()
    with console.status("sampling"):
        results = experiment.run(rows, steps, substeps, chains=chains, seed=seed, n_jobs=n_jobs)
    columns = {"energy_distance": ".4f", "inside": ".1%", "seconds": ".0f"}
    names = {"energy_distance": "energy distance to fresh samples", "inside": "within 1.5 times the range"}
    print_table(console, f"{steps} steps of {substeps} sub-steps", columns, results["samples"], names)
    keep(console, results, output, "hmc", picture.draw)


@app.command()
def mnist(
    data: Annotated[
        Literal["digits", "mnist"], typer.Option(help="scikit-learn's 8 x 8 digits, or MNIST.")
    ] = "digits",
    rows: Annotated[int | None, typer.Option(min=100, help="Training images; all by default.")] = None,
    images: Annotated[int, typer.Option(min=8, help="Test images to fill in.")] = 100,
    steps: Annotated[int, typer.Option(min=25, help="Denoising steps.")] = 3000,
    step_length: Annotated[float, typer.Option(min=1e-6, max=1.0, help="Length of each step.")] = 0.002,
    seed: Seed = 0,
    n_jobs: Threads = -1,
    data_dir: DataDir = None,
    output: Output = RESULTS,
) -> None:
    """Figures 3C and 5: fill in rectangles of images, trained by undoing noise in one pass.

    Example: ggln reproduce mnist --data mnist --images 100
    """
    from ggln.plots import mnist as picture
    from ggln.reproduction import mnist as experiment

    console = new_console()
    results = experiment.run(data, images, steps, step_length, rows, seed, n_jobs, data_dir, verbose=1)
    lines: dict[str, Any] = {
        method: {part: results[part]["errors"][own] for part, own in _by_part(results, number)}
        for number, method in enumerate(results["test"]["errors"])
    }
    names = {"test": "unseen images", "train": "training images"}
    print_table(console, "Mean squared error inside the masks", {"test": ".4f", "train": ".4f"}, lines, names)
    name = "mnist" if data == "mnist" else "mnist-digits"
    keep(console, results, output, name, picture.draw)
    path = Path(output) / f"{name}.gif"
    picture.animate(results, path)
    console.print(f"The animation is in {path}", highlight=False, soft_wrap=True)


def _by_part(results: dict[str, Any], number: int) -> list[tuple[str, str]]:
    return [(part, list(results[part]["errors"])[number]) for part in ("test", "train")]


@app.command("gradient-check")
def gradient_check(
    samples: Annotated[str, typer.Option(help="Numbers of rows to learn from.")] = "100,300,1000,3000,10000",
    seeds: Repeats = 3,
    n_jobs: Workers = 1,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Learnt scores against true ones, for Gaussians and mixtures of them.

    Example: ggln reproduce gradient-check --samples 100,1000 --seeds 1
    """
    from ggln.plots import gradient_check as picture
    from ggln.reproduction import gradient_check as experiment
    from ggln.reproduction.shared.averages import Mean

    sizes = _numbers(samples, "samples")
    results = experiment.run(sizes, seeds, store_folder(store, output), n_jobs)
    columns = {str(size): "" for size in sizes}
    lines = {
        name: dict(zip(columns, map(Mean, errors, results["standard_errors"][name]), strict=True))
        for name, errors in results["errors"].items()
    }
    console = new_console()
    print_table(console, "Error of the score over its size, by rows learnt", columns, lines, {})
    keep(console, results, output, "gradient-check", picture.draw)


@app.command()
def anomaly(seeds: Repeats = 3, n_jobs: Workers = 1, store: Store = None, output: Output = RESULTS) -> None:
    """Find the digit that was left out of training, beside scikit-learn's detectors.

    Example: ggln reproduce anomaly --n-jobs -1
    """
    from ggln.plots import anomaly as picture
    from ggln.reproduction import anomaly as experiment

    results = experiment.run(seeds, store_folder(store, output), n_jobs)
    lines = {
        str(digit): dict(zip(results["areas"], areas, strict=True))
        for digit, areas in enumerate(zip(*results["areas"].values(), strict=True))
    }
    lines["mean"] = results["mean_areas"]
    console = new_console()
    columns = dict.fromkeys(results["areas"], ".3f")  # a digit for each line: it fits a narrow window
    print_table(console, "Area under the ROC curve, by the digit left out", columns, lines, {})
    console.print(f"Ahead of both: {results['ahead_of_both']} of 10 digits")
    keep(console, results, output, "anomaly", picture.draw)


@app.command("digit-samples")
def digit_samples(
    count: Annotated[int, typer.Option(min=16, help="Samples of each method.")] = 200,
    seed: Seed = 0,
    n_jobs: Threads = -1,
    output: Output = RESULTS,
) -> None:
    """Digits from nothing, by annealed Langevin dynamics, with distances to unseen digits.

    Example: ggln reproduce digit-samples --count 100
    """
    from ggln.plots import digit_samples as picture
    from ggln.reproduction import digit_samples as experiment

    console = new_console()
    with console.status("learning and sampling"):
        results = experiment.run(count, seed, n_jobs)
    columns = {"energy_distance": ".4f", "nearest": ".4f"}
    names = {
        "energy_distance": "energy distance to unseen digits",
        "nearest": "squared distance to the nearest",
    }
    print_table(console, f"{count} samples of each", columns, results["samples"], names)
    keep(console, results, output, "digit-samples", picture.draw)


@app.command()
def densities(
    rows: Annotated[int, typer.Option(min=100, help="Rows to learn.")] = 2000,
    seeds: Repeats = 3,
    n_jobs: Workers = 1,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """The default density: its score where the truth is known, its samples beside kernels'.

    Example: ggln reproduce densities --rows 500 --seeds 1
    """
    from ggln.plots import densities as picture
    from ggln.reproduction import densities as experiment

    results = experiment.run(rows, seeds, store_folder(store, output), n_jobs)
    console = new_console()
    cosines = {name: {"cosine": cosine} for name, cosine in results["cosines"].items()}
    print_table(console, "Mean cosine of the score to the truth", {"cosine": ".3f"}, cosines, {})
    columns = dict.fromkeys((experiment.OURS, experiment.KERNEL, experiment.FRESH), ".4f")
    print_table(console, "Energy distance of samples to fresh data", columns, results["distances"], {})
    keep(console, results, output, "densities", picture.draw)


@app.command()
def imputation(
    seeds: Repeats = 3,
    n_jobs: Workers = 1,
    data_dir: DataDir = None,
    store: Store = None,
    output: Output = RESULTS,
) -> None:
    """Fill in a fifth of the values of seven tables, beside scikit-learn's imputers.

    Example: ggln reproduce imputation --seeds 1
    """
    from ggln.plots import imputation as picture
    from ggln.reproduction import imputation as experiment

    results = experiment.run(seeds, store_folder(store, output), n_jobs, data_dir)
    console = new_console()
    columns = dict.fromkeys(experiment.MODELS, ".3f")
    print_table(console, "RMSE of values taken away, in deviations", columns, results["errors"], {})
    console.print(f"Ahead of both: {results['ahead_of_both']} of {len(results['errors'])} tables")
    keep(console, results, output, "imputation", picture.draw)
