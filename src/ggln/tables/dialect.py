"""How a table is written, where somebody says so: its cells do not always tell."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

Separator = Literal["point", "comma"]
OTHER: dict[str, Separator] = {"point": "comma", "comma": "point"}


@dataclass(frozen=True)
class Dialect:
    """What was said of a table; nothing by default.

    decimal, thousands: which sign stands before decimals, and which between thousands; day_first: of dates
    such as 03/04/2024; encoding: of its text; skip_lines: lines above the line of names.
    """

    decimal: Separator | None = None
    thousands: Separator | None = None
    day_first: bool | None = None
    encoding: str | None = None
    skip_lines: int = 0

    def __post_init__(self) -> None:
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError(f"--decimal and --thousands cannot both be {self.decimal}")
        try:
            known = self.encoding is None or codecs.lookup(self.encoding)._is_text_encoding
        except LookupError:
            known = False
        if not known:
            raise ValueError(f"there is no encoding {self.encoding!r}: say utf-8, latin-1, cp1252 or utf-16")

    @property
    def numbers(self) -> str:
        """How numbers are written, by its name in `styles`; "" if that was not said."""
        return self.decimal or (OTHER[self.thousands] if self.thousands else "")

    def about_cells(self) -> bool:
        """Return whether anything was said of how cells are written, which a model knows already."""
        return self.numbers != "" or self.day_first is not None


UNSAID = Dialect()
