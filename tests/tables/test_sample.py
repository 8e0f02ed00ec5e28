import numpy as np

from ggln.tables.sample import Lots, Sample


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


def test_a_short_table_is_its_own_sample():
    sample = Sample(100)
    sample.add(np.zeros(60), list(range(60)), [["x"]] * 60)
    sample.prune()
    assert len(sample.rows) == 60
    assert sample.complete
