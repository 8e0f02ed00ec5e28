"""Files of data: where they may be, what is in them, and whether that is what was published.

Reading never unpickles. Writing is all or nothing.
"""

import gzip
import hashlib
import io
import os
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.datasets.mirrors import MOST_UNPACKED, Mirror

Arrays = dict[str, NDArray[Any]]

UNREADABLE = (
    ValueError,
    TypeError,
    LookupError,
    OSError,
    EOFError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What the readers of npz, mat, idx, zip, ARFF and text raise when a file is not one of theirs."""


@dataclass(frozen=True)
class File:
    """One file of a data set.

    `checksum` is of the bytes in circulation. A file made from another public copy has the same numbers in
    other bytes: it is held against `content`, and only the arrays that this covers are read from it.
    """

    path: str  # inside a data directory
    checksum: str  # "sha256:..." or "git:...", the id by which git knows these bytes; empty: none is known
    content: str = ""  # see `content`; empty: only the bytes count
    names: tuple[str, ...] = ("X", "y")  # of the arrays that `content` covers
    mirrors: tuple[Mirror, ...] = ()  # where to download it, tried in this order


def checksum(data: bytes, kind: str) -> str:
    """Return the checksum of `data`; "git" is the SHA-1 of a header that says their length, and of them."""
    if kind == "git":
        return "git:" + hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return "sha256:" + hashlib.sha256(data).hexdigest()


def content(arrays: Iterable[NDArray[Any]]) -> str:
    """Return the SHA-256 over shape and bytes (little-endian float64, row by row) of some arrays."""
    state = hashlib.sha256()
    for array in arrays:
        values = np.ascontiguousarray(array, dtype="<f8")
        state.update(str(values.shape).encode())
        state.update(values.data)
    return state.hexdigest()


def parse(file: File, data: bytes, origin: str) -> Arrays:
    """Return the arrays in `data`, or raise ValueError saying what is wrong with what came from `origin`."""
    exact = not file.checksum or checksum(data, file.checksum.partition(":")[0]) == file.checksum
    if not exact and not file.content:
        raise ValueError(f"{origin} is damaged or another version: its checksum is not that of {file.path}")
    try:
        arrays = _read(file, data)
        if exact:
            return arrays
        covered = {name: arrays[name] for name in file.names}
        found = content(covered.values())
    except UNREADABLE as error:
        raise ValueError(f"{origin} is damaged, or is not a copy of {file.path} ({error})") from error
    if found != file.content:
        raise ValueError(
            f"{origin} can be read, but its content differs from the published {file.path} (other rows, "
            f"another order or other rounding): the checksum of its values is {found[:12]}..., not "
            f"{file.content[:12]}..."
        )
    return covered


def _read(file: File, data: bytes) -> Arrays:
    """Return the arrays in a file of the format that its name tells."""
    if file.path.endswith(".mat"):
        return _mat(data)
    if file.path.endswith("-ubyte.gz"):
        return {file.names[0]: _idx(_gunzip(data))}
    if file.path.endswith(".gz"):  # a text, as the numbers of its bytes
        return {"text": np.frombuffer(_gunzip(data), np.uint8)}
    return _npz(data)


def _gunzip(data: bytes) -> bytes:
    """Return what a gzip archive holds, unless that is more than any data set."""
    with gzip.open(io.BytesIO(data)) as archive:
        content = archive.read(MOST_UNPACKED + 1)
    if len(content) > MOST_UNPACKED:
        raise ValueError(f"it holds more than {MOST_UNPACKED >> 20} MB")
    return content


def _npz(data: bytes) -> Arrays:
    if not zipfile.is_zipfile(io.BytesIO(data)):  # NumPy would take it for a pickle, and say how to load one
        raise ValueError("it is not a whole npz file")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _mat(data: bytes) -> Arrays:
    from scipy.io import loadmat

    return {name: value for name, value in loadmat(io.BytesIO(data)).items() if not name.startswith("__")}


def _idx(data: bytes) -> NDArray[np.uint8]:
    """Return the array of an idx file: two zeros, 8 for bytes, the number of axes, their lengths, values."""
    if len(data) < 4 or data[:3] != b"\0\0\x08":
        raise ValueError("it does not begin as an idx file of bytes does")
    begin = 4 + 4 * data[3]
    shape = np.frombuffer(data[4:begin], ">u4").astype(np.int64)
    return np.frombuffer(data, np.uint8, offset=begin).reshape(shape)


def cache() -> Path:
    """Return the folder for downloads: `GGLN_CACHE`, or `ggln` among the caches of this user."""
    if own := os.environ.get("GGLN_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ggln"


def places(data_dir: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the folders to look in: the one given, the one that `GGLN_DATA` names, and the cache."""
    named = {"data_dir": data_dir, "the environment variable GGLN_DATA": os.environ.get("GGLN_DATA") or None}
    for name, folder in named.items():
        if folder is not None and not Path(folder).is_dir():
            raise FileNotFoundError(
                f"{name} must name a folder of data sets: there is no {os.fspath(folder)!r}"
            )
    return [Path(folder) for folder in named.values() if folder is not None] + [cache()]
