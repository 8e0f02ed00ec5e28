"""Results as JSON files: the settings beside the numbers, so that a figure can be drawn again from them."""

import json
import platform
import re
from pathlib import Path
from typing import Any

import numba
import numpy as np
import sklearn

import ggln
from ggln import atomic

Results = dict[str, Any]


def machine() -> Results:
    """Return what a reader needs to judge a timing or to repeat a run."""
    return {
        "ggln": ggln.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "scikit-learn": sklearn.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": processor(),
    }


def processor() -> str:
    """Return the processor's name, as Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def plain(value: Any) -> Any:
    """Return arrays and NumPy numbers as what JSON knows, floats with six significant digits."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}")
    return value.item() if isinstance(value, np.generic) else value


def write(path: Path, results: Results) -> None:
    """Write results, complete or not at all."""
    text = json.dumps(plain(results), indent=1)
    # A list of numbers in one line: a curve or a row of a matrix.
    text = re.sub(r"\[\n[^][{}]*\]", lambda numbers: re.sub(r"\n\s*", " ", numbers[0]), text)
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, (text + "\n").encode())
