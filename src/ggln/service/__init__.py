"""`ggln serve`: a service that learns. The model is a function of the log.

An event is on disk before it is acknowledged, and learning is deterministic bit for bit. So a snapshot and
the events after it give exactly the model that was, after any crash.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggln.service.client import Client, ServiceError

__all__ = ["Client", "ServiceError"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # a client needs neither the server nor a model
        return getattr(importlib.import_module("ggln.service.client"), name)
    raise AttributeError(f"module 'ggln.service' has no attribute {name!r}")
