import warnings

import numpy as np
import pytest
from sklearn.base import clone

import ggln
from ggln.density import DenoisingDensity, dynamics
from ggln.density.denoiser import draw_noise
from ggln.density.scaling import find_range

SMALL = {"step": "split", "layer_sizes": (8, 8, 1), "context_dim": 6, "random_state": 0}


def radius(rows):
    return np.hypot(rows[..., 0] - 5.0, rows[..., 1])


def test_denoising_brings_points_to_the_data(density, ring):
    noisy = ring(300, seed=1) + 0.5 * np.random.default_rng(2).standard_normal((300, 2))
    before, after = abs(radius(noisy) - 3.0), abs(radius(density.denoise(noisy, steps=5)) - 3.0)
    assert after.mean() < 0.6 * before.mean()


def test_the_score_is_the_step_over_the_variance(density, ring):
    x = ring(20, seed=3) + 0.2
    expected = (density.denoise(x) - x) / density.noise_**2
    np.testing.assert_allclose(density.score_function(x), expected, rtol=1e-9)


def test_the_score_points_uphill_on_both_sides(density):
    outside, inside = density.score_function([[8.6, 0.0], [7.4, 0.0]])[:, 0]
    assert outside < 0 < inside


def test_path_begins_with_the_rows_and_ends_with_the_result(density, ring):
    x = ring(4, seed=5)
    path = density.denoise(x, steps=3, step_length=0.5, return_path=True)
    assert path.shape == (4, 4, 2)
    np.testing.assert_allclose(path[0], x)
    np.testing.assert_allclose(path[-1], density.denoise(x, steps=3, step_length=0.5))


def test_known_values_are_put_back_exactly(density, ring):
    x = ring(10, seed=6)
    filled = density.infill(
        np.where([[False, True]], np.nan, x), np.array([False, True]), steps=20, step_length=0.2
    )
    np.testing.assert_array_equal(filled[:, 0], x[:, 0])
    assert abs(radius(filled) - 3.0).mean() < 1.0


def test_known_values_far_outside_are_seen_at_the_bound_and_kept(density):
    mask = np.array([False, True])
    with pytest.warns(RuntimeWarning, match="1 of 2 rows"):
        filled = density.infill([[60.0, 0.5], [8.0, 0.5]], mask, steps=5, step_length=0.5)
    with pytest.warns(RuntimeWarning, match="1 of 1 rows"):
        further = density.infill([[600.0, 0.5]], mask, steps=5, step_length=0.5)
    np.testing.assert_array_equal(filled[:, 0], [60.0, 8.0])
    assert further[0, 1] == filled[0, 1]


def test_hamiltonian_samples_lie_on_the_ring(density):
    drawn = density.sample(200, substeps=20, step_size=0.02, chains=50, random_state=0)
    assert drawn.shape == (200, 2)
    assert abs(radius(drawn) - 3.0).mean() < 1.0
    np.testing.assert_array_equal(
        drawn, density.sample(200, substeps=20, step_size=0.02, chains=50, random_state=0)
    )


def test_annealed_langevin_samples_lie_on_the_ring(ring):
    model = DenoisingDensity(noise=(0.8, 0.4, 0.2), **SMALL).fit(ring(1500))
    drawn = model.sample(100, "langevin", steps=20, random_state=0)
    assert abs(radius(drawn) - 3.0).mean() < 0.8


def test_chains_that_leave_say_so(density):
    with pytest.warns(RuntimeWarning, match="held there"):
        drawn = density.sample(20, substeps=5, step_size=50.0, random_state=0)
    assert np.isfinite(drawn).all()
    assert (abs(drawn - [5.0, 0.0]) <= 3.0 * dynamics.BOUND + 1e-6).all()


@pytest.fixture(scope="module")
def gates_alone(ring):
    settings = {"step": "split", "base_model": "none", "context_dim": 12, "learning_rate": 0.4, "epochs": 5}
    return DenoisingDensity(layer_sizes=(16, 16, 1), random_state=0, **settings).fit(ring(1000))


