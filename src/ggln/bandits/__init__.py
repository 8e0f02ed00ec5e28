"""Contextual bandits: policies, environments to try them on, and a simulator."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggln.bandits.glcb import GLCB

__all__ = ["GLCB"]


def __getattr__(name: str) -> Any:
    if name == "GLCB":  # on first use: environments and their scaling need no networks
        return importlib.import_module("ggln.bandits.glcb").GLCB
    raise AttributeError(f"module 'ggln.bandits' has no attribute {name!r}")
