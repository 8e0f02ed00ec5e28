import numpy as np
import pytest
from scipy.stats import norm

from ggln.bandits.environments import Classes, Mushrooms, Portfolios, Ratings, Wheel
from ggln.bandits.scaling import Clip, Scale
from ggln.bandits.table import Table


@pytest.fixture
def numbers():
    return np.random.default_rng(7).normal(size=(300, 6)) * [1.0, 5.0, 0.1, 2.0, 1.0, 3.0] + 4.0


def environments(numbers):
    return {
        "wheel": Wheel(0.7, steps=100, clip=Clip(20)),
        "portfolios": Portfolios(numbers, n_arms=3, clip=Clip(10)),
        "ratings": Ratings(numbers, n_arms=2, clip=Clip(0)),
        "classes": Classes(numbers, np.arange(300) % 4),
        "mushrooms": Mushrooms(numbers, numbers[:, 0] > 4.0, steps=100, clip=Clip(0)),
    }


@pytest.mark.parametrize("name", ["wheel", "portfolios", "ratings", "classes", "mushrooms"])
def test_an_episode_depends_on_its_seed_alone(name, numbers):
    environment = environments(numbers)[name]
    first = environment.episode(3)
    environment.episode(4)
    again = environments(numbers)[name].episode(3)
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(first.rewards, environment.episode(4).rewards)
    assert first.contexts.shape == (environment.steps, environment.n_features)
    assert first.rewards.shape == first.expected.shape == (environment.steps, environment.n_arms)
    assert first.n_arms == environment.n_arms
    assert 0.0 <= first.rewards.min() <= first.rewards.max() <= 1.0


def test_the_wheels_jackpots():
    delta = 0.8
    episode = Wheel(delta, steps=20_000).episode(0)
    radius = np.linalg.norm(episode.contexts, axis=1)
    assert radius.max() <= 1.0
    assert np.mean(radius > delta) == pytest.approx(1.0 - delta**2, abs=0.01)  # uniform in area
    jackpots = episode.expected == 50.0
    assert np.array_equal(jackpots.any(axis=1), radius > delta)
    assert not jackpots[:, 4].any()
    arm = np.array([[0, 1], [2, 3]])[
        (episode.contexts[:, 0] < 0).astype(int), (episode.contexts[:, 1] < 0).astype(int)
    ]
    far = radius > delta
    assert np.array_equal(jackpots[far].argmax(axis=1), arm[far])
    assert np.array_equal(episode.expected[~far].argmax(axis=1), np.full((~far).sum(), 4))
    noise = episode.rewards - episode.expected
    assert noise[~jackpots].std() == pytest.approx(0.05, rel=0.02)
    assert noise[jackpots].std() == pytest.approx(0.01, rel=0.05)


def test_clipped_gaussian_means_are_the_means_of_what_is_paid():
    random = np.random.default_rng(0)
    scale = Scale(-0.5, 2.0)
    for mean, deviation in ((0.0, 1.0), (5.0, 0.1), (-3.0, 2.0), (1.0, 1e-3)):
        drawn = scale(random.normal(mean, deviation, 200_000))
        found = scale.expected(np.array([mean]), np.array([deviation]))
        assert found == pytest.approx([drawn.mean()], abs=4e-3)
    quantile = norm.ppf(0.2)
    rewards = random.normal(size=1_000_000)
    low, high = Clip(20).scale(rewards)
    assert (low, high) == pytest.approx((quantile, -quantile), abs=0.01)


def test_equal_rewards_become_one_half():
    same = np.full((4, 2), 3.0)
    assert np.array_equal(Clip(10).scale(same)(same), np.full((4, 2), 0.5))


def test_portfolios_pay_what_their_stocks_earn(numbers):
    environment = Portfolios(numbers, n_arms=3)
    episode = environment.episode(1)
    # each arm's mean reward is linear in the standardised context, with a vector of length 1 in its own units
    X = np.column_stack([episode.contexts, np.ones(300)])
    weights, *_ = np.linalg.lstsq(X, episode.expected)
    assert X @ weights == pytest.approx(episode.expected, abs=1e-9)
    assert np.linalg.norm(weights[:-1] / numbers.std(axis=0)[:, None], axis=0) == pytest.approx(np.ones(3))
    noise = (episode.rewards - episode.expected).std(axis=0)
    assert noise == pytest.approx([0.01, 0.02, 0.03], rel=0.15)


