"""Answers while a model learns: each is that of a number of the log, and none waits for a long lesson."""

import threading
import time

import numpy as np
from numba.core.compiler_lock import global_compiler_lock

from ggln.service import Client, constants
from ggln.service.kinds import KINDS, Entry
from ggln.service.kinds.regressor import Regressor
from ggln.service.spec import parse
from ggln.service.turns import Turns


def test_whoever_asks_again_at_once_lets_others_in():
    turns, ending, taken = Turns(), threading.Event(), []

    def learn():
        while not ending.is_set():
            with turns:
                taken.append("learner")
                time.sleep(0.001)

    learner = threading.Thread(target=learn)
    learner.start()
    waits = []
    for _ in range(50):
        before = len(taken)
        with turns:
            waits.append(len(taken) - before)
        time.sleep(0.0005)
    ending.set()
    learner.join()
    assert not turns.taken
    assert max(waits) <= 3  # lessons between a question and its turn
    assert len(taken) > 25


def test_an_answer_is_that_of_its_version(start, world):
    """While rows are learnt, each answer is, bit for bit, that of an estimator which learnt as many."""
    running = start()
    client, count = running.client, 700
    client.create("price", **world.models["price"])
    client.learn_rows("price", world.rows(40))
    running.learn_all("price")
    answers, rows = [], world.rows(count, 40)
    teacher = threading.Thread(
        target=lambda: [client.learn_rows("price", rows[i : i + 70]) for i in range(0, count, 70)]
    )
    teacher.start()
    while client.model("price")["rows"] < count + 40:
        answers += [(i, client.predict("price", world.row(i))) for i in range(3)]
        answers += list(enumerate(client.predict_rows("price", [world.row(i) for i in range(40)])))
    teacher.join()
    assert len({answer["version"] for _, answer in answers}) > 3

    spec, kind = parse(world.models["price"]), KINDS["regressor"]
    estimator, figures, learnt = kind.new(spec), kind.figures(spec), 0
    for i, answer in sorted(answers, key=lambda pair: pair[1]["version"]):
        entries = [
            Entry(n + 1, "learn", None, np.array(list(world.row(n).values())), world.target(n))
            for n in range(learnt, answer["version"])
        ]
        if entries:
            kind.learn(estimator, spec, entries, figures)
            learnt = answer["version"]
        features = np.array([list(world.row(i).values())])
        expected = kind.answers(estimator, features, [answer["event"]])[0]
        assert answer == expected | {"version": learnt}


def test_a_long_lesson_keeps_nobody_waiting(running, client, world, monkeypatch):
    client.create("price", **world.models["price"])
    client.learn_rows("price", world.rows(80))
    running.learn_all("price")
    first = client.predict("price", world.row(0))
    assert first["version"] == 80
    begun, ending, learn = threading.Event(), threading.Event(), Regressor.learn

    def slow(*arguments):
        begun.set()
        assert ending.wait(30)
        learn(*arguments)

    monkeypatch.setattr(Regressor, "takes_long", lambda *_: True)
    monkeypatch.setattr(Regressor, "learn", slow)
    client.learn("price", 0.5, features=world.row(80))
    assert begun.wait(30)
    assert client.predict("price", world.row(0))["version"] == 80
    assert client.model("price")["version"] == 80
    ending.set()
    assert running.learn_all("price")["version"] == 81
    assert client.predict("price", world.row(0))["mean"] != first["mean"]


def test_a_compiler_at_work_keeps_nobody_waiting(running, client, world):
    """Whoever asks first after networks were solved afresh does not need the compiler's lock."""
    client.create("price", **world.models["price"])
    for first, count in ((0, 80), (80, 48)):  # networks are solved at 128
        client.learn_rows("price", world.rows(count, first))
        running.learn_all("price")
        if not first:
            client.predict("price", world.row(0))
    hasty = Client(running.url, timeout=5)
    with global_compiler_lock:
        assert hasty.predict("price", world.row(0))["version"] == 128
        assert hasty.models()[0]["rows"] == 128
    hasty.close()


def test_many_rows_do_not_wait_for_more(running, client, world, monkeypatch):
    """A learner that lets single rows gather, here for a minute, begins at once with a batch."""
    monkeypatch.setattr(constants, "LEARN_SECONDS", 60.0)
    client.create("price", **world.models["price"])
    client.learn_rows("price", world.rows(2))
    until(lambda: running.service.learner.seen == 2)  # it has looked, and found no more
    client.learn_rows("price", world.rows(80, 2))
    until(lambda: client.model("price")["rows"] == 82)


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_other_models_do_not_wait_for_a_lesson(running, client, world, monkeypatch):
    """A question to a model that learns waits; questions to others, and what they are told, do not."""
    for name in ("price", "rent"):
        client.create(name, **world.models["price"])
        client.learn_rows(name, world.rows(80))
        running.learn_all(name)
        client.predict(name, world.row(0))
    model = running.service.models.get(running.service.models.row("price"))
    answered = []
    with model.turns:
        waiting = threading.Thread(target=lambda: answered.append(client.predict("price", world.row(0))))
        waiting.start()
        while not model.turns._gate.locked():  # until it waits
            time.sleep(0.001)
        client.learn("price", 0.5, features=world.row(80))
        assert client.predict("rent", world.row(0))["version"] > 0
        assert answered == []
    waiting.join()
    assert answered[0]["mean"] is not None
