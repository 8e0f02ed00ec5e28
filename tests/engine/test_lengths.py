"""Length scales by marginal likelihood; what they are worth is tested with the processes that use them."""

import numpy as np
import pytest

from ggln.engine.lengths import loss_and_gradient, search


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_gradient_is_that_of_the_loss(outputs):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(40, 3)), random.normal(size=(40, outputs))
    logs = np.array([0.5, -0.2, 1.0, -1.0])
    _, gradient = loss_and_gradient(logs, X, Y)
    for direction in np.eye(4):
        up, down = (loss_and_gradient(logs + step * direction, X, Y)[0] for step in (1e-5, -1e-5))
        assert gradient @ direction == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-6)


def test_a_feature_counts_the_more_the_shorter_its_scale():
    X = np.random.default_rng(0).normal(size=(150, 3))
    lengths, noise = search(X, np.sin(3 * X[:, :1]) + 0.3 * X[:, 1:2])
    assert lengths[0] < lengths[1] < lengths[2]
    assert noise < 1e-2
