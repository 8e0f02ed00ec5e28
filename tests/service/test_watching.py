"""Models that watch others, decisions that were made elsewhere, and what other policies would earn."""

import numpy as np
import pytest

from ggln.bandits import GLCB
from ggln.bandits.offpolicy import policy_values


def reward(world, i, arm):
    return float((arm == "red") == (world.row(i)["u"] > 0))


def test_a_shadow_learns_what_another_decides(running, client, world, refused, tmp_path):
    client.create("shop", **world.models["shop"])
    client.decide("shop", world.row(99), event="before")
    client.reward("shop", "before", 0.5)
    greedy = {"exploration": "greedy"}
    client.create("shadow", settings=greedy, watches="shop", **world.models["shop"])
    expected = GLCB(arms=["red", "blue"], exploration="greedy", random_state=0)
    for i in range(40):
        decision = client.decide("shop", world.row(i))
        paid = reward(world, i, decision["arm"])
        client.reward("shop", decision["event"], paid)
        expected.update(list(world.row(i).values()), decision["arm"], paid)
    running.learn_all("shop")
    assert client.model("shadow")["rows"] == 40  # only what came after it
    assert client.model("shop")["rows"] == 41
    expected.save(tmp_path / "expected.ggln")
    assert client.export("shadow") == (tmp_path / "expected.ggln").read_bytes()
    assert refused(client.decide, "shadow", world.row(0)) == (409, "model_watches")
    found = client.evaluate("shop")
    assert found["watchers"]["shadow"]["events"] == 40
    assert found["policies"]["watcher shadow"]["doubly_robust"]["value"] > 0.4


def test_watching_needs_its_like(client, world, refused):
    client.create("shop", **world.models["shop"])
    client.create("shadow", watches="shop", **world.models["shop"])
    assert refused(client.create, "other", "bandit", arms=["green"], watches="shop") == (400, "bad_request")
    assert refused(client.create, "other", "regressor", watches="shop") == (400, "bad_request")
    answer = refused(client.create, "other", watches="shadow", **world.models["shop"])
    assert answer == (400, "bad_request")


def test_a_shadow_keeps_what_it_has_not_learnt(start, world):
    """The log of the watched model is not removed before those that watch have saved it."""
    from ggln.service.learner import Habits

    first = start(habits=Habits(snapshot_events=5))
    first.client.create("price", **world.models["price"])
    first.client.create(
        "shadow", watches="price", kind="regressor", settings={**world.small, "random_state": 1}
    )
    for i in range(0, 40, 5):
        first.client.learn_rows("price", world.rows(5, i))
        first.learn_all("price")
    files = [first.client.export(name) for name in ("price", "shadow")]
    assert files[0] != files[1]
    first.crash()
    again = start()
    assert [again.client.export(name) for name in ("price", "shadow")] == files


def test_two_models_compare_on_the_same_events(running, client, world):
    client.create("price", **world.models["price"])
    client.create(
        "blind", watches="price", kind="regressor", settings={**world.small, "base_model": "feature"}
    )
    client.learn_rows("price", world.rows(120))
    running.learn_all("price")
    found = client.evaluate("price")["watchers"]["blind"]
    assert found["events"] == 119
    assert found["difference"]["value"] == pytest.approx(found["watcher_loss"] - found["loss"])
    assert found["difference"]["low"] < found["difference"]["value"] < found["difference"]["high"]
    assert found["loss"] == pytest.approx(client.model("price")["scores"]["nll"])


def test_an_apprentice_learns_from_decisions_made_elsewhere(running, client, world, refused):
    client.create("shop", **world.models["shop"])
    for i in range(20):
        arm = ["red", "blue"][i % 2]
        answer = client.decide("shop", world.row(i), arm=arm, propensity=0.5)
        assert (answer["arm"], answer["propensity"], answer["apprentice"]) == (arm, 0.5, True)
        assert answer["would"] in ("red", "blue")
        client.reward("shop", answer["event"], reward(world, i, arm))
    assert running.learn_all("shop")["rows"] == 20
    assert client.evaluate("shop")["policies"]["always red"]["matches"] == 10
    assert refused(client.decide, "shop", world.row(0), arm="green") == (400, "bad_request")
    for propensity in (0, 5e-324, 1.5):
        answer = refused(client.decide, "shop", world.row(0), arm="red", propensity=propensity)
        assert answer == (400, "bad_request")
    assert refused(client.decide, "shop", world.row(0), propensity=0.5) == (400, "bad_request")


