"""All experiments: each is a module of `ggln.reproduction`, or a package of `run`, `table` and `draw`.

Its docstring is the help of its command, the annotated arguments of `run` are the options:

- ``run(...)`` returns the results, as JSON can hold them;
- ``table(results)`` returns a `ScoreTable`, or several;
- ``draw(results)`` returns a figure, where there is something to see;
- ``animate(results, path)`` writes moving pictures;
- ``file_name(results)`` returns the name of the files, where it is not that of the command.

An experiment takes seconds to import, with all that it compares. Help has no need for that: it reads
the source.
"""

import ast
import inspect
import typing
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any, Literal, NamedTuple

from ggln import reproduction
from ggln.reproduction.shared import options

SUPPORT = ("competitors", "shared", "tasks")
"""Packages that are no experiments."""

OWN = object()
"""Stands for a default that only `run` itself knows."""


class Argument(NamedTuple):
    """An argument of `run` that is an option: the type of its values, what is said of it, and its default."""

    type: Any
    option: options.Option
    default: Any


class Description(NamedTuple):
    """An experiment as its command shows it."""

    help: str
    arguments: dict[str, Argument]


def names() -> list[str]:
    """Return the names of all experiments."""
    found = (module.name for module in iter_modules(reproduction.__path__))
    return sorted(name.replace("_", "-") for name in found if name not in SUPPORT)


def describe(name: str) -> Description:
    """Return an experiment's help and options from its source, without importing it."""
    text = _source(name).read_text("utf-8")
    # The two pieces that are needed: parsing all modules as a whole would take a sixth of a second.
    start = text.index("\ndef run(")
    (run,) = ast.parse(text[start : (text + "\n\n\n").index("\n\n\n", start + 1)]).body
    assert isinstance(run, ast.FunctionDef)
    docstring = ast.get_docstring(ast.parse(text[: text.index('"""', 3) + 3])) or ""
    # A paragraph is a line: a terminal is not as wide as the source.
    help_text = "\n\n".join(" ".join(paragraph.split()) for paragraph in docstring.split("\n\n"))
    given = run.args.args
    values: list[ast.expr | None] = [None] * (len(given) - len(run.args.defaults)) + run.args.defaults
    arguments = {}
    for argument, value in zip(given, values, strict=True):
        found = _argument(_annotation(argument.annotation), _literal(value))
        if found:
            arguments[argument.arg] = found
    return Description(help_text, arguments)


def load(name: str) -> ModuleType:
    """Import an experiment."""
    return import_module(_module(name))


def arguments_of(run: Callable[..., Any]) -> dict[str, Argument]:
    """Return the options of an experiment that was imported, with all that it knows of them."""
    hints = typing.get_type_hints(run, include_extras=True)
    defaults = inspect.signature(run).parameters
    found = {
        name: _argument(hint, defaults[name].default) for name, hint in hints.items() if name in defaults
    }
    return {name: argument for name, argument in found.items() if argument}


def _source(name: str) -> Path:
    """Return the file in which an experiment's `run` and its docstring are."""
    found = find_spec(_module(name))
    assert found is not None
    assert found.origin is not None
    origin = Path(found.origin)
    return origin.with_name("run.py") if origin.name == "__init__.py" else origin


def _module(name: str) -> str:
    return f"{reproduction.__name__}.{name.replace('-', '_')}"


def _annotation(node: ast.expr | None) -> Any:
    """Return what an annotation says, if it names an option; other types need the module's imports."""
    if node is None:
        return None
    scope = {"Annotated": Annotated, "Literal": Literal, "Path": Path, "Sequence": Sequence, **vars(options)}
    try:
        return eval(compile(ast.Expression(node), "annotation", "eval"), scope)
    except NameError:
        return None


def _literal(node: ast.expr | None) -> Any:
    try:
        return OWN if node is None else ast.literal_eval(node)
    except ValueError:  # a name or a call
        return OWN


def _argument(hint: Any, default: Any) -> Argument | None:
    marks = [mark for mark in typing.get_args(hint)[1:] if isinstance(mark, options.Option)]
    return Argument(typing.get_args(hint)[0], marks[0], default) if marks else None
