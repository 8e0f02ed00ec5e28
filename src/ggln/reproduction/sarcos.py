"""Table 2: seven torques at once, beside scikit-learn's regressors on the same rows.

All test rows of SARCOS are also in its training file. The paper's protocol leaves them there; the leak-free
one takes them out. Where the official training file is not at hand, a partial one is used, and the results
say so: published errors then stand beside them, but do not compare.

Example: ggln reproduce sarcos --epochs 20 --n-jobs -1
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

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
from ggln.palette import BLUE, GREEN, GREY
from ggln.reproduction.shared import defaults, jobs
from ggln.reproduction.shared.options import STORE, DataDir, NameList, Option, Seed, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.scores import scores
from ggln.reproduction.shared.tables import ScoreTable

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
    rows: Annotated[int | None, Option("Training rows to use; all by default.", least=50)] = None,
    seed: Seed = 0,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    models: Annotated[
        Sequence[str],
        NameList(
            "Of G-GLN, defaults, linear regression, random forest, gradient boosting and MLP, separated "
            "by commas; all by default."
        ),
    ] = MODELS,
    protocols: Annotated[
        Sequence[str], NameList("Of paper and leak-free, separated by commas; both by default.")
    ] = tuple(PROTOCOLS),
    epochs: Annotated[int | None, Option("Instead of the paper's 2000.", least=1)] = None,
    **replaced: Any,
) -> Results:
    """Evaluate models with one protocol or both, on `rows` random training rows or on all.

    `replaced` arguments of the paper's network, its 2000 epochs for example, make it another experiment.
    """
    datasets.load_sarcos(data_dir)  # what is missing is missed before any job starts
    replaced |= {} if epochs is None else {"epochs": epochs}
    settings = {"G-GLN": presets.PAPER_SARCOS | replaced, "defaults": defaults.default_setting()}
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


PARTIAL = "Trained on a part of the official training rows: published errors do not compare."


def table(results: Results) -> ScoreTable:
    """Return for each model its errors as text, the paper's beside ours."""
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
    return ScoreTable(
        "Test MSE over the seven torques",
        dict.fromkeys(columns, ""),
        rows,
        () if results["complete"] else (PARTIAL,),
    )


NAMES = {"G-GLN": "G-GLN, the paper's network", "defaults": "GGLNRegressor()"}
BARS = {
    "paper": (BLUE, "test rows also in the training file (the paper's protocol)"),
    "leak-free": (GREEN, "test rows taken out"),
}


@styled
def draw(results: Results) -> Figure:
    """Draw each model's mean squared error with both protocols, and the paper's where it gives one."""
    models = list(next(iter(results["protocols"].values())))
    figure = new_figure(7.5, 1.5 + 0.55 * len(models))
    axes = figure.subplots()
    for number, (protocol, (color, text)) in enumerate(BARS.items()):
        if protocol not in results["protocols"]:
            continue
        values = [results["protocols"][protocol][model]["mse"] for model in models]
        places = [place + 0.36 * number - 0.18 for place in range(len(models))]
        bars = axes.barh(places, values, height=0.34, color=color, label=text)
        axes.bar_label(bars, fmt="%.2f", padding=3)
    published = [
        (place, results["paper"][model]) for place, model in enumerate(models) if model in results["paper"]
    ]
    for number, (place, value) in enumerate(published):
        label = "the paper's table" if number == 0 else None
        axes.plot([value, value], [place - 0.42, place + 0.42], color="black", linewidth=1.5, label=label)
    axes.set_yticks(range(len(models)), [NAMES.get(model, model) for model in models])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.grid(axis="x", color=GREY, alpha=0.3)
    axes.set_axisbelow(True)
    axes.margins(x=0.1)
    axes.set_xlabel("test MSE, mean over the seven torques (less is better)")
    figure.legend(loc="outside upper left")
    return figure
