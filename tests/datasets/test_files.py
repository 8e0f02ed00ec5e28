import hashlib
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from ggln import datasets
from ggln.datasets import files, registry


class Save(Protocol):
    def __call__(self, folder: Path, **arrays: NDArray[Any]) -> Path: ...


@pytest.fixture
def save(table: NDArray[np.float64]) -> Save:
    """Return a function that puts the small data set into a folder, some of its arrays being others."""

    def save(folder: Path, **arrays: NDArray[Any]) -> Path:
        path = folder / "toys" / "small.npz"
        path.parent.mkdir(parents=True)
        np.savez(path, **({"X": table[:, :2], "y": table[:, 2]} | arrays))
        return path

    return save


def test_nearer_places_come_first(
    small: files.File, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Save
) -> None:
    for folder in (tmp_path / "given", tmp_path / "named", cache):
        save(folder)
    monkeypatch.setenv("GGLN_DATA", str(tmp_path / "named"))
    assert datasets.get("small", tmp_path / "given") == [tmp_path / "given" / small.path]
    assert datasets.get("small") == [tmp_path / "named" / small.path]
    (tmp_path / "named" / small.path).unlink()
    assert datasets.get("small") == [cache / small.path]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"GGLN_CACHE": "/own", "XDG_CACHE_HOME": "/xdg"}, "/own"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/ggln"),
        ({"HOME": "/home/ada"}, "/home/ada/.cache/ggln"),
    ],
)
def test_cache(variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GGLN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert files.cache() == Path(expected)


def test_a_folder_that_is_not_there_is_an_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match=r"data_dir must name a folder.*'/nowhere'"):
        datasets.load("boston", "/nowhere")
    monkeypatch.setenv("GGLN_DATA", "/nowhere")
    with pytest.raises(FileNotFoundError, match="GGLN_DATA must name a folder"):
        datasets.load("boston")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no data set 'bostom'; known are boston, concrete, .*, sarcos"):
        datasets.load("bostom")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"nonsense",
        lambda data: data[100:],
    ],
    ids=["truncated", "empty", "nonsense", "headless"],
)
def test_a_damaged_file_is_named(
    small: files.File, cache: Path, damage: Callable[[bytes], bytes], save: Save
) -> None:
    path = save(cache)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"{path} is damaged, or is not a copy of {small.path}"):
        datasets.load("small")


def test_other_numbers_are_noticed(
    small: files.File, cache: Path, save: Save, table: NDArray[np.float64]
) -> None:
    path = save(cache, X=np.nextafter(table[:, :2], 9.0))
    with pytest.raises(ValueError, match=rf"{path} can be read, but its content differs.*Delete it"):
        datasets.load("small")


def test_a_missing_array_is_noticed(small: files.File, cache: Path, table: NDArray[np.float64]) -> None:
    path = cache / small.path
    path.parent.mkdir(parents=True)
    np.savez(path, X=table[:, :2])
    with pytest.raises(ValueError, match="is not a copy"):
        datasets.load("small")


def test_pickles_are_never_loaded(small: files.File, cache: Path, tmp_path: Path, save: Save) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (str(tmp_path / "trapped"),)

    save(cache, X=np.array([Trap()], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        datasets.load("small")
    assert not (tmp_path / "trapped").exists()


def test_stored_splits_are_read_only_from_the_very_bytes_that_were_published(
    small: files.File, cache: Path, monkeypatch: pytest.MonkeyPatch, save: Save
) -> None:
    train, test = np.array([4, 3], dtype=np.int32), np.array([0], dtype=np.int32)
    path = save(cache, train_0=train, test_0=test)
    assert len(datasets.load("small").splits) == 3  # the recipe's: the bytes are not those of the registry
    published = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    entry = replace(registry.entry("small"), files=((replace(small, checksum=published),),))
    monkeypatch.setitem(registry.ENTRIES, "small", entry)
    ((first, second),) = datasets.load("small").splits
    np.testing.assert_array_equal(first, train)
    np.testing.assert_array_equal(second, test)


def test_git_checksums_are_those_of_git(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"torques\0\n")
    try:
        command = ["git", "hash-object", "--no-filters", str(tmp_path / "file")]
        expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except FileNotFoundError:
        pytest.skip("needs git")
    assert files.checksum(b"torques\0\n", "git") == f"git:{expected}"


def test_a_file_known_by_its_bytes_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="here is damaged or another version"):
        files.parse(registry.SARCOS_TRAIN, b"MATLAB 5.0", "here")


def test_what_is_no_npz_is_not_taken_for_a_pickle(small: files.File, tmp_path: Path, save: Save) -> None:
    path = save(tmp_path)
    path.write_bytes(b"\x80\x04 neither an archive nor anything to be loaded")
    with pytest.raises(ValueError, match="is damaged") as caught:
        datasets.get("small", tmp_path)
    assert "pickle" not in str(caught.value)
