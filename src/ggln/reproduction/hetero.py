"""Figure 1C: what neurons of different layers, and the network, make of a heteroskedastic function."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction.shared.record import Results, machine

FloatArray = NDArray[np.float64]

SETTINGS: dict[str, Any] = {"base_model": "feature", "context_dim": 3}
"""The defaults but for two things. There is no regression below the networks: all that is drawn comes from
neurons. And eight contexts a neuron are enough for a curve. The defaults would have 256, which follow the
noise: its deviation is up to three times the height of the curve."""


def true_mean(x: FloatArray) -> FloatArray:
    """mu(x) = 2 (exp(-30 (x - 1/4)^2) + sin(pi x^2)) - 2."""
    mean: FloatArray = 2.0 * (np.exp(-30.0 * (x - 0.25) ** 2) + np.sin(np.pi * x**2)) - 2.0
    return mean


def true_std(x: FloatArray) -> FloatArray:
    """exp(g(x)) with g(x) = sin(2 pi x)."""
    std: FloatArray = np.exp(np.sin(2.0 * np.pi * x))
    return std


def sample(rows: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return x uniform on [0, 1] as a column, and y ~ N(mu(x), exp(g(x))^2)."""
    random = np.random.default_rng(seed)
    x = random.random(rows)
    return x[:, None], true_mean(x) + true_std(x) * random.standard_normal(rows)


def run(rows: int = 5000, seed: int = 0, points: int = 201, **settings: Any) -> Results:
    """Train on `rows` samples and evaluate on a grid; `settings` replace those of the experiment."""
    settings = SETTINGS | settings
    X, y = sample(rows, seed)
    model = GGLNRegressor(**settings, random_state=seed).fit(X, y)
    grid = np.linspace(0.0, 1.0, points)
    X_test, y_test = sample(rows, seed + 1)
    distribution = model.predict_dist(grid[:, None])
    lower, upper = distribution.interval(0.9)
    layers = model.neurons(grid[:, None])
    tested = model.neurons(X_test)
    neurons = []
    for number, (layer, test) in enumerate(zip(layers, tested, strict=True), start=1):
        nll = test.nll(y_test)
        best = int(nll.argmin())
        neurons.append(
            {
                "layer": number,
                "neuron": best,
                "nll": nll[best],
                "layer_nll": nll.mean(),
                "mean": layer.mean[:, best],
                "std": np.sqrt(layer.variance[:, best]),
            }
        )
    ideal = np.mean(np.log(true_std(X_test[:, 0])) + 0.5 * np.log(2 * np.pi) + 0.5)
    return {
        "experiment": "hetero",
        "paper": "Figure 1C (a picture; the paper gives no numbers)",
        "settings": settings,
        "rows": rows,
        "seed": seed,
        "machine": machine(),
        "nll": -model.predict_dist(X_test).log_prob(y_test).mean(),
        "nll_of_the_truth": ideal,
        "mean_rmse": np.sqrt(np.mean((distribution.mean - true_mean(grid)) ** 2)),
        "log_std_rmse": np.sqrt(np.mean(np.log(distribution.std / true_std(grid)) ** 2)),
        "x": grid,
        "true_mean": true_mean(grid),
        "true_std": true_std(grid),
        "mean": distribution.mean,
        "lower": lower,
        "upper": upper,
        "neurons": neurons,
        "sample_x": X[:500, 0],
        "sample_y": y[:500],
    }
