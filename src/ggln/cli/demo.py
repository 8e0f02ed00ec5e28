"""`ggln demo`: what it can do, on two small tables."""

from pathlib import Path
from typing import Annotated

import typer

from ggln.cli import options
from ggln.cli.app import App
from ggln.cli.show import new_console, print_table, save
from ggln.extras import MissingExtraError

app = App()


@app.command()
def demo(
    picture: Annotated[Path, typer.Option("--plot", help="Where to write the picture.")] = Path(
        "ggln-demo.png"
    ),
    seed: options.Seed = 0,
) -> None:
    """Learn two small tables, compare with two baselines, and draw the predictions.

    One table is real and nearly linear; the other is made by a formula that no line can follow.

    Example: ggln demo --plot /tmp/demo.png
    """
    options.check_picture(picture)
    console = new_console()
    console.print("Learning two small tables (the first time, kernels are compiled)", soft_wrap=True)
    from ggln.cli import demonstration

    results = demonstration.run(verbose=1, seed=seed)
    columns = {"rmse": ".2f", "nll": ".3f", "crps": ".2f", "coverage_90": ".0%", "seconds": ".2f"}
    names = {"rmse": "RMSE", "nll": "NLL", "crps": "CRPS", "coverage_90": "inside 90 %"}
    for name, found in results.items():
        console.print(f"\n{name}, {found['about']}", soft_wrap=True, highlight=False)
        print_table(console, f"{len(found['y'])} rows that were not learnt", columns, found["scores"], names)
    console.print(
        "RMSE is the error of the mean; NLL and CRPS judge mean and error bars together: less is better. "
        "Inside 90 % should be near 90 %.\n",
        soft_wrap=True,
        highlight=False,
    )
    try:
        figure = demonstration.draw(results)
    except MissingExtraError as error:
        console.print(f"No picture: {error}", soft_wrap=True, highlight=False, markup=False)
        return
    save(console, figure, picture)
