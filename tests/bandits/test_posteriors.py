"""The policy by posteriors in closed form: what it knows, how it explores, what is promised."""

import copy
import pickle
import time

import numpy as np
import pytest
from scipy.stats import norm

import ggln
from ggln.bandits import GLCB, evaluate, sampling, simulate
from ggln.engine.surfaces.posterior import Posterior
from ggln.reproduction import bandit_peers
from ggln.reproduction.tasks import bandit_worlds


def play(policy, episode, start=0, stop=None):
    chosen = []
    for context, rewards in zip(episode.contexts[start:stop], episode.rewards[start:stop], strict=True):
        arm = policy.select(context)
        chosen.append(policy.arms_.index(arm))
        policy.update(context, arm, rewards[chosen[-1]])
    return np.array(chosen)


def state(policy, folder):
    policy.save(folder / "state.ggln")
    return (folder / "state.ggln").read_bytes()


@pytest.fixture(scope="module")
def played():
    """A policy after 200 decisions on products, and the episode."""
    episode = bandit_worlds.episode("products", 1000, 400)
    policy = GLCB(5, random_state=0)
    play(policy, episode, 0, 200)
    return policy, episode


# What it learns --------------------------------------------------------------------------------------------


def test_linear_rewards_cost_little():
    """Regret of drawing arms is some 350 in so many steps, that of LinUCB 47; episodes differ by 20."""
    episodes = [bandit_worlds.episode("linear", seed, 300) for seed in range(1000, 1003)]
    lost = [simulate.regret(own, play(GLCB(5, random_state=0), own))[-1] for own in episodes]
    assert np.mean(lost) < 75


@pytest.mark.parametrize("reward", ["gaussian", "bernoulli"])
def test_products_are_seen(reward):
    """A linear policy does no better here than one that draws arms."""
    world = "products" if reward == "gaussian" else "binary products"
    episode = bandit_worlds.episode(world, 1001, 900)
    arms = play(GLCB(5, reward=reward, random_state=0), episode)
    lost, drawn = simulate.regret(episode, arms), simulate.regret(episode, np.arange(900) % 5)
    most = 0.45 if reward == "gaussian" else 0.65
    assert lost[-1] - lost[600] < most * (drawn[-1] - drawn[600])


def test_the_unit_of_rewards_does_not_matter(played):
    _, episode = played
    contexts, rewards = episode.contexts[:80], episode.rewards[:80]
    runs = []
    for scale in (1.0, 2.0**30):
        policy, arms = GLCB(5, random_state=0), []
        for context, reward in zip(contexts, rewards, strict=True):
            arms.append(policy.select(context))
            policy.update(context, arms[-1], scale * reward[arms[-1]])
        runs.append(arms)
    assert runs[0] == runs[1]


def test_hostile_rewards_and_contexts_give_finite_numbers():
    random, policy = np.random.default_rng(0), GLCB(3, random_state=0)
    for t in range(60):
        context = random.choice([0.0, 1e50, -1e50, 1e-300, 1.0], size=4)
        policy.update(context, t % 3, random.choice([0.0, 1e50, -1e50, 1e-300]))
        assert policy.select(context) in (0, 1, 2)
        assert np.isfinite(policy.predict_expectations(context, return_std=True)).all()


def test_a_decision_over_eight_arms_is_quick(played):
    _, episode = played
    policy = GLCB(8, random_state=0)
    policy.partial_fit(episode.contexts, [*range(8)] * 50, episode.rewards[:, 0])
    spent = []
    for context in episode.contexts:
        start = time.perf_counter()
        policy.select(context)
        spent.append(time.perf_counter() - start)
    assert np.median(spent) < 2e-3  # 0.2 ms on a machine of its own


# Promises --------------------------------------------------------------------------------------------------


def test_a_log_is_learnt_as_decision_by_decision(played, tmp_path):
    _, episode = played
    arms = np.random.default_rng(1).integers(5, size=120)
    paid = episode.rewards[np.arange(120), arms]
    one_by_one, cut = GLCB(5, random_state=0), GLCB(5, random_state=0)
    for decision in zip(episode.contexts[:120], arms, paid, strict=True):
        one_by_one.update(*decision)
    for start, stop in ((0, 1), (1, 50), (50, 120)):
        cut.partial_fit(episode.contexts[start:stop], arms[start:stop], paid[start:stop])
    assert state(one_by_one, tmp_path) == state(cut, tmp_path)


