"""Contextual bandits: policies, environments to try them on, and a simulator."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggln.bandits.evaluation import evaluate
    from ggln.bandits.glcb import GLCB

__all__ = ["GLCB", "evaluate"]

HOMES = {"GLCB": "ggln.bandits.glcb", "evaluate": "ggln.bandits.evaluation"}


def __getattr__(name: str) -> Any:
    if name in HOMES:  # on first use: environments and their scaling need no networks
        return getattr(importlib.import_module(HOMES[name]), name)
    raise AttributeError(f"module 'ggln.bandits' has no attribute {name!r}")
