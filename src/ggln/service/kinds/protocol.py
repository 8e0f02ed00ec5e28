"""What all kinds of models have in common."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ggln.service.errors import bad_request
from ggln.service.figures import Figures
from ggln.service.spec import Spec

FloatArray = NDArray[np.float64]
FORBIDDEN = ("verbose", "arms", "n_arms", "arm_features")
"""Settings that the service has words of its own for, or nothing to do with."""


class Entry(NamedTuple):
    """An event as it is in the log."""

    seq: int
    kind: str  # learn, reward, decide or import
    event: str | None
    features: FloatArray  # [d]
    body: Any


class Kind(Protocol):
    """How a kind of model answers, learns and is judged."""

    ask: str  # the call that gives an answer, and an id for its event
    tell: str  # the call that brings the truth
    gaps: bool  # whether features may be missing
    estimator: str  # the class that a model file names

    def new(self, spec: Spec) -> Any:
        """Return an estimator that has learnt nothing."""

    def truth(self, value: Any, spec: Spec) -> Any:
        """Return what was observed, checked: a value of JSON."""

    def answers(self, estimator: Any, rows: FloatArray, events: Sequence[str]) -> list[dict[str, Any]]:
        """Return what is answered for rows [n, d]."""

    def figures(self, spec: Spec) -> Figures:
        """Return the figures of a model that has learnt nothing."""

    def learn(self, estimator: Any, spec: Spec, entries: Sequence[Entry], figures: Figures) -> None:
        """Learn events in their order; the result does not depend on how they are cut into calls."""

    def takes_long(self, estimator: Any, entries: Sequence[Entry]) -> bool:
        """Return whether to learn events takes longer than answers can wait."""

    def scores(self, figures: Figures) -> dict[str, Any]:
        """Return how good the model was before it learnt."""

    def loss(self, recent: Sequence[Any]) -> float:
        """Return by what one of the latest events is compared with another model's."""

    def live(self, estimator: Any, figures: Figures) -> dict[str, Any]:
        """Return what the page shows of this kind of model."""

    def outputs(self, estimator: Any, rows: FloatArray) -> FloatArray | None:
        """Return what is expected for rows [n, d], as [n, k]; None as long as nothing was learnt."""

    def fits(self, estimator: Any, spec: Spec) -> None:
        """Refuse an estimator from outside that is not what the model is to be."""


def made(estimator: Any, settings: dict[str, Any], **own: Any) -> Any:
    """Return an estimator with settings; what it does not take is refused."""
    for name in FORBIDDEN:
        if name in settings:
            raise bad_request(f"{name!r} is no setting of a model that is served")
    if not isinstance(settings.get("base_model", ""), str):
        raise bad_request("base_model must be a name: regressors of others cannot be served")
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    if not isinstance(plain.setdefault("random_state", 0), int):
        raise bad_request("random_state must be an integer: a model is a function of its log")
    try:
        return estimator(**plain, **own)
    except TypeError as error:
        raise bad_request(f"{estimator.__name__} has no such setting: {error}") from error
