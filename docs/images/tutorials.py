"""Draw the pictures of the tutorials on tables and streams: python docs/images/tutorials.py [folder].

The code of the pages is run, so that their pictures show what it gives.
"""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from ggln.plots import CalibrationDisplay, IntervalsDisplay, PrequentialDisplay

DOCS = Path(__file__).parents[1].absolute()


def run(page: str) -> dict[str, Any]:
    """Return the names that a page's examples leave behind, run in an empty folder."""
    names: dict[str, Any] = {}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in re.findall(
            r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE
        ):
            exec(compile(block, page, "exec"), names)
        os.chdir(here)
    return names


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    table, stream = run("tutorial-table.md"), run("tutorial-stream.md")
    shown = table["y_test"], table["distribution"]
    losses = PrequentialDisplay(losses=stream["losses"], loss="nll", window=200).plot()
    losses.ax_.axvline(1900, color="black", linewidth=1, linestyle=":")
    losses.ax_.annotate("new tariff", (1880, 0.95), xycoords=("data", "axes fraction"), ha="right", va="top")
    figures = {
        "table-intervals": IntervalsDisplay.from_predictions(*shown).figure_,
        "table-calibration": CalibrationDisplay.from_predictions(*shown).figure_,
        "stream": losses.figure_,
    }
    for name, figure in figures.items():
        figure.savefig(target / f"{name}.png", dpi=100)
