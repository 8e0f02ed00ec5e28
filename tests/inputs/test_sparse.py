"""Sparse matrices are taken as the dense tables that they stand for."""

import numpy as np
import pytest
from scipy import sparse

from ggln import TableRegressor
from ggln.estimators import numeric


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok"])
def test_sparse_tables_are_dense_tables(regressor, classifier, table, form):
    X, y = table(60)
    X[np.abs(X) < 0.5] = 0.0
    S = sparse.csr_array(X).asformat(form)
    one, other = regressor().fit(S, y), regressor().fit(X, y)
    np.testing.assert_array_equal(one.predict(S), other.predict(X))
    np.testing.assert_array_equal(one.partial_fit(S, y).predict(X), other.partial_fit(X, y).predict(X))
    np.testing.assert_array_equal(one.predict_dist(S).std, other.predict_dist(X).std)
    np.testing.assert_array_equal(one.explain(S).mean, other.explain(X).mean)
    classes = classifier().fit(S, y > 0)
    np.testing.assert_array_equal(classes.predict_proba(S), classes.predict_proba(X))
    named = TableRegressor(regressor()).fit(S, y)
    np.testing.assert_array_equal(named.predict(S), named.predict(X))


def test_rows_are_predicted_part_by_part(regressor, classifier, table, monkeypatch):
    X, y = table(60)
    S, model, classes = sparse.csr_array(X), regressor().fit(X, y), classifier().fit(X, y > 0)
    pair = regressor().fit(X, np.stack([y, -y], axis=1))
    monkeypatch.setattr(numeric, "DENSE_BYTES", 8 * 4 * 7)
    assert len(numeric.in_parts(S)) == 9
    np.testing.assert_array_equal(model.predict(S, return_std=True), model.predict(X, return_std=True))
    np.testing.assert_array_equal(model.predict_dist(S).quantile(0.9), model.predict_dist(X).quantile(0.9))
    np.testing.assert_array_equal(classes.predict_proba(S), classes.predict_proba(X))
    for found, expected in zip(
        pair.predict(S, return_cov=True), pair.predict(X, return_cov=True), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_too_large_as_a_dense_table(regressor):
    X = sparse.csr_array(([1.0], ([0], [0])), shape=(10**6, 10**6))
    with pytest.raises(MemoryError, match=r"1000000 rows of 1000000 features.*needs 7450.6 GiB.*partial_fit"):
        regressor().fit(X, np.zeros(10**6))
