"""Rows in partitions give what rows in one place give; no cluster is needed to see it."""

from __future__ import annotations

import numpy as np
import pytest

from ggln import GGLNRegressor, load
from ggln.distributed import newton, solve
from ggln.engine.newton import bumps, constants

CUTS = [90, 90, 91, 300]  # an empty partition, and one of a single row


def test_fit_in_partitions_is_fit(small, friedman, fit_in_parts, assert_alike):
    X, y = friedman(600)
    local = GGLNRegressor(**small).fit(X, y)
    assert_alike(fit_in_parts(X, y, CUTS, **small), local, X, y)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "parameters",
    [
        {"base_model": "feature"},
        {"context_dim": 3},
        {"context_dim": (0, 1)},
        {"gating": "axis"},
        {"n_estimators": 1},
        {"n_estimators": 10},  # more than are solved together
        {"standardize": False},
    ],
)
def test_with_other_parameters_too(small, parameters, friedman, fit_in_parts, assert_alike):
    X, y = friedman(400)
    small |= parameters
    assert_alike(fit_in_parts(X, y, CUTS, **small), GGLNRegressor(**small).fit(X, y), X, y)


def test_missing_values_and_weights(small, friedman, fit_in_parts, assert_alike):
    X, y = friedman(600)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 5] = 3.0
    weights = rng.uniform(0.5, 3.0, len(X))
    local = GGLNRegressor(**small).fit(X, y, sample_weight=weights)
    assert_alike(fit_in_parts(X, y, CUTS, weights, **small), local, X, y)


@pytest.mark.nightly
def test_wide_tables(small, friedman, fit_in_parts, assert_alike):
    X, y = friedman(300, features=40)
    assert_alike(fit_in_parts(X, y, CUTS[:3], **small), GGLNRegressor(**small).fit(X, y), X, y)


@pytest.mark.nightly
def test_several_outputs(small, friedman, fit_in_parts, assert_alike):
    X, y = friedman(300)
    Y = np.stack([y, X[:, 0] - 0.2 * y], axis=1)
    local, parts = GGLNRegressor(**small).fit(X, Y), fit_in_parts(X, Y, CUTS[:3], **small)
    assert_alike(parts, local, X, Y)
    assert np.allclose(parts.predict_dist(X).correlations, local.predict_dist(X).correlations, atol=1e-6)


@pytest.mark.nightly
def test_rows_beyond_all_samples(small, monkeypatch, friedman, fit_in_parts, assert_alike):
    X, y = friedman(900)
    monkeypatch.setattr(bumps, "RIDGE_ROWS", 450)
    monkeypatch.setattr(solve, "RIDGE_ROWS", 450)
    monkeypatch.setattr(constants, "FIT_BUMPS", 50)
    monkeypatch.setattr(constants, "JUDGED_ROWS", 100)
    assert_alike(fit_in_parts(X, y, CUTS, **small), GGLNRegressor(**small).fit(X, y), X, y)


@pytest.mark.nightly
@pytest.mark.parametrize("part_rows", [10_000, 20_000])  # trees are solved in parts, or as a whole
def test_very_many_rows_in_turns(part_rows, small, monkeypatch, friedman, fit_in_parts, assert_alike):
    """All strides, rows beyond all samples as they are, and levels that are skipped."""
    X, y = friedman(14_000, features=5)
    small |= {"layer_sizes": (2, 1), "n_estimators": 2}
    monkeypatch.setattr(constants, "PART_ROWS", part_rows)
    local = GGLNRegressor(**small).fit(X, y)
    monkeypatch.setattr(newton, "MOST_SUMS", 50_000)
    assert_alike(fit_in_parts(X, y, [5000, 5001], **small), local, X[::20], y[::20])


def test_sums_grow_with_contexts():
    settings = GGLNRegressor()._exact_settings((10**6, 10), 1)
    few, many = solve.sums_of(settings, 10**4), solve.sums_of(settings, 10**6)
    assert 10**6 < few < 10**8 < 10**9 < many


def test_other_partitions_change_rounding_only(small, friedman, fit_in_parts, assert_alike):
    X, y = friedman(500)
    assert_alike(fit_in_parts(X, y, CUTS, **small), fit_in_parts(X, y, [250], **small), X, y)


@pytest.mark.nightly
def test_twenty_partitions_are_added_in_two_storeys(small, friedman, fit_in_parts, assert_alike):
    X, y = friedman(500)
    cuts = list(range(25, 500, 25))
    assert_alike(fit_in_parts(X, y, cuts, **small), GGLNRegressor(**small).fit(X, y), X, y)


def test_goes_on_and_is_saved(small, tmp_path, friedman, fit_in_parts):
    X, y = friedman(500)
    model = fit_in_parts(X[:400], y[:400], CUTS, **small)
    model.save(tmp_path / "model.ggln")
    other = load(tmp_path / "model.ggln")
    for one in (model, other):
        one.partial_fit(X[400:], y[400:])
    assert (model.predict(X) == other.predict(X)).all()


@pytest.mark.nightly
def test_traffic_does_not_grow_with_rows(small, friedman, fit_in_parts):
    small |= {"context_dim": 3}
    few, many = (fit_in_parts(*friedman(rows), [200, 300], **small).traffic_ for rows in (2000, 6000))
    layers = [[stage for stage in own if stage.name.startswith("layer")] for own in (few, many)]
    assert len(layers[0]) == 2
    for one, other in zip(*layers, strict=True):
        assert other.sums < 1.5 * one.sums
        assert other.messages < 1.5 * one.messages
        assert max(one.rows, other.rows) < 4 * 2 * constants.GATE_ROWS * 8 + 10_000  # residuals of judges
