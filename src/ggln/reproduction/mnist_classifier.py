"""MNIST in a single pass, each digit against all others; the variant is chosen on training images.

Settings are chosen on the last 10000 training images by a network that learnt the others; the test images
are looked at by the networks that learnt all 60000. Every variant is reported, whichever is best.

Example: ggln reproduce mnist-classifier --variants deskewed --rows 5000
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.metrics import confusion_matrix, log_loss

from ggln import datasets
from ggln.estimators.classifier import GLNClassifier
from ggln.palette import BLUE, GREY, ORANGE
from ggln.reproduction.shared import jobs
from ggln.reproduction.shared.options import STORE, DataDir, NameList, Option, Seed, Store, Workers
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

FloatArray = NDArray[np.float64]

PUBLISHED = 98.0
"""Accuracy in per cent of one pass over deskewed digits, Veness et al. (2019), layers of 2000, 1000, 500."""

SETTING: dict[str, Any] = {
    "layer_sizes": (128, 128, 128),
    "context_dim": 4,
    "epochs": 1,
    "n_estimators": 1,
    "gating": "pairs",
    "gating_bias": 0.05,
    "learning_rate": 1.0,
    "step": "normalised",
    "min_probability": 1e-3,
}

VARIANTS: dict[str, dict[str, Any]] = {
    "deskewed": {"deskewed": True},
    "raw": {},
    "raw hinges": {"hinges": 1500},
    "deskewed hinges": {"deskewed": True, "hinges": 1500},
    "raw twice the step": {"learning_rate": 2.0},
    "raw two layers": {"layer_sizes": (128, 128)},
    "raw sphere": {"gating": "sphere"},
    "raw own gates": {"own_gates": True},
}
"""What differs from `SETTING`; and whether digits are deskewed, and each has gates of its own."""

HELD_OUT = 10_000
VERSION = "1"


def deskew(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Shear every image [n, h, w] so that its ink is upright, and move its centre of mass to the middle.

    The shear is the regression of the ink's columns on its rows.
    """
    middle = (np.array(images.shape[1:]) - 1.0) / 2.0
    rows, columns = np.indices(images.shape[1:], dtype=np.float64)
    upright = np.empty_like(images)
    for image, result in zip(images, upright, strict=True):
        ink = image / max(float(image.sum()), 1.0)
        centre = np.array([(rows * ink).sum(), (columns * ink).sum()])
        down, across = rows - centre[0], columns - centre[1]
        slant = (down * across * ink).sum() / max((down**2 * ink).sum(), 1e-9)
        matrix = np.array([[1.0, 0.0], [slant, 1.0]])
        ndimage.affine_transform(image, matrix, centre - matrix @ middle, output=result, order=1)
    return upright


