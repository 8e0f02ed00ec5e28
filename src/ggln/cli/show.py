"""What the commands print and save, in one way."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ggln.terminal import plain

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


LONGEST = 1000
"""Characters of a sentence: a cell may have a hundred thousand, and what to do about it comes last."""


def line(text: str) -> str:
    """Return a text as a line for a terminal: plain, and without the middle if it is very long.

    >>> len(line("x" * 100_000))
    1005
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    return plain(text)


def print_rows(
    console: "Console", title: str, head: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1
) -> None:
    """Print a table of texts, the first `left` columns to the left; none of them is read as markup."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(plain(title)), title_justify="left")
    for i, name in enumerate(head):
        heading = "\n".join(map(plain, name.split("\n")))  # headings of ours have several lines
        table.add_column(Text(heading), justify="left" if i < left else "right")
    for line in lines:
        table.add_row(*(Text(plain(cell)) for cell in line))
    console.print(table)


def write_csv(lines: Iterable[Sequence[str]], output: Path | None, escape: bool = False) -> None:
    """Write CSV to a file, all or nothing, or to standard output."""
    import csv
    import io
    import sys

    from ggln import atomic
    from ggln.tables.write import Convention

    cell = Convention(escape=True).cell if escape else str
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([cell(one) for one in line] for line in lines)
    if output is None:
        sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
        print(text.getvalue(), end="")
    else:
        atomic.write(output, text.getvalue().encode("utf-8", "surrogateescape"))


def print_table(
    console: "Console", title: str, columns: dict[str, str], rows: dict[str, Any], names: dict[str, str]
) -> None:
    """Print one line for each of `rows`; `columns` maps the values to show to their formats."""
    lines = [
        [name, *(format(values[column], form) for column, form in columns.items())]
        for name, values in rows.items()
    ]
    print_rows(console, title, ["", *(names.get(column, column) for column in columns)], lines)


def save(console: "Console", figure: "Figure", path: Path) -> None:
    """Write a picture and say where."""
    if path.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder: name a file for the picture, such as {path / 'ggln.png'}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    console.print(f"The plot is in {path}", highlight=False, soft_wrap=True)