@pytest.mark.parametrize(
    "stop", [pytest.param(0, marks=pytest.mark.nightly), pytest.param(1, marks=pytest.mark.nightly), 40]
)
@pytest.mark.parametrize("exploration", ["ucb", "thompson"])
def test_saved_in_the_middle_it_decides_as_if_it_had_not_been(stop, exploration, played, tmp_path):
    _, episode = played
    through, stopped = (GLCB(5, exploration=exploration, random_state=0) for _ in range(2))
    decisions = play(through, episode, 0, 100).tolist()
    before = play(stopped, episode, 0, stop).tolist()
    stopped.save(tmp_path / "policy.ggln")
    others = [
        ggln.load(tmp_path / "policy.ggln"),
        copy.deepcopy(stopped),
        pickle.loads(pickle.dumps(stopped)),
    ]
    for other in others:
        assert before + play(other, episode, stop, 100).tolist() == decisions
        assert state(other, tmp_path) == state(through, tmp_path)


# Exploring -------------------------------------------------------------------------------------------------


def test_propensities_of_two_gaussians_are_known():
    posterior = Posterior(
        np.ones((2, 1)), np.array([[[1.0], [0.4]]]), np.array([[[0.09], [0.16]]]), np.ones((1, 2, 1))
    )
    for weight in (0.5, 1.0, 3.0):
        chance = norm.cdf(0.6 / (weight * 0.5))
        np.testing.assert_allclose(sampling.chances(posterior, weight), [[chance, 1 - chance]], atol=1e-4)


def test_propensities_are_how_often_arms_are_drawn():
    random = np.random.default_rng(0)
    shares = random.dirichlet(np.ones(3), size=4)
    means, variances = random.normal(size=(1, 4, 3)), random.uniform(0.01, 1.0, size=(1, 4, 3)) ** 4
    posterior = Posterior(shares, means, variances, np.ones((1, 4, 3)))
    many = Posterior(shares, *(np.repeat(part, 40000, axis=0) for part in posterior[1:]))
    drawn = np.bincount(sampling.draws(many, 1.0, random).argmax(axis=1), minlength=4) / 40000
    np.testing.assert_allclose(sampling.chances(posterior, 1.0)[0], drawn, atol=0.012)


@pytest.mark.parametrize("settings", [{}, {"exploration": "thompson"}, {"exploration": "greedy"}])
@pytest.mark.parametrize("step", ["newton", "capped"])
def test_propensities_are_those_of_the_policy(settings, step, played):
    _, episode = played
    policy = GLCB(5, step=step, random_state=0, layer_sizes=(4, 2), context_dim=1, **settings)
    context = episode.contexts[-1]
    assert policy.propensities(context).tolist() == [0.2] * 5
    policy.partial_fit(episode.contexts[:60], [0, 1, 2, 3, 4] * 12, episode.rewards[:60, 0])
    chances = policy.propensities(context)
    assert chances.sum() == pytest.approx(1.0)
    drawn = np.bincount([copy.copy(policy).select(context) for _ in range(400)], minlength=5) / 400
    if policy._rule()[0] == "ucb":  # what waits for its reward changes the next decision
        policy.set_params(exploration="ucb")
        assert drawn[chances.argmax()] > 0
    else:
        np.testing.assert_allclose(drawn, chances, atol=0.1)
    assert policy.propensities(episode.contexts[:7]).shape == (7, 5)


def test_many_contexts_are_decided_in_one_call(played):
    policy, episode = played
    one, many = copy.deepcopy(policy), copy.deepcopy(policy)
    assert many.select(episode.contexts[200:230]) == [one.select(x) for x in episode.contexts[200:230]]


# Arms and late rewards -------------------------------------------------------------------------------------


@pytest.mark.parametrize("exploration", ["ucb", "thompson"])
def test_a_new_arm_does_not_take_all_decisions(exploration, played):
    policy, episode = played
    policy = copy.deepcopy(policy).set_params(exploration=exploration)
    policy.add_arm("new")
    chosen = [policy.select(context) for context in episode.contexts[200:]]
    assert 0 < chosen.count("new") < 100
    assert policy.pending_["new"] == pytest.approx(chosen.count("new"), rel=0.2)
    for context, arm in zip(episode.contexts[200:], chosen, strict=True):
        policy.update(context, arm, 0.0)
    assert policy.pending_["new"] == 0.0


def test_rewards_may_come_late_and_in_any_order():
    """On products, whose regret without delay is that of some 500 steps of drawing arms."""
    episode = bandit_worlds.episode("products", 1002, 1500)
    regrets = {}
    for longest in (0, 300):
        arms = bandit_peers.play_late(GLCB(5, random_state=0), episode, longest, 0)
        regrets[longest] = simulate.regret(episode, arms)[-1]
    assert regrets[300] < 1.8 * regrets[0]


