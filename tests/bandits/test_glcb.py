"""The policy: what it decides, what it learns, and that nothing else changes it."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import ggln
from ggln.bandits import GLCB
from ggln.engine import constants, memory
from ggln.engine.arms.networks import Arms

TINY = {"step": "capped", "layer_sizes": (6, 3), "context_dim": 2, "random_state": 0}
KINDS = {"gaussian": {}, "bernoulli": {"reward": "bernoulli"}, "ctree": {"reward": "ctree", "depth": 2}}


@pytest.fixture(autouse=True)
def short_warm_up(monkeypatch):
    """The first rows are learnt again up to 64 of them: all that comes after is then tested by few rows."""
    monkeypatch.setattr(constants, "WARMUP_ROWS", 64)


@pytest.fixture
def tiny():
    return lambda n_arms=3, **changes: GLCB(n_arms, **{**TINY, **changes})


@pytest.fixture
def log():
    """Contexts, and what each arm would pay in them: 0 or 1 if `binary`."""

    def make(rows=150, n_arms=3, binary=False, seed=0):
        random = np.random.default_rng(seed)
        contexts = random.normal(size=(rows, 4))
        rewards = 0.5 + 0.2 * contexts @ random.normal(size=(4, n_arms)) + 0.2 * np.abs(contexts[:, :n_arms])
        rewards = np.clip(rewards + 0.05 * random.normal(size=rewards.shape), 0, 1)
        return contexts, (rewards > 0.5).astype(float) if binary else rewards

    return make


def play(policy, contexts, rewards):
    """Let a policy choose and learn; return the positions of the arms that it chose."""
    chosen = []
    for context, reward in zip(contexts, rewards, strict=True):
        arm = policy.select(context)
        chosen.append(policy.arms_.index(arm))
        policy.update(context, arm, reward[chosen[-1]])
    return chosen


def state(policy, folder):
    """All that a policy knows, as the bytes of its file."""
    policy.save(folder / "state.ggln")
    return (folder / "state.ggln").read_bytes()


# Learning --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_what_to_play(kind, tiny, log):
    contexts, rewards = log(500, binary=kind == "bernoulli")
    chosen = play(tiny(**KINDS[kind], layer_sizes=(16, 8)), contexts, rewards)
    late = np.arange(300, 500)
    earned, best, average = (
        rewards[late, np.array(chosen)[late]].mean(),
        rewards[late].max(axis=1).mean(),
        rewards[late].mean(),
    )
    assert earned > average + 0.6 * (best - average)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_log_is_learnt_as_decision_by_decision(kind, n_jobs, tiny, log, tmp_path):
    contexts, rewards = log(binary=kind == "bernoulli")
    arms = np.random.default_rng(1).integers(3, size=150)
    paid = rewards[np.arange(150), arms]
    one_by_one, cut = tiny(**KINDS[kind]), tiny(**KINDS[kind], n_jobs=n_jobs)
    for decision in zip(contexts, arms, paid, strict=True):
        one_by_one.update(*decision)
    for start, stop in ((0, 1), (1, 50), (50, 130), (130, 150)):
        cut.partial_fit(contexts[start:stop], arms[start:stop], paid[start:stop])
    one_by_one.set_params(n_jobs=n_jobs)
    assert state(one_by_one, tmp_path) == state(cut, tmp_path)


def test_the_unit_of_rewards_does_not_matter(tiny, log):
    contexts, rewards = log()
    units = [(1.0, 0.0), (2.0**40, 0.0), (2.0**-40, 0.0)]
    decisions = [play(tiny(), contexts, scale * rewards + shift) for scale, shift in units]
    assert decisions[0] == decisions[1] == decisions[2]
    policy = tiny().partial_fit(contexts, [0] * 150, 1e6 * rewards[:, 0] - 1e7)
    expected, deviation = policy.predict_expectations(contexts, return_std=True)
    assert np.abs(expected[:, 0] - 1e6 * rewards[:, 0] + 1e7).mean() < 1e5
    assert (deviation > 0).all()


def test_a_range_of_rewards_is_mapped_to_the_unit_interval(tiny, log, tmp_path):
    contexts, rewards = log()
    plain, mapped = tiny(reward_range=(0, 1)), tiny(reward_range=(-8, 8))
    assert play(plain, contexts, rewards) == play(mapped, contexts, 16 * rewards - 8)
    np.testing.assert_allclose(
        mapped.predict_expectations(contexts), 16 * plain.predict_expectations(contexts) - 8, atol=1e-4
    )


def test_hostile_rewards_and_contexts_give_finite_numbers(tiny):
    random = np.random.default_rng(0)
    policy = tiny()
    for t in range(200):
        context = random.choice([0.0, 1e99, -1e99, 1e-300, 1.0], size=4)
        policy.update(context, t % 3, random.choice([0.0, 1e99, -1e99, 1e-300]))
        assert policy.select(context) in (0, 1, 2)
        assert np.isfinite(policy.predict_expectations(context, return_std=True)).all()


# Deciding ---------------------------------------------------------------------------------------------------


def test_before_anything_is_learnt(tiny):
    policy = tiny()
    assert {policy.select([0.0, 0.0]) for _ in range(40)} == {0, 1, 2}
    assert policy.predict_expectations([0.0, 0.0]).tolist() == [0, 0, 0]
    policy.update([0.0, 0.0], 1, 5.0)
    assert {policy.select([0.0, 0.0]) for _ in range(40)} == {0, 2}  # arms that were never played come first


def test_all_arms_are_asked_in_one_call(tiny, log, monkeypatch):
    contexts, rewards = log(60)
    policy = tiny(40).partial_fit(np.tile(contexts, (2, 1)), [*range(40)] * 3, np.tile(rewards[:, 0], 2))
    calls, ask = [], Arms.ask
    monkeypatch.setattr(Arms, "ask", lambda self, side: calls.append(side.shape) or ask(self, side))
    policy.select(contexts[0])
    assert calls == [(1, 4)]


@pytest.mark.parametrize("exploration", ["bonus", "ucb", "thompson", "greedy"])
@pytest.mark.parametrize("pseudo_count", ["mean", "soft_min", "leverage"])
def test_scores_are_those_of_the_rule(exploration, pseudo_count, tiny, log):
    contexts, rewards = log()
    policy = tiny(exploration=exploration, pseudo_count=pseudo_count, exploration_weight=2.0)
    policy.partial_fit(contexts, [0, 1, 2] * 50, rewards[:, 0])
    forecast = policy._learner.forecast(contexts[:20])
    counts = {
        "mean": forecast.visits,
        "soft_min": forecast.soft_visits,
        "leverage": 1 / forecast.leverage,
    }[pseudo_count]
    deviation, noise = np.sqrt(forecast.variance), copy.deepcopy(policy._random).standard_normal((20, 3)).T
    expected = {
        "bonus": forecast.mean + 2 * np.sqrt(np.log(150) / counts),
        "ucb": forecast.mean + 2 * deviation * np.sqrt(np.log(150) / counts),
        "thompson": forecast.mean + 2 * deviation * noise / np.sqrt(counts),
        "greedy": forecast.mean,
    }[exploration]
    assert [policy.select(context) for context in contexts[:20]] == expected.argmax(axis=0).tolist()


def test_exploration_fades(tiny, log):
    """With little weight, an arm that pays much less is played less and less, but all are tried."""
    contexts, rewards = log(400)
    rewards[:, 1] = 0.1
    chosen = np.array(play(tiny(exploration="bonus", exploration_weight=0.3), contexts, rewards))
    assert (chosen == 1).any()
    assert (chosen[200:] == 1).sum() < (chosen[:200] == 1).sum()


def test_threads_may_decide_side_by_side(tiny, log):
    contexts, rewards = log()
    policy = tiny(exploration="ucb").partial_fit(contexts, [0, 1, 2] * 50, rewards[:, 0])
    alone = [policy.select(context) for context in contexts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(policy.select, contexts)) == alone


# Reproducibility -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [0, 1, 40, 100])
def test_saved_in_the_middle_it_decides_as_if_it_had_not_been(kind, stop, tiny, log, tmp_path):
    """Within the warm-up and after it; Thompson sampling, so that the random numbers have to go on, too."""
    contexts, rewards = log(120, binary=kind == "bernoulli")
    settings = {"exploration": "thompson", "exploration_weight": 1.0, **KINDS[kind]}
    through, stopped = tiny(**settings), tiny(**settings)
    decisions = play(through, contexts, rewards)
    before = play(stopped, contexts[:stop], rewards[:stop])
    stopped.save(tmp_path / "policy.ggln")
    loaded = ggln.load(tmp_path / "policy.ggln")
    assert before + play(loaded, contexts[stop:], rewards[stop:]) == decisions
    assert state(loaded, tmp_path) == state(through, tmp_path)


def test_decisions_follow_from_the_seed(tiny, log):
    contexts, rewards = log()
    runs = [play(tiny(exploration="thompson", random_state=seed), contexts, rewards) for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_copies_go_on_alike(tiny, log):
    contexts, rewards = log()
    policy = tiny(exploration="thompson")
    play(policy, contexts[:70], rewards[:70])
    copies = [copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))]
    decisions = play(policy, contexts[70:], rewards[70:])
    assert all(play(other, contexts[70:], rewards[70:]) == decisions for other in copies)


def test_it_keeps_the_conventions_of_scikit_learn(tiny):
    policy = tiny(exploration="bonus").update([1.0], 0, 1.0)
    assert "exploration='bonus'" in repr(policy)
    fresh = clone(policy)
    assert fresh.get_params() == policy.get_params()
    assert not hasattr(fresh, "arms_")


# Arms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 30, 100])
@pytest.mark.parametrize("reload", [False, True])
def test_arms_are_added_and_removed(rows, reload, tiny, log, tmp_path):
    contexts, rewards = log(120, n_arms=4)
    policy = GLCB(arms=["a", "b", "c"], **TINY)
    play(policy, contexts[:rows], rewards[:rows, :3])
    if reload:
        policy.save(tmp_path / "policy.ggln")
        policy = ggln.load(tmp_path / "policy.ggln")
    known = policy.predict_expectations(contexts)
    policy.add_arm("d").remove_arm("b")
    assert policy.arms_ == ["a", "c", "d"]
    assert np.array_equal(policy.predict_expectations(contexts)[:, :2], known[:, [0, 2]])
    if rows:
        assert policy.select(contexts[0]) == "d"  # of which nothing is known
    play(policy, contexts[rows:], rewards[rows:][:, [0, 2, 3]])
    assert set(policy.predict(contexts)) <= {"a", "c", "d"}


def test_names_of_arms(tiny):
    policy = tiny(2).add_arm().add_arm("x").remove_arm(1).add_arm()
    assert policy.arms_ == [0, 2, "x", 1]
    assert GLCB(arms=np.array(["a", "b"])).add_arm(np.int64(3)).arms_ == ["a", "b", 3]
    with pytest.raises(ValueError, match="arms must differ from each other, got 'x' twice"):
        policy.add_arm("x")
    with pytest.raises(ValueError, match=r"arms must be strings or integers, got 1\.5"):
        policy.add_arm(1.5)
    with pytest.raises(ValueError, match="is the only one"):
        GLCB(arms=["a"]).remove_arm("a")
    assert policy.arms_ == [0, 2, "x", 1]


# Errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 20, 100])
def test_errors_are_clear_and_change_nothing(rows, tiny, log, tmp_path):
    contexts, rewards = log()
    policy = tiny()
    play(policy, contexts[:rows], rewards[:rows])
    before = state(policy, tmp_path)
    x, many = contexts[0], (contexts[:2], [0, 1], [0.0, 1.0])
    wrong = [
        (r"arm must be one of \[0, 1, 2\], got 7; add_arm adds one", policy.update, (x, 7, 1.0)),
        ("arm must be one of", policy.update, (x, "0", 1.0)),
        ("arm must be one of", policy.update, (x, [0, 1], 1.0)),
        ("arm must be one of", policy.remove_arm, (3,)),
        ("reward contains NaN", policy.update, (x, 0, np.nan)),
        ("reward contains infinity", policy.update, (x, 0, np.inf)),
        ("reward must be numbers", policy.update, (x, 0, "much")),
        ("reward must be of shape", policy.update, (x, 0, [1.0, 2.0])),
        ("contexts contains NaN: row 0, column 1", policy.update, ([0.0, np.nan, 0.0, 0.0], 0, 1.0)),
        ("contexts contains NaN", policy.select, ([0.0, np.nan, 0.0, 0.0],)),
        ("contexts must be numbers.*'red'.*columns of 0 and 1", policy.select, ([0.0, "red", 0.0, 0.0],)),
        ("contexts must be numbers", policy.partial_fit, ([[0.0, 1.0], [0.0]], *many[1:])),
        ("context must be a 1-D array", policy.update, ([], 0, 1.0)),
        ("arms must be a sequence of 2", policy.partial_fit, (contexts[:2], [0], [0.0, 1.0])),
        (r"rewards must be of shape \(2,\)", policy.partial_fit, (contexts[:2], [0, 1], [0.0])),
        ("arm must be one of", policy.partial_fit, (contexts[:2], [0, 5], [0.0, 1.0])),
        ("rewards contains NaN: row 1", policy.partial_fit, (contexts[:2], [0, 1], [0.0, np.nan])),
        ("propensities must be probabilities", policy.partial_fit, (*many, [0.5, 0.0])),
        ("propensities must be probabilities", policy.partial_fit, (*many, [0.5, 1.5])),
        (r"propensities must be of shape \(2,\)", policy.partial_fit, (*many, [0.5])),
    ]
    if rows:
        short = "contexts have 3 features, but this policy has learnt from 4"
        wrong += [(short, policy.update, (x[:3], 0, 1.0)), (short, policy.select, (x[:3],))]
    for message, call, arguments in wrong:
        with pytest.raises(ValueError, match=message):
            call(*arguments)
    assert state(policy, tmp_path) == before


def test_a_log_that_does_not_fit_into_memory_is_refused_whole(tiny, log, monkeypatch, tmp_path):
    contexts, rewards = log()
    policy = tiny(layer_sizes=(64, 64), context_dim=10)
    play(policy, contexts[:10], rewards[:10])
    before = state(policy, tmp_path)
    monkeypatch.setattr(memory, "available", lambda: 10**6)
    monkeypatch.setattr(memory, "UNASKED", 10**6)
    with pytest.raises(MemoryError, match="smaller context_dim"):
        policy.partial_fit(contexts, [0, 1, 2] * 50, rewards[:, 0])
    assert state(policy, tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_arms": None}, "give either n_arms or arms"),
        ({"arms": ["a"]}, "give either n_arms or arms"),
        ({"n_arms": None, "arms": []}, "at least one arm"),
        ({"n_arms": 0}, "n_arms"),
        ({"exploration": "random"}, "exploration"),
        ({"exploration_weight": -1.0}, "exploration_weight"),
        (
            {"pseudo_count": "leverage", "base_model": "feature"},
            'reads the regression of base_model="linear"',
        ),
        ({"pseudo_count": "leverage", "reward": "ctree"}, "which only Gaussian rewards have"),
        ({"reward_range": (1, 0)}, r"reward_range must be \(low, high\)"),
        ({"reward_range": (0, np.nan)}, "reward_range"),
        ({"reward": "bernoulli", "reward_range": (0, 2)}, "reward_range must be None"),
        ({"gating": "tree"}, "gating"),
        ({"layer_sizes": ()}, "layer_sizes"),
        ({"min_variance": 1e3}, "min_variance must be below max_variance"),
        ({"context_dim": 99}, "context_dim"),
    ],
)
def test_bad_parameters_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        GLCB(**{"n_arms": 2, **TINY, **changes}).select([0.0])


@pytest.mark.parametrize(("kind", "bad"), [("bernoulli", 2.0), ("ctree", -0.1)])
def test_rewards_out_of_range_are_refused(kind, bad, tiny, tmp_path):
    policy = tiny(**KINDS[kind])
    with pytest.raises(ValueError, match=r"rewards must be in \[0, 1\], got"):
        policy.update([0.0], 0, bad)
    policy.update([0.0], 0, 0.5)


def test_what_a_policy_shows_and_picks_after_arms_came_and_went(tiny, log):
    contexts, rewards = log(60, n_arms=2)
    policy = tiny(2)
    assert "n_arms=2" in repr(policy)
    play(policy, contexts, -5.0 + rewards)  # so that an arm nobody knows looks better than all others
    policy.add_arm("new")
    assert "arms=[0, 1, 'new']" in repr(policy)
    assert "new" not in policy.predict(contexts)
    policy.update(contexts[0], "new", 100.0)
    assert policy.predict(contexts[0]) == "new"
    assert "arms=[1, 'new']" in repr(policy.remove_arm(0))
    assert "n_arms=2" in repr(clone(policy))


# Names of features -----------------------------------------------------------------------------------------


def test_contexts_with_names_are_read_by_name_and_others_refused(tiny, log, tmp_path):
    contexts, rewards = log()
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(contexts, columns=names)
    arms, paid = [0, 1, 2] * 10, rewards[range(30), [0, 1, 2] * 10]
    plain, named, dicts = tiny(), tiny(), tiny()
    plain.partial_fit(contexts[:30], arms, paid)
    named.partial_fit(frame[:30], arms, paid)
    for context, arm, reward in zip(frame[:30].to_dict("records"), arms, paid, strict=True):
        dicts.update(context, arm, reward)
    expected = plain.predict_expectations(contexts[:5])
    for policy in (named, dicts):
        policy.save(tmp_path / "policy.ggln")
        for one in (policy, ggln.load(tmp_path / "policy.ggln")):
            assert list(one.feature_names_in_) == names
            np.testing.assert_array_equal(one.predict_expectations(frame[:5]), expected)
            for swapped in (frame.iloc[0][::-1], dict(frame.iloc[0][::-1])):
                np.testing.assert_array_equal(one.predict_expectations(swapped), expected[0])
                assert one.select(swapped) in (0, 1, 2)
            with pytest.raises(ValueError, match="names must be in the same order"):
                one.predict(frame[names[::-1]])
            with pytest.raises(ValueError, match=r"context lacks the features \['b', 'c', 'd'\]"):
                one.update({"a": 1.0}, 0, 1.0)
            with pytest.warns(UserWarning, match="does not have valid feature names"):
                one.predict(contexts[:2])
    with pytest.raises(
        ValueError, match="context is a dict, but this model was fitted without feature names"
    ):
        plain.select({"a": 1.0})
