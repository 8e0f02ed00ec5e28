"""Files that somebody edited, with a checksum that fits: each is a ValueError that names the file.

The checksum guards against damage only. Unchecked, such edits crash the interpreter, hang, or predict NaN.
"""

import os

import numpy as np
import pytest

from ggln import GGLNRegressor, GLNClassifier, load, persistence
from ggln.bandits import GLCB
from ggln.density import DenoisingDensity

SMALL = {"layer_sizes": (3, 2), "n_estimators": 2, "random_state": 1}
X = np.random.default_rng(0).normal(size=(40, 3))
Y = X[:, 0] * X[:, 1]


def exact():
    return GGLNRegressor(**SMALL).fit(X, Y)


def stream():
    return GGLNRegressor(**SMALL).partial_fit(X, Y)


def gradient():
    return GGLNRegressor(step="capped", context_dim=2, epochs=1, gating="mixed", **SMALL).fit(X, Y)


def classes():
    return GLNClassifier(**SMALL).fit(X, Y > 0)


def policy(**settings):
    return GLCB(3, random_state=1, **settings).partial_fit(X, np.arange(40) % 3, Y)


def gated_policy():
    return policy(step="capped", layer_sizes=(3, 2), context_dim=2)


def tree_policy():
    trees = GLCB(3, random_state=1, reward="ctree", depth=2, step="capped", layer_sizes=(3, 2), context_dim=2)
    return trees.partial_fit(X, np.arange(40) % 3, Y > 0)


def density():
    return DenoisingDensity(random_state=1).fit(X)


FILES = [exact, stream, gradient, classes, policy, gated_policy, tree_policy, density]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("models")
    for make in FILES:
        make().save(found / make.__name__)
    return found


def put(value, *place):
    """Return an edit that writes a value into an array, everywhere or at one place."""

    def edit(array):
        array[place or ...] = value
        return array

    return edit


EDITS = [
    (gradient, "gates.codes", put(2**30)),
    (gradient, "gates.codes", put(-1, 0, 0)),
    (gradient, "rows.neuron", put(10**6, -1)),
    (gradient, "rows.context", put(-5, 0)),
    (gradient, "rows.context", lambda a: a[::-1].copy()),
    (gradient, "weights.0", put(np.nan, 0, 0)),
    (gradient, "weights.0", lambda a: a[:, :-8]),
    (gradient, "spreads", put(-1.0)),
    (exact, "network.0.gates.records", put(1e9, 0, 0, 4)),
    (exact, "network.0.gates.records", put(0.5, 0, 0, 4)),
    (exact, "network.0.gates.grown", put(1000)),
    (exact, "network.0.features", put(3, 0, 0)),
    (exact, "network.0.sizes", put(2**40)),
    (exact, "network.0.first", put(7)),
    (exact, "network.0.gradients.places", lambda a: np.array([2**50])),
    (exact, "network.1.tables", lambda a: a[:, :1]),
    (exact, "bumps.chosen", put(50, 0)),
    (exact, "bumps.counts", put(64, 0)),
    (exact, "bumps.lengths", put(0.0)),
    (exact, "scaler.targets", put(-1.0, 2, 0)),
    (exact, "shares", put(0.0)),
    (exact, "errors", put(0.0, 0, 1)),
    (exact, "form.counts", put(10**6, 1)),
    (stream, "born", put(-1)),
    (stream, "stream", put(700.0, 3)),
    (stream, "bank.numbers", put(-1.0, 0, 0, 2)),
    (stream, "learner.0.edges.features", put(9)),
    (stream, "ring", lambda a: a[:, 1:]),
    (classes, "network.2.gates.records", lambda a: np.zeros((1, 2**20, 8))),
    (classes, "units", put(0.0)),
    (policy, "surface.0.products", put(True)),
    (policy, "surface.2.mean", lambda a: a[:2]),
    (policy, "surface.0.spread", put(-1.0, 0, 0)),
    (policy, "level", put(0.0)),
    (policy, "plays", lambda a: a[:2]),
    (gated_policy, "first.arms", put(7)),
    (gated_policy, "rows.visits", put(-1)),
    (tree_policy, "first.rewards", put(-1e30, 9)),
    (tree_policy, "scaler.targets", put(-3.0, 1)),
    (density, "model.covariances", put(-1.0)),
    (density, "waiting", lambda a: np.zeros((64, 3))),
    (density, "half", put(0.0)),
]


