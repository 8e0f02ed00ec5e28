"""Libraries that only some comparisons need, imported when they are."""

from importlib import import_module, metadata
from typing import Any


def require(library: str) -> Any:
    """Import an optional library; if it is not installed, say how to get it."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"this comparison needs {library}, which is not installed: pip install ggln[peers]"
        ) from error


def version(library: str) -> dict[str, str]:
    """Return an optional library's name and version, to stand beside those of `record.machine`."""
    return {library: metadata.version(library)}
