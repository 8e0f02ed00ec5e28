import numpy as np
import pytest
from scipy.stats import kstest
from scipy.stats import t as student

from ggln.reproduction.competitors.policies import batch
from ggln.reproduction.competitors.policies.linear import LinFullPost, NormalInverseGamma


def test_the_posterior_is_that_of_all_rows_at_once():
    random = np.random.default_rng(0)
    posterior = NormalInverseGamma((2, 3, 4), a0=6.0, b0=5.0, precision=0.25)
    rows = {(seed, arm): ([], []) for seed in range(2) for arm in range(3)}
    for _ in range(400):
        x, y, arms = (
            random.normal(size=(2, 4)) * [1, 30, 0.1, 1],
            random.normal(size=2),
            random.integers(3, size=2),
        )
        posterior.learn(x, arms, y)
        for seed, arm in enumerate(arms):
            rows[seed, arm][0].append(x[seed])
            rows[seed, arm][1].append(y[seed])
    for (seed, arm), (X, y) in rows.items():
        X, y = np.array(X), np.array(y)
        precision = X.T @ X + 0.25 * np.eye(4)
        mean = np.linalg.solve(precision, X.T @ y)
        assert posterior.inverse[seed, arm] == pytest.approx(np.linalg.inv(precision), rel=1e-8, abs=1e-12)
        assert posterior.mean[seed, arm] == pytest.approx(mean, rel=1e-8)
        assert posterior.a[seed, arm] == 6.0 + len(y) / 2
        assert posterior.b[seed, arm] == pytest.approx(5.0 + (y @ y - mean @ precision @ mean) / 2, rel=1e-9)


def test_draws_follow_students_distribution():
    posterior = NormalInverseGamma((1, 1, 2))
    random = np.random.default_rng(1)
    for _ in range(5):
        posterior.learn(random.normal(size=(1, 2)), np.zeros(1, int), random.normal(size=1))
    x = np.array([[0.5, -1.0]])
    draws = [posterior.sample(x, [random])[0, 0] for _ in range(4000)]
    mean, variance = (float(part[0, 0]) for part in posterior.predict(x))
    a, b = float(posterior.a[0, 0]), float(posterior.b[0, 0])
    assert kstest(draws, student(2 * a, mean, np.sqrt(b / a * variance)).cdf).pvalue > 0.01


def test_a_seed_does_not_depend_on_its_neighbours(known_answer):
    together = known_answer([0, 1, 2], steps=60)
    alone = known_answer([1], steps=60)

    def arms(episodes):
        return batch.play(LinFullPost(episodes.seeds, 3, 2), episodes)

    assert np.array_equal(arms(together)[1], arms(alone)[0])


def test_arms_are_played_in_turn_first(known_answer):
    episodes = known_answer([4], steps=20)
    assert batch.play(LinFullPost([4], 3, 2), episodes)[0, :6].tolist() == [0, 1, 2, 0, 1, 2]


def test_it_solves_a_linear_bandit(known_answer):
    episodes = known_answer([0, 1], steps=400)
    arms = batch.play(LinFullPost(episodes.seeds, 3, 2), episodes)
    best = episodes.rewards.argmax(axis=2)
    assert np.mean(arms[:, 200:] == best[:, 200:]) > 0.85
