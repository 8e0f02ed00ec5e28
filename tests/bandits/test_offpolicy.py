"""Logs with propensities: learning from them, and estimates of what a policy would earn."""

import numpy as np
import pytest

from ggln.bandits import GLCB
from ggln.bandits.logs import weights
from ggln.bandits.offpolicy import policy_values

TINY = {"step": "capped", "layer_sizes": (6, 3), "context_dim": 2, "random_state": 0}


def make_log(rows, seed):
    """Two arms, of which the better one depends on the sign of the first feature; the log prefers arm 0."""
    random = np.random.default_rng(seed)
    contexts = random.normal(size=(rows, 2))
    chances = np.where(contexts[:, 1] > 0, 0.9, 0.4)
    arms = (random.uniform(size=rows) > chances).astype(int)
    propensities = np.where(arms == 0, chances, 1 - chances)
    means = np.column_stack([contexts[:, 0] > 0, contexts[:, 0] <= 0]).astype(float)
    rewards = means + 0.3 * random.normal(size=means.shape)
    return contexts, arms, rewards[np.arange(rows), arms], propensities, means


def test_estimates_are_right_on_average():
    """Of a policy with a bad model, which plays arm 0 and expects 3 of it: only the direct one is wrong."""
    found = []
    for seed in range(200):
        _, arms, rewards, propensities, means = make_log(300, seed)
        expected = np.column_stack([np.full(300, 3.0), np.zeros(300)])
        found.append(
            (
                policy_values(expected, np.eye(2)[expected.argmax(axis=1)], arms, rewards, propensities),
                means[:, 0].mean(),
            )
        )
    truth = np.mean([value for _, value in found])
    for name in ("ips", "snips", "doubly_robust"):
        values = np.array([getattr(values, name).value for values, _ in found])
        errors = np.array([getattr(values, name).error for values, _ in found])
        assert abs(values.mean() - truth) < 4 * values.std() / np.sqrt(200), name
        np.testing.assert_allclose(errors.mean(), values.std(), rtol=0.15, err_msg=name)
    assert all(values.direct.value == 3.0 for values, _ in found)


def test_a_good_model_makes_the_doubly_robust_estimate_sharp():
    _, arms, rewards, propensities, means = make_log(2000, 0)
    values = policy_values(means, np.eye(2)[means.argmax(axis=1)], arms, rewards, propensities)
    assert abs(values.doubly_robust.value - 1.0) < 4 * values.doubly_robust.error
    assert values.doubly_robust.error < 0.6 * values.ips.error
    assert values.matches == np.count_nonzero(means.argmax(axis=1) == arms)
    assert values.effective <= values.matches


def test_without_a_match_nothing_is_known():
    expected, chosen, played = np.array([[1.0, 0.0]] * 3), np.eye(2)[[0, 0, 0]], np.array([1, 1, 1])
    values = policy_values(expected, chosen, played, np.ones(3), np.full(3, 0.5))
    assert np.isnan(values.snips.value)
    assert values.matches == 0
    assert values.ips.value == 0.0


@pytest.mark.parametrize("weighted", [False, True])
def test_a_policy_from_a_log_beats_the_logs(weighted):
    contexts, arms, rewards, propensities, means = make_log(1500, 1)
    policy = GLCB(2, **TINY)
    policy.partial_fit(
        contexts[:1000], arms[:1000], rewards[:1000], propensities[:1000] if weighted else None
    )
    values = policy.evaluate(contexts[1000:], arms[1000:], rewards[1000:], propensities[1000:])
    truth = means[np.arange(1000, 1500), policy.predict(contexts[1000:])].mean()
    assert truth > 0.85
    assert values.doubly_robust.value - values.logged.value > 3 * values.doubly_robust.error
    assert abs(values.doubly_robust.value - truth) < 4 * values.doubly_robust.error


def test_even_propensities_change_nothing(tmp_path):
    contexts, arms, rewards, _, _ = make_log(80, 2)
    plain, weighted = GLCB(2, **TINY), GLCB(2, **TINY)
    plain.partial_fit(contexts, arms, rewards).save(tmp_path / "plain")
    weighted.partial_fit(contexts, arms, rewards, np.full(80, 0.5)).save(tmp_path / "weighted")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "weighted").read_bytes()


def test_weights_are_bounded():
    assert weights(np.array([0.25, 0.5, 1e-9, 1.0]), 4).tolist() == [1.0, 0.5, 5.0, 0.25]
    assert weights(np.array([1.0]), 100).tolist() == [0.2]
