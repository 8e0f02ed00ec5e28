"""How property-based tests run: no deadline, since first calls compile; the same examples on every CI run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "local",
    deadline=None,
    max_examples=40,
    phases=set(Phase) - {Phase.explain},  # explaining a failure takes longer than all tests together
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
