"""What must not change a single bit: threads, cuts of a stream, saving, recording."""

import numpy as np
import pytest

from ggln import load
from ggln.engine import constants

STREAMS = {
    "default": {},
    "sphere, no data needed": {"gating": "sphere", "gating_bias": 0.5, "standardize": False},
    "sphere through data": {"gating": "sphere", "standardize": "inputs"},
    "blr": {"base_model": "blr", "base_variance": None, "gating": "axis"},
    "last": {"aggregation": "last", "step": "ogd", "gating": "mixed"},
    "exact": {"exact": True},
}
WARM = constants.WARMUP_ROWS + 130
PROJECTIONS = "clip", "exact", "log_barrier"
KINDS = [
    *((None, projection) for projection in PROJECTIONS),
    ("full", "clip"),
    # each takes half a minute to compile
    *(pytest.param("full", projection, marks=pytest.mark.nightly) for projection in PROJECTIONS[1:]),
    *(
        pytest.param(covariance, projection, marks=pytest.mark.nightly)
        for covariance in ("isotropic", "diagonal")
        for projection in PROJECTIONS
    ),
]


@pytest.fixture(params=STREAMS)
def stream(request, tiny):
    return lambda **changes: tiny(**{**STREAMS[request.param], **changes})


def learn_in_cuts(model, X, y, cuts):
    for start, stop in zip([0, *cuts], [*cuts, len(X)], strict=True):
        model.partial_fit(X[start:stop], y[start:stop])
    return model


def learn_rows(model, X, y):
    for x, target in zip(X, y, strict=True):
        model.learn_one(x, target)
    return model


# Threads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [2, 7, -1])
@pytest.mark.parametrize("n_estimators", [1, 3])
@pytest.mark.parametrize("outputs", [None, 2])
def test_the_number_of_threads_changes_nothing(
    tiny, table, assert_same, monkeypatch, n_jobs, n_estimators, outputs
):
    monkeypatch.setattr(constants, "PARALLEL_WEIGHTS", 1)
    X, y = table(rows=300, outputs=outputs)
    settings = {"layer_sizes": (23, 13, 3), "n_estimators": n_estimators, "covariance": "full"}
    alone, together = tiny(**settings, n_jobs=1), tiny(**settings, n_jobs=n_jobs)
    assert_same(alone.fit(X, y), together.fit(X, y))
    assert together.learner_.ensemble._team_size(300, 7) == 7  # there was something to share
    assert_same(alone.partial_fit(X, y), together.partial_fit(X, y))
    recorded, shared = alone.prequential(X, y), together.prequential(X, y)
    assert_same(alone, together)
    assert np.array_equal(recorded.log_prob(y), shared.log_prob(y))
    assert np.array_equal(alone.predict(X, return_std=True), together.predict(X, return_std=True))
    assert np.array_equal(alone.predict_dist(X).means, together.predict_dist(X).means)


# Cuts of a stream --------------------------------------------------------------------------------------


def test_cuts_of_a_stream_change_nothing(stream, table, assert_same):
    X, y = table(rows=WARM)
    whole = stream().partial_fit(X, y)
    rng = np.random.default_rng(1)
    for cuts in ([1], [WARM - 1], [constants.WARMUP_ROWS], np.sort(rng.choice(WARM, 40, replace=False))):
        assert_same(learn_in_cuts(stream(), X, y, cuts), whole)
    assert_same(learn_in_cuts(stream(), X, y, range(1, WARM)), whole)


def test_single_rows_are_learnt_as_blocks_are(stream, table, assert_same):
    X, y = table(rows=WARM)
    assert_same(learn_rows(stream(), X, y), stream().partial_fit(X, y))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 31, 33])
def test_short_streams_may_be_cut_too(stream, table, assert_same, rows):
    X, y = table(rows=rows)
    whole = stream().partial_fit(X, y)
    assert_same(learn_in_cuts(stream(), X, y, range(1, rows)), whole)
    assert_same(learn_rows(stream(), X, y), whole)


@pytest.mark.parametrize(("covariance", "projection"), KINDS)
def test_cuts_change_nothing_for_any_kind_of_neuron(tiny, table, assert_same, covariance, projection):
    kind = {"covariance": covariance or "isotropic", "projection": projection}
    X, y = table(rows=70, outputs=covariance and 2)
    whole = tiny(**kind).partial_fit(X, y)
    assert_same(learn_in_cuts(tiny(**kind), X, y, [1, 13, 64]), whole)
    assert_same(learn_rows(tiny(**kind), X, y), whole)


def test_rows_after_a_fit_may_be_cut(stream, table, assert_same):
    X, y = table(rows=200)

    def fitted():
        return stream().fit(X[:50], y[:50])

    whole = fitted().partial_fit(X, y)
    assert_same(learn_in_cuts(fitted(), X, y, [1, 2, 77]), whole)
    assert_same(learn_rows(fitted(), X, y), whole)


def test_predictions_do_not_depend_on_the_rows_beside(stream, table):
    X, y = table(rows=200)
    model = stream().fit(X, y)
    together = model.predict(X)
    assert np.array_equal(together, np.concatenate([model.predict(X[i : i + 1]) for i in range(200)]))
    np.testing.assert_allclose([model.predict_one(x) for x in X], together, rtol=1e-12)


