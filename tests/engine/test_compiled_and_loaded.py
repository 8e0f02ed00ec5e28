"""A process that compiles kernels rounds as one that finds them in the cache."""

import os
import subprocess
import sys

import pytest

LEARN = """
import hashlib
import numpy as np
from ggln import GGLNRegressor

random = np.random.default_rng(0)
X = random.normal(size=(160, 4))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.normal(size=160)
model = GGLNRegressor(random_state=0, n_jobs=1, layer_sizes=(4, 4), n_estimators=2)
found = model.partial_fit(X[:120], y[:120]).partial_fit(X[120:], y[120:]).predict(X, return_std=True)
print(hashlib.sha256(np.concatenate(found).tobytes()).hexdigest())
"""


@pytest.mark.nightly
def test_compiled_and_loaded_kernels_round_alike(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", LEARN]
    found = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert len(found[0]) > 60
    assert found[0] == found[1]
