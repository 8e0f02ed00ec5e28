"""Figures 3C and 5: fill in rectangles of images, trained by undoing noise in one pass.

`digits` is the small twin: scikit-learn's 8 x 8 digits, which need no download. The number of principal
components is chosen on the last tenth of the training images. The twin's noise and learning rate were chosen
on its training images, learning 1,100 of them and filling in the other 300: (4, 0.2) left an error of
0.0627, (3, 0.2) 0.0612, (6, 0.2) 0.0679, (4, 0.4) 0.0608 and (3, 0.4) 0.0589. Its layers are older, from
trials with digits of which some may be test images. MNIST's test images chose nothing.

Example: ggln reproduce mnist --data mnist --images 100
"""

import math
import resource
import time
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from ggln import datasets, presets
from ggln.density import DenoisingDensity
from ggln.reproduction.shared.options import DataDir, Option, Seed, Threads
from ggln.reproduction.shared.pictures import Figure, new_figure
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]

COMPONENTS = (5, 10, 20, 40, 80)
FRAMES = 25  # of the animation
SETTINGS: dict[str, dict[str, Any]] = {
    "mnist": {
        "step": "split",
        "noise": 75.0,
        "noise_unit": "data",
        "scaling": "noisy",
        "scaling_rows": 10_000,
        "layer_sizes": (50,) * 6 + (1,),
        "context_dim": 10,
        "learning_rate": 0.2,
        "epochs": 1,
        "shuffle": False,
    },
    "digits": {
        "step": "split",
        "noise": 3.0,
        "noise_unit": "data",
        "scaling": "noisy",
        "layer_sizes": (32,) * 6 + (1,),
        "context_dim": 8,
        "learning_rate": 0.4,
        "epochs": 10,
    },
}
"""The paper's sizes, noise and scaler for MNIST, with gates between pairs of rows and the split step."""
OTHERS: dict[str, dict[str, dict[str, Any]]] = {
    "mnist": {"G-GLN, the paper's": presets.PAPER_MNIST},
    "digits": {"the default": {}},
}
"""More densities that fill in the same images: for MNIST the paper's own settings; for the digits what is
solved, in closed form. The work of the latter grows with the square of the columns: it has not been measured
with 784 of them."""


class Images(NamedTuple):
    """Grey values of flat images, and the largest that there can be."""

    train: FloatArray  # [n, side^2]
    test: FloatArray
    white: float

    @property
    def side(self) -> int:
        """Pixels along an edge."""
        return math.isqrt(self.train.shape[1])


def load(data: str, data_dir: Path | None = None, rows: int | None = None) -> Images:
    """Return `mnist` in its official halves, or `digits` cut at random, always in the same way."""
    if data == "mnist":
        images = datasets.load_mnist(data_dir)
        train, test = (part.reshape(len(part), -1) for part in (images.train_images, images.test_images))
        return Images(train[:rows].astype(np.float64), test.astype(np.float64), 255.0)
    if data != "digits":
        raise ValueError(f"data must be mnist or digits, got {data!r}")
    pixels = load_digits().data[np.random.default_rng(0).permutation(1797)]
    return Images(pixels[:1400][:rows], pixels[1400:], 16.0)


