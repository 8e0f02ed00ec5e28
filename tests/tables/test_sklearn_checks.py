"""scikit-learn's own list of promises, and one about weights of rows that is not ours."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ggln import GGLNRegressor, TableRegressor

SMALL = GGLNRegressor(layer_sizes=(4, 4), n_estimators=2, context_dim=2, random_state=0)
WEIGHTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
REASON = "a row of weight 2 counts twice, but folds and gates are drawn from other rows"


@parametrize_with_checks(
    [TableRegressor(SMALL)], expected_failed_checks=lambda _: dict.fromkeys(WEIGHTS, REASON)
)
def test_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)
