"""Options that say how a table is written, where its cells do not tell, and how many rows may be lost."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from ggln.tables.dialect import Dialect

Separator = Literal["point", "comma"]
Decimal = Annotated[
    Separator | None,
    typer.Option(help="What stands before decimals, if no number tells.", show_default=False),
]
Thousands = Annotated[
    Separator | None,
    typer.Option(
        help="What stands between thousands, if no number tells; blanks and apostrophes may always.",
        show_default=False,
    ),
]
DayFirst = Annotated[
    bool | None,
    typer.Option(
        "--day-first/--month-first",
        help="What comes first in dates such as 03/04/2024, if none tells.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of the text, such as latin-1.", show_default=False),
]
SkipLines = Annotated[int, typer.Option(min=0, help="Lines above the line of column names.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A column of numbers that are no ids, whatever they look like. May be given several times.",
        show_default=False,
    ),
]
MaxRejected = Annotated[
    str,
    typer.Option(metavar="SHARE", help="Share of unreadable rows from which on the command stops."),
]
FORGIVEN = 20
"""Rows that may be unreadable before a share of them is a share: the first row of a stream may be bad."""


def dialect(
    decimal: Separator | None = None,
    thousands: Separator | None = None,
    day_first: bool | None = None,
    encoding: str | None = None,
    skip_lines: int = 0,
) -> "Dialect":
    """Return what the options say."""
    from ggln.tables.dialect import Dialect

    return Dialect(decimal, thousands, day_first, encoding, skip_lines)


def share(given: str) -> float:
    """Return a share from a text such as 5% or 0.05."""
    text = given.strip()
    try:
        found = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        found = -1.0
    if not 0.0 <= found <= 1.0:
        raise ValueError(f"--max-rejected needs a share such as 5% or 0.05, got {given!r}")
    return found


def too_many(rejected: int, rows: int, most: float, ended: bool = True) -> bool:
    """Return whether so many unreadable rows, of all so far, are more than the share that was allowed."""
    return rejected > most * rows and (ended or rejected > FORGIVEN)


def about_rejected(rejected: int, rows: int, most: float, last: str = "") -> str:
    """Return what to say of them."""
    example = f"; the last is {last}" if last else ""
    allowed = f"more than --max-rejected {100 * most:.3g}% allows"
    return f"{rejected:,} of {rows:,} rows cannot be read, {allowed}{example}"
