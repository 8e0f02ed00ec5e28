"""Libraries that only some comparisons need, imported when they are."""

from importlib import import_module
from typing import Any


def require(library: str) -> Any:
    """Import an optional library; if it is not installed, say how to get it."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"this comparison needs {library}, which is not installed: pip install ggln[peers]"
        ) from error
