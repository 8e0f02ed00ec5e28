"""`ggln reproduce`: the paper's tables and figures, and comparisons that are not in it, one command each.

A command is made of its experiment, a module of `ggln.reproduction`; nothing here knows a single one.
The longer ones keep every finished job, so that a run that was stopped goes on where it was.
"""

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggln.cli.app import App, Group
from ggln.cli.options import check_folder, check_jobs
from ggln.cli.show import new_console, print_table, save
from ggln.extras import require
from ggln.reproduction.shared import experiments
from ggln.reproduction.shared.options import NameList, NumberList

if TYPE_CHECKING:
    from types import ModuleType

    from rich.console import Console

Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for results and picture.")]
RESULTS = Path("results")
PLACES = ("n_jobs", "data_dir", "store")
"""Options that change no result come last."""
PAPERS = re.compile(r"(Table|Figures?|Appendix) [A-Z0-9]")
"""How the help of experiments begins that are in the paper."""


class Experiments(Group):
    """All experiments. Their commands are made when somebody asks for them, and not before."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  as click calls it
        """Return the names of the commands, the paper's first."""
        for name in experiments.names():
            self._add(name)
        return sorted(
            self.commands, key=lambda name: (not PAPERS.match(self.commands[name].help or ""), name)
        )

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name."""
        if cmd_name not in self.commands:
            names = experiments.names()
            for name in [cmd_name] if cmd_name in names else names:  # all, if a similar one is to be proposed
                self._add(name)
        return super().get_command(ctx, cmd_name)

    def _add(self, name: str) -> None:
        if name not in self.commands:
            self.add_command(_command(name, experiments.describe(name)), name)


app = App(
    cls=Experiments,
    no_args_is_help=True,
    help="Reproduce the paper's tables and figures, one command each.",
)


def _command(name: str, described: experiments.Description) -> Any:
    """Return the command of an experiment."""

    def perform(output: Path, **given: Any) -> None:
        reproduce(name, output, given)

    ordered = sorted(described.arguments, key=lambda own: PLACES.index(own) if own in PLACES else -1)
    parameters = [_parameter(own, described.arguments[own]) for own in ordered]
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters.append(inspect.Parameter("output", keyword, default=RESULTS, annotation=Output))
    perform.__doc__ = described.help
    perform.__annotations__ = {own.name: own.annotation for own in parameters}
    perform.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    alone = App(add_completion=False)
    alone.command(name)(perform)
    return typer.main.get_command(alone)


def _parameter(name: str, argument: experiments.Argument) -> inspect.Parameter:
    """Return an argument of `run` as an option of the command; None where the default is for `run` to say."""
    option, kind = argument.option, argument.type
    settings: dict[str, Any] = {"help": option.help, "min": option.least, "max": option.most}
    default: Any = None if argument.default is experiments.OWN else argument.default
    if isinstance(option, NameList):
        settings["show_default"], default, kind = False, None, str
    elif isinstance(option, NumberList):
        default, kind = ",".join(map(str, default)), str
    if name == "n_jobs":
        settings["callback"], default = check_jobs, default or 1  # a shell has no context of joblib
    information = typer.Option(_label(name), **settings)  # a flag has no --no-... beside it
    kind = kind if default is not None else kind | None
    annotation: Any = Annotated[kind, information]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _label(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def reproduce(name: str, output: Path, given: dict[str, Any]) -> None:
    """Run an experiment, print its tables, and write its results and its picture."""
    experiment = experiments.load(name)
    arguments = _read(experiments.arguments_of(experiment.run), given)
    check_folder(output)
    if "store" in given and given["store"] is None:
        arguments["store"] = output / ".jobs"
    if hasattr(experiment, "draw"):
        require("matplotlib", "drawing")  # what is missing is missed before any work is done
    console = new_console()
    if "store" in given:  # jobs show how far they are
        results = experiment.run(**arguments)
    else:
        with console.status("working"):
            results = experiment.run(**arguments)
    show(console, experiment, results, output)


def show(console: "Console", experiment: "ModuleType", results: dict[str, Any], output: Path) -> None:
    """Write results as JSON; print tables and draw pictures from what is in there, and say where all is."""
    from ggln.reproduction.shared import record

    results = record.plain(results)
    named = getattr(experiment, "file_name", lambda results: results["experiment"])
    path = output / f"{named(results)}.json"
    record.write(path, results)  # whatever happens below, they are there
    found = experiment.table(results)
    for table in found if isinstance(found, list) else [found]:
        print_table(console, table.title, table.columns, table.rows, {})
        for note in table.notes:
            console.print(note, highlight=False, soft_wrap=True)
    console.print(f"Results are in {path}", highlight=False, soft_wrap=True)
    if hasattr(experiment, "draw"):
        save(console, experiment.draw(results), path.with_suffix(".png"))
    if hasattr(experiment, "animate"):
        animation = path.with_suffix(".gif")
        experiment.animate(results, animation)
        console.print(f"The animation is in {animation}", highlight=False, soft_wrap=True)


def _read(arguments: dict[str, experiments.Argument], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `run` that were given, names and numbers taken out of their texts."""
    found = {name: value for name, value in given.items() if value is not None}
    for name, (_, option, default) in arguments.items():
        if name not in found:
            continue
        if isinstance(option, NameList):
            known = option.known() if option.known else default
            found[name] = _names(found[name], known, _label(name))
        elif isinstance(option, NumberList):
            found[name] = _numbers(found[name], name)
    return found


def _names(text: str, known: Sequence[str], label: str) -> tuple[str, ...]:
    """Return the names that an option lists, all of which have to be known."""
    from ggln.tables.read import suggestion

    found = tuple(name.strip() for name in text.split(","))
    for name in found:
        if not name:
            raise ValueError(f"{label} lacks a name in {text!r}: write names with one comma between two")
        if name not in known:
            raise ValueError(f"{label} knows no {name!r}{suggestion(name, known)}")
    return found


def _numbers(text: str, name: str) -> tuple[int, ...]:
    """Return the positive whole numbers that an option lists."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ValueError(f"{name} must be positive whole numbers, separated by commas, got {text!r}")
    return tuple(map(int, parts))
