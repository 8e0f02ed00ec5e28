"""Table 2, left: the seven torques of a robot's arm at once, beside scikit-learn's regressors.

All test rows of SARCOS are also in its training file. The paper's protocol leaves them there; the leak-free
one takes them out. Where the official training file is not at hand, a partial one is used, and the results
say so: published errors then stand beside them, but do not compare.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ggln import datasets, presets
from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import scores
from ggln.reproduction.uci import default_setting

PAPER = {
    "G-GLN": 0.10,
    "TabNet-L": 0.14,
    "TabNet-M": 0.28,
    "adaptive neural tree": 1.23,
    "TabNet-S": 1.25,
    "gradient boosting": 1.44,
    "stochastic decision tree": 2.11,
    "MLP": 2.13,
    "random forest": 2.39,
}
"""The paper's table: mean squared error over the seven torques."""

PROTOCOLS = {"paper": False, "leak-free": True}
"""Whether the test rows are taken out of the training rows."""

PEERS: dict[str, Callable[[int], Any]] = {
    "linear regression": lambda _: LinearRegression(),
    "random forest": lambda seed: RandomForestRegressor(random_state=seed, n_jobs=1),
    "gradient boosting": lambda seed: MultiOutputRegressor(HistGradientBoostingRegressor(random_state=seed)),
    "MLP": lambda seed: make_pipeline(
        StandardScaler(),
        TransformedTargetRegressor(
            MLPRegressor(hidden_layer_sizes=(256, 256), early_stopping=True, max_iter=500, random_state=seed),
            transformer=StandardScaler(),
        ),
    ),
}
"""scikit-learn's regressors by the names of the paper's table, from a seed."""

MODELS = ("G-GLN", "defaults", *PEERS)
"""The paper's network, `GGLNRegressor()` and the peers."""

VERSION = "3"


def evaluate(
    model: str,
    leak_free: bool,
    seed: int,
    rows: int | None,
    setting: dict[str, Any] | None = None,
    data_dir: Path | None = None,
) -> Results:
    """Fit one model to the training rows, or to `rows` of them, and score it on all test rows.

    setting: arguments of the networks, None for the peers.
    """
    data = datasets.load_sarcos(data_dir, leak_free=leak_free)
    chosen = np.random.default_rng(seed).permutation(len(data.X_train))[:rows]
    X, Y = data.X_train[chosen], data.Y_train[chosen]
    low, high = Y.min(axis=0), Y.max(axis=0)
    # The paper's network learns targets linearly rescaled to [-1, 1]; all others rescale as they like.
    by_hand = setting is not None and setting["standardize"] == "inputs"
    shift, scale = ((low + high) / 2, (high - low) / 2) if by_hand else (0.0, 1.0)
    regressor = (
        PEERS[model](seed) if setting is None else GGLNRegressor(**setting, random_state=seed, n_jobs=1)
    )
    start = time.perf_counter()
    regressor.fit(X, (Y - shift) / scale)
    seconds = time.perf_counter() - start
    if setting is None:
        results = {"mse": np.mean((regressor.predict(data.X_test) - data.Y_test) ** 2)}
    else:
        distribution = regressor.predict_dist(data.X_test).scaled(shift, scale)
        results = scores(distribution, data.Y_test, crps=False)  # of 7 x 4449 mixtures: minutes
    sizes = {"train_rows": len(X), "test_rows": len(data.X_test), "complete": data.complete}
    return results | sizes | {"seconds": seconds}


def run(
    rows: int | None = None,
    seed: int = 0,
    store: Path = Path("results/.jobs"),
    n_jobs: int | None = None,
    data_dir: Path | None = None,
    models: tuple[str, ...] = MODELS,
    protocols: tuple[str, ...] = tuple(PROTOCOLS),
    **replaced: Any,
) -> Results:
    """Evaluate models with one protocol or both, on `rows` random training rows or on all.

    `replaced` arguments of the paper's network, its 2000 epochs for example, make it another experiment.
    """
    datasets.load_sarcos(data_dir)  # what is missing is missed before any job starts
    settings = {"G-GLN": presets.PAPER_SARCOS | replaced, "defaults": default_setting()}
    wanted = [
        jobs.Job(
            evaluate,
            {
                "model": model,
                "leak_free": PROTOCOLS[protocol],
                "seed": seed,
                "rows": rows,
                "setting": settings.get(model),
            },
            VERSION,
            {"data_dir": data_dir},
        )
        for protocol in protocols
        for model in models
    ]
    found = jobs.run(wanted, store, n_jobs, "fits")
    results = iter(found)
    return {
        "experiment": "sarcos",
        "paper": PAPER,
        "settings": settings,
        "rows": rows,
        "complete": rows is None and all(result["complete"] for result in found),
        "seed": seed,
        "machine": machine(),
        "protocols": {protocol: {model: next(results) for model in models} for protocol in protocols},
    }


def table(results: Results) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the columns, and for each model its errors as text, the paper's beside ours."""
    measured = next(iter(results["protocols"].values()))
    rows: dict[str, dict[str, str]] = {}
    for model in [*measured, *(name for name in results["paper"] if name not in measured)]:
        published = results["paper"].get(model)
        rows[model] = {"published": "" if published is None else f"{published:.2f}"}
        for protocol, models in results["protocols"].items():
            own = models.get(model)
            rows[model][protocol] = "" if own is None else f"{own['mse']:.3f}"
            rows[model][f"{protocol}\nseconds"] = "" if own is None else f"{own['seconds']:.1f}"
    protocols = list(results["protocols"])
    columns = ["published", *protocols, *(f"{protocol}\nseconds" for protocol in protocols)]
    return dict.fromkeys(columns, ""), rows
