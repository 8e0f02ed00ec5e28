"""`ggln plot`: pictures of a model and of its predictions for a table."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ggln.cli import options
from ggln.cli.show import new_console, save

if TYPE_CHECKING:
    from ggln.tables.inspect import Along
    from ggln.tables.model import TableRegressor
    from ggln.tables.schema import Encoded, Schema

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


class Request(NamedTuple):
    """What a picture is to be of."""

    output: int
    columns: list[str]  # the columns asked for
    header: list[str]  # all columns of the table


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
    from ggln.tables.read import open_table, suggestion

    stored = options.read_model(model)
    targets = stored.schema.targets
    if target is not None and target not in targets:
        raise ValueError(f"{model} has no target {target!r}{suggestion(target, targets)}")
    number = 0 if target is None else targets.index(target)
    columns = [_column(stored.schema, name, kind) for name in feature or []]
    with open_table(table, form) as opened:
        picture = PICTURES[kind]
        encoded = first_rows(stored.schema, opened, rows or picture.rows, picture.targets)
    from ggln.tables.model import unnamed_rows

    loaded = stored.restore()
    loaded.regressor_.n_jobs = n_jobs
    with unnamed_rows():
        display = picture.draw(loaded, encoded, Request(number, columns, opened.columns))
    save(new_console(), display.figure_, place)


def _column(schema: "Schema", name: str, kind: Kind) -> str:
    """Return the name of a column, or of one of its features where the picture is about features."""
    from ggln.tables.read import suggestion

    known = list(schema.groups())
    if name in known or (kind == "gating" and name in schema.features()):
        return name
    raise ValueError(f"the model has no column {name!r}{suggestion(name, known)}")


def _targets(encoded: "Encoded") -> Any:
    return encoded.Y[:, 0] if encoded.Y.shape[1] == 1 else encoded.Y


def _calibration(kind: Any) -> Callable[..., Any]:
    def draw(model: "TableRegressor", encoded: "Encoded", asked: Request) -> Any:
        from ggln.plots import CalibrationDisplay
        from ggln.plots.display import one_output, predictive

        distribution = one_output(predictive(model.regressor_, encoded.X), asked.output)
        return CalibrationDisplay.from_predictions(encoded.Y[:, asked.output], distribution, kind=kind)

    return draw


def _typical_row(X: Any) -> Any:
    """Return the row nearest to the medians: these themselves would be of no category at all."""
    import numpy as np

    distances = (X - np.median(X, axis=0)) / np.maximum(X.std(axis=0), 1e-300)
    return X[np.argmin((distances**2).sum(axis=1))]


def _intervals(model: "TableRegressor", encoded: "Encoded", asked: Request) -> Any:
    from ggln.plots import IntervalsDisplay

    display = IntervalsDisplay.from_estimator(
        model.regressor_, encoded.X, _targets(encoded), output=asked.output
    )
    display.ax_.set_ylabel(model.targets[asked.output])
    return display


def _along(model: "TableRegressor", encoded: "Encoded", columns: list[str], numbers: bool) -> "Along":
    """Return rows along the column asked for, or along the first; with `numbers`, of those with an order."""
    from ggln.tables.columns import Boolean, Category
    from ggln.tables.inspect import along

    unordered = [column.name for column in model.schema_.columns if isinstance(column, Boolean | Category)]
    known = [name for name in model.schema_.groups() if not (numbers and name in unordered)]
    if columns and columns[0] not in known:
        raise ValueError(
            f"{columns[0]!r} has no order to draw neurons along: name a column of numbers or dates"
        )
    if not known:
        raise ValueError("neurons are drawn along a column of numbers or dates, and the model has none")
    name = columns[0] if columns else known[0]
    return along(model.schema_, name, encoded.X, _typical_row(encoded.X))


def _band(model: "TableRegressor", encoded: "Encoded", asked: Request) -> Any:
    from ggln.plots import BandDisplay
    from ggln.plots.display import one_output, predictive, show_dates

    path = _along(model, encoded, asked.columns, numbers=False)
    display = BandDisplay.from_predictions(
        path.x,
        one_output(predictive(model.regressor_, path.rows), asked.output),
        samples=(path.samples, encoded.Y[:, asked.output]),
        x_name=path.name,
        y_name=model.targets[asked.output],
    )
    if path.date:
        show_dates(display.ax_.xaxis)
    return display


def _neurons(model: "TableRegressor", encoded: "Encoded", asked: Request) -> Any:
    from ggln.plots import NeuronsDisplay
    from ggln.plots.display import show_dates

    path = _along(model, encoded, asked.columns, numbers=True)
    display = NeuronsDisplay.from_estimator(
        model.regressor_,
        encoded.X,
        _targets(encoded),
        feature=model.schema_.owners().index(path.name),
        output=asked.output,
        grid=path.rows,
    )
    for axes in display.figure_.axes:
        axes.set_xlabel(path.name)
        if path.date:
            show_dates(axes.xaxis)
    display.figure_.axes[0].set_ylabel(model.targets[asked.output])
    return display


def _gating(model: "TableRegressor", encoded: "Encoded", asked: Request) -> Any:
    from ggln.plots import GatingDisplay
    from ggln.plots.display import show_dates
    from ggln.tables.columns import Date

    names, owners = model.schema_.features(), model.schema_.owners()
    if len(names) < 2:
        raise ValueError("regions of gates need two features, and the model has one")
    chosen = [names.index(name) if name in names else owners.index(name) for name in asked.columns]
    kinds = ["number", "date", "boolean", "category"]  # what makes the clearest picture, by default
    ordered = sorted(model.schema_.columns, key=lambda column: kinds.index(column.kind))
    others = [owners.index(column.name) for column in ordered] + list(range(len(names)))
    first, second = list(dict.fromkeys(chosen + others))[:2]
    at = _typical_row(encoded.X)
    display = GatingDisplay.from_estimator(model.regressor_, encoded.X, features=(first, second), at=at)
    display.ax_.set(xlabel=names[first], ylabel=names[second])
    dates = [column.name for column in model.schema_.columns if isinstance(column, Date)]
    for axis, place in ((display.ax_.xaxis, first), (display.ax_.yaxis, second)):
        if names[place] in dates:
            show_dates(axis)
    return display


def _effects(model: "TableRegressor", encoded: "Encoded", asked: Request) -> Any:
    from ggln.plots import EffectsDisplay

    options.check_comparable(model, len(encoded.rows))
    found = model.effects_of_features(encoded.X)
    cells = [encoded.rows[0][asked.header.index(name)] for name in found.names]
    found = found._replace(
        names=[f"{name} = {cell or '?'}" for name, cell in zip(found.names, cells, strict=True)]
    )
    return EffectsDisplay.from_predictions(found, output=asked.output)


def _importance(model: "TableRegressor", encoded: "Encoded", asked: Request) -> Any:
    from ggln.plots import EffectsDisplay

    options.check_comparable(model, len(encoded.rows))
    return EffectsDisplay.from_predictions(model.importance_of_features(encoded.X), output=asked.output)


def _contributions(model: "TableRegressor", encoded: "Encoded", asked: Request) -> Any:
    from ggln.plots import ContributionsDisplay

    return ContributionsDisplay.from_predictions(model.explain_features(encoded.X), output=asked.output)


def _prequential(model: "TableRegressor", encoded: "Encoded", *_: Any) -> Any:
    from ggln.plots import PrequentialDisplay

    return PrequentialDisplay.from_estimator(model.regressor_, encoded.X, _targets(encoded))


PICTURES = {
    "calibration": Picture(_calibration("coverage"), 2000, True),
    "quantiles": Picture(_calibration("quantiles"), 2000, True),
    "pit": Picture(_calibration("pit"), 2000, True),
    "intervals": Picture(_intervals, 150, True),
    "band": Picture(_band, 1000, True),
    "neurons": Picture(_neurons, 500, True),
    "gating": Picture(_gating, 500, False),
    "effects": Picture(_effects, 1, False),
    "contributions": Picture(_contributions, 1, False),
    "importance": Picture(_importance, 50, False),
    "prequential": Picture(_prequential, 5000, True),
}
