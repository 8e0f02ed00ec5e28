"""The Python of the documentation runs as it stands."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["bandits.md", "bandit-environments.md"])
def test_code_of_a_page_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_pictures_and_links_of_a_page_exist(page):
    for target in re.findall(r"\]\(([^)#]+)", (DOCS / page).read_text()):
        assert "://" in target or (DOCS / target).exists(), target