def rectangles(count: int, side: int, random: np.random.Generator) -> Mask:
    """Return masks [count, side^2], each a rectangle of a third to a half of the edge in the middle part."""
    masks = np.zeros((count, side, side), np.bool_)
    margin = side // 7
    for mask in masks:
        height, width = random.integers(side // 3, side // 2 + 1, 2)
        top = random.integers(margin, side - margin - height + 1)
        left = random.integers(margin, side - margin - width + 1)
        mask[top : top + height, left : left + width] = True
    return masks.reshape(count, -1)


def error(filled: FloatArray, truth: FloatArray, masks: Mask, white: float) -> float:
    """Mean squared error inside the masks, grey values from 0 to 1."""
    return float(np.mean((filled - truth)[masks] ** 2)) / white**2


def fill_pca(train: FloatArray, truth: FloatArray, masks: Mask, components: int) -> FloatArray:
    """Return the expected missing pixels given the known ones, by probabilistic principal components."""
    model = PCA(components, random_state=0).fit(train)
    noise = max(float(model.noise_variance_), 1e-9)
    loadings = model.components_.T * np.sqrt(np.maximum(model.explained_variance_ - noise, 0.0))
    filled = truth.copy()
    for row, mask in zip(filled, masks, strict=True):
        known = loadings[~mask]
        precision = known.T @ known + noise * np.eye(components)
        hidden = np.linalg.solve(precision, known.T @ (row[~mask] - model.mean_[~mask]))
        row[mask] = (model.mean_ + loadings @ hidden)[mask]
    return filled


def fill_nearest(train: FloatArray, truth: FloatArray, masks: Mask) -> FloatArray:
    """Return the missing pixels of the training image that is nearest in the known ones."""
    filled = truth.copy()
    for row, mask in zip(filled, masks, strict=True):
        distance = ((train[:, ~mask] - row[~mask]) ** 2).sum(axis=1)
        row[mask] = train[distance.argmin(), mask]
    return filled


def _fill(
    model: DenoisingDensity, start: FloatArray, masks: Mask, steps: int, step_length: float
) -> FloatArray:
    """Return filled-in images: in closed form by what is solved, by denoising steps otherwise."""
    return model.infill(start, masks, None if model.step == "exact" else steps, step_length)


def choose_components(images: Images, random: np.random.Generator) -> int:
    """Return how many components fill in the last tenth of the training images best, from the others."""
    cut = len(images.train) * 9 // 10
    held = images.train[cut:][:200]
    masks = rectangles(len(held), images.side, random)
    few = [k for k in COMPONENTS if k < min(cut, images.train.shape[1])]
    part = images.train[:cut][-10_000:]
    errors = [error(fill_pca(part, held, masks, k), held, masks, images.white) for k in few]
    return few[int(np.argmin(errors))]


def run(
    data: Annotated[Literal["digits", "mnist"], Option("scikit-learn's 8 x 8 digits, or MNIST.")] = "digits",
    images: Annotated[int, Option("Test images to fill in.", least=8)] = 100,
    steps: Annotated[int, Option("Denoising steps.", least=25)] = 3000,
    step_length: Annotated[float, Option("Length of each step.", least=1e-6, most=1.0)] = 0.002,
    rows: Annotated[int | None, Option("Training images; all by default.", least=100)] = None,
    seed: Seed = 0,
    n_jobs: Threads = -1,
    data_dir: DataDir = None,
    **replaced: Any,
) -> Results:
    """Train on the training images; fill in so many test loaded, and a quarter as many training loaded."""
    loaded, random = load(data, data_dir, rows), np.random.default_rng(seed)
    settings = SETTINGS[data] | replaced
    model = DenoisingDensity(**settings, random_state=seed, n_jobs=n_jobs)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(loaded.train)
    seconds = {"fit": time.perf_counter() - wall, "fit_cpu": time.process_time() - cpu}
    more = {
        name: DenoisingDensity(**own, random_state=seed, n_jobs=n_jobs).fit(loaded.train)
        for name, own in OTHERS[data].items()
    }
    components, mean = choose_components(loaded, random), loaded.train.mean(axis=0)
    parts = {"test": loaded.test[random.permutation(len(loaded.test))[:images]]}
    parts["train"] = loaded.train[random.permutation(len(loaded.train))[: max(1, images // 4)]]
    results: Results = {}
    wall, cpu = time.perf_counter(), time.process_time()
    for name, truth in parts.items():
        masks = rectangles(len(truth), loaded.side, random)
        start = np.where(masks, mean, truth)
        path, now, done = [start], start, 0
        for goal in np.linspace(0, steps, FRAMES + 1).astype(int)[1:]:
            now = model.infill(now, masks, steps=int(goal) - done, step_length=step_length)
            done = int(goal)
            path.append(now)
        others = {
            "mean image": start,
            "nearest neighbour": fill_nearest(loaded.train, truth, masks),
            f"PCA ({components})": fill_pca(loaded.train, truth, masks, components),
        }
        also = {name: _fill(own, start, masks, steps, step_length) for name, own in more.items()}
        filled = {
            name: np.clip(own, 0.0, loaded.white) for name, own in {"G-GLN": now, **also, **others}.items()
        }
        results[name] = {
            "errors": {method: error(own, truth, masks, loaded.white) for method, own in filled.items()},
            "error_by_step": [error(np.clip(x, 0, loaded.white), truth, masks, loaded.white) for x in path],
            "shown": {
                "original": truth[:8],
                "masked": np.where(masks, 0.0, truth)[:8],
                **{method: own[:8] for method, own in filled.items()},
            },
            "path": [x[:4] for x in path],
        }
    seconds |= {"infill": time.perf_counter() - wall, "infill_cpu": time.process_time() - cpu}
    return {
        "experiment": "mnist",
        "paper": "Figures 3C and 5 (pictures; the paper gives no numbers)",
        "data": data,
        "settings": settings,
        "rows": len(loaded.train),
        "images": images,
        "steps": steps,
        "step_length": step_length,
        "seed": seed,
        "machine": machine(),
        "seconds": seconds,
        "peak_memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "white": loaded.white,
        "side": loaded.side,
        **results,
    }


def table(results: Results) -> ScoreTable:
    """Return the error of each method on unseen and on training images."""
    parts = {"unseen images": results["test"]["errors"], "training images": results["train"]["errors"]}
    rows: dict[str, dict[str, float]] = {}
    for number, method in enumerate(results["test"]["errors"]):
        rows[method] = {title: list(errors.values())[number] for title, errors in parts.items()}
    return ScoreTable("Mean squared error inside the masks", dict.fromkeys(parts, ".4f"), rows)


def file_name(results: Results) -> str:
    """Return the name of the files: one for each set of images."""
    return "mnist" if results["data"] == "mnist" else "mnist-digits"


def draw(results: Results) -> Figure:
    """Draw some images in columns, with a line for each method, for test and training images."""
    parts = [("test", "unseen images"), ("train", "training images")]
    methods = list(results["test"]["shown"])
    count = [min(8, len(results[part]["shown"]["original"])) for part, _ in parts]
    figure = new_figure(0.75 * sum(count) + 1.6, 0.8 * len(methods))
    panels = figure.subplots(len(methods), sum(count), squeeze=False)
    column = 0
    for (part, title), images in zip(parts, count, strict=True):
        errors = results[part]["errors"]
        for i in range(images):
            for line, method in enumerate(results[part]["shown"]):
                axes = panels[line, column + i]
                _show(axes, results[part]["shown"][method][i], results)
                if i == 0:
                    label = f"{method}\n{errors[method]:.4f}" if method in errors else method
                    axes.set_ylabel(label, fontsize=7, rotation=0, ha="right", va="center")
        panels[0, column].set_title(title, fontsize=8, loc="left")
        column += images
    return figure


def animate(results: Results, path: Path) -> None:
    """Write some test images on their way from the mean image to the filled one, as a GIF."""
    frames = np.array(results["test"]["path"])
    figure = new_figure(1.2 * frames.shape[1], 1.5)
    panels = figure.subplots(1, frames.shape[1], squeeze=False)[0]
    images = [_show(axes, rows, results) for axes, rows in zip(panels, frames[0], strict=True)]
    title = figure.suptitle("step 0", fontsize=8)
    steps = np.linspace(0, results["steps"], len(frames)).astype(int)

    def update(frame: int) -> list[Any]:
        for image, row in zip(images, frames[frame], strict=True):
            image.set_data(row.reshape(results["side"], -1))
        title.set_text(f"step {steps[frame]}")
        return images

    order = [*range(len(frames)), *[len(frames) - 1] * 8]
    from matplotlib.animation import FuncAnimation, PillowWriter

    FuncAnimation(figure, update, order).save(path, PillowWriter(fps=8))


def _show(axes: Any, pixels: Any, results: Results) -> Any:
    image = np.array(pixels).reshape(results["side"], -1)
    axes.set(xticks=[], yticks=[])
    return axes.imshow(image, cmap="gray_r", vmin=0.0, vmax=results["white"])
