"""Small deterministic pieces of learning, whose results are recorded.

Every parameter is given: what is recorded must not depend on defaults, which may change. The values below are
the defaults on the day of the recording, but for smaller networks and plain gates and base models. Parameters
that are added later are not listed: their defaults have to keep the results. Presets are called as a user
calls them, with fewer neurons and epochs, since what a preset leaves out is part of the promise, too.

Data are sums and products of dyadic fractions, so that all machines learn the same ones to the last bit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ggln
from ggln import GGLNRegressor, GLNClassifier, presets
from ggln.bandits import GLCB
from ggln.density import DenoisingDensity

Array = NDArray[np.float64]
Arrays = dict[str, Array]

REGRESSOR: dict[str, Any] = {
    "layer_sizes": (9, 5, 2),  # tiles of four and a rest
    "context_dim": 3,
    "epochs": 2,
    "n_estimators": 2,
    "gating": "sphere",
    "gating_bias": "data",
    "base_model": "feature",
    "base_variance": 1.0,
    "bias_range": 5.0,
    "bias_variance": 1.0,
    "learning_rate": 3e-2,
    "step": "capped",
    "projection": "clip",
    "barrier": 1e-6,
    "weight_range": (0.0, 1e3),
    "min_variance": 1e-5,
    "max_variance": 1e2,
    "aggregation": "switching",
    "covariance": "isotropic",
    "anneal": True,
    "folds": 0,
    "standardize": True,
    "shuffle": True,
    "random_state": 0,
    "n_jobs": 1,
    "verbose": 0,
}
CLASSIFIER: dict[str, Any] = {
    "layer_sizes": (9, 5, 2),
    "context_dim": 3,
    "epochs": 2,
    "n_estimators": 2,
    "gating": "sphere",
    "gating_bias": "data",
    "learning_rate": 0.2,
    "step": "normalised",
    "decay": None,
    "weight_range": (-200.0, 200.0),
    "min_probability": 1e-3,
    "hinges": 0,
    "aggregation": "switching",
    "anneal": True,
    "standardize": True,
    "shuffle": True,
    "random_state": 0,
    "n_jobs": 1,
    "verbose": 0,
}
BANDIT: dict[str, Any] = {
    "n_arms": 3,
    "arms": None,
    "reward": "gaussian",
    "exploration": "thompson",
    "exploration_weight": 0.3,
    "pseudo_count": "soft_min",
    "reward_range": None,
    "depth": 2,
    "layer_sizes": (6, 5, 3),
    "context_dim": 2,
    "n_estimators": 1,
    "gating": "mixed",
    "gating_bias": "data",
    "base_model": "linear",
    "base_variance": 100.0,
    "bias_range": 5.0,
    "bias_variance": 10.0,
    "learning_rate": 3e-2,
    "step": "capped",
    "projection": "clip",
    "barrier": 1e-6,
    "weight_range": (0.0, 1e3),
    "min_variance": 1e-3,
    "max_variance": 1e2,
    "aggregation": "switching",
    "standardize": True,
    "random_state": 0,
    "n_jobs": 1,
}
CHANCES: dict[str, Any] = {"learning_rate": 1e-1, "weight_range": (-200.0, 200.0)}
"""Of a bandit whose rewards are not Gaussian."""
DENSITY: dict[str, Any] = {
    "noise": 0.2,
    "noise_unit": "spread",
    "layer_sizes": (8, 6, 1),
    "context_dim": 4,
    "epochs": 1,
    "n_estimators": 1,
    "gating": "pairs",
    "gating_bias": "data",
    "learning_rate": 0.1,
    "step": "split",
    "base_model": "coordinate",
    "base_variance": 1.0,
    "bias_variance": 10.0,
    "min_variance": 1e-2,
    "max_variance": 1e2,
    "bias_range": 1.0,
    "bias_weight": 1e-2,
    "scaling": "data",
    "scaling_rows": None,
    "anneal": True,
    "shuffle": True,
    "random_state": 0,
    "n_jobs": 1,
    "verbose": 0,
}
TIGHT = {"weight_range": (0.0, 1.0), "min_variance": 0.3, "max_variance": 2.0}
"""Bounds that weights and variances reach, so that projections have something to do."""
LONG = 1100
"""Rows of a stream that outlasts its warm-up of 1024."""
NEW = 40
"""Rows that are predicted."""


# Data ------------------------------------------------------------------------------------------------------


def draw(random: np.random.Generator, *shape: int) -> Array:
    """Return normal numbers, rounded to dyadic fractions."""
    return np.round(1024 * random.normal(size=shape)) / 1024


def table(rows: int, features: int = 3, outputs: int | None = None, seed: int = 0) -> tuple[Array, Array]:
    """Return rows, and targets whose noise grows with a feature: one column, or a matrix of several."""
    random = np.random.default_rng(seed)
    X, noise = draw(random, rows, features), draw(random, rows, outputs or 1)
    one, two, three = (X[:, (np.arange(outputs or 1) + shift) % features] for shift in range(3))
    Y = one * two + np.abs(three) + noise * (1 + np.abs(one)) / 8
    return X, Y[:, 0] if outputs is None else Y


def labelled(rows: int, classes: int, features: int = 3, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Return rows and their classes."""
    X, y = table(rows, features, seed=seed)
    return X, np.digitize(y, [0.75] if classes == 2 else [0.25, 1.25])


