"""The models of the soak, small enough to learn thousands of rows in no time, and rows for them."""

import math
from typing import Any

SMALL = {"layer_sizes": [4, 1], "n_estimators": 1}
MODELS: dict[str, dict[str, Any]] = {
    "regressor": {"kind": "regressor", "settings": SMALL, "wait_seconds": 3600},
    "classifier": {"kind": "classifier", "settings": SMALL, "classes": ["a", "b"], "wait_seconds": 3600},
    "bandit": {"kind": "bandit", "arms": ["x", "y"], "wait_seconds": 3600},
}


def row_of(number: int) -> dict[str, float]:
    """Return the features of a row, by its number alone."""
    return {"u": math.sin(1.7 * number), "v": math.cos(0.3 * number * number)}


def target_of(number: int) -> float:
    """Return the target of a row: no two are the same."""
    row = row_of(number)
    return row["u"] * row["v"] + 1e-9 * number


def class_of(number: int) -> str:
    """Return the class of a row."""
    return "a" if row_of(number)["u"] > 0 else "b"


def reward_of(number: int, arm: str) -> float:
    """Return what an arm pays."""
    return float((arm == "x") == (row_of(number)["v"] > 0)) + 1e-9 * number
