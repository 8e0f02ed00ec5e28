"""`ggln bench`: how fast it is here."""

from pathlib import Path
from typing import Annotated

import typer

from ggln.cli import options
from ggln.cli.app import App
from ggln.cli.show import new_console

app = App()


@app.command()
def bench(
    n_jobs: options.Jobs = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="JSON file for the figures, with the machine.", show_default=False
        ),
    ] = None,
) -> None:
    """Measure how fast rows are learnt and predicted on this machine, which takes about a minute.

    Example: ggln bench --n-jobs -1 -o speeds.json
    """
    options.check_jobs(n_jobs)
    if output is not None:
        options.check_writable(output, "figures")
    from rich.table import Table

    from ggln.cli import speeds
    from ggln.reproduction.shared import record

    console = new_console()
    with console.status("measuring"):
        results = speeds.run(n_jobs)
    threads = (
        "one thread" if n_jobs == 1 else "one thread on each core" if n_jobs == -1 else f"{n_jobs} threads"
    )
    table = Table(title=f"Rows of {speeds.FEATURES} features, {threads}", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    for line in speeds.table(results):
        table.add_row(*line)
    console.print(table)
    console.print(results["machine"]["cpu"], highlight=False)
    if output is not None:
        record.write(output, results)
        console.print(f"Figures are in {output}", highlight=False, soft_wrap=True)