def logged(rows: int, reward: str, seed: int = 0) -> tuple[Array, Array]:
    """Return contexts, and what each of three arms would pay in them."""
    contexts, paid = table(rows, 4, 3, seed)
    if reward == "gaussian":
        return contexts, paid
    return contexts, (paid > 0.75).astype(float) if reward == "bernoulli" else np.clip(paid / 4, 0.0, 1.0)


def cloud(rows: int, columns: int, seed: int = 0) -> Array:
    """Return rows near a bent surface of two dimensions."""
    random = np.random.default_rng(seed)
    u, v = draw(random, 2, rows, 1)
    number = np.arange(columns)
    return u * (number % 3 - 1) + np.abs(v) * (number % 2) + draw(random, rows, columns) / 8


# Regressors ------------------------------------------------------------------------------------------------


def answers(model: GGLNRegressor, X: Array, Y: Array) -> Arrays:
    """Return what a regressor says about rows: moments, densities, and what every neuron predicts."""
    mean, std = model.predict(X, return_std=True)
    neurons = [np.ravel(values) for layer in model.neurons(X) for values in layer]
    return {
        "mean": mean,
        "std": std,
        "log_density": model.predict_dist(X).log_prob(Y),
        "neurons": np.concatenate(neurons),
    }


def new_rows(X: Array, Y: Array) -> tuple[Array, Array]:
    """Return rows to predict, like those that were learnt."""
    return table(NEW, X.shape[1], None if Y.ndim == 1 else Y.shape[1], seed=1)


def fit(n_jobs: int, rows: int = 160, outputs: int | None = None, **changes: Any) -> Arrays:
    X, Y = table(rows, outputs=outputs)
    model = GGLNRegressor(**{**REGRESSOR, **changes, "n_jobs": n_jobs}).fit(X, Y)
    return answers(model, *new_rows(X, Y))


def joint(n_jobs: int, **changes: Any) -> Arrays:
    """Fit three outputs, and ask for their covariances."""
    X, Y = table(160, outputs=3)
    model = GGLNRegressor(**{**REGRESSOR, **changes, "n_jobs": n_jobs}).fit(X, Y)
    X, Y = new_rows(X, Y)
    return {"cov": model.predict(X, return_cov=True)[1], **answers(model, X, Y)}


def pieces(
    n_jobs: int, rows: int = 300, outputs: int | None = None, fitted: int = 0, **changes: Any
) -> Arrays:
    """Learn a stream, or what follows a table of `fitted` rows, in calls of uneven length."""
    X, Y = table(rows, outputs=outputs)
    model = GGLNRegressor(**{**REGRESSOR, **changes, "n_jobs": n_jobs})
    if fitted:
        model.fit(X[:fitted], Y[:fitted])
    for part in np.split(np.arange(fitted, rows), [1, 4, 100, 177]):
        model.partial_fit(X[part], Y[part])
    return answers(model, *new_rows(X, Y))


def rows_alone(n_jobs: int, outputs: int | None = None, **changes: Any) -> Arrays:
    """Predict and learn row by row."""
    X, Y = table(130, outputs=outputs)
    model = GGLNRegressor(**{**REGRESSOR, **changes, "n_jobs": n_jobs})
    before = []
    for number, (x, y) in enumerate(zip(X, Y, strict=True)):
        if number:  # before, nothing is known, not even how many outputs there are
            before.append(model.predict_one(x, return_std=True))
        model.learn_one(x, y)
    return {"before": np.array(before), **answers(model, *new_rows(X, Y))}


