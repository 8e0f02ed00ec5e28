"""Interrupt learning at random moments: what is left has to be the model of the rows that were learnt."""

import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.models import MODELS, columns, goals, labels, rows
from fuzz.tally import Tally
from ggln import GLNClassifier, TableRegressor, load
from ggln.bandits import GLCB
from ggln.density import DenoisingDensity

COUNT = 80
"""Rows of which learning is interrupted."""


def learn(model: Any, start: int, stop: int) -> None:
    """Let a model learn some of the rows, half of the kinds of models one by one, the others at once."""
    X = rows(COUNT, 7)[start:stop]
    if len(X) == 0:
        return
    if isinstance(model, GLNClassifier):
        model.partial_fit(X, model.classes_[labels(X, model.classes_.size)])
    elif isinstance(model, GLCB):
        for t, context in enumerate(X, start):
            model.update(context, model.arms_[t % 2], float(t % 3 == 0))
    elif isinstance(model, DenoisingDensity):
        model.partial_fit(X)
    elif isinstance(model, TableRegressor):
        table, y, half = columns(X), goals(X), len(X) // 2
        for t in range(half):
            model.learn_one({name: column[t] for name, column in table.items()}, y[t])
        model.partial_fit({name: column[half:] for name, column in table.items()}, y[half:])
    else:
        y = goals(X, model.n_outputs_)
        half = len(X) // 2
        for x, target in zip(X[:half], y[:half], strict=True):
            model.learn_one(x, target)
        model.partial_fit(X[half:], y[half:])


def learnt(model: Any) -> int:
    """Return how many rows a model has learnt."""
    if isinstance(model, GLCB):
        learner = model._learner
        return int(learner.plays.sum())
    if isinstance(model, TableRegressor):
        return learnt(model.regressor_)
    learner = model.denoisers_ if isinstance(model, DenoisingDensity) else model.learner_
    return int(learner.rows)


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt after a time, as Ctrl-C does, unless it is over before."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def attempt(source: Path, folder: Path, seconds: float) -> str:
    """Interrupt a model's learning; return how it went: interrupted, through or torn."""
    model, before = load(source), learnt(load(source))
    try:
        with interrupted_after(seconds):
            learn(model, 0, COUNT)
        ended = "through"
    except KeyboardInterrupt:
        ended = "interrupted"
    twin = load(source)
    learn(twin, 0, learnt(model) - before)
    model.save(folder / "one")
    twin.save(folder / "other")
    return ended if (folder / "one").read_bytes() == (folder / "other").read_bytes() else "torn"


def run(attempts: int, seconds: float, seed: int, names: list[str]) -> Tally:
    """Interrupt so many times, or for so long, the estimators in turn, and the kinds of models of each."""
    random, tally = np.random.default_rng(seed), Tally("interruptions", ("interrupted", "through"))
    with tempfile.TemporaryDirectory() as name:
        folder, times = Path(name), {}
        kinds: dict[type, list[str]] = {}  # models, by the estimator that they are of
        for model in names:
            fresh = MODELS[model]()
            fresh.save(folder / model)
            kinds.setdefault(type(fresh), []).append(model)
            for _ in range(2):  # the first time, kernels are compiled
                whole, begun = load(folder / model), time.perf_counter()
                learn(whole, 0, COUNT)
                times[model] = time.perf_counter() - begun
        begun = time.monotonic()
        for number in range(attempts):
            if time.monotonic() - begun > seconds:
                break
            own = list(kinds.values())[number % len(kinds)]
            model = own[number // len(kinds) % len(own)]
            ended = attempt(folder / model, folder, float(random.uniform(1e-4, times[model])))
            tally.add(ended, f"{model}, interruption {number} of seed {seed}")
    return tally
