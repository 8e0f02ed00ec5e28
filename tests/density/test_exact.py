"""The default density, which is solved: its accuracy, gaps, streams, files, and hostile values."""

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import ggln
from ggln.density import DenoisingDensity, MissingValues

COVARIANCE = np.array([[1.0, 0.6], [0.6, 2.0]])


def cosine(first, second):
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(np.mean((first * second).sum(axis=1) / lengths))


@pytest.fixture(scope="module")
def gaussian():
    rows = np.random.default_rng(0).multivariate_normal([3.0, -1.0], COVARIANCE, 1500)
    return DenoisingDensity(random_state=0).fit(rows)


def test_the_score_of_a_gaussian_is_found(gaussian):
    x = np.random.default_rng(1).multivariate_normal([3.0, -1.0], COVARIANCE, 300)
    truth = -(x - [3.0, -1.0]) @ np.linalg.inv(COVARIANCE + np.diag(gaussian.noise_**2))
    assert cosine(gaussian.score_function(x), truth) > 0.97


def test_the_log_density_is_in_the_users_units(gaussian):
    x = np.random.default_rng(2).multivariate_normal([3.0, -1.0], COVARIANCE, 300)
    truth = multivariate_normal([3.0, -1.0], COVARIANCE + np.diag(gaussian.noise_**2)).logpdf(x)
    assert abs(gaussian.score_samples(x) - truth).mean() < 0.05
    assert gaussian.score(x) == pytest.approx(truth.mean(), abs=0.03)
    alone = gaussian.score_samples(np.where([False, True], np.nan, x))
    assert alone.mean() == pytest.approx(-0.5 * np.log(2 * np.pi * np.e * 1.0), abs=0.1)


def test_the_score_of_a_mixture_is_found():
    from ggln.reproduction.gradient_check import DENSITIES

    truth, random = DENSITIES["three Gaussians"], np.random.default_rng(0)
    model = DenoisingDensity(random_state=0).fit(truth.sample(1500, random))
    x = truth.sample(300, random)
    assert cosine(model.score_function(x), truth.score(x, model.noise_)) > 0.93


def test_samples_are_like_the_data(gaussian):
    drawn = gaussian.sample(3000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), [3.0, -1.0], atol=0.15)
    np.testing.assert_allclose(np.cov(drawn.T), COVARIANCE, atol=0.25)
    walked = gaussian.sample(300, "langevin", random_state=0)
    np.testing.assert_allclose(walked.mean(axis=0), [3.0, -1.0], atol=0.4)


def test_digits_are_filled_in_with_two_fifths_of_the_mean_images_error():
    from ggln.reproduction.mnist import error, load, rectangles

    images = load("digits")
    masks = rectangles(300, 8, np.random.default_rng(0))
    truth = images.train[800:1100]
    filled = DenoisingDensity(random_state=0).fit(images.train[:800]).infill(np.where(masks, np.nan, truth))
    mean = np.where(masks, images.train[:800].mean(axis=0), truth)
    assert error(filled, truth, masks, 16.0) < 0.4 * error(mean, truth, masks, 16.0)


def test_an_unseen_digit_is_found():
    from sklearn.metrics import roc_auc_score

    X, y = load_digits(n_class=4, return_X_y=True)
    seen = np.flatnonzero(y != 0)[:250]
    model = DenoisingDensity(random_state=0).fit(X[seen])
    others = np.setdiff1d(np.arange(len(y)), seen)
    assert roc_auc_score(y[others] == 0, model.anomaly_score(X[others])) > 0.95


def test_a_table_with_gaps_is_filled_in_better_than_by_its_neighbours():
    from sklearn.impute import KNNImputer

    X = load_diabetes().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gone = np.random.default_rng(0).random(X.shape) < 0.2
    table = np.where(gone, np.nan, X)
    filled = DenoisingDensity(random_state=0).fit(table).infill(table)
    np.testing.assert_array_equal(filled[~gone], X[~gone])
    neighbours = KNNImputer().fit_transform(table)
    assert np.mean((filled - X)[gone] ** 2) < 0.85 * np.mean((neighbours - X)[gone] ** 2)


