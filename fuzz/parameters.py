"""Set parameters of every estimator to random values of every type: each is taken, or refused by its name."""

import copy
import functools
import tempfile
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.utils._param_validation import StrOptions

from fuzz import models
from fuzz.process import Worker
from fuzz.tally import Tally
from ggln import GGLNRegressor, GLNClassifier, TableRegressor, load
from ggln.bandits import GLCB
from ggln.bandits.glcb import AT_ONCE
from ggln.density import DenoisingDensity, MissingValues

FINE = {"taken", "refused"}
STEPS = {"step": "capped", "layer_sizes": (2, 1), "context_dim": 2}
EXACT = {"layer_sizes": (2,), "n_estimators": 2, "random_state": 1}
CASES: dict[str, tuple[type, dict[str, Any]]] = {
    "regressor": (GGLNRegressor, EXACT),
    "regressor by steps": (GGLNRegressor, {**EXACT, **STEPS, "gating": "mixed", "epochs": 1, "folds": 0}),
    "classifier": (GLNClassifier, EXACT),
    "classifier by steps": (
        GLNClassifier,
        {**EXACT, **STEPS, "step": "normalised", "gating": "mixed", "epochs": 1},
    ),
    "density": (DenoisingDensity, {"random_state": 1}),
    "density by steps": (DenoisingDensity, {**STEPS, "random_state": 1}),
    "missing values": (MissingValues, {"random_state": 1}),
    "policy": (GLCB, {"n_arms": 2, "random_state": 1}),
    "policy by steps": (GLCB, {**STEPS, "n_arms": 2, "random_state": 1}),
    "table": (TableRegressor, {"regressor": GGLNRegressor(**EXACT)}),
}
"""Every public estimator, and settings with which it learns in no time."""
VALUES: list[Any] = [
    None, True, False, 0, 1, 2, 3, 5, 16, 17, -1, -2, 2**31, 2**63, -(2**63), 10**30, 10**400,
    0.0, -0.0, 0.5, 1.0, 1.5, 3.0, -1.5, float("nan"), float("inf"), float("-inf"), 1e-320, 1e-12, 1e12,
    1e308, 1j, Decimal("0.5"), Fraction(1, 3), "", "x", "auto", "1", "0.5", "None", "\x1b[31m", "x" * 10_000,
    b"auto", (), (1,), (2, 1), (2, 0), (True, 2), (0.5, 2), (0.0, 1e3), (1e3, 0.0), ("a", "b"), (None,),
    (10**9,), (10**30,), [], [1], [2, 2], [[1], [1, 2]], [0.5, 0.2], [float("nan")], ["a", "b"], [1, "a"],
    [None, None], {}, {"a": 1}, {1, 2}, {0: [1.0]}, range(2), np.int64(2), np.int8(-1), np.float32(0.5),
    np.bool_(True),
    np.str_("auto"), np.array(2), np.array([2, 1]), np.array([[2, 1]]), np.array(["a"]), np.float64("nan"),
    np.array([None], object), np.datetime64("2024-01-01"), np.random.default_rng(0), np.random.RandomState(0),
    object(), int, print, ..., LinearRegression(), [LinearRegression()], ["feature"], GGLNRegressor(),
    NotImplemented,
]  # fmt: skip
"""Values of every type; none that would be right, and take an hour."""


def words(estimator: type, name: str) -> list[str]:
    """Return the texts that a parameter may be."""
    constraints = getattr(estimator, "_parameter_constraints", {}).get(name, [])
    return [text for one in constraints if isinstance(one, StrOptions) for text in sorted(one.options)]


