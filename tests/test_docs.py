"""The Python in the documentation runs."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
"""A block that cannot run as it stands, for want of a cluster for example, begins with ```python no-run."""
PAGES = {path.name: BLOCK.findall(path.read_text()) for path in sorted((ROOT / "docs").glob("*.md"))}


@pytest.mark.parametrize("page", [name for name, blocks in PAGES.items() if blocks])
def test_examples_of_the_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    try:
        for block in PAGES[page]:
            exec(compile(block, page, "exec"), names)
    finally:
        plt.close("all")


def test_links_lead_somewhere():
    for path in sorted((ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!http)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"