@pytest.mark.parametrize("model", ["density", "gates_alone"])
def test_anomalies_score_higher(model, ring, request):
    density = request.getfixturevalue(model)
    usual = density.anomaly_score(ring(100, seed=7))
    assert density.anomaly_score([[5.0, 0.0], [12.0, 4.0]]).min() > np.quantile(usual, 0.9)
    assert density.score(ring(100, seed=7)) > density.score(np.full((5, 2), [5.0, 0.0]))


@pytest.mark.parametrize("model", ["density", "gates_alone"])
def test_anomaly_scores_grow_with_the_distance_from_the_data(model, request):
    density = request.getfixturevalue(model)
    angles = np.linspace(0, 2 * np.pi, 17)
    away = np.column_stack([np.cos(angles), np.sin(angles)])
    scores = np.array(
        [density.anomaly_score([5.0, 0.0] + r * away) for r in (3.0, 6.0, 12.0, 50.0, 1e6, 1e60)]
    )
    assert (np.diff(np.log(scores), axis=0) > 0).all()
    assert np.isfinite(scores).all()


def test_a_row_has_the_same_anomaly_score_in_any_company(density, ring):
    rows = ring(70, seed=8)
    np.testing.assert_array_equal(density.anomaly_score(rows)[65:], density.anomaly_score(rows[65:]))


def test_an_unseen_kind_of_row_is_found():
    from sklearn.datasets import load_digits
    from sklearn.metrics import roc_auc_score

    X, y = load_digits(n_class=4, return_X_y=True)
    seen = np.flatnonzero(y != 0)[:250]
    model = DenoisingDensity(**SMALL, base_model="none", learning_rate=0.4, epochs=3).fit(X[seen])
    others = np.setdiff1d(np.arange(len(y)), seen)
    assert roc_auc_score(y[others] == 0, model.anomaly_score(X[others])) > 0.9


@pytest.mark.parametrize("preset", [ggln.presets.PAPER_MNIST, ggln.presets.PAPER_SWISS_ROLL])
def test_presets_are_arguments_of_a_density(ring, preset):
    model = DenoisingDensity(**preset, random_state=0).set_params(layer_sizes=(4, 1), context_dim=3)
    assert np.isfinite(model.fit(ring(60)).denoise(ring(5))).all()


def test_the_score_of_a_gaussian_converges():
    from ggln.reproduction import gradient_check

    settings = {"noise": 0.5, "step": "split", "layer_sizes": (8, 8, 1), "context_dim": 6}
    few, many = (gradient_check.check("Gaussian, 2 columns", n, 0, settings)["error"] for n in (50, 4000))
    assert many < 0.45
    assert many < 0.7 * few


@pytest.mark.parametrize("cuts", [[1, 2, 3, 500], [700], [64, 65, 1300]])
def test_cuts_of_a_stream_do_not_matter(ring, cuts):
    rows = ring(1500)
    whole = DenoisingDensity(**SMALL).partial_fit(rows)
    pieces = DenoisingDensity(**SMALL)
    for part in np.split(rows, cuts):
        pieces.partial_fit(part)
    np.testing.assert_array_equal(whole.denoise(rows[:50]), pieces.denoise(rows[:50]))


