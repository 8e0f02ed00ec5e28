"""Tables of the contextual bandits as arrays: contexts, and classes where there are any."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggln.datasets import bandit_files as known
from ggln.datasets.files import File
from ggln.datasets.library import Folder, read

ADULT_LABEL = 6  # the occupation
ADULT_CATEGORIES = (1, 3, 5, 7, 8, 9, 13, 14)
CENSUS_ROWS = 2_458_285
CENSUS_LABEL, CENSUS_KEY = "dOccup", "caseid"
CENSUS_LIMIT = 150_000
"""Rows that the benchmark uses at most; one-hot, all of them would take a gigabyte."""


class BanditTable(NamedTuple):
    """What an environment is made from."""

    name: str
    X: NDArray[Any]  #: [n, d], numbers as they are, categories one-hot
    y: NDArray[np.intp] | None  #: [n], classes from 0; None where rewards are not classes


def load_bandit(name: str, data_dir: Folder | None = None) -> BanditTable:
    """Return the table of a contextual bandit.

    Parameters
    ----------
    name : {"jester", "financial", "statlog", "covertype", "mushroom", "adult", "census"}
        Ratings of jokes, returns of stocks, and five classifications; for "mushroom", class 1 is poisonous.
    data_dir : path, optional
        A folder to look in before all others.
    """
    if name not in _LOADERS:
        raise ValueError(f"there is no bandit {name!r}; known are {', '.join(_LOADERS)}")
    X, y = _LOADERS[name](data_dir)
    return BanditTable(name, X, None if y is None else y.astype(np.intp))


Loaded = tuple[NDArray[Any], NDArray[Any] | None]


def _jester(data_dir: Folder | None) -> Loaded:
    return _arrays(known.JESTER, data_dir)["ratings"], None


def _financial(data_dir: Folder | None) -> Loaded:
    return _arrays(known.FINANCIAL, data_dir)["contexts"], None


def _statlog(data_dir: Folder | None) -> Loaded:
    arrays = _arrays(known.STATLOG, data_dir)
    return arrays["X"], arrays["y"] - 1


def _covertype(data_dir: Folder | None) -> Loaded:
    arrays = _arrays(known.COVERTYPE, data_dir)
    return arrays["X"], arrays["y"] - 1


def _mushroom(data_dir: Folder | None) -> Loaded:
    letters = np.array([line.split(",") for line in _lines(known.MUSHROOM, data_dir)])
    return one_hot(letters[:, 1:]), letters[:, 0] == "p"


def _adult(data_dir: Folder | None) -> Loaded:
    lines = [line for file in known.ADULT for line in _lines(file, data_dir)]
    rows = [line.split(", ") for line in lines if "?" not in line and not line.startswith("|")]
    table = np.array(rows)
    numbers = [i for i in range(table.shape[1]) if i not in (ADULT_LABEL, *ADULT_CATEGORIES)]
    # The full stop after incomes of the test file stays: with it, contexts have the documented 94 features
    categories = one_hot(table[:, ADULT_CATEGORIES])
    X = np.column_stack([table[:, numbers].astype(np.float64), categories])
    return X, np.unique(table[:, ADULT_LABEL], return_inverse=True)[1]


def _census(data_dir: Folder | None) -> Loaded:
    header, *lines = _lines(known.CENSUS, data_dir)
    columns = header.split(",")
    if CENSUS_LABEL not in columns or CENSUS_KEY not in columns or len(lines) != CENSUS_ROWS:
        raise ValueError(
            f"{known.CENSUS.path} must have columns {CENSUS_KEY}, {CENSUS_LABEL} and {CENSUS_ROWS:,} rows; "
            f"this one has {len(columns)} columns and {len(lines):,} rows"
        )
    chosen = np.sort(np.random.default_rng(0).permutation(len(lines))[:CENSUS_LIMIT])
    codes = np.loadtxt([lines[row] for row in chosen], dtype=np.int64, delimiter=",", ndmin=2)
    label = columns.index(CENSUS_LABEL)
    features = [i for i in range(len(columns)) if i not in (label, columns.index(CENSUS_KEY))]
    return one_hot(codes[:, features]), np.unique(codes[:, label], return_inverse=True)[1]


_LOADERS: dict[str, Callable[[Folder | None], Loaded]] = {
    "jester": _jester,
    "financial": _financial,
    "statlog": _statlog,
    "covertype": _covertype,
    "mushroom": _mushroom,
    "adult": _adult,
    "census": _census,
}


def one_hot(categories: NDArray[Any]) -> NDArray[np.uint8]:
    """Return a column for each value of each column, 1 where a row has it; values in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> one_hot(np.array([["b", "x"], ["a", "x"]]))
    array([[0, 1, 1],
           [1, 0, 1]], dtype=uint8)
    """
    parts = [column[:, None] == np.unique(column) for column in categories.T]
    return np.hstack(parts).astype(np.uint8)


def _arrays(file: File, data_dir: Folder | None) -> dict[str, NDArray[Any]]:
    return read((file,), data_dir)[1]


def _lines(file: File, data_dir: Folder | None) -> Sequence[str]:
    """Return the lines of a text that are not empty."""
    text = _arrays(file, data_dir)["text"].tobytes().decode()
    return [line for line in text.splitlines() if line.strip()]
