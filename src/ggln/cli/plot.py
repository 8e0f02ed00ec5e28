"""`ggln plot`: pictures of a model and of its predictions for a table."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ggln.cli import options
from ggln.cli.show import new_console, save

if TYPE_CHECKING:
    from ggln.tables.model import TableRegressor
    from ggln.tables.schema import Encoded

app = typer.Typer()
Kind = Literal[
    "calibration",
    "quantiles",
    "pit",
    "intervals",
    "band",
    "neurons",
    "gating",
    "effects",
    "contributions",
    "importance",
    "prequential",
]


class Picture(NamedTuple):
    """How a picture is drawn, and from how many rows."""

    draw: Callable[..., Any]
    rows: int
    targets: bool  # whether it needs the true values


@app.command()
def plot(
    model: options.ModelFile,
    table: options.TableFile = "-",
    kind: Annotated[Kind, typer.Option("--kind", "-k", help="What to draw.")] = "calibration",
    feature: Annotated[
        list[str] | None,
        typer.Option(
            help="For band and neurons, the column along the axis; for gating, two.", show_default=False
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Which target, of several.", show_default=False)
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many rows, from the beginning; by default as many as suit the picture.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Picture to write, .png, .svg or .pdf; KIND.png by default.",
            show_default=False,
        ),
    ] = None,
    n_jobs: options.Jobs = -1,
    form: options.Format = None,
) -> None:
    """Draw a picture of a model's predictions for a table.

    calibration, quantiles, pit: do intervals hold what they promise? intervals: rows one by one. band,
    neurons: along one column, all others as in a typical row. gating: the regions of two columns. effects,
    contributions: of the first row. importance: over rows. prequential: the loss while a copy learns.

    Example: ggln plot model.ggln test.csv --kind calibration -o calibration.png

    Example: ggln plot model.ggln test.csv --kind band --feature area
    """
    options.check_jobs(n_jobs)
    place = output or Path(f"{kind}.png")
    options.check_picture(place)
    from ggln.tables.inspect import first_rows
    from ggln.tables.model import unnamed_rows
    from ggln.tables.read import open_table, suggestion

    loaded = options.load_model(model)
    loaded.regressor.n_jobs = n_jobs
    if target is not None and target not in loaded.targets:
        raise ValueError(f"{model} has no target {target!r}{suggestion(target, loaded.targets)}")
    number = 0 if target is None else loaded.targets.index(target)
    picture = _pictures()[kind]
    along = [_feature(loaded, name) for name in feature or []]
    encoded = first_rows(loaded, open_table(table, form), rows or picture.rows, picture.targets)
    with unnamed_rows():
        display = picture.draw(loaded, encoded, number, along)
    save(new_console(), display.figure_, place)


def _feature(model: "TableRegressor", name: str) -> int:
    """Return the number of a feature, given by its own name or by that of its column."""
    from ggln.tables.read import suggestion

    features, owners = model.schema.features(), model.schema.owners()
    if name in features:
        return features.index(name)
    if name in owners:
        return owners.index(name)
    raise ValueError(f"the model has no feature {name!r}{suggestion(name, [*dict.fromkeys(owners)])}")


def _pictures() -> dict[str, Picture]:
    return {
        "calibration": Picture(_calibration("coverage"), 2000, True),
        "quantiles": Picture(_calibration("quantiles"), 2000, True),
        "pit": Picture(_calibration("pit"), 2000, True),
        "intervals": Picture(_intervals, 150, True),
        "band": Picture(_band, 1000, True),
        "neurons": Picture(_neurons, 500, True),
        "gating": Picture(_gating, 500, False),
        "effects": Picture(_effects, 1, False),
        "contributions": Picture(_contributions, 1, False),
        "importance": Picture(_effects, 50, False),
        "prequential": Picture(_prequential, 5000, True),
    }


def _targets(encoded: "Encoded") -> Any:
    return encoded.Y[:, 0] if encoded.Y.shape[1] == 1 else encoded.Y


def _calibration(kind: Any) -> Callable[..., Any]:
    def draw(model: "TableRegressor", encoded: "Encoded", output: int, _: list[int]) -> Any:
        from ggln.plots import CalibrationDisplay
        from ggln.plots.display import one_output, predictive

        distribution = one_output(predictive(model.regressor, encoded.X), output)
        return CalibrationDisplay.from_predictions(encoded.Y[:, output], distribution, kind=kind)

    return draw


def _typical_row(X: Any) -> Any:
    """Return the row nearest to the medians: these themselves would be of no category at all."""
    import numpy as np

    distances = (X - np.median(X, axis=0)) / np.maximum(X.std(axis=0), 1e-300)
    return X[np.argmin((distances**2).sum(axis=1))]


def _intervals(model: "TableRegressor", encoded: "Encoded", output: int, _: list[int]) -> Any:
    from ggln.plots import IntervalsDisplay

    display = IntervalsDisplay.from_estimator(model.regressor, encoded.X, _targets(encoded), output=output)
    display.ax_.set_ylabel(model.targets[output])
    return display


def _band(model: "TableRegressor", encoded: "Encoded", output: int, along: list[int]) -> Any:
    from ggln.plots import BandDisplay

    feature = along[0] if along else 0
    at = _typical_row(encoded.X)
    display = BandDisplay.from_estimator(
        model.regressor, encoded.X, _targets(encoded), feature=feature, output=output, at=at
    )
    display.ax_.set(xlabel=model.schema.features()[feature], ylabel=model.targets[output])
    display.ax_.legend(loc="best", frameon=False, fontsize="small")
    return display


def _neurons(model: "TableRegressor", encoded: "Encoded", output: int, along: list[int]) -> Any:
    from ggln.plots import NeuronsDisplay

    feature = along[0] if along else 0
    at = _typical_row(encoded.X)
    display = NeuronsDisplay.from_estimator(
        model.regressor, encoded.X, _targets(encoded), feature=feature, output=output, at=at
    )
    for axes in display.figure_.axes:
        axes.set_xlabel(model.schema.features()[feature])
    display.figure_.axes[0].set_ylabel(model.targets[output])
    return display


def _gating(model: "TableRegressor", encoded: "Encoded", _: int, along: list[int]) -> Any:
    from ggln.plots import GatingDisplay

    names = model.schema.features()
    if len(names) < 2:
        raise ValueError("regions of gates need two features, and the model has one")
    first, second = (along + [i for i in range(len(names)) if i not in along])[:2]
    at = _typical_row(encoded.X)
    display = GatingDisplay.from_estimator(model.regressor, encoded.X, features=(first, second), at=at)
    display.ax_.set(xlabel=names[first], ylabel=names[second])
    return display


def _effects(model: "TableRegressor", encoded: "Encoded", output: int, _: list[int]) -> Any:
    from ggln.plots import EffectsDisplay

    return EffectsDisplay.from_estimator(model.regressor, encoded.X, model.typical, output=output)


def _contributions(model: "TableRegressor", encoded: "Encoded", output: int, _: list[int]) -> Any:
    from ggln.plots import ContributionsDisplay

    return ContributionsDisplay.from_estimator(model.regressor, encoded.X, output=output)


def _prequential(model: "TableRegressor", encoded: "Encoded", *_: Any) -> Any:
    from ggln.plots import PrequentialDisplay

    return PrequentialDisplay.from_estimator(model.regressor, encoded.X, _targets(encoded))
