import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs jax: pip install ggln[peers]")
pytest.importorskip("optax", reason="needs optax: pip install ggln[peers]")

from ggln.reproduction.competitors.policies import all_policies, bayesian, neural, neural_linear  # noqa: E402
from ggln.reproduction.competitors.policies.linear import NormalInverseGamma  # noqa: E402


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Train less, which is enough here, and compile in a third of the time."""
    monkeypatch.setattr(neural, "_compiled", neural._compiled.__wrapped__)  # constants below are compiled in
    for module in (neural, bayesian):
        monkeypatch.setattr(module, "STEPS", 25)
        monkeypatch.setattr(module, "MINIBATCH", 32)
    monkeypatch.setattr(bayesian, "ADAM_RATE", 0.03)
    monkeypatch.setattr(bayesian, "SAMPLES", 3)
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.nightly
@pytest.mark.parametrize("name", all_policies.NEURAL)
def test_each_policy_finds_the_best_arms(name, known_answer):
    episodes = known_answer([0, 1], steps=390)  # not a multiple of a round
    arms, seconds = all_policies.play(name, episodes)
    assert arms.shape == (2, 390)
    assert seconds > 0
    assert arms[:, :6].tolist() == [[0, 1, 2, 0, 1, 2]] * 2
    best = episodes.rewards.argmax(axis=2)
    # by chance a third; some of the policies go on exploring
    assert np.mean(arms[:, 250:] == best[:, 250:]) > 0.8


def test_a_seed_does_not_depend_on_its_neighbours(known_answer):
    together, _ = all_policies.play("NeuralGreedy", known_answer([3, 5], steps=50))
    alone, _ = all_policies.play("NeuralGreedy", known_answer([5], steps=50))
    assert np.array_equal(together[1], alone[0])


def test_the_rate_goes_on_falling_over_trainings():
    key, shape = jax.random.key(0), neural.BanditSizes(100, 2, 3)
    start = neural.start_rms(key, shape)
    data = neural.Data(
        jax.random.normal(key, (100, 2)), jax.numpy.zeros(100, int), jax.random.normal(key, (100,))
    )
    train = jax.jit(lambda taken: neural.rms_train(neural.squared_error, start, key, data, 100, taken=taken))
    first, tenth = (np.abs(np.asarray(train(taken)[0][0][0] - start[0][0][0])).max() for taken in (0, 900))
    # of 25 steps k, the sum of 1 / (1 + k / 2) and of 1 / (1 + (900 + k) / 2)
    assert 0 < tenth < 0.05 * first


def test_neural_linear_keeps_the_posterior_of_lin_full_post(monkeypatch):
    random = np.random.default_rng(0)
    z = random.normal(size=(40, neural.HIDDEN)).astype(np.float32)
    y = random.normal(size=40).astype(np.float32)
    known = np.arange(40) % 3 > 0
    fitted = neural_linear._fit(z, y, known)
    exact = NormalInverseGamma((1, 1, neural.HIDDEN))
    for row in np.flatnonzero(known):
        exact.learn(z[row][None], np.zeros(1, int), y[row][None])
    monkeypatch.setattr(neural_linear, "hidden", lambda network, x: x)
    one_arm = jax.tree.map(lambda part: part[None], neural_linear._fit(z, y, known & (np.arange(40) < 30)))
    state = ((None, None), one_arm)
    for row in np.flatnonzero(known)[np.flatnonzero(known) >= 30]:
        state = neural_linear._observe(state, z[row], 0, y[row])
    followed = jax.tree.map(lambda part: part[0], state[1])
    for found in (fitted, followed):
        assert np.asarray(found.inverse) == pytest.approx(exact.inverse[0, 0], abs=2e-4)
        assert np.asarray(found.mean) == pytest.approx(exact.mean[0, 0], abs=2e-4)
        assert float(found.a) == exact.a[0, 0]
        assert float(found.b) == pytest.approx(exact.b[0, 0], rel=1e-4)


def gaussians(mean, log_std):
    shapes = (((2, 3), (3,)), ((3, 1), (1,)))
    return tuple(
        tuple(tuple(np.full(s, value) for s in layer) for layer in shapes) for value in (mean, log_std)
    )


def test_divergence_of_gaussians():
    # KL(N(m, s²) || N(0, p)) = (m² + s²) / (2 p) - 1/2 - log s + log p / 2, summed over 6 and 3 weights
    m, s = 0.3, 0.2
    expected = sum(
        count * ((m**2 + s**2) / (2 * p) - 0.5 - np.log(s) + np.log(p) / 2)
        for count, p in ((6, 1.0), (3, 2 / 3))
    )
    assert float(bayesian.divergence(gaussians(m, np.log(s)))) == pytest.approx(expected, rel=1e-5)


def test_the_sites_of_the_prior_are_constant():
    prior = gaussians(0.0, 0.5 * np.log(bayesian.PRIOR_VARIANCE))
    network = bayesian.draw_network(prior, jax.random.key(0))
    assert float(bayesian._site(prior, network, 10)) == pytest.approx(0.0, abs=1e-4)
    assert float(bayesian._log_partition(prior)) == pytest.approx(0.0, abs=1e-4)


def test_noise_of_parameters_shrinks_where_it_changes_too_much():
    key, shape = jax.random.key(0), neural.BanditSizes(100, 2, 3)
    model, deviation, eps = neural._noise_start(key, shape)
    x = jax.random.normal(key, (100, 2))
    data = neural.Data(x, jax.numpy.zeros(100, int), jax.numpy.zeros(100))
    train = jax.jit(neural._noise_train)
    for start, direction in ((10.0, -1), (1e-6, 1)):
        _, after, shrunk = train((model, deviation * 0 + start, eps), key, data, 100)
        assert np.sign(float(after) - start) == direction
        assert float(shrunk) == pytest.approx(neural.NOISE_EPS * neural.EPS_FACTOR)
