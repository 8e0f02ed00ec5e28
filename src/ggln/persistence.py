"""Model files: safetensors with a JSON header. Loading never runs code; saving is all or nothing."""

import hashlib
import importlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse
from safetensors.numpy import save

from ggln import atomic

FORMAT = 1
HEADER = "ggln"
LOADABLE = {
    "DenoisingDensity": "ggln.density",
    "GGLNRegressor": "ggln.estimators.regressor",
    "GLNClassifier": "ggln.estimators.classifier",
    "GLCB": "ggln.bandits.glcb",
    "TableRegressor": "ggln.tables.model",
}
"""The classes a file may name, and where they live: nothing else is ever imported."""

Arrays = dict[str, NDArray[Any]]


def digest(header: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of a header and of all arrays, in the order of their names."""
    state = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        state.update(f"{name} {array.dtype} {array.shape}".encode())
        state.update(array.data if array.size else b"")
    return state.hexdigest()


def write(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays, like: Path | None = None
) -> None:
    """Write a model file. A crash at any moment leaves either the old file or the new one.

    like: another file, whose permissions a new one gets.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {os.fspath(target.parent)!r} to save the model in")
    text = json.dumps({"format": FORMAT, **header}, sort_keys=True, default=_plain)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    # a single entry: safetensors writes several in random order, and equal models shall be equal files
    atomic.write(target, save(arrays, metadata={HEADER: f"{digest(text, arrays)} {text}"}), like)


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers and arrays, which parameters may be, into what JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a model file cannot hold {value!r}")


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Read a model file, or raise ValueError saying what is wrong with it."""
    name = os.fspath(path)
    content = _content(name)
    try:
        # from memory: a file that is mapped, and shortened meanwhile, would end the process
        arrays = {key: np.array(array) for key, array in parse(content).items()}
        size = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + size]).get("__metadata__", {})
    except (SafetensorError, KeyError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"{name!r} is not a ggln model file, or is damaged: {str(error)[:120]}") from error
    if HEADER not in metadata:
        raise ValueError(f"{name!r} is a safetensors file, but not a ggln model")
    checksum, _, text = metadata[HEADER].partition(" ")
    if digest(text, arrays) != checksum:
        raise ValueError(f"{name!r} is damaged: its checksum does not match its content")
    with naming(name):
        header: dict[str, Any] = json.loads(text)
        newer = header["format"] > FORMAT
    if newer:
        raise ValueError(
            f"{name!r} has format {header['format']}, this version of ggln reads up to {FORMAT}: upgrade ggln"
        )
    return header, arrays


def _content(name: str) -> bytes:
    """Return what an ordinary file holds, read once."""
    if Path(name).is_dir():
        raise ValueError(f"{name!r} is a folder, not a ggln model file")
    try:
        # a pipe without anybody who writes would be waited for
        file = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except PermissionError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(f"there is no model file {name!r}") from error
    except OSError as error:
        raise ValueError(f"{name!r} is not a ggln model file, or is damaged: {error}") from error
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError(f"{name!r} is not a ggln model file: it is no ordinary file")
        try:
            return stream.read()
        except (OSError, MemoryError) as error:
            raise ValueError(f"{name!r} cannot be read: {error}") from error


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make whatever goes wrong with the content of a file a ValueError that names the file."""
    try:
        yield
    except Exception as error:
        what = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{os.fspath(path)!r} holds no model that could be: {what}") from error


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator that was saved at `path`, exactly as it was.

    Examples
    --------
    >>> import ggln, tempfile, os
    >>> model = ggln.GGLNRegressor(layer_sizes=(4, 1), epochs=1, random_state=0).fit(
    ...     [[0.0], [1.0]], [0.0, 1.0]
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.ggln"))
    ...     same = ggln.load(os.path.join(folder, "model.ggln"))
    >>> (same.predict([[0.5]]) == model.predict([[0.5]])).all()
    np.True_
    """
    header, arrays = read(path)
    name = header.get("estimator")
    if not isinstance(name, str) or name not in LOADABLE:
        raise ValueError(f"{os.fspath(path)!r} holds a {name!r}, which this version of ggln does not know")
    estimator = getattr(importlib.import_module(LOADABLE[name]), name)
    with naming(path):
        return estimator._from_state(header, arrays)