@pytest.mark.parametrize(("make", "name", "edit"), EDITS, ids=lambda x: x if isinstance(x, str) else "")
def test_edited_arrays_are_refused(folder, tmp_path, make, name, edit):
    header, arrays = persistence.read(folder / make.__name__)
    arrays[name] = np.ascontiguousarray(edit(arrays[name]))
    persistence.write(tmp_path / "edited", header, arrays)
    with pytest.raises(ValueError, match=r"edited' holds no model that could be: ") as error:
        load(tmp_path / "edited")
    assert len(str(error.value)) < 400


VALUES = [
    (exact, ("learner", "rows"), 3.0),
    (exact, ("learner", "due"), 1),
    (exact, ("learner", "settings", "features"), 4),
    (exact, ("learner", "settings", "layer_sizes"), [10**9]),
    (exact, ("learner", "settings", "regressors"), 2),
    (exact, ("parameters", "context_dim"), 99),
    (exact, ("flat_target",), "yes"),
    (exact, ("coming",), ["more"]),
    (exact, ("feature_names",), ["a"]),
    (stream, ("learner", "until"), 0),
    (stream, ("learner", "learners"), []),
    (gradient, ("learner", "settings", "context_dim"), 16),
    (gradient, ("learner", "settings", "dtype"), "float16"),
    (gradient, ("learner", "settings", "base_variance"), None),
    (classes, ("classes",), [True, False]),
    (classes, ("learner", "judged"), 2**63),
    (policy, ("arms",), [0, 1]),
    (policy, ("pending",), [0.0]),
    (gated_policy, ("learner", "arms"), 2),
    (density, ("denoisers", "choice"), [1, float("nan"), 1.0]),
    (density, ("denoisers", "unit"), "miles"),
]


@pytest.mark.parametrize(
    ("make", "place", "value"), VALUES, ids=lambda x: str(x) if isinstance(x, tuple) else ""
)
def test_edited_headers_are_refused(folder, tmp_path, make, place, value):
    header, arrays = persistence.read(folder / make.__name__)
    inner = header
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    persistence.write(tmp_path / "edited", header, arrays)
    with pytest.raises(ValueError, match="edited' holds no model that could be: "):
        load(tmp_path / "edited")


@pytest.mark.parametrize("make", FILES)
def test_every_array_is_asked_for(folder, tmp_path, monkeypatch, make):
    """One that is missing, one that nobody knows, and one of another type are refused, each array in turn."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # which takes longest
    header, arrays = persistence.read(folder / make.__name__)
    for number, name in enumerate(arrays):
        less = {other: array for other, array in arrays.items() if other != name}
        kind = np.float32 if arrays[name].dtype != np.float32 else np.float64
        edits = less, arrays | {f"{name}s": arrays[name]}, arrays | {name: arrays[name].astype(kind)}
        persistence.write(tmp_path / "edited", header, edits[number % 3])
        with pytest.raises(ValueError, match="edited"):
            load(tmp_path / "edited")


@pytest.mark.parametrize("make", FILES)
def test_files_that_nobody_edited_load(folder, tmp_path, make):
    load(folder / make.__name__).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (folder / make.__name__).read_bytes()


HONEST = {
    "subnormal": (X * 1e-310, Y * 1e-310),
    "tiny": (X * 1e-100, Y * 1e-100),
    "large": (X * 1e99, Y * 1e99),
    "far away": (X + 1e15, Y + 1e15),
    "constant": (np.full_like(X, 1e30), np.full_like(Y, -1e30)),
    "all scales": (X * 10.0 ** np.linspace(-30, 30, 40)[:, None], Y * 10.0 ** np.linspace(-30, 30, 40)),
}
GAPS = np.where(X > 0.5, np.nan, X)


@pytest.mark.filterwarnings("ignore")  # of numbers at the ends of what there is
@pytest.mark.parametrize("table", HONEST)
@pytest.mark.parametrize("kind", ["table", "weights", "gaps", "stream", "steps", "density"])
def test_extreme_but_honest_models_load(tmp_path, table, kind):
    rows, targets = HONEST[table]
    gaps, weights = np.where(np.isnan(GAPS), np.nan, rows), np.linspace(1e-6, 1e6, 40)
    makes = {
        "table": lambda: GGLNRegressor(**SMALL).fit(rows, targets),
        "weights": lambda: GGLNRegressor(**SMALL).fit(rows, targets, weights),
        "gaps": lambda: GGLNRegressor(**SMALL).fit(gaps, targets),
        "stream": lambda: GGLNRegressor(**SMALL).partial_fit(rows, targets),
        "steps": lambda: GGLNRegressor(step="capped", context_dim=2, epochs=1, **SMALL).fit(rows, targets),
        "density": lambda: DenoisingDensity(random_state=0).fit(gaps),
    }
    makes[kind]().save(tmp_path / "one")
    load(tmp_path / "one").save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