def test_ratings_are_shuffled_unless_told_otherwise(numbers):
    plain = Ratings(numbers, n_arms=2, shuffle=False, steps=300).episode(0)
    order = np.lexsort(plain.rewards.T)
    assert plain.rewards[order] == pytest.approx(numbers[np.lexsort(numbers[:, 4:].T), 4:])
    drawn = {
        tuple(Ratings(numbers, n_arms=2).episode(seed).rewards.mean(axis=0).round(6)) for seed in range(5)
    }
    assert len(drawn) == 5


def test_classes_pay_where_they_are_right(numbers):
    y = np.arange(300) % 4
    episode = Classes(numbers, y, n_arms=5).episode(0)
    assert np.array_equal(episode.rewards.sum(axis=1), np.ones(300))
    assert episode.rewards.sum(axis=0).tolist() == [75, 75, 75, 75, 0]
    assert np.array_equal(episode.rewards, episode.expected)


def test_mushrooms(numbers):
    poisonous = numbers[:, 0] > 4.0
    episode = Mushrooms(numbers, poisonous, steps=4000).episode(0)
    assert set(np.unique(episode.rewards)) == {-35.0, 0.0, 5.0}
    assert set(np.unique(episode.expected)) == {-15.0, 0.0, 5.0}
    risky = episode.expected[:, 1] < 0
    assert np.mean(risky) == pytest.approx(poisonous.mean(), abs=0.03)
    assert np.mean(episode.rewards[risky, 1] == -35.0) == pytest.approx(0.5, abs=0.04)
    scaled = Mushrooms(numbers, poisonous, steps=4000, clip=Clip(0)).episode(0)
    assert scaled.rewards == pytest.approx((episode.rewards + 35.0) / 40.0)
    assert scaled.expected == pytest.approx((episode.expected + 35.0) / 40.0)


def test_tables_of_bytes_are_standardised_row_by_row():
    values = np.random.default_rng(0).integers(0, 3, size=(1000, 4)).astype(np.uint8)
    values[:, 2] = 7  # constant
    table = Table(values, "X")
    rows = np.arange(0, 1000, 7)
    expected = (values - values.mean(axis=0)) / np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)
    assert table.rows(rows) == pytest.approx(expected[rows])
    assert table.values.dtype == np.uint8


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda X: Wheel(delta=1.5), r"delta must be a radius .* got 1.5"),
        (lambda X: Wheel(steps=0), "steps must be at least 1, got 0"),
        (lambda X: Portfolios(X, steps=301), "at most the 300 rows there are, got 301"),
        (lambda X: Portfolios(X, n_arms=0), "n_arms must be at least 1"),
        (lambda X: Ratings(X, n_arms=6), "must leave some of the 6 columns as context"),
        (lambda X: Classes(X, X[:, 0]), "y must be classes counted from 0, got float64"),
        (lambda X: Classes(X, np.zeros(2, int)), "y must have a class for each of the 300 rows"),
        (lambda X: Classes(X, np.arange(300) - 1), "y must be in 0 to"),
        (lambda X: Classes(X[0], [0]), r"X must have rows and columns, got an array of shape \(6,\)"),
        (lambda X: Classes(np.array([["a"]]), [0]), "X must be numbers, got <U1: encode categories one-hot"),
        (lambda X: Mushrooms(X * [np.nan] * 6, X[:, 0] > 0), "X must be finite"),
        (lambda X: Mushrooms(X, [True]), "poisonous must have a value for each of the 300 rows"),
        (lambda X: Mushrooms(X, X[:, 0] > 0, steps=-1), "steps must be at least 1, got -1"),
        (lambda X: Clip(50), "percentile must be at least 0 and less than 50, got 50"),
    ],
)
def test_wrong_arguments_are_named(wrong, message, numbers):
    with pytest.raises(ValueError, match=message):
        wrong(numbers)
