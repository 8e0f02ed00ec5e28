"""`ggln datasets`: the public data sets, which are here and which are not."""

from pathlib import Path
from typing import Annotated

import typer

from ggln.cli.app import App
from ggln.cli.show import new_console

app = App(no_args_is_help=True, help="List the public data sets and get them.")

DataDir = Annotated[
    Path | None, typer.Option(help="A folder of data sets, to look in before GGLN_DATA and the cache.")
]


@app.command("list")
def list_data_sets(data_dir: DataDir = None) -> None:
    """List all known data sets, and where they are.

    Example: ggln datasets list
    """
    from rich.table import Table

    from ggln import datasets

    table = Table(title="Data sets", title_justify="left")
    for heading in ("name", "rows", "features", "outputs", "source", "where"):
        numeric = heading in ("rows", "features", "outputs")
        table.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for entry in datasets.ENTRIES.values():
        sizes = (f"{size:,}" for size in (entry.rows, entry.features, entry.outputs))
        folders = {str(path.parent): None for path in datasets.find(entry.name, data_dir) or ()}
        table.add_row(entry.name, *sizes, entry.source, "\n".join(folders) or "not here")
    new_console().print(table)


@app.command("get")
def get_data_set(
    name: Annotated[str, typer.Argument(help="A name from `ggln datasets list`.")], data_dir: DataDir = None
) -> None:
    """Make sure that a data set is here, verify it, and say where it is; download it if need be.

    Example: ggln datasets get boston --data-dir ~/data
    """
    from ggln import datasets

    console = new_console()
    for path in datasets.get(name, data_dir):
        console.print(f"{name} is in {path}", highlight=False, soft_wrap=True)
