"""What was recorded still holds: steps by the gradient, presets, classifier, bandit and density.

Bit for bit where the recording was made, on the same processor with the same libraries; elsewhere nearly. A
test that fails here says that results have changed for all who use these settings. `record.py` records anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "recorded.json").read_text())
TOLERANCE = 1e-4
"""How far results may be off on other machines, as a fraction of the largest number of an array.

Weights have single precision, 6e-8, and each step carries the rounding of those before it on. Compiled for
processors with AVX2 instead of AVX-512, all workloads stay within 1.3e-5. Without fused multiply-adds, a few
with gates through rows of the data come to 1e-2: on which side of such a gate its own row lies is rounding.
"""


def test_results_are_those_recorded():
    """What the workloads give now: on two threads, while the recording was made on one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        import record

        found = record.run(2)
    assert found["workloads"].keys() == RECORDED["workloads"].keys()
    changed = [name for name in RECORDED["workloads"] if not as_recorded(found, name)]
    assert not changed


def as_recorded(found, name):
    """Return whether a workload gives what it gave."""
    before, now = RECORDED["workloads"][name], found["workloads"][name]
    if found["machine"] == RECORDED["machine"]:
        return now == before
    library = "scikit-learn"
    if "tree" in name.split("-") and found["machine"][library] != RECORDED["machine"][library]:
        return True  # another version may grow other trees, from which gates are taken
    return now.keys() == before.keys() and all(
        np.allclose(
            now[array]["values"], kept["values"], rtol=0, atol=TOLERANCE * np.abs(kept["values"]).max()
        )
        for array, kept in before.items()
    )