def test_a_mask_says_what_gaps_say(gaussian):
    rows = np.array([[2.0, 7.0], [4.0, -7.0]])
    mask = np.array([False, True])
    filled = gaussian.infill(rows, mask)
    np.testing.assert_array_equal(filled, gaussian.infill(np.where(mask, np.nan, rows)))
    expected = -1.0 + 0.6 * (rows[:, 0] - 3.0)
    np.testing.assert_allclose(filled[:, 1], expected, atol=0.2)
    far, further = gaussian.infill([[1e5, np.nan], [1e9, np.nan]])
    assert far[1] == further[1] < 50.0
    assert (far[0], further[0]) == (1e5, 1e9)
    nothing = gaussian.infill([[np.nan, np.nan]])
    np.testing.assert_allclose(nothing, [[3.0, -1.0]], atol=0.15)


def test_draws_of_missing_values_have_the_conditional_distribution(gaussian):
    drawn = gaussian.infill(np.tile([2.0, np.nan], (2000, 1)), sample=True, random_state=0)[:, 1]
    assert drawn.mean() == pytest.approx(-1.6, abs=0.2)
    assert drawn.std() == pytest.approx(np.sqrt(2.0 - 0.36), abs=0.2)


def test_anomaly_scores_take_gaps_and_grow_with_the_distance(gaussian):
    scores = gaussian.anomaly_score([[3.0, -1.0], [3.0, np.nan], [8.0, np.nan], [8.0, -9.0], [1e60, 0.0]])
    assert scores[0] < scores[2] < scores[3] < scores[4] < np.inf
    assert scores[1] < scores[2]
    rows = np.random.default_rng(3).normal(size=(70, 2))
    np.testing.assert_array_equal(gaussian.anomaly_score(rows)[65:], gaussian.anomaly_score(rows[65:]))


@pytest.mark.parametrize("cuts", [[1, 2, 3, 90], [64, 65, 150]])
def test_cuts_of_a_stream_do_not_matter(ring, cuts, tmp_path):
    rows = ring(200)
    rows[::7, 0] = np.nan
    whole, pieces = DenoisingDensity(random_state=0).partial_fit(rows), DenoisingDensity(random_state=0)
    for part in np.split(rows, cuts):
        pieces.partial_fit(part)
        pieces.save(tmp_path / "ring.ggln")
        pieces = ggln.load(tmp_path / "ring.ggln")
    new = ring(20, seed=1)
    np.testing.assert_array_equal(whole.denoise(new), pieces.denoise(new))
    np.testing.assert_array_equal(whole.sample(5, random_state=0), pieces.sample(5, random_state=0))


def test_a_stream_that_keeps_no_rows_goes_on_in_blocks(ring, monkeypatch):
    monkeypatch.setattr("ggln.density.exact.KEPT_NUMBERS", 600)
    monkeypatch.setattr("ggln.density.exact.SOLVED_ROWS", 200)
    rows = ring(900)
    whole, pieces = DenoisingDensity(random_state=0).partial_fit(rows), DenoisingDensity(random_state=0)
    for part in np.split(rows, [250, 299, 700]):
        pieces.partial_fit(part)
    new = ring(50, seed=1)
    np.testing.assert_array_equal(whole.denoise(new), pieces.denoise(new))
    assert whole.denoisers_.kept is None
    assert np.hypot(*(whole.sample(200, random_state=0) - [5.0, 0.0]).T).std() < 0.5


