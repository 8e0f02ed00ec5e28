"""Places in public that have the tables: how each is downloaded and turned into a file of this package."""

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Fetch = Callable[[str], bytes]
Table = NDArray[np.float64]

MOST_UNPACKED = 1 << 29
"""Bytes that an archive may hold: the US census has 345 million."""
OPENML = "https://www.openml.org/api/v1/json/data/{}"


class Mirror(Protocol):
    """A place in public that has a file, in whatever format."""

    @property
    def url(self) -> str:
        """Where it is."""

    def read(self, fetch: Fetch, names: Sequence[str]) -> bytes:
        """Return the file, inputs and targets called `names` in it; `fetch` returns what is at a URL."""


@dataclass(frozen=True)
class Verbatim:
    """The file itself."""

    url: str

    def read(self, fetch: Fetch, names: Sequence[str]) -> bytes:  # noqa: ARG002
        """Return the file as it is."""
        return fetch(self.url)


@dataclass(frozen=True)
class Text:
    """A text file with one row on a line; or one in a zip archive, if `member` names it."""

    url: str
    features: range
    target: int
    delimiter: str | None = None  # None: white space of any length
    skip: int = 0  # lines above the first row
    member: str = ""  # name in the archive, whatever its folder there

    def read(self, fetch: Fetch, names: Sequence[str]) -> bytes:
        """Return the table as npz file."""
        data = fetch(self.url)
        if self.member:
            data = _unzip(data, self.member)
        table = np.loadtxt(io.BytesIO(data), delimiter=self.delimiter, skiprows=self.skip, ndmin=2)
        return _npz(names, table, self.features, self.target)


@dataclass(frozen=True)
class Matrix:
    """A table that is one array: a text file, or NumPy's own format if the name ends in .npy."""

    url: str
    skip: int = 0  # lines above the first row

    def read(self, fetch: Fetch, names: Sequence[str]) -> bytes:
        """Return the array as npz file."""
        data = io.BytesIO(fetch(self.url))
        npy = self.url.endswith(".npy")
        table = np.load(data, allow_pickle=False) if npy else np.loadtxt(data, skiprows=self.skip, ndmin=2)
        (name,) = names
        return _packed({name: table.astype(np.float64)})


@dataclass(frozen=True)
class Zipped:
    """A text file, which is kept as gz file."""

    url: str

    def read(self, fetch: Fetch, names: Sequence[str]) -> bytes:  # noqa: ARG002
        """Return the text, compressed."""
        return gzip.compress(fetch(self.url), mtime=0)


@dataclass(frozen=True)
class OpenML:
    """A data set of OpenML, whose description names an ARFF file and its MD5."""

    number: int
    features: range
    target: int
    description: str = OPENML

    @property
    def url(self) -> str:
        """Where its description is."""
        return self.description.format(self.number)

    def read(self, fetch: Fetch, names: Sequence[str]) -> bytes:
        """Return the table as npz file."""
        from scipy.io.arff import loadarff

        about = json.loads(fetch(self.url))["data_set_description"]
        data = fetch(about["url"])
        if hashlib.md5(data, usedforsecurity=False).hexdigest() != about["md5_checksum"]:
            raise ValueError(f"{about['url']} has another MD5 than OpenML says: it may be damaged")
        rows, _ = loadarff(io.StringIO(data.decode()))
        # OpenML declares whole numbers as categories at times; as bytes they are numbers still
        table = np.column_stack([rows[column].astype(np.float64) for column in rows.dtype.names])
        return _npz(names, table, self.features, self.target)


@dataclass(frozen=True)
class Matlab:
    """A matrix in a Matlab file."""

    url: str
    variable: str
    features: range
    targets: range

    def read(self, fetch: Fetch, names: Sequence[str]) -> bytes:
        """Return the matrix as npz file."""
        from scipy.io import loadmat
        from scipy.io.matlab import MatReadError

        data = fetch(self.url)
        try:
            table = loadmat(io.BytesIO(data))[self.variable]
        except MatReadError as error:
            raise ValueError(str(error)) from error
        return _npz(names, table, self.features, self.targets)


def _unzip(data: bytes, member: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if PurePosixPath(name).name == member:
                if archive.getinfo(name).file_size > MOST_UNPACKED:
                    raise ValueError(f"{member} in the archive has more than {MOST_UNPACKED >> 20} MB")
                return archive.read(name)
    raise KeyError(f"there is no {member} in the archive")


def _npz(names: Sequence[str], table: NDArray[Any], features: range, target: int | range) -> bytes:
    """Return the npz file of a table."""
    inputs, targets = names
    y: Table = table[:, target if isinstance(target, int) else list(target)].astype(np.float64)
    X: Table = table[:, list(features)].astype(np.float64)
    return _packed({inputs: X, targets: y})


def _packed(arrays: dict[str, Table]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()