def prequential(n_jobs: int, rows: int = 200, outputs: int | None = None, **changes: Any) -> Arrays:
    """Record the densities that rows had before they were learnt."""
    X, Y = table(rows, outputs=outputs)
    model = GGLNRegressor(**{**REGRESSOR, **changes, "n_jobs": n_jobs})
    before = [model.prequential(X[part], Y[part]) for part in (slice(0, 70), slice(70, None))]
    densities = [before[0].log_prob(Y[:70]), before[1].log_prob(Y[70:])]
    return {"before": np.concatenate(densities), **answers(model, *new_rows(X, Y))}


def kept(model: Any) -> Any:
    """Save a model and load it."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model.ggln"))
        return ggln.load(Path(folder, "model.ggln"))


def saved(n_jobs: int, begin: str, outputs: int | None = None, **changes: Any) -> Arrays:
    """Learn, save, load, and go on with what was loaded."""
    X, Y = table(150, outputs=outputs)
    model = GGLNRegressor(**{**REGRESSOR, **changes, "n_jobs": n_jobs})
    loaded = kept(getattr(model, begin)(X[:90], Y[:90]))
    return answers(loaded.partial_fit(X[90:], Y[90:]), *new_rows(X, Y))


def preset_uci(n_jobs: int, learn: str = "fit") -> Arrays:
    X, y = table(200, 6)
    changes = {"layer_sizes": (12,) * 12, "epochs": 2, "random_state": 0, "n_jobs": n_jobs}
    model = GGLNRegressor(**{**presets.PAPER_UCI, **changes})
    return answers(getattr(model, learn)(X, y), *new_rows(X, y))


def preset_sarcos(n_jobs: int) -> Arrays:
    X, Y = table(120, 21, 7)
    changes = {"layer_sizes": (6,) * 4, "epochs": 2, "random_state": 0, "n_jobs": n_jobs}
    model = GGLNRegressor(**{**presets.PAPER_SARCOS, **changes}).fit(X, np.clip(Y / 4, -1, 1))
    X, Y = new_rows(X, Y)
    return answers(model, X, np.clip(Y / 4, -1, 1))


# Classifiers -----------------------------------------------------------------------------------------------


def chances(model: GLNClassifier, features: int) -> Arrays:
    """Return what a classifier says about rows."""
    X, _ = table(NEW, features, seed=1)
    one = [list(model.predict_proba_one(x).values()) for x in X[:5]]
    return {"probability": model.predict_proba(X), "logit": model.decision_function(X), "one": np.array(one)}


def classify(n_jobs: int, classes: int, rows: int = 160, **changes: Any) -> Arrays:
    X, y = labelled(rows, classes)
    return chances(GLNClassifier(**{**CLASSIFIER, **changes, "n_jobs": n_jobs}).fit(X, y), X.shape[1])


def classify_stream(n_jobs: int, classes: int, rows: int = 200, **changes: Any) -> Arrays:
    """Learn a stream: in calls, row by row, and on from a file."""
    X, y = labelled(rows, classes)
    model = GLNClassifier(**{**CLASSIFIER, **changes, "n_jobs": n_jobs})
    before = model.prequential(X[:50], y[:50], classes=np.arange(classes))
    for x, label in zip(X[50:80], y[50:80], strict=True):
        model.learn_one(x, label)
    model = kept(model).partial_fit(X[80:120], y[80:120])
    before = np.concatenate([before, model.prequential(X[120:], y[120:])])
    return {"before": before, **chances(model, X.shape[1])}


# Bandits ---------------------------------------------------------------------------------------------------


def new_policy(n_jobs: int, reward: str = "gaussian", **changes: Any) -> GLCB:
    own = {} if reward == "gaussian" else CHANCES
    return GLCB(**{**BANDIT, **own, **changes, "reward": reward, "n_jobs": n_jobs})


def play(policy: GLCB, rows: int, seed: int = 0) -> Array:
    """Let a policy choose and learn; return the positions of the arms that it chose."""
    contexts, paid = logged(rows, policy.reward, seed)
    chosen = []
    for context, rewards in zip(contexts, paid, strict=True):
        arm = policy.select(context)
        chosen.append(policy.arms_.index(arm))
        policy.update(context, arm, rewards[chosen[-1] % 3])
    return np.array(chosen, float)


def expectations(policy: GLCB) -> Arrays:
    """Return what a policy expects of its arms."""
    expected, std = policy.predict_expectations(table(NEW, 4, seed=1)[0], return_std=True)
    return {"expected": expected, "std": std}


def decide(n_jobs: int, rows: int = 90, **changes: Any) -> Arrays:
    policy = new_policy(n_jobs, **changes)
    return {"chosen": play(policy, rows), **expectations(policy)}


def learn_log(n_jobs: int, rows: int = LONG, weighted: bool = False, **changes: Any) -> Arrays:
    """Learn logged decisions in two calls, with propensities if `weighted`."""
    policy = new_policy(n_jobs, **changes)
    contexts, paid = logged(rows, policy.reward)
    arms = np.random.default_rng(2).integers(0, 3, rows)
    chance = np.array([0.25, 0.25, 0.5])[arms] if weighted else None
    for part in (slice(0, 333), slice(333, None)):
        numbers = arms[part]
        rewards = paid[part][np.arange(numbers.size), numbers]
        policy.partial_fit(contexts[part], numbers, rewards, None if chance is None else chance[part])
    return expectations(policy)


def change_arms(n_jobs: int, **changes: Any) -> Arrays:
    """Play, add an arm and take one away, and play on from a file."""
    policy = new_policy(n_jobs, **changes)
    first = play(policy, 50)
    policy.add_arm(7).remove_arm(1)
    loaded = kept(policy)
    return {"chosen": np.concatenate([first, play(loaded, 60, seed=3)]), **expectations(loaded)}


def preset_bandits(n_jobs: int) -> Arrays:
    changes = {"layer_sizes": (24, 8, 1), "n_arms": 3, "random_state": 0, "n_jobs": n_jobs}
    policy = GLCB(**{**presets.PAPER_BANDITS, **changes})
    return {"chosen": play(policy, 90), **expectations(policy)}


# Densities -------------------------------------------------------------------------------------------------


def walks(density: DenoisingDensity, X: Array) -> Arrays:
    """Return what a density says about rows, and where it leads them."""
    mask = np.arange(X.shape[1]) % 2 == 1
    return {
        "score": density.score_function(X),
        "denoised": density.denoise(X, steps=3, step_length=0.5),
        "filled": density.infill(X, mask, steps=5, step_length=0.1),
        "anomaly": density.anomaly_score(X, draws=2),
    }


def model_density(n_jobs: int, rows: int = 200, columns: int = 3, **changes: Any) -> Arrays:
    density = DenoisingDensity(**{**DENSITY, **changes, "n_jobs": n_jobs}).fit(cloud(rows, columns))
    return walks(density, cloud(20, columns, seed=1))


def sample_density(n_jobs: int, method: str, **changes: Any) -> Arrays:
    density = DenoisingDensity(**{**DENSITY, **changes, "n_jobs": n_jobs}).fit(cloud(200, 3))
    # short ones, since chains carry rounding on and enlarge it
    short = {"hmc": {"substeps": 10, "burn_in": 1}, "langevin": {"steps": 5}}[method]
    return {"samples": density.sample(10, method, **short, random_state=0)}


def stream_density(n_jobs: int, rows: int = 150, **changes: Any) -> Arrays:
    """Learn a stream in calls, and on from a file."""
    X = cloud(rows, 3)
    density = DenoisingDensity(**{**DENSITY, **changes, "n_jobs": n_jobs})
    density = kept(density.partial_fit(X[:40]).partial_fit(X[40:100])).partial_fit(X[100:])
    return walks(density, cloud(20, 3, seed=1))


def preset_mnist(n_jobs: int) -> Arrays:
    changes = {"layer_sizes": (8,) * 6 + (1,), "random_state": 0, "n_jobs": n_jobs}
    grey, new = (
        np.clip(np.round(128 + 64 * cloud(rows, 24, seed)), 0, 255) for rows, seed in [(200, 0), (20, 1)]
    )
    return walks(DenoisingDensity(**{**presets.PAPER_MNIST, **changes}).fit(grey), new)


def preset_swiss_roll(n_jobs: int) -> Arrays:
    changes = {"layer_sizes": (8,) * 6 + (1,), "random_state": 0, "n_jobs": n_jobs}
    roll, new = (np.clip(cloud(rows, 2, seed) / 4, -1, 1) for rows, seed in [(100, 0), (20, 1)])
    return walks(DenoisingDensity(**{**presets.PAPER_SWISS_ROLL, **changes}).fit(roll), new)


# All of them -----------------------------------------------------------------------------------------------

Workload = Callable[[int], Arrays]
"""Takes a number of threads, on which results must not depend."""

OGD = {"step": "ogd", "learning_rate": 3e-3, "min_variance": 1e-2}
"""The paper's step needs the paper's rates: longer steps overshoot, and what they lead to is rounding."""
STEPS: dict[str, dict[str, Any]] = {"ogd": OGD, "capped": {"step": "capped"}}
GATINGS = ("sphere", "axis", "mixed", "tree", "pairs")
COVARIANCES = ("isotropic", "diagonal", "full")
PROJECTIONS = ("clip", "exact", "log_barrier")
BASES: dict[str, dict[str, Any]] = {
    "none": {"base_model": "none"},
    "feature": {"base_model": "feature"},
    "axes": {"base_model": "axes"},
    "blr": {"base_model": "blr"},
    "blr-free": {"base_model": "blr", "base_variance": None},
    "linear": {"base_model": "linear"},
}
FITS: dict[str, dict[str, Any]] = {
    "last": {"aggregation": "last"},
    "offsets": {"gating_bias": 0.5},
    "no-contexts": {"context_dim": 0},
    "one-epoch": {"epochs": 1, "anneal": False},
    "steady": {"epochs": 4, "anneal": False},
    "annealed": {"epochs": 4},
    "in-order": {"shuffle": False},
    "inputs-only": {"standardize": "inputs"},
    "as-they-are": {"standardize": False, "gating_bias": 0.5},
    "negative": {"weight_range": (-1e3, 1e3)},
    "folds": {"folds": 3, "n_estimators": 6, "context_dim": (1, 4)},
    "folds-tree": {"folds": 2, "n_estimators": 2, "anneal": False, "gating": "tree"},
    "folds-of-two": {"folds": 3, "n_estimators": 3, "outputs": 2},
    "folds-full": {"folds": 3, "n_estimators": 3, "outputs": 2, "covariance": "full"},
    "long": {"rows": 2500, "epochs": 1},  # several blocks
}
STREAMS: dict[str, dict[str, Any]] = {
    "sphere": {},
    "tree": {"gating": "tree"},
    "pairs": {"gating": "pairs"},
    "offsets": {"gating_bias": 0.5, "standardize": False},
    "last": {"aggregation": "last", "gating": "mixed"},
    "blr": {"base_model": "blr", "base_variance": None, "gating": "axis"},
    "linear": {"base_model": "linear"},
    "of-two": {"outputs": 2},
    "full": {"outputs": 2, "covariance": "full"},
}

WORKLOADS: dict[str, Workload] = {
    "preset-uci": preset_uci,
    "preset-uci-stream": partial(preset_uci, learn="partial_fit"),
    "preset-sarcos": preset_sarcos,
    "preset-bandits": preset_bandits,
    "preset-mnist": preset_mnist,
    "preset-swiss-roll": preset_swiss_roll,
}
for step, settings in STEPS.items():
    with_step = {
        **{f"fit-{gating}": partial(fit, gating=gating) for gating in GATINGS},
        **{f"fit-{name}": partial(fit, **changes) for name, changes in BASES.items()},
        **{f"fit-{name}-of-two": partial(fit, outputs=2, **changes) for name, changes in BASES.items()},
        "fit-coordinate": partial(fit, outputs=3, base_model="coordinate"),
        **{f"fit-{name}": partial(fit, **changes) for name, changes in FITS.items()},
        **{f"project-{name}": partial(fit, projection=name, **TIGHT) for name in PROJECTIONS},
        **{
            f"project-{name}-{covariance}": partial(
                fit, outputs=2, covariance=covariance, projection=name, **TIGHT
            )
            for covariance in COVARIANCES
            for name in PROJECTIONS
        },
        **{f"joint-{covariance}": partial(joint, covariance=covariance) for covariance in COVARIANCES},
        **{f"pieces-{name}": partial(pieces, **changes) for name, changes in STREAMS.items()},
        "pieces-long": partial(pieces, rows=LONG),
        "pieces-after-fit": partial(pieces, fitted=100),
        "pieces-after-folds-tree": partial(pieces, fitted=100, folds=2, gating="tree"),
        "rows-alone": partial(rows_alone),
        "rows-alone-of-two": partial(rows_alone, outputs=2, covariance="diagonal"),
        "prequential": partial(prequential),
        "prequential-full": partial(prequential, outputs=2, covariance="full"),
        "prequential-long-tree": partial(prequential, rows=LONG, gating="tree", base_model="blr"),
        "saved-stream": partial(saved, begin="partial_fit"),
        "saved-linear-tree": partial(saved, begin="partial_fit", base_model="linear", gating="tree"),
        "saved-fit": partial(saved, begin="fit", folds=2),
        "saved-of-two": partial(saved, begin="fit", outputs=2, covariance="diagonal"),
        **{f"bandit-{base}": partial(decide, base_model=base) for base in ("none", "feature", "blr")},
        **{f"bandit-{gating}": partial(decide, gating=gating) for gating in ("sphere", "axis")},
        **{
            f"bandit-{reward}": partial(decide, reward=reward)
            for reward in ("gaussian", "bernoulli", "ctree")
        },
        **{
            f"log-{reward}": partial(learn_log, reward=reward)
            for reward in ("gaussian", "bernoulli", "ctree")
        },
        "arms": partial(change_arms),
        "arms-ctree": partial(change_arms, reward="ctree", aggregation="last"),
        "density-none": partial(model_density, base_model="none"),
        "density-coordinate": partial(model_density),
        "density-stream": partial(stream_density),
    }
    # what a workload says itself goes before the step's settings
    WORKLOADS |= {
        f"{step}-{name}": partial(run, **{**settings, **run.keywords}) for name, run in with_step.items()
    }

for classes in (2, 3):
    of_classes = {
        **{gating: partial(classify, gating=gating) for gating in GATINGS},
        "ogd": partial(classify, step="ogd", learning_rate=1e-2),
        "last": partial(classify, aggregation="last"),
        "steady": partial(classify, epochs=3, anneal=False, shuffle=False),
        "decay": partial(classify, decay=20.0),
        "as-they-are": partial(classify, standardize=False, gating_bias=0.5),
        "several-contexts": partial(classify, context_dim=(1, 4)),
        "hinges": partial(classify, hinges=24),
        "hinges-pairs": partial(classify, hinges=24, gating="pairs"),
        "stream": classify_stream,
        "stream-tree": partial(classify_stream, gating="tree", decay=20.0),
        "stream-hinges": partial(classify_stream, hinges=24, gating="pairs"),
        "stream-ogd": partial(classify_stream, step="ogd", learning_rate=1e-2),
        "stream-long": partial(classify_stream, rows=LONG),
    }
    WORKLOADS |= {
        f"classes-{classes}-{name}": partial(run, classes=classes) for name, run in of_classes.items()
    }

WORKLOADS |= {
    **{
        f"bandit-{exploration}-{count}": partial(decide, exploration=exploration, pseudo_count=count)
        for exploration in ("bonus", "ucb", "thompson", "greedy")
        for count in ("mean", "soft_min", "leverage")
    },
    "bandit-two-networks": partial(decide, n_estimators=2),
    "bandit-exact": partial(decide, projection="exact", min_variance=0.3, max_variance=2.0),
    "bandit-range": partial(decide, reward_range=(-10.0, 20.0), gating_bias=0.5, standardize=False),
    "log-weighted": partial(learn_log, rows=500, weighted=True),
    "log-weighted-bernoulli": partial(learn_log, rows=500, weighted=True, reward="bernoulli"),
    **{
        f"density-{gating}": partial(model_density, gating=gating)
        for gating in ("sphere", "axis", "mixed", "pairs")
    },
    "density-none": partial(model_density, base_model="none"),
    "density-steady": partial(model_density, epochs=2, anneal=False, shuffle=False),
    "density-wide": partial(model_density, columns=40),
    "density-two-networks": partial(model_density, n_estimators=2, gating_bias=0.5),
    "density-noisy": partial(model_density, scaling="noisy", noise_unit="data", scaling_rows=50),
    "density-levels": partial(model_density, noise=(0.2, 0.8), bias_weight=1.0),
    "density-hmc": partial(sample_density, method="hmc"),
    "density-langevin": partial(sample_density, method="langevin", noise=(0.2, 0.8)),
    "density-stream": stream_density,
    "density-stream-long": partial(stream_density, rows=LONG),
}
