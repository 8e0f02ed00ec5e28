"""Data sets of images."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.datasets.files import File
from ggln.datasets.library import Folder, read
from ggln.datasets.registry import (
    MNIST_TEST_IMAGES,
    MNIST_TEST_LABELS,
    MNIST_TRAIN_IMAGES,
    MNIST_TRAIN_LABELS,
)

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Mnist:
    """Handwritten digits: grey values from 0, the paper, to 255, the ink; and which digit it is."""

    train_images: Bytes  #: [60000, 28, 28]
    train_labels: Bytes  #: [60000]
    test_images: Bytes  #: [10000, 28, 28]
    test_labels: Bytes  #: [10000]


def load_mnist(data_dir: Folder | None = None) -> Mnist:
    """Return MNIST in its official halves.

    Parameters
    ----------
    data_dir : path, optional
        A folder to look in before all others.
    """

    def only(file: File) -> NDArray[Any]:
        return read((file,), data_dir)[1][file.names[0]]

    return Mnist(
        only(MNIST_TRAIN_IMAGES),
        only(MNIST_TRAIN_LABELS),
        only(MNIST_TEST_IMAGES),
        only(MNIST_TEST_LABELS),
    )