def test_threads_do_not_matter(ring):
    rows = np.hstack([ring(300), ring(300, 1), ring(300, 2)])
    settings = {**SMALL, "layer_sizes": (12, 9, 1)}
    one, two = (DenoisingDensity(**settings, n_jobs=n).fit(rows).denoise(rows) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_saving_in_the_middle_of_a_stream(ring, tmp_path):
    rows = ring(1400)
    model = DenoisingDensity(noise=(0.4, 0.2), **SMALL).partial_fit(rows[:700])
    model.save(tmp_path / "ring.ggln")
    again = ggln.load(tmp_path / "ring.ggln")
    assert isinstance(again, DenoisingDensity)
    np.testing.assert_array_equal(again.denoise(rows[:20]), model.denoise(rows[:20]))
    for each in (model, again):
        each.partial_fit(rows[700:])
    np.testing.assert_array_equal(again.denoise(rows[:20]), model.denoise(rows[:20]))


def test_fit_starts_afresh_and_clones_are_equal(density, ring):
    again = clone(density).fit(ring(2000))
    again.fit(ring(2000))
    np.testing.assert_array_equal(again.denoise(ring(9)), density.denoise(ring(9)))


def test_names_of_columns_are_kept(ring):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ring(50), columns=["a", "b"])
    model = DenoisingDensity(**SMALL).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        model.denoise(frame[["b", "a"]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.denoise([[np.nan, 0.0]]), "NaN: row 0, column 0"),
        (lambda d: d.partial_fit([[1.0, np.inf]]), "infinity"),
        (lambda d: d.denoise([[1.0, 2.0, 3.0]]), "3 features"),
        (lambda d: d.denoise([[1.0, 2.0]], steps=-1), "steps"),
        (lambda d: d.denoise([[1.0, 2.0]], step_length=2.0), "step_length"),
        (lambda d: d.infill([[1.0, 2.0]], [[True]]), "shape"),
        (lambda d: d.infill([[1.0, 2.0]], [[1, 0]]), "boolean"),
        (lambda d: d.infill([[1.0, 2.0]], [[True, True]]), "hides everything in row 0"),
        (lambda d: d.infill([[np.nan, 2.0]], [[False, True]]), "NaN"),
        (lambda d: d.sample(0), "n must be"),
        (lambda d: d.sample(5, "gibbs"), "method"),
        (lambda d: d.sample(5, step_size=-1.0), "step_size"),
        (lambda d: d.sample(5, step_size="long"), "step_size"),
        (lambda d: d.sample(5, burn_in=-1), "burn_in"),
        (lambda d: d.sample(5, burn_in=None), "burn_in"),
        (lambda d: d.anomaly_score([[1.0, 2.0]], draws=0), "draws"),
    ],
)
def test_bad_calls_say_why_and_change_nothing(density, ring, call, message):
    before = density.denoise(ring(5))
    with pytest.raises(ValueError, match=message):
        call(density)
    np.testing.assert_array_equal(density.denoise(ring(5)), before)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise": 0.0}, "noise"),
        ({"noise": (0.1, -1.0)}, "noise"),
        ({"noise": ()}, "noise"),
        ({"layer_sizes": (0,)}, "layer_sizes"),
        ({"scaling": "noisy"}, "noise_unit"),
        ({"min_variance": 2.0, "max_variance": 1.0}, "min_variance"),
    ],
)
def test_bad_settings_say_why(ring, changes, message):
    with pytest.raises(ValueError, match=message):
        DenoisingDensity(**changes).fit(ring(20))


def test_one_column_is_refused():
    with pytest.raises(ValueError, match="minimum of 2"):
        DenoisingDensity(step="split").fit(np.zeros((5, 1)))


def test_hostile_rows_stay_finite():
    rows = np.array([[0.0, 1e90], [0.0, -1e90], [0.0, 1.0]] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        model = DenoisingDensity(**SMALL).fit(rows)
        assert np.isfinite(model.denoise(rows, steps=3)).all()
        assert np.isfinite(model.score_function(rows)).all()
        assert np.isfinite(model.anomaly_score(rows)).all()


def test_noise_of_a_row_depends_on_its_number_alone():
    whole = draw_noise(1, 0, 200, 3)
    np.testing.assert_array_equal(np.vstack([draw_noise(1, 0, 70, 3), draw_noise(1, 70, 130, 3)]), whole)
    assert abs(whole.mean()) < 0.2


def test_range_of_noisy_rows_is_wider():
    rows = np.random.default_rng(0).uniform(0, 255, (1000, 3))
    plain, wide = find_range(rows, None, 0), find_range(rows, 75.0, 0)
    np.testing.assert_allclose(abs(plain.to_scaled(rows)).max(axis=0), 1.0)
    assert (wide.half > 1.5 * plain.half).all()
    np.testing.assert_allclose(wide.to_user(wide.to_scaled(rows)), rows)
    np.testing.assert_allclose(wide.noise(75.0, "data") * wide.half, 75.0)
