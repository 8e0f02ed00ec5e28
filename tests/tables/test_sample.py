import numpy as np
import pytest

from ggln.tables.sample import Aside, Lots, Sample


def test_lots_do_not_depend_on_how_rows_are_cut():
    whole = Lots(3).of([1, 2, 4, 7, 8])
    lots = Lots(3)
    assert np.array_equal(
        whole, np.concatenate([lots.of([1]), lots.of([]), lots.of([2, 4]), lots.of([7, 8])])
    )
    assert not np.array_equal(whole, Lots(4).of([1, 2, 4, 7, 8]))


def test_a_sample_holds_the_least_lots_in_the_order_of_the_table():
    lots = np.random.default_rng(0).random(1000)
    sample = Sample(100)
    for start in range(0, 1000, 30):
        numbers = list(range(start, min(start + 30, 1000)))
        sample.add(lots[numbers], numbers, [[str(i)] for i in numbers])
        assert len(sample.rows) <= 125
    sample.prune()
    assert sample.numbers == sorted(np.argsort(lots)[:100].tolist())
    assert sample.rows == [[str(i)] for i in sample.numbers]
    assert not sample.complete


def test_rows_of_a_long_table_that_have_no_chance_are_not_kept():
    """To read a file for its sample must cost little more than to read it."""
    lots, taken = np.random.default_rng(0).random(100_000), 0
    sample = Sample(100)
    for start in range(0, lots.size, 50):
        numbers, before = list(range(start, start + 50)), len(sample.rows)
        sample.add(lots[numbers], numbers, [[str(i)] for i in numbers])
        taken += max(len(sample.rows) - before, 0)
    sample.prune()
    assert sample.numbers == sorted(np.argsort(lots)[:100].tolist())
    assert taken < 3000


def test_a_short_table_is_its_own_sample():
    sample = Sample(100)
    sample.add(np.zeros(60), list(range(60)), [["x"]] * 60)
    sample.prune()
    assert len(sample.rows) == 60
    assert sample.complete


@pytest.mark.parametrize("share", [0.001, 0.05, 0.1, 0.15, 1 / 3, 0.5, 0.62, 0.9])
def test_as_many_rows_are_held_out_as_were_asked_for(share):
    for rows in (7, 100, 600, 1234):
        counts = [Aside(share, seed).of(list(range(1, rows + 1))).sum() for seed in range(20)]
        assert max(abs(count - share * rows) for count in counts) <= 2
        assert np.mean(counts) == pytest.approx(share * rows, abs=0.7)


def test_rows_to_hold_out_do_not_depend_on_how_rows_are_cut():
    whole = Aside(0.15, 0).of(list(range(1, 301)))
    for cut in (1, 6, 7, 50):
        aside = Aside(0.15, 0)
        parts = [aside.of(list(range(i, min(i + cut, 301)))) for i in range(1, 301, cut)]
        assert np.array_equal(np.concatenate(parts), whole)
        assert aside.ahead.size < 7  # no more than the rest of a block is kept
    some = [3, 4, 9, 200, 299]  # others cannot be read
    assert np.array_equal(Aside(0.15, 0).of(some), whole[np.array(some) - 1])
    assert not np.array_equal(Aside(0.15, 1).of(list(range(1, 301))), whole)
    assert not Aside(0.0, 0).of([1, 2]).any()


def test_rows_to_hold_out_come_from_everywhere_and_keep_no_rhythm():
    out = Aside(0.1, 0).of(list(range(1, 70_001)))
    assert (out.reshape(-1, 1000).sum(axis=1) == 100).all()  # of a sorted table, from all its parts
    for rhythm in (2, 7, 10):
        shares = out.reshape(-1, rhythm).mean(axis=0)
        assert np.abs(shares - 0.1).max() < 0.015
