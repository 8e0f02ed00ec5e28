"""What Prometheus reads."""

import os
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

if TYPE_CHECKING:
    from ggln.service.service import Service

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
GROUPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """Counts requests, commits and events."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        if os.path.isdir("/proc/self"):  # noqa: PTH112  # a question to the system, not a path of ours
            ProcessCollector(registry=self.registry)
        registry = self.registry
        self.requests = Counter("ggln_requests", "Requests", ("call", "status"), registry=registry)
        self.seconds = Histogram(
            "ggln_request_seconds", "Seconds until the answer", ("call",), buckets=SECONDS, registry=registry
        )
        self.groups = Histogram(
            "ggln_commit_requests", "Requests that share a commit", buckets=GROUPS, registry=registry
        )
        self.events = Counter("ggln_learnt_events", "Events learnt", ("model",), registry=registry)
        self.waiting = Gauge("ggln_waiting_events", "Events that wait for their truth", registry=registry)
        self.last = Gauge("ggln_log_number", "Number of the last entry of the log", registry=registry)
        self.behind = Gauge("ggln_learner_behind", "Entries that are not learnt yet", registry=registry)
        self.models = Gauge("ggln_models", "Models", registry=registry)
        self.loaded = Gauge("ggln_models_in_memory", "Models in memory", registry=registry)
        self.failed = Gauge("ggln_models_failed", "Models that cannot learn on", registry=registry)

    def answered(self, call: str, status: int, seconds: float) -> None:
        """Count a request."""
        own = self.known.get((call, status))
        if own is None:  # to find them by their labels takes ten times as long
            own = self.known[call, status] = (
                self.requests.labels(call, str(status)),
                self.seconds.labels(call),
            )
        own[0].inc()
        own[1].observe(seconds)

    def committed(self, jobs: int) -> None:
        """Count a commit."""
        self.groups.observe(jobs)

    def learnt(self, model: str, count: int) -> None:
        """Count events that were learnt."""
        self.events.labels(model).inc(count)

    def text(self, service: "Service") -> bytes:
        """Return all of it, in Prometheus's format."""
        self.waiting.set(sum(service.pending().values()))
        self.last.set(service.last)
        self.behind.set(max(service.last - service.learner.seen, 0))
        self.models.set(len(service.models.rows))
        self.loaded.set(len(service.models.memory))
        self.failed.set(len(service.learner.failed))
        return bytes(generate_latest(self.registry))
