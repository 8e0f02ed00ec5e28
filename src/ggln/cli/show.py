"""What the commands print and save, in one way."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console


def new_console() -> "Console":
    """Return the console that all commands print to."""
    from rich.console import Console

    return Console()


def counted(number: int, what: str) -> str:
    """Return a number of things.

    >>> counted(1, "row"), counted(1000, "row")
    ('1 row', '1,000 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def print_table(
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


def save(console: "Console", figure: "Figure", path: Path) -> None:
    """Write a picture and say where."""
    if path.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder: name a file for the picture, such as {path / 'ggln.png'}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    console.print(f"The plot is in {path}", highlight=False, soft_wrap=True)


def keep(
    console: "Console", results: dict[str, Any], output: Path, name: str, draw: "Callable[[Any], Figure]"
) -> None:
    """Write an experiment's results as JSON and the picture drawn from that, and say where."""
    from ggln.reproduction import record

    path = output / f"{name}.json"
    record.write(path, results)
    console.print(f"Results are in {path}", highlight=False, soft_wrap=True)
    save(console, draw(record.plain(results)), path.with_suffix(".png"))
