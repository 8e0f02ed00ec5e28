import numpy as np
import pytest

from ggln.bandits import simulate
from ggln.bandits.environments import Episode, Wheel


class Stubborn:
    def __init__(self, arm):
        self.arm, self.seen = arm, []

    def select(self, context):
        return self.arm

    def update(self, context, arm, reward):
        self.seen.append((arm, reward))
        return self


@pytest.fixture
def episode():
    rewards = np.array([[1.0, 0.0], [0.5, 0.75], [0.0, 1.0]])
    return Episode(np.zeros((3, 1)), rewards, np.array([[0.9, 0.1], [0.5, 0.6], [0.2, 0.8]]))


def test_a_policy_sees_only_what_it_chose(episode):
    policy = Stubborn(1)
    run = simulate.play(policy, episode)
    assert run.arms.tolist() == [1, 1, 1]
    assert run.seconds > 0
    assert policy.seen == [(1, 0.0), (1, 0.75), (1, 1.0)]
    assert simulate.earned(episode, run.arms).tolist() == [0.0, 0.75, 1.0]
    assert simulate.regret(episode, run.arms) == pytest.approx([0.8, 0.8, 0.8])


def test_the_oracle_regrets_nothing(episode):
    arms = simulate.oracle(episode)
    assert arms.tolist() == [0, 1, 1]
    assert simulate.regret(episode, arms).tolist() == [0.0, 0.0, 0.0]


def test_several_policies_play_the_same_episodes():
    environment = Wheel(steps=300)
    found = simulate.simulate(
        environment, {"last": lambda seed: Stubborn(4), "first": lambda seed: Stubborn(0)}, seeds=[5, 2]
    )
    assert found.policies == ("oracle", "uniform", "last", "first")
    episode = environment.episode(2)
    assert found.rewards[2, 1] == pytest.approx(episode.rewards[:, 4].sum())
    assert np.all(np.diff(found.regret, axis=2) >= 0)
    assert found.regret[0].max() == 0.0
    assert found.ranks[0].tolist() == [1.0, 1.0]
    assert found.ranks.sum(axis=0).tolist() == [10.0, 10.0]
    assert found.microseconds.shape == (4,)


def test_processes_change_nothing():
    environment = Wheel(steps=50)
    one, two = (simulate.simulate(environment, {}, seeds=3, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.rewards, two.rewards)


def test_errors_name_what_is_wrong(episode):
    with pytest.raises(ValueError, match="chose arm 2 at step 0, of 0 to 1"):
        simulate.play(Stubborn(2), episode)
    with pytest.raises(ValueError, match="must not be called 'oracle'"):
        simulate.simulate(Wheel(steps=5), {"oracle": lambda seed: Stubborn(0)})
    with pytest.raises(ValueError, match="at least one seed"):
        simulate.simulate(Wheel(steps=5), {}, seeds=[])
