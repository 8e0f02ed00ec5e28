import gzip
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ggln import datasets
from ggln.datasets import files, images, mirrors, registry

FILES = [alternatives[0] for alternatives in registry.entry("mnist").files]


def idx(array: np.ndarray) -> bytes:
    return b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def test_the_registry_describes_the_published_files(full_data: Path) -> None:
    for file in FILES:
        if not (full_data / file.path).exists():
            pytest.skip(f"needs {file.path} in GGLN_DATA")
        assert files.checksum((full_data / file.path).read_bytes(), "sha256") == file.checksum
    digits = datasets.load_mnist(full_data)
    assert digits.train_images.shape == (60000, 28, 28)
    assert digits.test_images.shape == (10000, 28, 28)
    assert digits.train_images.dtype == digits.train_labels.dtype == np.uint8
    assert list(digits.train_labels[:5]) == [5, 0, 4, 1, 9]
    assert list(np.bincount(digits.test_labels)[:3]) == [980, 1135, 1032]
    assert files.content([digits.test_images]) == registry.MNIST_TEST_IMAGES.content


def test_a_small_copy_is_downloaded_and_read(
    folder: Path, server: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    for name in ("TRAIN_IMAGES", "TRAIN_LABELS", "TEST_IMAGES", "TEST_LABELS"):
        file = getattr(registry, f"MNIST_{name}")
        shape = (5, 3, 3) if "IMAGES" in name else (5,)
        values = rng.integers(0, 10, shape).astype(np.uint8)
        stem = file.path.split("/")[1]
        (folder / stem).write_bytes(gzip.compress(idx(values)))
        small = replace(file, content=files.content([values]), mirrors=(mirrors.Verbatim(server + stem),))
        monkeypatch.setattr(images, f"MNIST_{name}", small)
    digits = datasets.load_mnist()
    assert digits.train_images.shape == (5, 3, 3)
    assert sorted(path.name for path in (cache / "mnist").iterdir()) == sorted(
        file.path.split("/")[1] for file in FILES
    )
    table = datasets.load("mnist")
    assert table.X.shape == (10, 9)
    assert table.X.dtype == table.y.dtype == np.float64
    ((train, test),) = table.splits
    np.testing.assert_array_equal(table.X[train], digits.train_images.reshape(5, 9))
    np.testing.assert_array_equal(table.y[test], digits.test_labels)


@pytest.mark.parametrize(
    "data",
    [b"", b"nonsense", gzip.compress(b"\0\0\x0d\1"), gzip.compress(idx(np.zeros((2, 2), np.uint8))[:-1])],
    ids=["empty", "nonsense", "floats", "truncated"],
)
def test_what_is_no_idx_file_is_named(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"here is damaged, or is not a copy of mnist/t10k-labels"):
        files.parse(registry.MNIST_TEST_LABELS, data, "here")


def test_other_digits_are_noticed() -> None:
    data = gzip.compress(idx(np.zeros(10, np.uint8)))
    with pytest.raises(ValueError, match="its content differs from the published"):
        files.parse(registry.MNIST_TEST_LABELS, data, "here")
