"""What policies would earn and how models compare, from the latest events of the log."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.bandits.offpolicy import Estimate, policy_values
from ggln.service.figures import Figures
from ggln.service.kinds.bandit import ARM, CHANCES, EXPECTED, PROPENSITY, REWARD, SEQ
from ggln.service.model import Model

FloatArray = NDArray[np.float64]
LEVEL = 0.95
"""Of all intervals."""
MOST_ARMS = 20
"""Arms of which each is a policy of its own: always the same."""


def evaluate(model: Model, watchers: list[Model]) -> dict[str, Any]:
    """Return values of policies for a bandit, scores for others; and how those that watch it compare."""
    events = model.figures.latest()
    found: dict[str, Any] = {
        "name": model.row.name,
        "kind": model.spec.kind,
        "events": len(events),
        "level": LEVEL,
        "scores": model.kind.scores(model.figures),
        "watchers": {watcher.row.name: compared(model, watcher) for watcher in watchers},
    }
    if model.spec.kind == "bandit":
        found["policies"] = policies(model, events, watchers)
    return found


def policies(model: Model, events: list[list[Any]], watchers: list[Model]) -> dict[str, Any]:
    """Return what the running policy earned, and what others would have; by name."""
    if not events:
        return {}
    names, count = [str(arm) for arm in model.spec.labels], len(events)
    expected = np.array([event[EXPECTED] for event in events], np.float64)
    arms = np.array([event[ARM] for event in events])
    rewards, chances = (np.array([event[i] for event in events], np.float64) for i in (REWARD, PROPENSITY))
    others = {"uniform": np.full(expected.shape, 1.0 / len(names)), "greedy": _best(expected)}
    for number, name in enumerate(names[:MOST_ARMS]):
        others[f"always {name}"] = np.tile(np.eye(len(names))[number], (count, 1))
    found = {"running": {"logged": _told(Estimate(*_mean(rewards)))}}
    for name, played in others.items():
        found[name] = _values(policy_values(expected, played, arms, rewards, chances))
    for watcher in watchers:
        played, same = _played_by(watcher.figures, [event[SEQ] for event in events])
        if same.any():
            values = policy_values(expected[same], played[same], arms[same], rewards[same], chances[same])
            found[f"watcher {watcher.row.name}"] = _values(values)
    return found


def _best(expected: FloatArray) -> FloatArray:
    return np.asarray(np.eye(expected.shape[1])[expected.argmax(axis=1)])


def _played_by(figures: Figures, numbers: list[int]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the probabilities of arms that a watcher would have played with, and where it has some."""
    own = {event[SEQ]: event[CHANCES] for event in figures.latest()}
    width = max((len(chances) for chances in own.values() if chances), default=1)
    rows = [own.get(number) for number in numbers]
    return (
        np.array([row or [0.0] * width for row in rows], np.float64),
        np.array([row is not None for row in rows]),
    )


def _values(values: Any) -> dict[str, Any]:
    kinds = ("direct", "ips", "snips", "doubly_robust")
    return {kind: _told(getattr(values, kind)) for kind in kinds} | {
        "matches": values.matches,
        "effective": values.effective,
    }


def _mean(values: FloatArray) -> tuple[float, float]:
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    return float(values.mean()), float(error)


def _told(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON has it, which knows no NaN."""
    low, high = estimate.interval(LEVEL)
    values = {"value": estimate.value, "error": estimate.error, "low": low, "high": high}
    return {name: value if np.isfinite(value) else None for name, value in values.items()}


def compared(model: Model, watcher: Model) -> dict[str, Any]:
    """Return how much more a watcher loses than the model that it watches, on the same events."""
    own = {event[SEQ]: model.kind.loss(event) for event in model.figures.latest()}
    other = {event[SEQ]: watcher.kind.loss(event) for event in watcher.figures.latest()}
    both = sorted(own.keys() & other.keys())
    if not both:
        return {"events": 0, "loss": None, "watcher_loss": None, "difference": None}
    losses = np.array([[own[number], other[number]] for number in both])
    return {
        "events": len(both),
        "loss": float(losses[:, 0].mean()),
        "watcher_loss": float(losses[:, 1].mean()),
        "difference": _told(Estimate(*_mean(losses[:, 1] - losses[:, 0]))),
    }
