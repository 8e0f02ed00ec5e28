"""Options that several commands share, and how their texts are read."""

import ast
import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

if TYPE_CHECKING:
    from ggln.persistence import Arrays
    from ggln.tables.model import TableRegressor
    from ggln.tables.schema import Schema

Form = Literal["csv", "tsv", "jsonl", "parquet"]
TextForm = Literal["csv", "tsv", "jsonl"]
OnError = Annotated[Literal["stop", "skip"], typer.Option(help="What to do at a row that cannot be read.")]

TableFile = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, JSON lines or Parquet, also .gz; - for standard input.",
        show_default=False,
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model from `ggln fit` or `ggln stream`.")]
Format = Annotated[
    Form | None,
    typer.Option("--format", help="Format of the table, if its name does not tell.", show_default=False),
]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of everything random.")]
Jobs = Annotated[
    int, typer.Option("--n-jobs", help="Threads; -1 for one on each core. The result is the same.")
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="A column to leave out. May be given several times.", show_default=False
    ),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        metavar="COLUMN",
        help="A column whose values are names, even if they look like numbers. May be given several times.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="An argument of GGLNRegressor, such as n_estimators=5. May be given several times.",
        show_default=False,
    ),
]


def names(given: list[str] | None) -> list[str]:
    """Return the names of an option that may be given several times, or once with commas.

    >>> names(["area,city", '"price, net"'])
    ['area', 'city', 'price, net']
    """
    parts = [part for row in csv.reader(given or [], skipinitialspace=True) for part in row]
    return [name.strip() for name in parts if name.strip()]


def required(given: list[str] | None) -> list[str]:
    """Return the targets, of which there has to be one."""
    found = names(given)
    if not found:
        raise ValueError("name the column to predict with --target, such as --target price")
    if len(set(found)) < len(found):
        raise ValueError(f"--target names a column twice: {', '.join(found)}")
    return found


def levels(given: str) -> list[float]:
    """Return the levels of quantiles from a text such as 0.05,0.95."""
    try:
        found = [float(text) for text in given.split(",")] if given.strip() else []
    except ValueError:
        found = [-1.0]
    if not all(0.0 < level < 1.0 for level in found):
        raise ValueError(f"--quantiles needs levels between 0 and 1, such as 0.05,0.95, got {given!r}")
    if len(set(found)) < len(found):
        raise ValueError(f"--quantiles names a level twice: {given}")
    return found


def settings(given: list[str] | None) -> dict[str, Any]:
    """Return arguments of `GGLNRegressor` from texts such as n_estimators=5."""
    if not given:
        return {}
    from ggln.estimators.regressor import GGLNRegressor
    from ggln.tables.read import suggestion

    known = [
        name for name in GGLNRegressor().get_params() if name not in ("random_state", "n_jobs", "verbose")
    ]
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set needs NAME=VALUE, such as n_estimators=5, got {text!r}")
        if name not in known:
            raise ValueError(f"--set knows no argument {name!r}{suggestion(name, known)}")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value  # a word, such as sphere
    GGLNRegressor(**found)._check_parameters()
    return found


def check_jobs(n_jobs: int) -> int:
    """Return a number of threads or workers; refuse one that there cannot be."""
    if n_jobs == 0 or n_jobs < -1024:
        raise ValueError(f"--n-jobs must be at least 1, or -1 for one on each core, got {n_jobs}")
    return n_jobs


def check_writable(path: Path, what: str, *read: Path | str) -> None:
    """Refuse a file that could not be written, or that is itself `read`, before any work is done."""
    for source in read:
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise ValueError(f"{path} is read as well, and would be lost: name another file for the {what}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file for the {what}")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is no ordinary file, and would be lost: name another one for the {what}")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder} for the {what}: create it first")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"the folder {folder} cannot be written to: name another place for the {what}")


def check_model_name(path: Path) -> None:
    """Refuse a name that belongs to a table, which a model would overwrite or be taken for."""
    from ggln.tables.read import EXTENSIONS

    if path.suffix.lower() in EXTENSIONS:
        raise ValueError(f"{path} is the name of a table: name the model otherwise, such as {path.stem}.ggln")


PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be written, before any work is done."""
    if path.suffix.lower() not in PICTURES and not path.is_dir():
        raise ValueError(f"{path} is no name of a picture: it has to end in one of {', '.join(PICTURES)}")
    check_writable(path, "picture")


def check_folder(path: Path) -> None:
    """Create a folder for results, or say why it cannot be, before any work is done."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file: name a folder for the results")
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise PermissionError(f"the folder {path} cannot be written to: name another one for the results")


class StoredModel(NamedTuple):
    """A model in its file: its columns are known before the networks, and all they need, are imported."""

    path: Path
    header: dict[str, Any]
    arrays: "Arrays"

    @property
    def schema(self) -> "Schema":
        """The columns of its table."""
        from ggln import persistence
        from ggln.tables.layouts import check_columns
        from ggln.tables.schema import Schema

        with persistence.naming(self.path):
            check_columns(self.header.get("table"))
            return Schema.from_json(self.header["table"])

    @property
    def from_stream(self) -> bool:
        """Whether it learnt from a stream alone, and keeps no values of rows to compare others with."""
        from ggln.tables.model import TYPICAL

        return TYPICAL not in self.arrays

    def restore(self) -> "TableRegressor":
        """Return the model itself."""
        from ggln import persistence
        from ggln.tables.model import TableRegressor

        with persistence.naming(self.path):
            return TableRegressor._from_state(self.header, self.arrays)


def read_model(path: Path) -> StoredModel:
    """Return the model of a file, which has to know its table."""
    from ggln import persistence
    from ggln.tables.read import EXTENSIONS

    try:
        header, arrays = persistence.read(path)
    except ValueError as error:
        if path.suffix.lower() in EXTENSIONS:
            raise ValueError(
                f"{path} is not a ggln model file: the model comes first, then the table"
            ) from error
        raise
    if header.get("estimator") != "TableRegressor":
        raise ValueError(
            f"{path} holds a {header.get('estimator')} that was saved in Python and knows no table: use it "
            "there, or make a model with `ggln fit`"
        )
    return StoredModel(path, header, arrays)


def check_comparable(model: "TableRegressor", rows: int) -> None:
    """Refuse effects where there are no other values to compare with."""
    from ggln.explain.methods import inspector

    if model.typical_ is None and rows < 2 and inspector(model.regressor_.learner_).typical() is None:
        raise ValueError(
            "the model learnt from a stream and keeps no other values to compare with: take several rows at "
            "once with --rows, or look at contributions"
        )
