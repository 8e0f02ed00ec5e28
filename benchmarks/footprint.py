"""Memory, and the time until something happens: each measured in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

RESIDENT = """
import json, os
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
"""

TABLE = (
    RESIDENT
    + """
from benchmarks.speed import PAPER
from benchmarks.workloads import clustered
from ggln import GGLNRegressor
X, y = clustered(500, 13)
GGLNRegressor(**PAPER | {"layer_sizes": (8, 8)}, context_dim=2, epochs=2).fit(X, y).predict(X)
before = resident()
model = GGLNRegressor(**PAPER, context_dim=10, epochs=2).fit(X, y)
pool = model.learner_.ensemble.pool
rows = (pool.used - int(pool.lengths.max())) * 8 * pool.numbers.itemsize
print(json.dumps({"grown": resident() - before, "rows": rows}))
"""
)

STREAM = (
    RESIDENT
    + """
import numpy as np
from ggln import GGLNRegressor
random = np.random.default_rng(0)
model = GGLNRegressor(layer_sizes=(16,) * 3, context_dim=4, n_estimators=1, random_state=0)
for chunk in range(100):
    X = random.standard_normal((10_000, 5))
    model.partial_fit(X, X[:, 0])
    if chunk == 0:
        early = resident()
print(json.dumps({"early": early, "late": resident()}))
"""
)

IMPORT = """
import json, time
start = time.perf_counter()
import ggln
print(json.dumps({"seconds": time.perf_counter() - start}))
"""

FIRST_FIT = """
import json, time
from ggln import GGLNRegressor
import numpy as np
X = np.random.default_rng(0).standard_normal((100, 5))
start = time.perf_counter()
GGLNRegressor(base_model="feature", gating="mixed", epochs=1, random_state=0).fit(X, X[:, 0])
networks = time.perf_counter() - start
GGLNRegressor(random_state=0).fit(X, X[:, 0])
start = time.perf_counter()
GGLNRegressor(random_state=0).fit(X, X[:, 0])
print(json.dumps({"seconds": networks, "defaults": time.perf_counter() - start}))
"""


def run(code: str, **environment: str) -> dict[str, Any]:
    """Run code in a fresh interpreter and return what it prints."""
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True
    )
    values: dict[str, Any] = json.loads(result.stdout)
    return values


def memory() -> dict[str, Any]:
    """What a table and a stream take."""
    run(TABLE)  # compiles, so that the compiler's memory is not counted
    table, stream = run(TABLE), run(STREAM)
    return {
        "touched rows of weights, MB": table["rows"] / 2**20,
        "grown / touched rows": table["grown"] / table["rows"],
        "10,000 to 1,000,000 rows, grown by MB": (stream["late"] - stream["early"]) / 2**20,
    }


def start_up() -> dict[str, Any]:
    """Import, and the first fit with a cold and with a warm cache of compiled kernels."""
    with tempfile.TemporaryDirectory() as cache:
        cold = run(FIRST_FIT, NUMBA_CACHE_DIR=cache)["seconds"]
        warm = [run(FIRST_FIT, NUMBA_CACHE_DIR=cache) for _ in range(3)]
    imports = min(run(IMPORT)["seconds"] for _ in range(3))
    return {
        "import ggln, s": imports,
        "first fit, cold cache, s": cold,
        "first fit, warm cache, s": min(run["seconds"] for run in warm),
        "defaults, 100 rows, s": min(run["defaults"] for run in warm),
    }
