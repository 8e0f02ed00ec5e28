"""How fast rows are learnt and predicted, in blocks and one by one."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import baseline
from benchmarks.workloads import clustered, weights_per_row
from ggln import GGLNRegressor, presets
from ggln.bandits import GLCB

WIDE = (256,) * 12
ROWS, FEATURES, EPOCHS = 600, 13, 40
PAPER = {"layer_sizes": WIDE, "n_estimators": 1, "gating": "sphere", "gating_bias": 0.05, "step": "ogd"}
PAPER |= {"learning_rate": 1e-4, "base_model": "feature", "anneal": False, "folds": 0, "random_state": 0}
SMALL: dict[str, Any] = {
    "layer_sizes": (32,) * 3,
    "context_dim": 4,
    "n_estimators": 1,
    "gating": "mixed",
    "base_model": "blr",
    "base_variance": None,
    "step": "capped",
    "random_state": 0,
}


def best_of(repeats: int, *functions: Callable[[], object]) -> list[float]:
    """Return each function's shortest time; they take turns, so that a noisy minute hits all of them."""
    shortest = [np.inf] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            shortest[i] = min(shortest[i], time.perf_counter() - start)
    return shortest


def fitting(context_dim: int, repeats: int = 3) -> dict[str, Any]:
    """Weights per second of `fit`, end to end, on one core and on two, beside the plain loop's."""
    X, y = clustered(ROWS, FEATURES)
    weights = ROWS * weights_per_row(WIDE, FEATURES) / 1e9
    models = {
        "one core": GGLNRegressor(**PAPER, context_dim=context_dim, epochs=EPOCHS),
        "two cores": GGLNRegressor(**PAPER, context_dim=context_dim, epochs=EPOCHS, n_jobs=2),
        "log-barrier": GGLNRegressor(
            **PAPER, context_dim=context_dim, epochs=EPOCHS, projection="log_barrier"
        ),
    }
    for model in models.values():
        model.set_params(epochs=1).fit(X, y)  # compiles
        model.set_params(epochs=EPOCHS)
    arguments = baseline.prepare(WIDE, context_dim, ROWS, FEATURES)
    baseline.learn(*arguments)  # compiles, and touches the tables
    fits = [lambda m=model: m.fit(X, y) for model in models.values()]
    plain, *times = best_of(repeats, lambda: baseline.learn(*arguments), *fits)
    speeds = {name: EPOCHS * weights / seconds for name, seconds in zip(models, times, strict=True)}
    return {
        "plain loop, G weights/s": weights / plain,
        **{f"fit, {name}, G weights/s": speed for name, speed in speeds.items()},
        "rows/s on one core": ROWS * EPOCHS / times[0],
        "one core / plain loop": plain * EPOCHS / times[0],
        "two cores / one core": times[0] / times[1],
    }


def predicting(context_dim: int, repeats: int = 5) -> dict[str, Any]:
    """Predicting a block against learning it, both through the public methods, contexts included."""
    X, y = clustered(ROWS, FEATURES)
    model = GGLNRegressor(**PAPER, context_dim=context_dim, epochs=1).fit(X, y)
    model.predict(X)
    learning, prediction = best_of(repeats, lambda: model.partial_fit(X, y), lambda: model.predict(X))
    return {"learning / predicting": learning / prediction, "rows/s predicted": ROWS / prediction}


def median_microseconds(function: Callable[[int], object], calls: int = 4000, rounds: int = 8) -> float:
    """Return the median time of a call, in the quietest of some rounds of calls."""
    times = np.empty(calls, np.int64)
    for i in range(calls):
        start = time.perf_counter_ns()
        function(i)
        times[i] = time.perf_counter_ns() - start
    return float(np.median(times.reshape(rounds, -1), axis=1).min()) / 1e3


def one_by_one() -> dict[str, Any]:
    """Latency of single rows, and what of it is not the kernel."""
    X, y = clustered(ROWS, 10)
    model = GGLNRegressor(**SMALL).partial_fit(np.tile(X, (3, 1)), np.tile(y, 3))
    learner = model.learner_
    side, goal = learner.inputs.transform(X[:1]), np.zeros((1, 1), np.float32)
    mean, second = np.zeros((1, 1)), np.zeros((1, 1))
    model.learn_one(X[0], y[0])
    model.predict_one(X[0])
    learn = median_microseconds(lambda i: model.learn_one(X[i % ROWS], y[i % ROWS]))
    predict = median_microseconds(lambda i: model.predict_one(X[i % ROWS]))
    learn_kernel = median_microseconds(lambda _: learner.ensemble.learn_row(side, goal))
    predict_kernel = median_microseconds(lambda _: learner.ensemble.infer_row(side, mean, second))
    return {
        "learn_one, us": learn,
        "learn_one beyond its kernel, us": learn - learn_kernel,
        "predict_one, us": predict,
        "predict_one beyond its kernel, us": predict - predict_kernel,
    }


def deciding() -> dict[str, Any]:
    """Latency of a bandit's decision over eight arms, and of learning it, with the paper's networks and ours.

    The policies are past their warm-up and know all arms: a decision then asks all networks.
    """
    X, y = clustered(1200, 21)
    found = {}
    for name, preset in (("[1000, 100, 1]", presets.PAPER_BANDITS), ("defaults", {})):
        policy = GLCB(n_arms=8, **preset, random_state=0).partial_fit(X, np.arange(1200) % 8, y)
        policy.update(X[0], policy.select(X[0]), y[0])
        select = median_microseconds(lambda i, own=policy: own.select(X[i % 1200]), 2000)
        update = median_microseconds(lambda i, own=policy: own.update(X[i % 1200], i % 8, y[i % 1200]), 2000)
        found |= {f"select, {name}, us": select, f"update, {name}, us": update}
    return found