# Prequential -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [None, 2])
def test_prequential_is_what_was_predicted_before_each_row(stream, table, assert_same, outputs):
    X, y = table(rows=70, outputs=outputs)
    model, steps = stream(), stream().learn_one(X[0], y[0])
    recorded = model.prequential(X, y)
    assert len(recorded) == 70
    assert_same(model, stream().partial_fit(X, y))
    for i in range(1, 70):
        expected = steps.predict_dist(X[i : i + 1])
        np.testing.assert_allclose(recorded.mean[i], expected.mean[0], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(recorded.std[i], expected.std[0], rtol=1e-6)
        np.testing.assert_allclose(recorded.log_prob(y)[i], expected.log_prob(y[i : i + 1])[0], rtol=1e-6)
        steps.learn_one(X[i], y[i])
    assert_same(model, steps)


def test_prequential_goes_on_after_fit_and_past_the_warm_up(tiny, table, assert_same):
    X, y = table(rows=2 * WARM)
    for model in (tiny().fit(X[:WARM], y[:WARM]), tiny().partial_fit(X[:WARM], y[:WARM])):
        expected = model.predict_dist(X[WARM : WARM + 1])
        recorded = model.prequential(X[WARM:], y[WARM:])
        assert len(recorded) == WARM
        np.testing.assert_allclose(recorded.mean[:1], expected.mean, rtol=1e-9)
        assert recorded.log_prob(y[WARM:]).mean() > -1.5


# Saving ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows", [37, WARM, *(pytest.param(rows, marks=pytest.mark.nightly) for rows in (1, 3, 64))]
)
def test_a_loaded_stream_goes_on_as_if_never_saved(stream, table, assert_same, tmp_path, rows):
    X, y = table(rows=WARM + 100)
    model = stream().partial_fit(X[:rows], y[:rows])
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert_same(loaded, model)
    for each in (loaded, model):
        each.learn_one(X[rows], y[rows]).partial_fit(X[rows + 1 :], y[rows + 1 :])
    assert_same(loaded, model)
    assert np.array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "covariance",
    ["full", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("isotropic", "diagonal"))],
)
def test_a_loaded_fit_goes_on_as_if_never_saved(stream, table, assert_same, tmp_path, covariance):
    X, Y = table(outputs=3)
    model = stream(covariance=covariance).fit(X, Y)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert_same(loaded.partial_fit(X, Y), model.partial_fit(X, Y))
    assert_same(loaded.fit(X, Y), model.fit(X, Y))


# Seeds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_same_seed_gives_the_same_model_and_another_a_different_one(tiny, table, assert_same, method):
    X, y = table()
    one, same, other = (getattr(tiny(random_state=seed), method)(X, y) for seed in (3, 3, 4))
    assert_same(one, same)
    assert not np.array_equal(one.predict(X), other.predict(X))


def test_networks_of_an_ensemble_differ(tiny, table):
    X, y = table()
    last = tiny(n_estimators=2).fit(X, y).neurons(X)[-1].mean
    assert not np.array_equal(last[:, :2], last[:, 2:])


def test_a_random_state_is_drawn_from(tiny, table, assert_same):
    X, y = table()
    state = np.random.RandomState(0)
    first, second = (tiny(random_state=state).fit(X, y) for _ in range(2))
    assert_same(first, tiny(random_state=np.random.RandomState(0)).fit(X, y))
    assert not np.array_equal(first.predict(X), second.predict(X))


def test_without_a_seed_every_fit_differs(tiny, table):
    X, y = table()
    model = tiny(random_state=None)
    assert not np.array_equal(model.fit(X, y).predict(X), model.fit(X, y).predict(X))


def test_shuffling_is_part_of_the_seed_and_can_be_left_out(tiny, table, assert_same):
    X, y = table()
    kept = tiny(shuffle=False).fit(X, y)
    assert_same(kept, tiny(shuffle=False).fit(X, y))
    assert not np.array_equal(kept.predict(X), tiny().fit(X, y).predict(X))


def test_numpy_booleans_mean_what_python_booleans_mean(tiny, table, assert_same):
    X, y = table()
    assert_same(tiny(standardize=np.True_).fit(X, y), tiny(standardize=True).fit(X, y))


@pytest.mark.parametrize("convert", [np.asfortranarray, lambda a: np.repeat(a, 2, axis=0)[::2]])
def test_the_layout_in_memory_changes_nothing(tiny, table, assert_same, convert):
    X, Y = table(rows=200, outputs=2)
    assert_same(tiny().fit(convert(X), convert(Y)), tiny().fit(X, Y))
    assert_same(tiny().partial_fit(convert(X), convert(Y)), tiny().partial_fit(X, Y))


def test_the_progress_bar_changes_nothing(tiny, table, assert_same, capsys):
    X, y = table()
    assert_same(tiny(verbose=1).fit(X, y), tiny().fit(X, y))
    assert "learning" in capsys.readouterr().out