def test_a_removed_arm_comes_back_as_it_was(played, tmp_path):
    policy, episode = played
    policy = copy.deepcopy(policy)
    known = policy.predict_expectations(episode.contexts[:5])
    policy.remove_arm(2)
    assert np.array_equal(policy.predict_expectations(episode.contexts[:5]), known[:, [0, 1, 3, 4]])
    policy.save(tmp_path / "policy.ggln")
    back = ggln.load(tmp_path / "policy.ggln").add_arm(2)
    assert back.arms_ == [0, 1, 3, 4, 2]
    assert np.array_equal(back.predict_expectations(episode.contexts[:5])[:, -1], known[:, 2])
    forgotten = copy.deepcopy(played[0]).remove_arm(2, forget=True).add_arm(2)
    assert not np.allclose(forgotten.predict_expectations(episode.contexts[:5])[:, -1], known[:, 2])


@pytest.mark.parametrize("how", ["features", "warm_start"])
def test_a_new_arm_begins_from_its_likes(how):
    episode = bandit_worlds.episode("linear", 1003, 300)
    policy = GLCB(5, arm_features={arm: [float(arm)] for arm in range(5)}, random_state=0)
    policy.partial_fit(
        episode.contexts, [0, 1, 2, 3, 4] * 60, episode.rewards[np.arange(300), [0, 1, 2, 3, 4] * 60]
    )
    if how == "features":
        policy.add_arm("new", features=[4.05])
    else:
        policy.add_arm("new").warm_start("new", like=4, rows=30.0)
    expected = policy.predict_expectations(episode.contexts)
    plain = policy.add_arm("plain").predict_expectations(episode.contexts)[:, -1]
    assert np.corrcoef(expected[:, 4], expected[:, -1])[0, 1] > 0.6
    assert np.abs(plain - plain.mean()).max() < 0.2 * expected[:, -1].std()
    with pytest.raises(ValueError, match="as many as others have"):
        policy.add_arm("odd", features=[1.0, 2.0])
    with pytest.raises(ValueError, match="needs another arm and rows"):
        policy.warm_start("new", like="new")


# Off-policy ------------------------------------------------------------------------------------------------


class Always:
    """A policy of another library."""

    def __init__(self, arm):
        self.arm = arm

    def predict(self, contexts):
        return [self.arm] * len(contexts)


def test_values_of_any_policy_are_within_their_intervals():
    covered = dict.fromkeys(("ips", "snips", "doubly_robust"), 0)
    for seed in range(20):
        random = np.random.default_rng(seed)
        contexts = random.normal(size=(300, 2))
        mean = np.column_stack([contexts[:, 0], -contexts[:, 0], 0.5 * contexts[:, 1]])
        chances = random.dirichlet([3.0, 3.0, 3.0], size=300)
        arms = np.array([random.choice(3, p=row) for row in chances])
        rewards = mean[np.arange(300), arms] + 0.3 * random.normal(size=300)
        log = contexts, arms, rewards, chances[np.arange(300), arms]
        values = evaluate(
            lambda x: [0.8, 0.2, 0.0] if x[0] > 0 else [0.0, 1.0, 0.0], *log, model=lambda _, m=mean: m
        )
        truth = np.where(contexts[:, 0] > 0, 0.6 * contexts[:, 0], -contexts[:, 0]).mean()
        for name in covered:
            low, high = getattr(values, name).interval(0.9)
            covered[name] += low < truth < high
    assert all(count >= 14 for count in covered.values()), covered
    one, other = evaluate(Always(1), *log), evaluate([1] * 300, *log, names=[0, 1, 2])
    assert one.ips == other.ips
    assert one.direct.value == pytest.approx(mean[:, 1].mean(), abs=0.2)
    with pytest.raises(ValueError, match="add up to 1"):
        evaluate(lambda x: [0.5, 0.1, 0.0], *log)
    with pytest.raises(ValueError, match="arm must be one of"):
        evaluate(Always(7), *log)


@pytest.mark.parametrize("scale", [1e-310, 1e-160, 1e99])
def test_contexts_of_any_scale_are_decided(scale):
    random, policy = np.random.default_rng(0), GLCB(3, random_state=0)
    for context in scale * random.normal(size=(40, 4)):
        policy.update(context, policy.select(context), float(context[0] > 0))
        assert np.isfinite(policy.predict_expectations(context)).all()
