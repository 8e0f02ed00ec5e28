"""scikit-learn's own list of promises, without any exception to it."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ggln import GLNClassifier

SMALL = {
    "layer_sizes": (8, 8, 1),
    "context_dim": 3,
    "epochs": 10,
    "n_estimators": 1,
    "step": "normalised",
    "random_state": 0,
}


@parametrize_with_checks([GLNClassifier(layer_sizes=(4, 4), n_estimators=2, random_state=0)])
def test_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.nightly
@parametrize_with_checks([GLNClassifier(**SMALL, gating="tree")])
def test_gradient_steps_keep_them_too(estimator, check):
    check(estimator)
