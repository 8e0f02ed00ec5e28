"""Classifiers: probabilities of all classes; judged by their logarithm before they learn."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.newton.pauses import looks_back_within
from ggln.estimators.classifier import GLNClassifier
from ggln.service import checks, constants
from ggln.service.errors import bad_request
from ggln.service.figures import Figures
from ggln.service.kinds.protocol import Entry, made
from ggln.service.spec import Spec

FloatArray = NDArray[np.float64]
SEQ, TRUTH, CHANCE, TOP, TOP_CHANCE = range(5)
"""The fields of recent events."""
LEAST = 1e-300
"""A probability whose logarithm is a number."""


class Classifier:
    """How a classifier is served."""

    ask, tell, gaps, estimator = "predict", "learn", True, "GLNClassifier"

    def new(self, spec: Spec) -> GLNClassifier:
        """Return an estimator that has learnt nothing."""
        model: GLNClassifier = made(GLNClassifier, spec.settings)
        try:
            model._check_parameters()
        except (ValueError, TypeError) as error:
            raise bad_request(str(error)) from error
        if model.step != "newton":
            raise bad_request(f'a served classifier has step="newton", got {model.step!r}')
        return model

    def truth(self, value: Any, spec: Spec) -> str | int:
        """Return a class."""
        if isinstance(value, bool) or value not in spec.labels:
            raise bad_request(
                f"target must be one of the classes {checks.shown(spec.labels)}, got {checks.shown(value)}"
            )
        return spec.labels[spec.labels.index(value)]  # 1.0 is 1

    def answers(self, estimator: Any, rows: FloatArray, events: Sequence[str]) -> list[dict[str, Any]]:
        """Return the probabilities of all classes, and the likeliest; null as long as nothing was learnt."""
        if not hasattr(estimator, "learner_"):
            return [{"event": event, "class": None, "probabilities": None} for event in events]
        names = estimator.classes_.tolist()
        chances = estimator.predict_proba(rows)
        return [
            {
                "event": event,
                "class": names[top],
                "probabilities": dict(zip(map(str, names), own, strict=True)),
            }
            for event, top, own in zip(events, chances.argmax(axis=1).tolist(), chances.tolist(), strict=True)
        ]

    def figures(self, spec: Spec) -> Figures:
        """Return figures without any row."""
        del spec
        return Figures(("nll", "right"), constants.BINS, 2)

    def learn(self, estimator: Any, spec: Spec, entries: Sequence[Entry], figures: Figures) -> None:
        """Learn rows, and judge the probabilities before each; before the first, nobody knew anything."""
        rows = np.stack([entry.features for entry in entries])
        first = figures.rows == 0 and not hasattr(estimator, "learner_")
        truths = np.array([entry.body for entry in entries])
        chances = estimator.prequential(rows, truths, classes=np.array(sorted(spec.labels)))
        figures.rows += len(entries)
        numbers = {label: i for i, label in enumerate(estimator.classes_.tolist())}
        for entry, own in list(zip(entries, chances.tolist(), strict=True))[first:]:
            self._judge(figures, entry.seq, numbers[entry.body], own)

    def takes_long(self, estimator: Any, entries: Sequence[Entry]) -> bool:
        """Return whether networks are solved afresh meanwhile."""
        return not hasattr(estimator, "learner_") or looks_back_within(estimator.learner_, len(entries))

    def _judge(self, figures: Figures, seq: int, truth: int, chances: list[float]) -> None:
        top = max(range(len(chances)), key=chances.__getitem__)
        right, loss = top == truth, -math.log(max(chances[truth], LEAST))
        own = min(int(chances[top] * constants.BINS), constants.BINS - 1)
        recent = [seq, truth, chances[truth], top, chances[top]]
        figures.add((loss, float(right)), (loss, float(right)), own, right, recent)

    def scores(self, figures: Figures) -> dict[str, Any]:
        """Return log loss and accuracy, before rows were learnt."""
        return {"nll": figures.mean("nll"), "accuracy": figures.mean("right")}

    def loss(self, recent: Sequence[Any]) -> float:
        """Return the negative log-likelihood."""
        return -math.log(max(recent[CHANCE], LEAST))

    def live(self, estimator: Any, figures: Figures) -> dict[str, Any]:
        """Return how often the likeliest class was right, by its probability."""
        del estimator
        return {"calibration": figures.bins, "drift": None}

    def outputs(self, estimator: Any, rows: FloatArray) -> FloatArray | None:
        """Return probabilities."""
        if not hasattr(estimator, "learner_"):
            return None
        chances: FloatArray = estimator.predict_proba(rows)
        return chances

    def fits(self, estimator: Any, spec: Spec) -> None:
        """Refuse a classifier of other classes."""
        if estimator.classes_.tolist() != sorted(spec.labels):
            raise bad_request(f"the model must have the classes {checks.shown(spec.labels)}")
        if estimator.step != "newton":
            raise bad_request('the model must have step="newton"')
