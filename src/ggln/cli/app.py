"""Typer for this command: `-h` is help, and help speaks of numbers and files, not of Python's types."""

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

Function = TypeVar("Function", bound=Callable[..., Any])

WORDS = {"bool": "", "int": "NUMBER", "float": "NUMBER", "path": "PATH", "str": "TEXT", "list[str]": "TEXT"}
"""What help says instead of a type. A flag takes nothing, so there is nothing to say."""


def _in_words(parameters: list[Any], context: Any) -> list[Any]:
    """Name what options take, where they do not say it themselves."""
    for parameter in parameters:
        shown = getattr(parameter, "display_type", None)  # older releases of typer have words of their own
        if shown is None:
            continue
        word = WORDS.get(str(shown(context)).strip("<>").removesuffix(" range"))
        if parameter.param_type_name == "argument":
            if parameter.nargs != 1:  # what there may be several of is one thing all the same
                parameter.display_type_rich = lambda **_: "<str>"
        elif parameter.metavar is None:
            parameter.metavar = word
    return parameters


class Command(TyperCommand):
    """A command whose help is in words."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its parameters, that of help among them."""
        return _in_words(super().get_params(ctx), ctx)


class Group(TyperGroup):
    """Commands whose help is in words."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its parameters, that of help among them."""
        return _in_words(super().get_params(ctx), ctx)


class App(typer.Typer):
    """Commands, or a part of them that joins others."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=Group, context_settings={"help_option_names": ["-h", "--help"]}, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Function], Function]:
        """Return what makes a command of a function."""
        return super().command(name, cls=Command, **settings)
