"""Libraries that not everybody needs: imported when they are wanted, and named where they are missing."""

from importlib import import_module, metadata
from typing import Any

EXTRAS = {
    "dask": "dask",
    "dask.array": "dask",
    "distributed": "dask",
    "matplotlib": "plots",
    "prometheus_client": "serve",
    "psycopg": "postgres",
    "pyarrow": "parquet",
    "pyarrow.parquet": "parquet",
    "starlette": "serve",
    "uvicorn": "serve",
}
"""The extra of the package that installs a library; all others are peers that experiments compare with."""


class MissingExtraError(ImportError, ValueError):
    """A library is not installed; the message says how to get it."""


def require(library: str, purpose: str = "this comparison") -> Any:
    """Import an optional library; if it is not installed, say how to get it."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        name, extra = library.partition(".")[0], EXTRAS.get(library, "peers")
        raise MissingExtraError(
            f"{purpose} needs {name}, which is not installed: pip install 'ggln[{extra}]'", name=name
        ) from error


def version(library: str) -> dict[str, str]:
    """Return an optional library's name and version, to stand beside those of `record.machine`."""
    return {library: metadata.version(library)}
