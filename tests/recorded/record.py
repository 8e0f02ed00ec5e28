"""Record what all workloads give: ``python tests/recorded/record.py``.

It replaces `recorded.json`, and says which workloads gave something else before: a change of results is a
decision, and its commit says why. To hold two versions against each other on a machine where nothing was
recorded, record there with the older one (``PYTHONPATH=/path/to/older/src``), and run the tests with the
newer.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
import scipy
import sklearn
from llvmlite import binding
from numba.core.event import install_recorder
from numpy.typing import NDArray

Array = NDArray[np.float64]
PLACE = Path(__file__).with_name("recorded.json")
KEPT = 6
"""Numbers of each array that are kept beside its hash."""


def fingerprint() -> dict[str, str]:
    """Return what decides the last bits of a result: the code that is generated, and libraries that compute.

    The processor is the one that Numba compiles for, which its settings can override.
    """
    features = numba.config.CPU_FEATURES
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return {
        "cpu": numba.config.CPU_NAME or binding.get_host_cpu_name(),
        "cpu_features": hashlib.sha256(features.encode()).hexdigest()[:16],
        "system": f"{platform.system()} {platform.machine()}",
        "libc": " ".join(platform.libc_ver()),  # kernels take exp and log from it
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,  # gates from trees are splits of its trees
    }


def digest(values: Array) -> str:
    """Return the hash of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(values, "<f8").tobytes()).hexdigest()


def excerpt(values: Array) -> list[float]:
    """Return a few numbers of an array, spread evenly."""
    flat = np.ravel(values)
    chosen: list[float] = flat[np.linspace(0, flat.size - 1, KEPT).astype(int)].tolist()
    return chosen


def describe(arrays: dict[str, Array]) -> dict[str, Any]:
    """Return what is kept of a workload's results."""
    return {name: {"sha256": digest(values), "values": excerpt(values)} for name, values in arrays.items()}


def run_here(n_jobs: int) -> dict[str, Any]:
    """Run all workloads in this process; return what they give, and whether kernels had to be compiled."""
    from workloads import WORKLOADS  # here: tests are collected without this folder on the path

    with install_recorder("numba:compile") as compilations:
        found = {name: describe(run(n_jobs)) for name, run in WORKLOADS.items()}
    return {"machine": fingerprint(), "workloads": found, "compiled": bool(compilations.buffer)}


def run(n_jobs: int) -> dict[str, Any]:
    """Run all workloads in a process that finds its kernels in the cache; return what they give.

    A process that compiles a kernel calls functions that were not inlined into it as they were compiled for
    themselves, while the kernel in the cache brings copies that were optimised with it: sums are rounded in
    another order. Which one other tests compile is left to chance, so this process is not used either.
    """
    command = [sys.executable, str(Path(__file__)), "--here", "--jobs", str(n_jobs)]
    for _ in range(2):
        result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        if not result.pop("compiled"):
            return result
    raise RuntimeError(
        "kernels are compiled again in every process: set NUMBA_CACHE_DIR to a folder to write in"
    )


def text(result: dict[str, Any]) -> str:
    """Return JSON with one line for each array."""
    workloads = []
    for name, arrays in result["workloads"].items():
        lines = [f"  {json.dumps(array)}: {json.dumps(kept)}" for array, kept in arrays.items()]
        workloads.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
    machine, joined = json.dumps(result["machine"], indent=1), ",\n".join(workloads)
    return f'{{\n"machine": {machine},\n"workloads": {{\n{joined}\n}}\n}}\n'


def main() -> None:
    """Write the file, or with --here print what this process gives."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--here", action="store_true", help="print the results of this process, write nothing"
    )
    parser.add_argument("--jobs", type=int, default=1, help="threads, which change nothing")
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(run_here(arguments.jobs)))
        return
    before = json.loads(PLACE.read_text())["workloads"] if PLACE.exists() else {}
    result = run(arguments.jobs)
    PLACE.write_text(text(result))
    found = result["workloads"]
    changed = [name for name in found if name in before and found[name] != before[name]]
    new = [name for name in found if name not in before]
    print(f"{len(found)} workloads, {len(new)} of them new. Changed: {', '.join(changed) or 'none'}")


if __name__ == "__main__":
    main()
