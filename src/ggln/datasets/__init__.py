"""Public data sets for the experiments: found in a folder or downloaded, and verified either way.

Looked for in this order: the argument `data_dir`, the folder that the environment variable `GGLN_DATA` names,
the cache (`GGLN_CACHE`, or `ggln` among the user's caches); then downloaded into the cache.
"""

from ggln.datasets.images import Mnist, load_mnist
from ggln.datasets.library import find, get, names
from ggln.datasets.registry import ENTRIES, Entry
from ggln.datasets.tables import Dataset, Sarcos, load, load_sarcos

__all__ = [
    "ENTRIES",
    "Dataset",
    "Entry",
    "Mnist",
    "Sarcos",
    "find",
    "get",
    "load",
    "load_mnist",
    "load_sarcos",
    "names",
]
