"""What is here, and getting what is not."""

import os
from pathlib import Path

from ggln.datasets.download import download
from ggln.datasets.files import Arrays, File, parse, places
from ggln.datasets.registry import ENTRIES, entry

Folder = str | os.PathLike[str]


def names() -> list[str]:
    """Return the names of all known data sets.

    Examples
    --------
    >>> from ggln import datasets
    >>> datasets.names()[:3]
    ['boston', 'concrete', 'energy']
    """
    return list(ENTRIES)


def find(name: str, data_dir: Folder | None = None) -> list[Path] | None:
    """Return the files of a data set, unread; None, if one of them is not here."""
    found = [_find(alternatives, data_dir) for alternatives in entry(name).files]
    paths = [hit[1] for hit in found if hit is not None]
    return paths if len(paths) == len(found) else None


def get(name: str, data_dir: Folder | None = None) -> list[Path]:
    """Return the files of a data set, verified; what is not here is downloaded."""
    return [read(alternatives, data_dir)[0] for alternatives in entry(name).files]


def read(alternatives: tuple[File, ...], data_dir: Folder | None = None) -> tuple[Path, Arrays]:
    """Return where one of `alternatives` is, and its arrays; if none is here, the first is downloaded."""
    hit = _find(alternatives, data_dir)
    if hit is None:
        return download(alternatives[0])
    file, path = hit
    try:
        return path, parse(file, path.read_bytes(), str(path))
    except ValueError as error:
        raise ValueError(
            f"{error}. Delete it, then `ggln datasets get` finds or downloads another one"
        ) from error


def _find(alternatives: tuple[File, ...], data_dir: Folder | None) -> tuple[File, Path] | None:
    """Return the first file that is here: a nearer place counts more than a better file."""
    for place in places(data_dir):
        for file in alternatives:
            if (place / file.path).is_file():
                return file, place / file.path
    return None
