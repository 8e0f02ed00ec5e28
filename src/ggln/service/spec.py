"""What a model is to be, as it was asked for."""

import json
from typing import Any, NamedTuple

from ggln.service import checks, constants
from ggln.service.errors import bad_request

FIELDS = (
    "kind",
    "settings",
    "arms",
    "classes",
    "features",
    "wait_seconds",
    "default_reward",
    "watches",
)
KINDS = ("regressor", "classifier", "bandit")


class Spec(NamedTuple):
    """What a model is to be; two that are equal are the same model."""

    kind: str
    settings: dict[str, Any]
    labels: list[str | int]  # arms or classes
    features: list[str] | None  # None: those of the first row
    wait_seconds: float
    default_reward: float | None
    watches: str | None  # the model whose events this one learns, without acting

    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps(self._asdict(), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> "Spec":
        """Return what `text` gave."""
        return cls(**json.loads(text))


def parse(body: Any) -> Spec:
    """Return the specification in the body of a request, checked, but for the settings of the estimator."""
    values = checks.fields(body, FIELDS)
    kind = values.get("kind")
    if kind not in KINDS:
        raise bad_request(f"kind must be one of {', '.join(KINDS)}, got {checks.shown(kind)}")
    settings = values.get("settings", {})
    if not isinstance(settings, dict):
        raise bad_request(f"settings must be an object of JSON, got {checks.shown(settings)}")
    wait = checks.number(values.get("wait_seconds", constants.WAIT_SECONDS), "wait_seconds")
    if not 0 < wait <= constants.LONGEST_WAIT:
        raise bad_request(f"wait_seconds must be in (0, {constants.LONGEST_WAIT:g}], got {wait:g}")
    features, watches = values.get("features"), values.get("watches")
    return Spec(
        kind,
        settings,
        _labels(kind, values),
        None if features is None else checks.feature_names(features),
        wait,
        _default(kind, values.get("default_reward")),
        None if watches is None else checks.name(watches, "watches"),
    )


def _labels(kind: str, values: dict[str, Any]) -> list[str | int]:
    own = {"classifier": "classes", "bandit": "arms"}.get(kind)
    for field in ("arms", "classes"):
        if field in values and field != own:
            raise bad_request(f"a {kind} has no {field}")
    if own is None:
        return []
    if own not in values:
        raise bad_request(f'a {kind} needs its {own}: "{own}": ["a", "b"]')
    if own == "classes" and isinstance(values[own], list) and len(values[own]) < 2:
        raise bad_request(f"classes must be at least two, got {checks.shown(values[own])}")
    return checks.labels(values[own], own)


def _default(kind: str, reward: Any) -> float | None:
    if reward is None:
        return None
    if kind != "bandit":
        raise bad_request(f"default_reward is of a bandit: a {kind} leaves out events without a target")
    return checks.number(reward, "default_reward")
