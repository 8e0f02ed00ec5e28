"""`ggln info`: what is in a model file."""

from typing import TYPE_CHECKING, Any

from ggln.cli import options
from ggln.cli.app import App
from ggln.cli.show import counted, new_console, print_rows
from ggln.terminal import plain

if TYPE_CHECKING:
    from rich.console import Console

    from ggln.tables.model import TableRegressor

app = App()
GAPS = {True: "the median, and a feature that says so", False: "the median"}


@app.command()
def info(model: options.ModelFile) -> None:
    """Say what a model predicts, from which columns, how much it has learnt, and how good it was.

    Example: ggln info model.ggln
    """
    stored = options.read_model(model)
    loaded, console = stored.restore(), new_console()
    size = model.stat().st_size

    def say(text: str) -> None:
        console.print(plain(text), soft_wrap=True, highlight=False, markup=False)

    say(
        f"{model}: predicts {', '.join(loaded.targets)} from {counted(len(loaded.schema_.columns), 'column')}"
    )
    origin = "a stream" if stored.from_stream else "a table"
    rows = counted(loaded.regressor_.learner_.rows, "row")
    say(f"Learnt {rows} from {origin}; the file has {_readable(size)}")
    say(f"Settings: {_settings(loaded)}")
    lines = [[column.name, column.kind, *_about(column)] for column in loaded.schema_.columns]
    lines += [
        [name, "target", "", _written(loaded.schema_.signs.get(name, "")), ""] for name in loaded.targets
    ]
    print_rows(console, "Columns", ["name", "kind", "learnt", "written", "a gap is"], lines, left=5)
    _scores(loaded, console, say)


def _readable(size: int) -> str:
    """Return the size of a file.

    >>> _readable(4_260), _readable(28_000_000)
    ('4 kB', '28.0 MB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _settings(model: "TableRegressor") -> str:
    """Return the arguments that are not the defaults."""
    from ggln.estimators.regressor import GGLNRegressor

    usual: dict[str, Any] = GGLNRegressor().get_params()
    given = {
        name: value
        for name, value in model.regressor_.get_params().items()
        if repr(value) != repr(usual[name]) and name not in ("n_jobs", "verbose")
    }
    return ", ".join(f"{name}={value!r}" for name, value in given.items()) or "the defaults"


def _about(column: Any) -> tuple[str, str, str]:
    """Return what was learnt of a column, how it is written, and what a gap becomes."""
    if column.kind == "category":
        return column.shown_range(), "", "a value like the others"
    gap = "the last value" if column.carry else "left out" if column.fill is None else GAPS[column.indicator]
    return column.shown_range(), _written(column.style) if column.kind == "number" else column.style, gap


def _written(style: str) -> str:
    """Return a style of numbers in words."""
    from ggln.tables.styles import COMMA, PERCENT

    words = ["decimal comma"] if style.startswith(COMMA) else ["decimal point"]
    return ", ".join([*words, *(["percentages"] if style.endswith(PERCENT) else [])])


def _scores(model: "TableRegressor", console: "Console", say: Any) -> None:
    """Print the scores that `ggln fit --validate` kept."""
    kept = model.scores_
    if kept is None:
        say("No scores were kept: `ggln fit --validate 0.1` keeps some, `ggln score` computes them")
        return
    from ggln.cli.scoring import COLUMNS, TITLES

    lines = [
        [name, *(format(one[column], form) for column, form in COLUMNS.items())]
        for name, one in kept["targets"].items()
    ]
    title = f"{counted(kept['rows'], 'row')} held out, when {counted(kept['learnt'], 'row')} had been learnt"
    print_rows(console, title, ["", *(TITLES[column] for column in COLUMNS)], lines)
