"""Gaussian Gated Linear Networks: online regression with error bars, without backpropagation.

The public names are imported on first use: scikit-learn takes most of a second, which a shell completion or
a `--help` need not wait for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggln import datasets, presets
    from ggln.batches import BatchPredictor, predict_batches
    from ggln.estimators.classifier import GLNClassifier
    from ggln.estimators.regressor import GGLNRegressor
    from ggln.persistence import load
    from ggln.tables.model import TableRegressor

__version__ = "0.1.0"
__all__ = [
    "BatchPredictor",
    "GGLNRegressor",
    "GLNClassifier",
    "TableRegressor",
    "__version__",
    "datasets",
    "load",
    "predict_batches",
    "presets",
]

_HOME = {
    "BatchPredictor": "ggln.batches",
    "GGLNRegressor": "ggln.estimators.regressor",
    "GLNClassifier": "ggln.estimators.classifier",
    "TableRegressor": "ggln.tables.model",
    "load": "ggln.persistence",
    "predict_batches": "ggln.batches",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in ("datasets", "presets"):
        return importlib.import_module(f"ggln.{name}")
    raise AttributeError(f"module 'ggln' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
