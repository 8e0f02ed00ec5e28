"""`ggln plot`: pictures of a model and of its predictions for a table."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ggln.cli import options, reading
from ggln.cli.app import App
from ggln.cli.show import new_console, save

if TYPE_CHECKING:
    from ggln.tables.inspect import TableRows
    from ggln.tables.model import TableRegressor
    from ggln.tables.schema import Schema

app = App()
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


class Picture(NamedTuple):
    """How a picture is drawn, from how many rows, and what it is of."""

    draw: Callable[..., Any]
    rows: int
    targets: bool = True  # whether it needs the true values
    features: int = 0  # how many columns are to be named
    single: bool = False  # whether it is of one row
    joint: bool = False  # whether it is of all targets together


@app.command()
def plot(
    model: options.ModelFile,
    table: options.TableFile = "-",
    kind: Annotated[
        Kind, typer.Option("--kind", "-k", metavar="KIND", help="What to draw, see above.")
    ] = "calibration",
    feature: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="For band and neurons, the column along the axis; for gating, two of them.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="Which target, of several.", show_default=False
        ),
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
    encoding: reading.Encoding = None,
    skip_lines: reading.SkipLines = 0,
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
    from ggln.tables.read import open_table

    stored = options.read_model(model)
    picture = PICTURES[kind]
    request = Request(_output(stored.schema, target, kind), _columns(stored.schema, feature or [], kind))
    if picture.single and rows not in (None, 1) and not (kind == "effects" and stored.from_stream):
        raise ValueError(f"{kind} is a picture of a single row, the first one: --rows is for other kinds")
    dialect = reading.dialect(encoding=encoding, skip_lines=skip_lines)
    with open_table(table, form, dialect=dialect) as opened:
        shown = first_rows(stored.schema, opened, rows or picture.rows, picture.targets)
    loaded = stored.restore()
    loaded.regressor_.n_jobs = n_jobs
    save(new_console(), picture.draw(loaded, shown, request).figure_, place)


def _output(schema: "Schema", target: str | None, kind: Kind) -> int:
    """Return the number of the target that a picture is of."""
    from ggln.tables.read import suggestion

    if target is not None and target not in schema.targets:
        raise ValueError(f"the model has no target {target!r}{suggestion(target, schema.targets)}")
    several = len(schema.targets) > 1
    if several and target is not None and PICTURES[kind].joint:
        raise ValueError(f"{kind} is a picture of all targets together: leave out --target")
    if several and target is None and not PICTURES[kind].joint:
        names = ", ".join(schema.targets)
        raise ValueError(f"{kind} is a picture of one target: name it with --target, one of {names}")
    return 0 if target is None else schema.targets.index(target)


def _columns(schema: "Schema", given: list[str], kind: Kind) -> list[str]:
    """Return the columns that a picture is along; of gating, also features of them."""
    from ggln.tables.read import suggestion

    columns, wanted = list(schema.groups()), PICTURES[kind].features
    if given and not wanted:
        users = [name for name, picture in PICTURES.items() if picture.features]
        raise ValueError(f"{kind} is a picture of all columns: --feature is for {', '.join(users)}")
    known = columns if kind != "gating" else schema.features() + columns
    for name in given:
        if name not in known:
            raise ValueError(f"the model has no column {name!r}{suggestion(name, columns)}")
    if not given and len(columns) == wanted:
        return columns
    if len(given) != wanted:
        what = "the column along the axis" if wanted == 1 else "two columns, one for each axis,"
        raise ValueError(
            f"{kind} needs {what} as --feature, got {len(given) or 'none'}: there are {', '.join(columns)}"
        )
    return given


def _targets(shown: "TableRows") -> Any:
    return shown.Y[:, 0] if shown.Y.shape[1] == 1 else shown.Y


def _calibration(kind: Any) -> Callable[..., Any]:
    def draw(model: "TableRegressor", shown: "TableRows", asked: Request) -> Any:
        from ggln.plots import CalibrationDisplay

        return CalibrationDisplay.from_estimator(
            model, shown.frame, _targets(shown), kind=kind, output=asked.output
        )

    return draw


def _intervals(model: "TableRegressor", shown: "TableRows", asked: Request) -> Any:
    from ggln.plots import IntervalsDisplay

    return IntervalsDisplay.from_estimator(model, shown.frame, _targets(shown), output=asked.output)


def _band(model: "TableRegressor", shown: "TableRows", asked: Request) -> Any:
    from ggln.plots import BandDisplay

    (feature,) = asked.columns
    return BandDisplay.from_estimator(
        model, shown.frame, _targets(shown), feature=feature, output=asked.output
    )


def _neurons(model: "TableRegressor", shown: "TableRows", asked: Request) -> Any:
    from ggln.plots import NeuronsDisplay

    (feature,) = asked.columns
    return NeuronsDisplay.from_estimator(
        model, shown.frame, _targets(shown), feature=feature, output=asked.output
    )


def _gating(model: "TableRegressor", shown: "TableRows", asked: Request) -> Any:
    from ggln.plots import GatingDisplay

    first, second = asked.columns
    return GatingDisplay.from_estimator(model, shown.frame, features=(first, second))


def _effects(model: "TableRegressor", shown: "TableRows", asked: Request) -> Any:
    from ggln.plots import EffectsDisplay
    from ggln.plots.display import take

    options.check_comparable(model, len(shown))
    others = shown.frame if model.typical_ is None and len(shown) > 1 else None
    first = take(shown.frame, slice(0, 1))
    return EffectsDisplay.from_estimator(model, first, others, output=asked.output)


def _importance(model: "TableRegressor", shown: "TableRows", asked: Request) -> Any:
    from ggln.plots import EffectsDisplay

    if len(shown) < 2:
        raise ValueError("importance is taken over several rows, got 1: the picture of one row is effects")
    return EffectsDisplay.from_estimator(model, shown.frame, output=asked.output)


def _contributions(model: "TableRegressor", shown: "TableRows", asked: Request) -> Any:
    from ggln.plots import ContributionsDisplay

    return ContributionsDisplay.from_estimator(model, shown.frame, output=asked.output)


def _prequential(model: "TableRegressor", shown: "TableRows", _: Request) -> Any:
    from ggln.plots import PrequentialDisplay

    return PrequentialDisplay.from_estimator(model, shown.frame, _targets(shown))


PICTURES = {
    "calibration": Picture(_calibration("coverage"), 2000),
    "quantiles": Picture(_calibration("quantiles"), 2000),
    "pit": Picture(_calibration("pit"), 2000),
    "intervals": Picture(_intervals, 150),
    "band": Picture(_band, 1000, features=1),
    "neurons": Picture(_neurons, 500, features=1),
    "gating": Picture(_gating, 500, targets=False, features=2, joint=True),
    "effects": Picture(_effects, 1, targets=False, single=True),
    "contributions": Picture(_contributions, 1, targets=False, single=True),
    "importance": Picture(_importance, 50, targets=False),
    "prequential": Picture(_prequential, 5000, joint=True),
}
