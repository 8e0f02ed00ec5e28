"""Small synthetic stand-ins for the data sets, which the experiments load by name."""

from types import SimpleNamespace

import numpy as np
import pytest

from ggln import datasets


@pytest.fixture
def tiny_sets(monkeypatch):
    """`datasets.load` gives 60 rows of a noisy plane with three splits, whatever the name."""

    def load(name, data_dir=None):
        random = np.random.default_rng(len(name))
        X = random.normal(size=(60, 3))
        y = 10.0 + X @ [1.0, 2.0, 3.0] + 0.1 * random.standard_normal(60)
        orders = [random.permutation(60) for _ in range(3)]
        return SimpleNamespace(name=name, X=X, y=y, splits=[(order[6:], order[:6]) for order in orders])

    monkeypatch.setattr(datasets, "load", load)
    return load


@pytest.fixture
def tiny_arm(monkeypatch):
    """`datasets.load_sarcos` gives 200 rows with seven targets; the test rows are among them or not."""

    def load_sarcos(data_dir=None, leak_free=False):
        random = np.random.default_rng(0)
        X = random.normal(size=(200, 21))
        Y = 5.0 + 20.0 * np.tanh(X[:, :7]) + random.normal(size=(200, 7))
        train = np.arange(200) % 10 != 0 if leak_free else slice(None)
        return SimpleNamespace(
            X_train=X[train], Y_train=Y[train], X_test=X[::10], Y_test=Y[::10], complete=False
        )

    monkeypatch.setattr(datasets, "load_sarcos", load_sarcos)
    return load_sarcos
