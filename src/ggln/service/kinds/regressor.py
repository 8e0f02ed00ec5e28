"""Regressors: a mean, a deviation and quantiles; judged by their distribution before they learn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.distributions.assembly import mixture
from ggln.engine.newton.pauses import looks_back_within
from ggln.estimators.regressor import GGLNRegressor
from ggln.service import checks, constants
from ggln.service.errors import bad_request
from ggln.service.figures import Figures
from ggln.service.kinds.protocol import Entry, made
from ggln.service.quantiles import judged, summaries
from ggln.service.spec import Spec

FloatArray = NDArray[np.float64]
LEVELS = np.array(constants.LEVELS)
OUTER, NO_LEVELS = LEVELS[[0, -1]], np.empty(0)
SEQ, TRUTH, MEAN, STD, LOW, HIGH, NLL = range(7)
"""The fields of recent events."""


class Regressor:
    """How a regressor is served."""

    ask, tell, gaps, estimator = "predict", "learn", True, "GGLNRegressor"

    def new(self, spec: Spec) -> GGLNRegressor:
        """Return an estimator that has learnt nothing."""
        model: GGLNRegressor = made(GGLNRegressor, spec.settings)
        try:
            model._check_parameters()
        except (ValueError, TypeError) as error:
            raise bad_request(str(error)) from error
        if model.step != "newton":
            raise bad_request(f'a served regressor has step="newton", got {model.step!r}')
        return model

    def truth(self, value: Any, spec: Spec) -> float:
        """Return a target."""
        del spec
        return checks.number(value, "target")

    def answers(self, estimator: Any, rows: FloatArray, events: Sequence[str]) -> list[dict[str, Any]]:
        """Return mean, deviation and quantiles; null as long as nothing was learnt."""
        learner = getattr(estimator, "learner_", None)
        if learner is None:
            return [{"event": event, "mean": None, "std": None, "quantiles": None} for event in events]
        moments, quantiles = summaries(mixture([learner.predictions(rows, None)], 1), LEVELS)
        names = [f"{level:g}" for level in constants.LEVELS]
        return [
            {"event": event, "mean": mean, "std": std, "quantiles": dict(zip(names, own, strict=True))}
            for event, (mean, std), own in zip(events, moments.tolist(), quantiles.tolist(), strict=True)
        ]

    def figures(self, spec: Spec) -> Figures:
        """Return figures without any row."""
        del spec
        return Figures(("squared", "absolute", "nll", "inside"), constants.BINS, 3, (LOW, HIGH))

    def learn(self, estimator: Any, spec: Spec, entries: Sequence[Entry], figures: Figures) -> None:
        """Learn rows, and judge what was predicted before each; the first was predicted by nobody."""
        del spec
        rows = np.stack([entry.features for entry in entries])
        truths = np.array([entry.body for entry in entries], np.float64)
        first = figures.rows == 0 and not hasattr(estimator, "learner_")
        before = estimator.prequential(rows, truths)
        figures.rows += len(entries)
        moments, _ = summaries(before, NO_LEVELS)
        table = np.column_stack([truths, moments, judged(before, truths)]).tolist()
        # quantiles take as long as all the rest, and only the latest are looked at
        _, bands = summaries(before[-constants.SHOWN :], OUTER)
        ends: list[Any] = [(None, None)] * (len(entries) - len(bands)) + bands.tolist()
        for entry, values, band in list(zip(entries, table, ends, strict=True))[first:]:
            self._judge(figures, entry.seq, values, band)

    def takes_long(self, estimator: Any, entries: Sequence[Entry]) -> bool:
        """Return whether networks, or the form of the errors, are solved afresh meanwhile."""
        return not hasattr(estimator, "learner_") or looks_back_within(estimator.learner_, len(entries))

    def _judge(self, figures: Figures, seq: int, values: list[float], band: Sequence[float | None]) -> None:
        truth, mean, std, nll, below = values
        error, inside = truth - mean, float(OUTER[0] <= below <= OUTER[1])
        figures.add(
            (error * error, abs(error), nll, inside),
            (error * error, nll, inside),
            min(int(below * constants.BINS), constants.BINS - 1),
            bool(inside),
            [seq, truth, mean, std, *band, nll],
        )

    def scores(self, figures: Figures) -> dict[str, Any]:
        """Return errors, negative log-likelihood and coverage, before rows were learnt."""
        squared = figures.mean("squared")
        return {
            "rmse": None if squared is None else squared**0.5,
            "mae": figures.mean("absolute"),
            "nll": figures.mean("nll"),
            "coverage_90": figures.mean("inside"),
        }

    def loss(self, recent: Sequence[Any]) -> float:
        """Return the negative log-likelihood."""
        return float(recent[NLL])

    def live(self, estimator: Any, figures: Figures) -> dict[str, Any]:
        """Return calibration, and what forgetting has done."""
        learner: Any = getattr(estimator, "learner_", None)
        shares = getattr(learner, "shares", None)
        drift = None
        if shares is not None and hasattr(learner, "changed"):  # a stream that may forget
            drift = {
                "changed_at_row": int(learner.changed),
                "learners": len(learner.learners_),
                "former": len(learner.former),
                # the first expert of each learner is the learner as it is, the others forget
                "forgetting_share": float(1.0 - np.asarray(shares)[:, 0].sum()),
            }
        return {"calibration": [count for count, _ in figures.bins], "drift": drift}

    def outputs(self, estimator: Any, rows: FloatArray) -> FloatArray | None:
        """Return means."""
        learner = getattr(estimator, "learner_", None)
        return None if learner is None else learner.moments(rows, None)[0]

    def fits(self, estimator: Any, spec: Spec) -> None:
        """Refuse a regressor of several targets, or of gradient steps."""
        del spec
        if estimator.n_outputs_ != 1 or estimator.step != "newton":
            raise bad_request('the model must predict one target, with step="newton"')
