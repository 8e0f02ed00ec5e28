"""The code of docs/density.md runs, in the order of the page."""

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "density.md"


def test_the_code_of_the_page_runs():
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(block, names)
    assert names["uphill"][0, 0] < 0
    assert abs(np.hypot(*names["nearer"][0]) - 1.0) < 0.1
    assert names["odd"][1] > names["odd"][0]
    assert names["far"] > 1.5 * names["near"]
    assert abs(names["filled"][0, 1] - 5.9) < 0.1
    np.testing.assert_array_equal(names["filled"], names["same"])
    assert names["tables"].shape == (5, 1000, 2)
    assert names["rows"].shape == (5, 2)
