"""Digits from nothing: drawn by the default, or by annealed Langevin dynamics of networks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.density import DenoisingDensity
from ggln.reproduction import mnist
from ggln.reproduction.hmc import energy_distance
from ggln.reproduction.shared.record import Results, machine

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


def run(count: int = 200, seed: int = 0, n_jobs: int | None = None, **replaced: Any) -> Results:
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
