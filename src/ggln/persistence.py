"""Model files: safetensors with a JSON header. Loading never runs code; saving is all or nothing."""

import hashlib
import importlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
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


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a model file. A crash at any moment leaves either the old file or the new one."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {os.fspath(target.parent)!r} to save the model in")
    text = json.dumps({"format": FORMAT, **header}, sort_keys=True, default=_plain)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    # a single entry: safetensors writes several in random order, and equal models shall be equal files
    atomic.write(target, save(arrays, metadata={HEADER: f"{digest(text, arrays)} {text}"}))


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers and arrays, which parameters may be, into what JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a model file cannot hold {value!r}")


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Read a model file, or raise ValueError saying what is wrong with it."""
    if Path(path).is_dir():
        raise ValueError(f"{os.fspath(path)!r} is a folder, not a ggln model file")
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no model file {os.fspath(path)!r}")
    try:
        with safe_open(path, "numpy") as file:
            metadata = file.metadata() or {}
            arrays: Arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except PermissionError:
        raise
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)!r} is not a ggln model file, or is damaged: {error}") from error
    if HEADER not in metadata:
        raise ValueError(f"{os.fspath(path)!r} is a safetensors file, but not a ggln model")
    checksum, _, text = metadata[HEADER].partition(" ")
    if digest(text, arrays) != checksum:
        raise ValueError(f"{os.fspath(path)!r} is damaged: its checksum does not match its content")
    header: dict[str, Any] = json.loads(text)
    if header["format"] > FORMAT:
        raise ValueError(
            f"{os.fspath(path)!r} has format {header['format']}, this version of ggln reads up to {FORMAT}: "
            "upgrade ggln"
        )
    return header, arrays


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
    if name not in LOADABLE:
        raise ValueError(f"{os.fspath(path)!r} holds a {name!r}, which this version of ggln does not know")
    estimator = getattr(importlib.import_module(LOADABLE[name]), name)
    return estimator._from_state(header, arrays)
