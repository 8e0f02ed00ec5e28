"""Typer for this command: `-h` is help, and help speaks of numbers and files, not of Python's types."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

Function = TypeVar("Function", bound=Callable[..., Any])

WORDS = {int: "NUMBER", float: "NUMBER", Path: "PATH", str: "TEXT"}
"""What help says instead of a type."""


def _in_words(function: Callable[..., Any]) -> None:
    """Name what the options of a function take, where they do not say it themselves."""
    for parameter in inspect.signature(function).parameters.values():
        kind, *marks = get_args(parameter.annotation) or (None,)
        kinds = get_args(kind) or (kind,)  # of int | None and list[str], too
        word = next((word for own, word in WORDS.items() if own in kinds), None)
        for mark in marks:
            if isinstance(mark, OptionInfo) and mark.metavar is None:
                mark.metavar = word


def _flags_alone(parameters: list[Any]) -> list[Any]:
    """Let help say nothing of what flags take: they take nothing."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class Command(TyperCommand):
    """A command whose help is in words."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its parameters, that of help among them."""
        return _flags_alone(super().get_params(ctx))


class Group(TyperGroup):
    """Commands whose help is in words."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its parameters, that of help among them."""
        return _flags_alone(super().get_params(ctx))


class App(typer.Typer):
    """Commands, or a part of them that joins others."""

    def __init__(self, cls: type[TyperGroup] = Group, **settings: Any) -> None:
        super().__init__(cls=cls, context_settings={"help_option_names": ["-h", "--help"]}, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Function], Function]:
        """Return what makes a command of a function."""
        make = super().command(name, cls=Command, **settings)

        def command(function: Function) -> Function:
            _in_words(function)
            return make(function)

        return command