def test_an_event_has_one_decision(client, world, refused):
    client.create("shop", **world.models["shop"])
    first = client.decide("shop", world.row(0), arm="red", propensity=0.5, event="mine")
    assert client.decide("shop", world.row(0), arm="red", propensity=0.5, event="mine") == first
    answer = refused(client.decide, "shop", world.row(0), arm="blue", propensity=0.5, event="mine")
    assert answer == (409, "event_exists")


def test_the_largest_rewards_stop_nobody(running, client, world):
    """Scales of rewards may lie beyond the largest of them, by rounding alone."""
    client.create("shop", **world.models["shop"])
    for i in range(4):
        decision = client.decide("shop", world.row(i), arm=["red", "blue"][i % 2], propensity=1e-9)
        client.reward("shop", decision["event"], (-1) ** i * 1e100)
        assert running.learn_all("shop")["error"] is None
    assert client.evaluate("shop")["policies"]["running"]["logged"]["value"] == 0.0


def test_values_of_policies_are_those_of_the_log(running, client, world):
    client.create("shop", **world.models["shop"])
    log = []
    for i in range(60):
        decision = client.decide("shop", world.row(i))
        paid = reward(world, i, decision["arm"])
        client.reward("shop", decision["event"], paid)
        log.append((decision, paid))
    running.learn_all("shop")
    expected = np.array([list(decision["expectations"].values()) for decision, _ in log])
    arms = np.array([["red", "blue"].index(decision["arm"]) for decision, _ in log])
    chances = np.array([decision["propensity"] for decision, _ in log])
    paid = np.array([reward for _, reward in log])
    policies = client.evaluate("shop")["policies"]
    assert policies["running"]["logged"]["value"] == pytest.approx(paid.mean())
    played = {"uniform": np.full((60, 2), 0.5), "always blue": np.tile([0.0, 1.0], (60, 1))}
    for name, probabilities in played.items():
        values = policy_values(expected, probabilities, arms, paid, chances)
        for kind in ("ips", "snips", "doubly_robust"):
            found, estimate = policies[name][kind], getattr(values, kind)
            assert found["value"] == pytest.approx(estimate.value)
            assert (found["low"], found["high"]) == pytest.approx(estimate.interval(0.95))


def test_decisions_follow_their_probabilities():
    from ggln.service.kinds.bandit import drawn

    chances = np.array([0.2, 0.5, 0.3])
    counts = np.bincount([drawn(chances, f"event-{i}") for i in range(4000)], minlength=3)
    np.testing.assert_allclose(counts / 4000, chances, atol=0.03)
    assert drawn(np.array([0.0, 1.0]), "any") == 1


def test_figures_do_not_depend_on_the_cut(world):
    from ggln.service.kinds import KINDS, Entry
    from ggln.service.spec import parse

    for name, body in world.models.items():
        spec = parse(body)
        kind, entries = KINDS[spec.kind], []
        for i in range(50):
            truth = {"price": world.target(i), "mail": ["ham", "spam"][i % 2]}.get(
                name, {"arm": "red", "reward": 1.0, "propensity": 0.5, "expectations": [0.0, 0.0]}
            )
            entries.append(Entry(i + 1, kind.tell, None, np.array(list(world.row(i).values())), truth))
        states = []
        for cut in (1, 7, 50):
            estimator, figures = kind.new(spec), kind.figures(spec)
            for start in range(0, 50, cut):
                kind.learn(estimator, spec, entries[start : start + cut], figures)
            states.append(figures.state())
        assert states[0] == states[1] == states[2], name


def test_json_holds_no_infinity():
    from ggln.service.figures import json_of

    assert json_of({"a": [1.5, float("inf"), (float("nan"),)]}) == '{"a": [1.5, null, [null]]}'


def test_a_curve_never_has_too_many_points():
    from ggln.service import constants
    from ggln.service.figures import Curve

    curve = Curve(1)
    for i in range(1000):
        curve.add([float(i)])
    means = curve.means()
    assert len(means) <= constants.POINTS
    assert means[-1][0] == 1000
    assert sum(point[0] for point in curve.points) == 1000
    assert sum(point[1] for point in curve.points) == sum(range(1000))
