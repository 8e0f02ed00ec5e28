import json

import pytest

from ggln.reproduction import workers
from ggln.reproduction.shared import record
from ggln.reproduction.workers.model import NETWORKS, Costs, Network, seconds_of

SMALL = {"layer_sizes": (3, 2), "context_dim": 2, "n_estimators": 2}
COSTS = Costs(
    work=60.0,
    client=2.0,
    rounds=100,
    messages=1000,
    sums=10,
    singles=5,
    partitions=8,
    wait=0.01,
    wait_each=0.001,
    rate=100.0,
)


def test_what_one_worker_takes_is_what_was_counted():
    found = seconds_of(COSTS, 1, NETWORKS["this machine"])
    assert found["work"] == 60.0
    assert found["client"] == 2.0
    assert found["waiting"] == pytest.approx(100 * 0.018)
    assert found["traffic"] == pytest.approx((1000 + 10 + 5) / 100)
    assert found["seconds"] == pytest.approx(60.0 + 2.0 + 1.8 + 10.15)


def test_more_workers_have_fewer_rows_each_and_more_to_fetch():
    two = seconds_of(COSTS, 2, NETWORKS["this machine"])
    assert two["work"] == 30.0
    # each message is sent on once more; of seven neighbours, half are elsewhere
    assert two["traffic"] == pytest.approx((2 * 1000 + 10 * 4.5 + 5) / 100)
    three = seconds_of(COSTS, 3, NETWORKS["this machine"])
    assert three["work"] == pytest.approx(60.0 * 3 / 8)  # the worker that has most partitions has three
    sixteen = seconds_of(COSTS, 16, Network(50.0, 0.1), times=10)
    assert sixteen["work"] == pytest.approx(600.0 / 16)  # a partition for each
    assert sixteen["waiting"] == pytest.approx(100 * (0.01 + 16 * 0.001 + 0.1))
    assert sixteen["traffic"] == pytest.approx((5 * 1000 + 10 * (8 * 15 / 16 + 1) + 5) * (1 / 100 + 1 / 50))


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")  # dask's and tornado's own
def test_the_model_stands_beside_what_was_measured(tmp_path):
    results = workers.run(rows=1000, partitions=2, more=(1, 2, 4), store=tmp_path / "store", **SMALL)
    record.write(tmp_path / "workers.json", results)
    again = json.loads((tmp_path / "workers.json").read_text())
    assert list(again["fits"]) == list(again["model"]) == ["1", "2"]
    one, two = again["fits"].values()
    assert one["rmse"] == two["rmse"]  # the same model
    assert (one["sums"], one["rounds"]) == (two["sums"], two["rounds"])
    assert [len(own["work"]) for own in (one, two)] == [1, 2]
    assert sum(one["work"]) + one["client"] < one["seconds"]
    measured, sent, *more = workers.table(again)
    assert list(measured.rows) == ["one thread, no cluster", "1 worker", "2 workers"]
    assert sent.rows["rounds"][""] == f"{one['rounds']:,}"
    assert [list(table.rows) for table in more] == [["1 worker", "2 workers", "4 workers"]] * 2
    assert [axes.get_title() for axes in workers.draw(again).axes] == ["1,000 rows", "100,000 rows"]
    with pytest.raises(ValueError, match="must begin with 1"):
        workers.run(workers=(2,), store=tmp_path)