def halves(
    validate: bool, deskewed: bool, rows: int | None, data_dir: Path | None
) -> tuple[FloatArray, NDArray[Any], FloatArray, NDArray[Any]]:
    """Return images and labels to learn, the first `rows` of them, and those to judge by."""
    digits = datasets.load_mnist(data_dir)
    learn, judge = (digits.train_images, digits.train_labels), (digits.test_images, digits.test_labels)
    if validate:
        held_out = min(HELD_OUT, len(learn[0]) // 6)
        judge = digits.train_images[-held_out:], digits.train_labels[-held_out:]
        learn = digits.train_images[:-held_out], digits.train_labels[:-held_out]
    found: list[NDArray[Any]] = []
    for images, labels in ((learn[0][:rows], learn[1][:rows]), judge):
        straight = deskew(images) if deskewed else images
        found += [straight.reshape(len(images), -1).astype(np.float64), labels.astype(np.int64)]
    return found[0], found[1], found[2], found[3]


def evaluate(
    setting: dict[str, Any],
    validate: bool,
    seed: int,
    rows: int | None = None,
    deskewed: bool = False,
    own_gates: bool = False,
    data_dir: Path | None = None,
) -> Results:
    """Learn the images once, in their order, and judge by those held out, or by the test images."""
    X, y, X_judge, y_judge = halves(validate, deskewed, rows, data_dir)
    start = time.perf_counter()
    probabilities = predict(setting, own_gates, seed, X, y, X_judge)
    seconds = time.perf_counter() - start
    guesses = probabilities.argmax(axis=1)
    return {
        "accuracy": 100.0 * np.mean(guesses == y_judge),
        "log_loss": log_loss(y_judge, probabilities, labels=range(10)),
        "confusion": confusion_matrix(y_judge, guesses, labels=range(10)),
        "learnt": len(y),
        "judged": len(y_judge),
        "seconds": seconds,
    }


def predict(
    setting: dict[str, Any], own_gates: bool, seed: int, X: FloatArray, y: NDArray[Any], X_judge: FloatArray
) -> FloatArray:
    """Return the probabilities of the ten digits after one pass over X and y."""
    setting = {**setting, "shuffle": False, "n_jobs": 1}
    if not own_gates:
        return GLNClassifier(**setting, random_state=seed).fit(X, y).predict_proba(X_judge)
    chances = np.empty((len(X_judge), 10))
    for digit in range(10):
        alone = GLNClassifier(**setting, random_state=10 * seed + digit).fit(X, y == digit)
        chances[:, digit] = alone.predict_proba(X_judge)[:, 1]
    normalised: FloatArray = chances / chances.sum(axis=1, keepdims=True)
    return normalised


def run(
    variants: Annotated[
        Sequence[str], NameList("Names of variants, separated by commas; all by default.")
    ] = tuple(VARIANTS),
    rows: Annotated[int | None, Option("Images to learn; all by default.", least=100)] = None,
    seed: Seed = 0,
    store: Store = STORE,
    n_jobs: Workers = None,
    data_dir: DataDir = None,
    **replaced: Any,
) -> Results:
    """Evaluate variants of the setting on images held out of the training ones, and on the test images."""
    unknown = [name for name in variants if name not in VARIANTS]
    if unknown:
        raise ValueError(f"there is no variant {unknown[0]!r}; known are {', '.join(VARIANTS)}")
    datasets.load_mnist(data_dir)  # what is missing is missed before any job starts
    wanted = []
    for name in variants:
        changed = {**SETTING, **VARIANTS[name], **replaced}
        own = {key: changed.pop(key, False) for key in ("deskewed", "own_gates")}
        for validate in (True, False):
            arguments = {"setting": changed, "validate": validate, "seed": seed, "rows": rows, **own}
            wanted.append(jobs.Job(evaluate, arguments, VERSION, {"data_dir": data_dir}))
    found = iter(jobs.run(wanted, store, n_jobs, "passes over MNIST"))
    results = {name: {"held_out": next(found), "test": next(found)} for name in variants}
    return {
        "experiment": "mnist-classifier",
        "published": PUBLISHED,
        "setting": {**SETTING, **replaced},
        "differences": {name: VARIANTS[name] for name in variants},
        "chosen": max(variants, key=lambda name: results[name]["held_out"]["accuracy"]),
        "rows": rows,
        "seed": seed,
        "machine": machine(),
        "variants": results,
    }


def table(results: Results) -> ScoreTable:
    """Return for each variant its accuracies."""
    rows = {
        name + (" (chosen)" if name == results["chosen"] else ""): {
            "held out": found["held_out"]["accuracy"],
            "test": found["test"]["accuracy"],
            "test log-loss": found["test"]["log_loss"],
            "seconds": found["test"]["seconds"],
        }
        for name, found in results["variants"].items()
    }
    return ScoreTable(
        "Accuracy after one pass over MNIST, %",
        {"held out": ".2f", "test": ".2f", "test log-loss": ".3f", "seconds": ".0f"},
        rows,
    )


@styled
def draw(results: Results) -> Figure:
    """Draw every variant's accuracy, and which digits the chosen one takes for which."""
    variants, chosen = results["variants"], results["chosen"]
    figure = new_figure(10.0, 2.2 + 0.35 * max(len(variants), 6))
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
    names = list(variants)
    for half, color, shift, text in (
        ("held_out", ORANGE, -0.12, "held out of the training images"),
        ("test", BLUE, 0.12, "test images"),
    ):
        values = [variants[name][half]["accuracy"] for name in names]
        left.plot(values, np.arange(len(names)) + shift, "o", color=color, label=text)
    left.axvline(results["published"], color=GREY, linestyle="--", linewidth=1.0, label="published, deskewed")
    left.set_yticks(range(len(names)), [name + (" *" if name == chosen else "") for name in names])
    left.set_ylim(len(names) - 0.5, -0.5)
    left.grid(axis="x", color=GREY, alpha=0.3)
    left.set_xlabel("accuracy after one pass, % (* chosen by the images held out)")
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3)
    counts = np.array(variants[chosen]["test"]["confusion"])
    errors = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    right.imshow(errors, cmap="Blues")
    for row, column in np.ndindex(*counts.shape):
        if row != column and errors[row, column]:
            dark = errors[row, column] > 0.6 * errors.max()
            text_color = "white" if dark else "black"
            right.text(column, row, errors[row, column], ha="center", va="center", color=text_color, size=8)
    right.set_xticks(range(len(counts)))
    right.set_yticks(range(len(counts)))
    right.set_xlabel("taken for")
    right.set_ylabel("digit")
    right.set_title(f"{errors.sum()} errors on {counts.sum()} test images: {chosen}", size=9)
    return figure
