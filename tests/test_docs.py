"""The Python in the documentation runs."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
"""A block that cannot run as it stands, for want of a cluster for example, begins with ```python no-run."""
FILES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
TEXTS = {str(path.relative_to(ROOT)): path.read_text() for path in FILES}
# tests/docs runs the pages with commands of a shell, tests/test_package.py the README
PAGES = {
    name: BLOCK.findall(text)
    for name, text in TEXTS.items()
    if name.startswith("docs") and "```sh\n" not in text
}
LONG = "docs/tutorial-table.md", "docs/classification.md", "docs/explanations.md", "docs/missing-values.md"
"""Pages whose examples run every night."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(name, marks=pytest.mark.nightly) if name in LONG else name
        for name, blocks in PAGES.items()
        if blocks
    ],
)
def test_examples_of_the_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    try:
        for block in PAGES[page]:
            exec(compile(block, page, "exec"), names)
    finally:
        plt.close("all")


def test_links_lead_somewhere():
    for path in FILES:
        for target, anchor in re.findall(r"\]\((?!http)([^)#\s]*)(?:#([^)]+))?\)", path.read_text()):
            page = path.parent / target if target else path
            assert page.exists(), f"{path.name} links to {target}"
            if anchor:
                assert anchor in anchors(page.read_text()), f"{path.name} links to {target}#{anchor}"


def test_each_picture_is_there_once_and_shown():
    """Pictures of experiments are in results/ alone, where their commands write them; pages link to them."""
    pictures = {
        path: path.read_bytes() for folder in ("docs", "results") for path in ROOT.glob(f"{folder}/**/*.png")
    }
    assert len(pictures) > 50
    assert len(set(pictures.values())) == len(pictures)
    shown = "\n".join(TEXTS.values())
    assert all(path.name in shown for path in pictures if path.parent.name == "images")


def anchors(text):
    """Return the names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_stays_under_two_screens():
    assert len(TEXTS["README.md"].splitlines()) <= 100


def test_the_paper_beside_ours_is_as_in_the_results():
    overview = runpy.run_path(ROOT / "docs" / "overview.py")
    page = TEXTS["docs/reproduce.md"]
    assert overview["written"](page) == page, "run docs/overview.py"


def test_every_page_is_on_the_site():
    listed = "\n".join(TEXTS[name] for name in ("docs/index.md", "docs/api/index.md"))
    for path in FILES:
        if path.parent != ROOT and path.stem != "index":
            assert re.search(rf"^(api/)?{path.stem}$", listed, re.MULTILINE), f"{path.name} is in no toctree"


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", tmp_path / "doctrees"]
    command = [sys.executable, "-m", "sphinx", *options, ROOT / "docs", tmp_path / "html"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
