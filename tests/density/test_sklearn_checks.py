"""scikit-learn's own list of promises, for a density."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ggln.density import DenoisingDensity


@parametrize_with_checks(
    [
        DenoisingDensity(random_state=0),
        DenoisingDensity(step="split", layer_sizes=(4, 1), context_dim=2, random_state=0),
    ]
)
def test_keeps_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)
