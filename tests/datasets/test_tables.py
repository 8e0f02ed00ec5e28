import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from ggln import datasets
from ggln.datasets import files, registry, splits, tables

UCI = [name for name, entry in registry.ENTRIES.items() if entry.files[0][0].path.startswith("uci/")]


@pytest.mark.parametrize("name", UCI)
def test_rebuilt_splits_are_the_published_ones(name: str, full_data: Path) -> None:
    data, entry = datasets.load(name, full_data), registry.entry(name)
    rebuilt = splits.standard(entry.rows, entry.splits)
    assert len(data.splits) == len(rebuilt) == (5 if name == "protein" else 20)
    for published, ours in zip(data.splits, rebuilt, strict=True):
        np.testing.assert_array_equal(published[0], ours[0])
        np.testing.assert_array_equal(published[1], ours[1])


@pytest.mark.parametrize("name", UCI)
def test_the_registry_describes_the_published_files(name: str, full_data: Path) -> None:
    entry = registry.entry(name)
    ((file,),) = entry.files
    data = datasets.load(name, full_data)
    assert data.X.shape == (entry.rows, entry.features)
    assert data.y.shape == (entry.rows,)
    assert data.X.dtype == data.y.dtype == np.float64
    assert files.content([data.X, data.y]) == file.content
    assert files.checksum((full_data / file.path).read_bytes(), "sha256") == file.checksum
    assert np.isfinite(data.X).all()


@pytest.mark.parametrize("name", UCI)
def test_the_protocols_own_copy_gives_the_published_content(name: str, full_data: Path) -> None:
    ((file,),) = registry.entry(name).files
    arrays = dict(np.load(full_data / file.path, allow_pickle=False))
    width = 1 + max(*arrays["feature_columns"], arrays["target_column"])
    table = np.zeros((len(arrays["X"]), width))
    table[:, arrays["feature_columns"]] = arrays["X"]
    table[:, arrays["target_column"]] = arrays["y"]
    text = io.BytesIO()
    np.savetxt(text, table, fmt="%.17g")
    data = file.mirrors[-1].read(lambda url: text.getvalue(), file.names)
    assert set(files.parse(file, data, "the mirror")) == {"X", "y"}


def test_naval_has_its_constant_features(full_data: Path) -> None:
    data = datasets.load("naval", full_data)
    assert list(np.flatnonzero(np.ptp(data.X, axis=0) == 0)) == [8, 11]
    assert (data.y.min(), data.y.max()) == (
        0.95,
        1.0,
    )  # the compressor's decay; the turbine's is in 0.975 to 1


def test_splits_do_not_touch_numpys_global_generator() -> None:
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    train, test = splits.standard(308, 1)[0]
    assert np.random.random() == expected  # noqa: NPY002
    assert (len(train), len(test)) == (277, 31)
    assert sorted([*train, *test]) == list(range(308))


def test_partial_sarcos(full_data: Path) -> None:
    if (full_data / registry.SARCOS_TRAIN.path).exists():
        pytest.skip("the complete training file is at hand")
    arm, free = datasets.load_sarcos(full_data), datasets.load_sarcos(full_data, leak_free=True)
    assert not arm.complete
    assert arm.X_train.shape == (19324, 21)
    assert arm.Y_train.shape == (19324, 7)
    assert arm.X_test.shape == (4449, 21)
    assert (np.diff(arm.index) > 0).all()
    leaked = arm.index % tables.TEST_STRIDE == 0
    np.testing.assert_allclose(arm.Y_train[leaked], arm.Y_test, atol=1e-5)
    assert len(free.index) == len(free.X_train) == len(free.Y_train) == 14875
    np.testing.assert_array_equal(free.X_train, arm.X_train[~leaked])


def test_sarcos_as_a_table_has_one_split(full_data: Path) -> None:
    data, arm = datasets.load("sarcos", full_data), datasets.load_sarcos(full_data)
    ((train, test),) = data.splits
    np.testing.assert_array_equal(data.X[train], arm.X_train)
    np.testing.assert_array_equal(data.y[test], arm.Y_test)


def test_complete_sarcos_is_preferred(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).normal(size=(25, 28))
    (cache / "sarcos").mkdir(parents=True)
    savemat(cache / "sarcos" / "sarcos_inv.mat", {"sarcos_inv": table})
    np.savez(cache / "sarcos" / "sarcos_inv_test.npz", X=table[::10, :21], Y=table[::10, 21:])
    (cache / "sarcos" / "sarcos_inv_train_partial.npz").touch()
    data = (cache / "sarcos" / "sarcos_inv.mat").read_bytes()
    train = replace(registry.SARCOS_TRAIN, checksum=files.checksum(data, "git"))
    test = replace(registry.SARCOS_TEST, content=files.content([table[::10, :21], table[::10, 21:]]))
    monkeypatch.setattr(tables, "SARCOS_TRAIN", train)
    monkeypatch.setattr(tables, "SARCOS_TEST", test)
    arm = datasets.load_sarcos(leak_free=True)
    assert arm.complete
    assert list(arm.index) == [row for row in range(25) if row % 10]
    np.testing.assert_array_equal(arm.X_train, table[arm.index, :21])
    np.testing.assert_array_equal(arm.Y_train, table[arm.index, 21:])
    np.testing.assert_array_equal(arm.Y_test, table[[0, 10, 20], 21:])
