"""What the page shows while events come in, as server-sent events."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool

from ggln.service import constants
from ggln.service.figures import json_of
from ggln.service.importance import importance
from ggln.service.log.operations import ModelRow
from ggln.service.model import Model
from ggln.service.service import Service

EVERY_SECONDS = 1.0


class Live:
    """Gives the figures of models."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.ending = asyncio.Event()  # of the service; whoever watches is let go
        self.explained: dict[int, tuple[float, dict[str, float] | None]] = {}

    def figures(self, row: ModelRow) -> dict[str, Any]:
        """Return what the page shows of a model now."""
        model = self.service.models.get(row)
        figures = model.figures
        with figures.lock:
            curve, scores = figures.curve.means(), model.kind.scores(figures)
            rows, own = figures.rows, model.kind.live(model.estimator, figures)
        return {
            "time": time.time(),
            "name": row.name,
            "kind": model.spec.kind,
            "labels": [str(label) for label in model.spec.labels],
            "watches": model.spec.watches,
            "rows": rows,
            "version": model.position,
            "behind": max(self.service.last - self.service.learner.seen, 0),
            "pending": self.service.pending().get(row.id, 0),
            "scores": scores,
            "curve": curve,
            "recent": figures.latest(constants.SHOWN),
            "importance": self._importance(model),
            "error": self.service.learner.failed.get(row.id),
            **own,
        }

    def _importance(self, model: Model) -> dict[str, float] | None:
        """Return which features count, found anew every now and then."""
        at, found = self.explained.get(model.row.id, (0.0, None))
        if time.monotonic() - at > constants.EXPLAIN_SECONDS and model.row.features and model.latest:
            rows = np.stack(list(model.latest))
            found = importance(model.outputs, rows, model.row.features)
            self.explained[model.row.id] = time.monotonic(), found
        return found

    async def stream(self, row: ModelRow) -> AsyncIterator[bytes]:
        """Give the figures of a model, every second, as long as the service runs."""
        yield b"retry: 1000\n\n"
        while not self.ending.is_set():
            figures = await run_in_threadpool(self.figures, row)
            yield f"event: figures\ndata: {json_of(figures)}\n\n".encode()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.ending.wait(), EVERY_SECONDS)
