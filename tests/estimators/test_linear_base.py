"""base_model="linear" in the regressor: a joint regression among the base inputs."""

import numpy as np
import pytest

import ggln


@pytest.fixture
def learnt(tiny, table):
    X, y = table(100)
    return tiny(base_model="linear", base_variance=10.0).partial_fit(X, y), X, y


def test_explanations_add_up(learnt):
    model, X, _ = learnt
    explanation = model.explain(X[:5])
    assert explanation.names[:4] == ["x0", "x1", "x2", "linear regression"]
    np.testing.assert_allclose(
        explanation.mean.sum(axis=1) + explanation.intercept, model.predict(X[:5]), rtol=1e-4, atol=1e-4
    )


def test_files_and_cuts(learnt, tiny, assert_same, tmp_path):
    model, X, y = learnt
    cut = tiny(base_model="linear", base_variance=10.0)
    cut.partial_fit(X[:30], y[:30]).save(tmp_path / "model.ggln")
    cut = ggln.load(tmp_path / "model.ggln")
    for x, value in zip(X[30:], y[30:], strict=True):
        cut.learn_one(x, value)
    assert_same(cut, model)
