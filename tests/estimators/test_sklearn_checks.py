"""scikit-learn's own list of promises, and the two about weights of rows that are not ours."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ggln import GGLNRegressor

SMALL = {"layer_sizes": (8, 8, 1), "context_dim": 3, "gating": "mixed", "random_state": 0}
GRADIENT = {**SMALL, "step": "capped", "folds": 0}
WEIGHTS = "pandas_series", "not_an_array", "list", "shape", "not_overwritten"


def not_promised(estimator):
    """Return the checks that an estimator cannot pass, and why."""
    equivalence = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    if estimator.step == "newton":
        reason = "a row of weight 2 counts twice, but folds and gates are drawn from other rows"
        return dict.fromkeys(equivalence, reason)
    refused = "gradient steps count every row once, and refuse weights"
    refusals = dict.fromkeys([*equivalence, "check_all_zero_sample_weights_error"], refused)
    return refusals | {f"check_sample_weights_{name}": refused for name in WEIGHTS}


@parametrize_with_checks([GGLNRegressor(random_state=0)], expected_failed_checks=not_promised)
def test_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.nightly
@parametrize_with_checks(
    [
        GGLNRegressor(**GRADIENT, epochs=20, n_estimators=2),
        GGLNRegressor(**GRADIENT, epochs=5, n_estimators=1, base_model="blr", base_variance=None),
    ],
    expected_failed_checks=not_promised,
)
def test_gradient_steps_keep_them_too(estimator, check):
    check(estimator)
