"""Numbers that are names: ids and codes. They are asked about, since nobody can tell them from numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ggln.tables import cells

FEWEST = 20
"""Rows from which on it is no accident that a column of whole numbers counts them."""
MOST_DIGITS = 18
"""Of a number that counts rows: what is longer counts nothing."""
NAMES_OF_IDS = re.compile(r"(.*[_ -])?(id|uuid|guid|key|nr|no)|.*[a-z]Id", re.ASCII)
NAMES_OF_CODES = re.compile(r".*(zip|postal|postcode|plz|phone|iban|ean|isbn|sku).*", re.IGNORECASE)
LEADING_ZERO = re.compile(r"0\d+")


Answer = Literal["keep", "drop", "category"]


class Question(NamedTuple):
    """What to ask about a column, and what may be answered."""

    column: str
    why: str
    answers: list[Answer]

    def __str__(self) -> str:
        options = " or ".join(f"--{answer} {self.column}" for answer in self.answers[1:])
        remedy = f"if they are names, say {options}; --keep {self.column} takes them as numbers"
        return f"column {self.column!r} {self.why}: {remedy}"


def about_names(name: str, texts: Sequence[str]) -> Question | None:
    """Return what to ask about a column of numbers that may be names; None if there is nothing.

    >>> print(about_names("zip", ["02139", "94110"]))
    column 'zip' has numbers that begin with 0, such as '02139': if they are names, say --category zip or \
--drop zip; --keep zip takes them as numbers
    >>> about_names("area", ["21", "94"])
    """
    present = [text.strip() for text in texts if not cells.is_missing(text)]
    zero = next((text for text in present if LEADING_ZERO.fullmatch(text)), None)
    code = zero is not None or bool(NAMES_OF_CODES.fullmatch(name))
    counts = _counts(present)
    if not (code or counts or (NAMES_OF_IDS.fullmatch(name) and len(set(present)) == len(present) > 1)):
        return None
    why = (
        f"has numbers that begin with 0, such as {zero!r}"
        if zero is not None
        else "counts the rows"
        if counts
        else "may hold codes, by its name"
        if code
        else "has another number in every row, and the name of an id"
    )
    return Question(name, why, ["keep", "category", "drop"] if code else ["keep", "drop"])


def _counts(present: Sequence[str]) -> bool:
    """Return whether numbers go up by one from row to row."""
    begin = present[0] if len(present) >= FEWEST else ""
    if not (begin.isascii() and begin.isdecimal() and len(begin) <= MOST_DIGITS):
        return False
    first = int(begin)
    return all(text == str(first + i) for i, text in enumerate(present))
