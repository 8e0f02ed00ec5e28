"""What is acknowledged is learnt once, in the order of the log, and is there after any end."""

import time

import numpy as np
import pytest

from ggln import GGLNRegressor, GLNClassifier, load
from ggln.bandits import GLCB
from ggln.service import Client
from ggln.service.learner import Habits
from ggln.service.log import upkeep

PLAIN = {"layer_sizes": (4, 1), "n_estimators": 1, "random_state": 0}


def file_of(model, folder):
    model.save(folder / "expected.ggln")
    return (folder / "expected.ggln").read_bytes()


def count(running, table, where="1 = 1"):
    with running.service.store.reading() as statements:
        return statements.run(f"SELECT count(*) FROM {table} WHERE {where}")[0][0]


def test_a_regressor_is_what_its_rows_make_it(running, client, world, tmp_path):
    client.create("price", **world.models["price"])
    expected = GGLNRegressor(**PLAIN)
    for i in range(40):
        if i % 3 == 0:
            event = client.predict("price", world.row(i))["event"]
            client.learn("price", world.target(i), event=event)
        elif i % 3 == 1:
            client.learn("price", world.target(i), features=world.row(i))
        else:
            client.learn_rows("price", world.rows(1, i))
        expected.learn_one(world.row(i), world.target(i))
    assert running.learn_all("price")["rows"] == 40
    assert client.export("price") == file_of(expected, tmp_path)
    (tmp_path / "got.ggln").write_bytes(client.export("price"))
    answer = client.predict("price", world.row(3))
    mean, std = load(tmp_path / "got.ggln").predict_one(world.row(3), return_std=True)
    assert answer["mean"] == pytest.approx(mean, rel=1e-9)
    assert answer["std"] == pytest.approx(std, rel=1e-9)
    assert answer["version"] == 40


def test_a_classifier_is_what_its_rows_make_it(running, client, world, tmp_path):
    client.create("mail", **world.models["mail"])
    expected, rows, labels = GLNClassifier(**PLAIN), [], []
    for i in range(30):
        label = "ham" if world.row(i)["u"] > 0 else "spam"
        event = client.predict("mail", world.row(i))["event"]
        client.learn("mail", label, event=event)
        rows.append(list(world.row(i).values()))
        labels.append(label)
    expected.partial_fit(rows, labels, classes=["ham", "spam"])
    expected.feature_names_in_ = np.array(["u", "v"], dtype=object)
    running.learn_all("mail")
    assert client.export("mail") == file_of(expected, tmp_path)
    answer = client.predict("mail", world.row(1))
    assert sum(answer["probabilities"].values()) == pytest.approx(1.0)
    assert answer["class"] == max(answer["probabilities"], key=answer["probabilities"].get)


def test_a_bandit_is_what_its_decisions_make_it(running, client, world, tmp_path):
    client.create("shop", **world.models["shop"])
    expected = GLCB(arms=["red", "blue"], exploration="thompson", random_state=0)
    for i in range(30):
        decision = client.decide("shop", world.row(i))
        assert 0 < decision["propensity"] <= 1
        expected.decided(decision["arm"])
        reward = float((decision["arm"] == "red") == (world.row(i)["u"] > 0))
        client.reward("shop", decision["event"], reward)
        expected.update(world.row(i), decision["arm"], reward)
    running.learn_all("shop")
    assert client.export("shop") == file_of(expected, tmp_path)


def test_repeated_calls_get_the_same_answer_and_are_learnt_once(running, client, world, refused):
    client.create("price", **world.models["price"])
    first = client.predict("price", world.row(0), event="mine")
    client.learn("price", 9.0, features=world.row(1))
    running.learn_all("price")
    assert client.predict("price", world.row(0), event="mine") == first
    assert refused(client.predict, "price", world.row(5), event="mine") == (409, "event_exists")
    told = client.learn("price", 1.5, event="mine")
    assert client.learn("price", 1.5, event="mine") == told
    assert client.predict("price", world.row(0), event="mine") == first
    assert refused(client.learn, "price", 2.5, event="mine") == (409, "already_told")
    assert refused(client.learn, "price", 2.5, event="nobody") == (404, "unknown_event")
    assert running.learn_all("price")["rows"] == 2


def test_an_idempotency_key_is_for_one_call(running, client, world, refused):
    client.create("price", **world.models["price"])
    told = client.learn_rows("price", world.rows(4), key="batch")
    assert client.learn_rows("price", world.rows(4), key="batch") == told
    assert refused(client.learn_rows, "price", world.rows(3), key="batch") == (409, "key_reused")
    assert running.learn_all("price")["rows"] == 4