def changes(estimator: type, base: dict[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """Return one or two parameters, and what they are to be."""
    names = sorted(estimator(**base).get_params())
    found = {}
    for name in random.choice(names, int(random.integers(1, 3)), replace=False):
        allowed = words(estimator, name)
        if allowed and random.random() < 0.3:
            found[str(name)] = allowed[int(random.integers(len(allowed)))]
        else:
            found[str(name)] = copy.copy(VALUES[int(random.integers(len(VALUES)))])
    if "regressor" in found:  # there is none then whose parameters could be set
        return {"regressor": found["regressor"]}
    return found


def learn(model: Any) -> None:
    """Let a model that may know nothing learn some rows."""
    X = models.rows(12)
    if isinstance(model, TableRegressor):
        model.partial_fit(_columns(X), models.goals(X))
    elif isinstance(model, GLNClassifier):
        model.partial_fit(X, models.labels(X, 2), classes=[0, 1])
    elif isinstance(model, GLCB):
        for t, context in enumerate(X):
            model.update(context, model.select(context), float(t % 2))
    elif isinstance(model, MissingValues):
        model.fit(X)
    elif isinstance(model, DenoisingDensity):
        model.partial_fit(X)
    else:
        model.partial_fit(X, models.goals(X))


def fit(model: Any) -> None:
    """Let a model learn a table from scratch, if it has a way to."""
    X = models.rows(12)
    if isinstance(model, TableRegressor):
        model.fit(_columns(X), models.goals(X))
    elif isinstance(model, GLNClassifier):
        model.fit(X, models.labels(X, 2))
    elif isinstance(model, GGLNRegressor):
        model.fit(X, models.goals(X))
    elif isinstance(model, DenoisingDensity):
        model.fit(X)
    else:
        learn(model)


def _columns(X: np.ndarray) -> dict[str, list[Any]]:
    return {"number": X[:, 0].tolist(), "city": ["Oslo" if x > 0 else "Rome" for x in X[:, 1]]}


def ask(model: Any) -> list[np.ndarray]:
    """Return what a model says of some rows."""
    if isinstance(model, TableRegressor):
        return list(model.predict(_columns(models.rows(4, 9)), return_std=True))
    if isinstance(model, MissingValues):
        return [model.transform(np.where(models.rows(4, 9) > 1.0, np.nan, models.rows(4, 9)))]
    return models.ask(model)


def is_named(error: Exception, given: dict[str, Any]) -> bool:
    """Return whether an error is of the right kind, and names a parameter that was given."""
    right = isinstance(error, ValueError | TypeError | MemoryError)
    return right and any(name.rpartition("__")[2] in str(error) for name in given)


@functools.cache
def known(case: str) -> Any:
    """Return a model that has learnt."""
    estimator, base = CASES[case]
    model = estimator(**copy.deepcopy(base))
    learn(model)
    return model


def attempt_new(case: str, given: dict[str, Any], begin: Callable[[Any], None]) -> str:
    """Let a new model learn with some parameters."""
    estimator, base = CASES[case]
    model = estimator(**copy.deepcopy(base)).set_params(**given)
    repr(model)
    before = vars(model).keys() - {"_unchecked"}
    try:
        begin(model)
    except Exception as error:
        if not is_named(error, given):
            return f"wrong error {error!r:.300}"
        return "refused" if vars(model).keys() - {"_unchecked"} == before else "a trace was left"
    return "taken" if _sane(ask(model)) else "NaN"


def attempt_late(case: str, given: dict[str, Any], file: Path) -> str:
    """Set parameters of a model that has learnt: it answers, and learns, as if nothing were; or refuses."""
    model, twin = copy.deepcopy(known(case)), copy.deepcopy(known(case))
    old = {name: value for name, value in model.get_params().items() if name in given}
    at_once = isinstance(model, MissingValues) or (
        isinstance(model, GLCB) and not given.keys().isdisjoint(AT_ONCE)
    )
    refused = False
    model.set_params(**given)
    for act in (ask, learn, lambda one: _saved(one, file)):
        wanted = act(twin)
        try:
            found = act(model)
        except Exception as error:
            if not is_named(error, given):
                return f"wrong error {error!r:.300}"
            refused = True
            continue
        if found is not None and not _sane(found):
            return "NaN"
        if found is not None and not at_once and not refused and not _same(found, wanted):
            return "other answers"
    if refused and not at_once:
        told = ask(model.set_params(**old))[:2]  # of decisions, what is expected of them
        if not any(_same(told, ask(one)[:2]) for one in (known(case), twin)):
            return "changed"
    return "refused" if refused else "taken"


def _saved(model: Any, file: Path) -> list[np.ndarray]:
    """Return what a model says that was saved and loaded."""
    if isinstance(model, MissingValues):
        return ask(model)
    model.save(file)
    return ask(load(file))


def _sane(found: list[np.ndarray]) -> bool:
    return not any(np.isnan(np.asarray(some, float)).any() for some in found)


def _same(found: list[np.ndarray], others: list[np.ndarray]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(found, others, strict=True))


def attempt(seed: int, file: Path) -> tuple[str, str]:
    """Set some parameters; return how that went, and what was done."""
    random = np.random.default_rng(seed)
    case = list(CASES)[int(random.integers(len(CASES)))]
    given = changes(*CASES[case], random)
    way = str(random.choice(["fit", "partial_fit", "late"]))
    done = f"{case}, {way}: {given!r:.300}"
    try:
        if way == "late":
            return attempt_late(case, given, file), done
        return attempt_new(case, given, fit if way == "fit" else learn), done
    except Exception as error:
        return f"wrong error later {error!r:.300}", done


def prepare(file: Path) -> str:
    """Compile what all attempts need."""
    for case in CASES:
        attempt_late(case, {}, file)
        attempt_new(case, {}, fit)
    return "taken"


def run(attempts: int, seconds: float, seed: int) -> Tally:
    """Make so many attempts, or as many as there is time for, in a process that may crash or hang."""
    tally, worker = Tally("parameters", FINE), Worker("fuzz.parameters")
    worker.run({}, patience=None)
    begun = time.monotonic()
    for number in range(seed, seed + attempts):
        if time.monotonic() - begun > seconds:
            break
        found = worker.run({"seed": number})
        tally.add(found["outcome"], f"seed {number}: {found['done']}")
    worker.stop()
    return tally


def main() -> None:
    """Take jobs from standard input, the seed of an attempt or none, and answer each with a line."""
    import json
    import sys

    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "model.ggln"
        for line in sys.stdin:
            job = json.loads(line)
            outcome, done = attempt(job["seed"], file) if job else (prepare(file), "")
            print(json.dumps({"outcome": outcome, "done": done}), file=answers, flush=True)


if __name__ == "__main__":
    main()