def test_threads_do_not_matter(ring):
    rows = np.hstack([ring(200), ring(200, 1)])
    rows[::3, 1] = np.nan
    one, two = (DenoisingDensity(random_state=0, n_jobs=n).fit(rows).infill(rows) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("how", ["fit", "stream", "later"])
@pytest.mark.parametrize("step", ["exact", "split", "ogd", "capped"])
def test_one_wild_value_does_not_poison_a_model(how, step):
    rows = np.random.default_rng(0).normal(size=(300, 3))
    wild = rows.copy()
    wild[7, 1] = 1e20
    small = {} if step == "exact" else {"layer_sizes": (6, 1), "context_dim": 3}
    model = DenoisingDensity(step=step, random_state=0, **small)
    if how == "later":
        model.fit(rows)
    model.partial_fit(wild) if how != "fit" else model.fit(wild)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for found in (model.score_function(rows), model.anomaly_score(wild), model.sample(4, random_state=0)):
            assert np.isfinite(found).all()
    if step == "exact" and how != "later":
        assert cosine(model.score_function(rows), -rows) > 0.95


@pytest.mark.parametrize("noise", [1e-300, (0.2, 1e-300), 1e300])
@pytest.mark.parametrize("step", ["exact", "split"])
def test_noise_that_vanishes_or_drowns_all_is_refused(noise, step, ring):
    with pytest.raises(ValueError, match="deviations of the data"):
        DenoisingDensity(noise=noise, step=step).fit(ring(30))
    small = DenoisingDensity(noise=1e-300, noise_unit="data", step=step, random_state=0).fit(ring(30))
    assert np.isfinite(small.score_function(ring(5))).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.denoise([[np.nan, 0.0]]), "infill"),
        (lambda d: d.infill([[np.inf, np.nan]]), "infinity"),
        (lambda d: d.infill([[1.0, 2.0]], [[1, 0]]), "boolean"),
        (lambda d: d.infill([[1.0, np.nan]], steps=5, sample=True), "sample=True needs"),
        (lambda d: d.sample(5, "gibbs"), "method"),
        (lambda d: d.set_params(noise=None, noise_unit="data").fit([[1.0, 2.0]] * 9), "needs noise"),
    ],
)
def test_bad_calls_say_why(ring, call, message):
    density = DenoisingDensity(random_state=0).fit(ring(40))
    with pytest.raises(ValueError, match=message):
        call(density)


def test_few_rows_one_column_and_nothing_at_all():
    for rows in ([[1.0]], [[1.0], [2.0]], [[5.0]] * 40, np.full((3, 2), np.nan), [[0.0, np.nan]] * 20):
        model = DenoisingDensity(random_state=0).fit(rows)
        columns = np.shape(rows)[1]
        assert np.isfinite(model.sample(3, random_state=0)).all()
        assert np.isfinite(model.infill(np.full((2, columns), np.nan))).all()
        assert np.isfinite(model.score_function(np.zeros((1, columns)))).all()


# A step of a pipeline -----------------------------------------------------------------------------------


@parametrize_with_checks([MissingValues(random_state=0)])
def test_missing_values_keep_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 2)) @ random.normal(size=(2, 4)) + 0.2 * random.normal(size=(600, 4))
    y = X @ [1.0, 2.0, -1.0, 0.5]
    return np.where(random.random(X.shape) < 0.2, np.nan, X), y, X


def test_a_pipeline_fills_gaps_before_it_predicts(table):
    gappy, y, _ = table
    model = make_pipeline(MissingValues(random_state=0), LinearRegression()).fit(gappy[:500], y[:500])
    assert model.score(gappy[500:], y[500:]) > 0.9


def test_draws_are_as_far_from_the_truth_as_they_differ(table):
    gappy, _, truth = table
    filler, gone = MissingValues(random_state=0).fit(gappy), np.isnan(gappy)
    drawn = filler.draws(gappy, 10)
    assert drawn.shape == (10, *gappy.shape)
    np.testing.assert_array_equal(drawn[:, ~gone], np.tile(gappy[~gone], (10, 1)))
    error = np.sqrt(np.mean((filler.transform(gappy) - truth)[gone] ** 2))
    assert drawn.std(axis=0, ddof=1)[gone].mean() == pytest.approx(0.8 * error, rel=0.3)
    again = MissingValues(sample=True, random_state=0).fit(gappy).transform(gappy)
    assert np.isfinite(again).all()
    assert abs(again - filler.transform(gappy))[gone].max() > 0.1


def test_names_of_columns_come_out(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table[0][:60], columns=list("abcd"))
    out = MissingValues(random_state=0).set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == list("abcd")
    assert not out.isna().any().any()
