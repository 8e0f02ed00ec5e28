"""How a policy weighs what an arm is expected to pay against how little is known of it.

All rules read what inference has found: means, predictive variances and pseudo-counts. With N the
pseudo-count of an arm in a context, t the decisions so far, and c a weight:

=============  ==========================================================
"bonus"        mean + c sqrt(log t / N), the paper's
"ucb"          mean + c s sqrt(log t / N), s the predictive deviation
"thompson"     mean + c s e / sqrt(N), e drawn from N(0, 1)
"greedy"       mean
=============  ==========================================================
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ggln.engine.arms.learner import Forecast

FloatArray = NDArray[np.float64]
Rule = Callable[[Forecast, FloatArray, int, float, Generator], FloatArray]
"""(forecast, pseudo-counts [A, n], decisions so far, weight, random numbers) -> scores [A, n]."""


def bonus(forecast: Forecast, counts: FloatArray, time: int, weight: float, _: Generator) -> FloatArray:
    """Mean + c sqrt(log t / N) (Appendix G.1 of the paper, after Sezener et al., 2020)."""
    scores: FloatArray = forecast.mean + weight * np.sqrt(np.log(time) / counts)
    return scores


def ucb(forecast: Forecast, counts: FloatArray, time: int, weight: float, _: Generator) -> FloatArray:
    """Mean + c s sqrt(log t / N): the bonus in units of the reward's own deviation."""
    scores: FloatArray = forecast.mean + weight * np.sqrt(forecast.variance * np.log(time) / counts)
    return scores


def thompson(forecast: Forecast, counts: FloatArray, _: int, weight: float, random: Generator) -> FloatArray:
    """Return a draw from N(mean, (c s)^2 / N), the posterior of a mean of which N rewards are known."""
    noise = random.standard_normal(counts.shape)
    return forecast.mean + weight * np.sqrt(forecast.variance / counts) * noise


def greedy(forecast: Forecast, _: FloatArray, __: int, ___: float, ____: Generator) -> FloatArray:
    """Return the mean."""
    return forecast.mean


RULES: dict[str, Rule] = {"bonus": bonus, "ucb": ucb, "thompson": thompson, "greedy": greedy}

COUNTS: dict[str, Callable[[Forecast], FloatArray]] = {
    "mean": lambda forecast: forecast.visits,
    "soft_min": lambda forecast: forecast.soft_visits,
    "leverage": lambda forecast: 1.0 / forecast.leverage,
}
"""Pseudo-counts: of the gates, averaged or as a soft minimum, or the joint regression's."""
