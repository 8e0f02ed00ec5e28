"""Units that stand still, and rows to begin again from when they no longer fit."""

import itertools

import numpy as np
import pytest

from ggln.core.constants import DRIFT_RATIO, DRIFT_SHIFT, WARMUP_ROWS
from ggln.core.drift import Sample, Watch, scatter
from ggln.core.scaling import Scaler


def numbered(rows):
    """Rows that are their own numbers, and targets that are the numbers' negatives."""
    numbers = np.arange(rows, dtype=np.float64)[:, None]
    return numbers, -numbers


def sample_of(rows, cuts=()):
    X, Y = numbered(rows)
    sample = Sample(X[:WARMUP_ROWS], Y[:WARMUP_ROWS])
    edges = [WARMUP_ROWS, *cuts, rows]
    for start, stop in itertools.pairwise(edges):
        sample.see(start, X[start:stop], Y[start:stop])
    return sample


def test_scattered_numbers_spread_evenly():
    found = scatter(np.arange(100_000, dtype=np.uint64)) / 2.0**64
    counts, _ = np.histogram(found, 10, (0.0, 1.0))
    assert np.abs(counts - 10_000).max() < 500
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.02


def test_a_sample_keeps_rows_from_everywhere_in_their_order():
    X, Y = sample_of(50_000).rows()
    assert WARMUP_ROWS * 0.8 < len(X) <= 2 * WARMUP_ROWS
    assert (np.diff(X[:, 0]) > 0).all()
    assert np.array_equal(Y, -X)
    counts, _ = np.histogram(X, 5, (0, 50_000))
    assert counts.min() > 0.7 * counts.mean()


def test_a_sample_depends_on_the_rows_alone():
    whole = sample_of(9000)
    for cuts in (range(WARMUP_ROWS + 1, 9000), [2000, 2048, 2049, 7000]):
        cut = sample_of(9000, cuts)
        assert np.array_equal(cut.rows()[0], whole.rows()[0])
        assert np.array_equal(cut.numbers, whole.numbers)


def test_a_short_sample_keeps_all():
    assert np.array_equal(sample_of(2 * WARMUP_ROWS).rows()[0], numbered(2 * WARMUP_ROWS)[0])


@pytest.mark.parametrize(
    ("scale", "shift", "moved"),
    [
        (1.0, 0.0, False),
        (0.9 * DRIFT_RATIO, 0.0, False),
        (1.1 * DRIFT_RATIO, 0.0, True),
        (0.9 / DRIFT_RATIO, 0.0, True),
        (1.0, 0.8 * DRIFT_SHIFT, False),
        (1.0, 1.2 * DRIFT_SHIFT, True),
    ],
)
@pytest.mark.parametrize("of", ["inputs", "targets"])
def test_units_have_moved_when_scale_or_centre_have(scale, shift, moved, of):
    rows = np.random.default_rng(0).normal(size=(500, 2))
    inputs, targets = Scaler(2, 1e6, True), Scaler(2, 10.0, True)
    inputs.fit(rows)
    targets.fit(rows)
    watch = Watch(inputs, targets, rows, rows)
    assert not watch.moved(inputs, targets)
    getattr(watch, of).fit(shift * rows.std(axis=0) + rows * [1.0, scale])
    assert watch.moved(inputs, targets) == moved


def test_data_in_known_units_never_move():
    rows = np.random.default_rng(0).normal(size=(500, 2))
    inputs, targets = Scaler(2, 1e6, False), Scaler(2, 10.0, False)
    watch = Watch(inputs, targets, rows, rows)
    watch.see(500, 1000.0 * rows, rows)
    assert not watch.moved(inputs, targets)
