"""Digits from nothing, by annealed Langevin dynamics, with distances to unseen digits.

Example: ggln reproduce digit-samples --count 100
"""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ggln.density import DenoisingDensity
from ggln.reproduction import mnist
from ggln.reproduction.hmc import energy_distance
from ggln.reproduction.shared.options import Option, Seed, Threads
from ggln.reproduction.shared.pictures import Figure, new_figure
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

FloatArray = NDArray[np.float64]
SETTINGS: dict[str, Any] = {
    "step": "split",
    "noise": (8.0, 5.0, 3.0, 2.0),
    "noise_unit": "data",
    "scaling": "noisy",
    "base_model": "none",
    "layer_sizes": (32,) * 6 + (1,),
    "context_dim": 12,
    "learning_rate": 0.4,
    "epochs": 10,
}
"""Chosen on other images, as those of `anomaly`: gates alone leave no noise in a sample."""
ANNEALED, SINGLE, PASSING = "annealed", "smallest noise alone", "annealed, given the row"
SOLVED = "the default"
GAUSSIAN, UNSEEN = "one Gaussian", "training images"


def nearest(rows: FloatArray, train: FloatArray, white: float) -> float:
    """Return the mean squared distance of rows to their nearest training image, white being 1."""
    distances = [((train - row) ** 2).mean(axis=1).min() for row in rows]
    return float(np.mean(distances)) / white**2


def run(
    count: Annotated[int, Option("Samples of each method.", least=16)] = 200,
    seed: Seed = 0,
    n_jobs: Threads = -1,
    **replaced: Any,
) -> Results:
    """Learn the 8 x 8 digits; compare samples with unseen digits, beside those of a fitted Gaussian."""
    images, settings = mnist.load("digits"), SETTINGS | replaced
    random = np.random.default_rng(seed)
    variants = {
        ANNEALED: {},
        SINGLE: {"noise": min(settings["noise"])},
        PASSING: {"base_model": "coordinate"},
    }
    covariance = np.cov(images.train.T)
    gaussian = random.multivariate_normal(images.train.mean(axis=0), covariance, count, method="eigh")
    solved = DenoisingDensity(random_state=seed, n_jobs=n_jobs).fit(images.train)
    drawn = {
        SOLVED: solved.sample(count, random_state=seed),
        **{
            name: DenoisingDensity(**settings | changed, random_state=seed, n_jobs=n_jobs)
            .fit(images.train)
            .sample(count, "langevin", random_state=seed)
            for name, changed in variants.items()
        },
        GAUSSIAN: gaussian,
        UNSEEN: images.train[random.permutation(len(images.train))[:count]],
    }
    kept = {name: np.clip(rows, 0.0, images.white) for name, rows in drawn.items()}
    return {
        "experiment": "digit-samples",
        "settings": settings,
        "count": count,
        "seed": seed,
        "machine": machine(),
        "white": images.white,
        "side": images.side,
        "samples": {
            name: {
                "energy_distance": energy_distance(rows / images.white, images.test / images.white),
                "nearest": nearest(rows, images.train, images.white) if name != UNSEEN else 0.0,
                "shown": rows[:16],
            }
            for name, rows in kept.items()
        },
    }


def table(results: Results) -> ScoreTable:
    """Return how far the samples of each method are from unseen digits."""
    names = {
        "energy_distance": "energy distance to unseen digits",
        "nearest": "squared distance to the nearest",
    }
    rows = {
        method: {title: own[key] for key, title in names.items()}
        for method, own in results["samples"].items()
    }
    return ScoreTable(f"{results['count']} samples of each", dict.fromkeys(names.values(), ".4f"), rows)


def draw(results: Results) -> Figure:
    """Draw a line of samples for each method."""
    samples = results["samples"]
    count = len(next(iter(samples.values()))["shown"])
    figure = new_figure(0.6 * count + 1.8, 0.75 * len(samples))
    panels = figure.subplots(len(samples), count, squeeze=False)
    for line, (name, own) in zip(panels, samples.items(), strict=True):
        for axes, pixels in zip(line, own["shown"], strict=True):
            image = np.array(pixels).reshape(results["side"], -1)
            axes.imshow(image, cmap="gray_r", vmin=0.0, vmax=results["white"])
            axes.set(xticks=[], yticks=[])
        label = f"{name}\nenergy distance {own['energy_distance']:.3f}"
        line[0].set_ylabel(label, fontsize=7, rotation=0, ha="right", va="center")
    return figure
