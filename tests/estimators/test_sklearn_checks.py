"""scikit-learn's own list of promises, without any exception to it."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ggln import GGLNRegressor

SMALL = {"layer_sizes": (8, 8, 1), "context_dim": 3, "gating": "mixed", "folds": 0, "random_state": 0}


@parametrize_with_checks(
    [
        GGLNRegressor(random_state=0),
        GGLNRegressor(**SMALL, epochs=20, n_estimators=2),
        GGLNRegressor(**SMALL, epochs=20, n_estimators=1, aggregation="last"),
        GGLNRegressor(**SMALL, epochs=5, n_estimators=1, base_model="blr", base_variance=None),
    ]
)
def test_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)