def test_rows_are_learnt_all_or_none(running, client, world, refused):
    client.create("price", **world.models["price"])
    rows = [*world.rows(3), {"event": "nobody", "target": 1.0}]
    assert refused(client.learn_rows, "price", rows) == (404, "unknown_event")
    assert count(running, "log") == 0
    assert client.learn_rows("price", world.rows(3))["sequence"] == 3


def test_what_is_not_told_in_time_is_left_out_or_gets_the_default(start, world, refused):
    running = start()
    client = running.client
    client.create("price", wait_seconds=0.5, **world.models["price"])
    client.create("shop", wait_seconds=0.5, default_reward=-1, **world.models["shop"])
    late, decision = client.predict("price", world.row(0)), client.decide("shop", world.row(0))
    assert client.model("price")["pending"] == 1
    time.sleep(0.6)
    running.service.learner.next_tick = 0.0
    assert running.learn_all("shop")["scores"]["reward"] == -1
    assert running.learn_all("price")["rows"] == 0
    assert refused(client.learn, "price", 1.0, event=late["event"]) == (410, "expired")
    assert refused(client.reward, "shop", decision["event"], 1.0) == (410, "expired")
    assert count(running, "events", "features IS NOT NULL") == 0


def test_snapshots_and_compaction_bound_the_log(start, world, tmp_path):
    first = start(habits=Habits(snapshot_events=10, remember_seconds=0.0))
    first.client.create("price", **world.models["price"])
    for i in range(0, 60, 5):
        first.client.learn_rows("price", world.rows(5, i), key=f"batch-{i}")
        first.learn_all("price")
    assert count(first, "log") <= 25
    assert count(first, "snapshots") == 2
    assert len(list((first.folder / "models").iterdir())) == 2
    first.service.learner.next_tick = 0.0
    first.service.learn_all()
    assert count(first, "keys") == 0
    expected, figures = first.client.export("price"), first.client.model("price")
    first.crash()
    again = start()
    assert again.client.export("price") == expected
    assert again.client.model("price") == figures


def test_the_log_is_kept_if_asked_for(start, world):
    running = start(habits=Habits(snapshot_events=5, keep_log=True))
    running.client.create("price", **world.models["price"])
    for i in range(0, 30, 5):
        running.client.learn_rows("price", world.rows(5, i))
        running.learn_all("price")
    assert count(running, "log") == 30


def test_a_snapshot_that_is_damaged_is_passed_over(start, world):
    first = start(habits=Habits(snapshot_events=10))
    first.client.create("price", **world.models["price"])
    for i in range(0, 30, 10):
        first.client.learn_rows("price", world.rows(10, i))
        first.learn_all("price")
    expected = first.client.export("price")
    with first.service.store.reading() as statements:
        latest = upkeep.snapshots(statements, 1)[0].file
    first.crash()
    (first.folder / "models" / latest).write_bytes(b"torn")
    assert start().client.export("price") == expected


def test_a_model_that_cannot_be_read_keeps_no_other_from_learning(start, world, refused):
    first = start(habits=Habits(snapshot_events=5))
    for name in ("price", "rent"):
        first.client.create(name, **world.models["price"])
    for i in range(0, 15, 5):
        first.client.learn_rows("price", world.rows(5, i))
        first.learn_all("price")
    for name in ("price", "rent"):
        first.client.learn_rows(name, world.rows(3))
    first.crash()
    for file in (first.folder / "models").glob("1-*.ggln"):
        file.unlink()
    again = start()
    assert again.learn_all("rent")["rows"] == 3
    with Client(again.url) as client:
        assert refused(client.predict, "price", world.row(0)) == (503, "damaged")
        assert client.predict("rent", world.row(0))["mean"] is not None


def test_models_leave_memory_and_come_back(start, world):
    from ggln.service.service import Limits

    running = start(limits=Limits(loaded=2))
    client = running.client
    for i in range(6):
        client.create(f"price-{i}", **world.models["price"])
        client.learn_rows(f"price-{i}", world.rows(5, i))
    for i in range(6):
        running.learn_all(f"price-{i}")
    files = [client.export(f"price-{i}") for i in range(6)]
    assert len(running.service.models.memory) <= 2
    listed = client.models()  # those that are not in memory, too
    assert len(running.service.models.memory) <= 2
    known = [client.model(f"price-{i}") for i in range(6)]
    assert [(one["rows"], one["scores"], one["version"]) for one in listed] == [
        (one["rows"], one["scores"], one["version"]) for one in known
    ]
    assert len(set(files)) == 6
    running.crash()
    again = start()
    assert [again.client.export(f"price-{i}") for i in range(6)] == files
