"""LinFullPost: Thompson sampling with a Bayesian linear regression for each arm, its noise unknown too."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ggln.reproduction.competitors.policies.constants import A0, B0, PRECISION

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class NormalInverseGamma:
    """Posteriors of linear regressions with unknown weights β and noise σ², for each seed and arm.

    Prior: σ² ~ InverseGamma(a0, b0), β | σ² ~ N(0, σ² / λ). With X, y the rows of an arm,
    P = λ I + X'X, m = P⁻¹ X'y, a = a0 + n / 2 and b = b0 + (y'y - m'P m) / 2, the posterior is
    InverseGamma(a, b) and N(m, σ² P⁻¹). P⁻¹ follows each row by the formula of Sherman and Morrison.

    Parameters
    ----------
    shape : tuple of int
        Seeds, arms, features.
    a0, b0 : float, default=6
        Of the noise.
    precision : float, default=0.25
        λ, of the weights.
    """

    def __init__(
        self, shape: tuple[int, int, int], a0: float = A0, b0: float = B0, precision: float = PRECISION
    ) -> None:
        seeds, arms, features = shape
        self.inverse = np.tile(np.eye(features) / precision, (seeds, arms, 1, 1))  # P⁻¹
        self.mean = np.zeros(shape)
        self.a = np.full((seeds, arms), a0)
        self.b = np.full((seeds, arms), b0)
        self.everyone = np.arange(seeds)

    def predict(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance over σ² of x'β, each [seeds, arms], for features x [seeds, features]."""
        seeds, arms, features = self.mean.shape
        mean = np.matmul(self.mean, x[:, :, None])[:, :, 0]
        spread = np.matmul(self.inverse.reshape(seeds, arms * features, features), x[:, :, None])
        variance = np.matmul(spread.reshape(seeds, arms, features), x[:, :, None])[:, :, 0]
        return mean, variance

    def sample(self, x: FloatArray, generators: Sequence[np.random.Generator]) -> FloatArray:
        """Return x'β [seeds, arms] for one draw of all β; each seed has a generator of its own.

        x'β is a Gaussian number, so that its mean and variance are enough, and no β has to be drawn.
        """
        mean, variance = self.predict(x)
        gamma, normal = np.empty_like(mean), np.empty_like(mean)
        for seed, random in enumerate(generators):
            gamma[seed] = random.standard_gamma(self.a[seed])
            random.standard_normal(out=normal[seed])
        drawn: FloatArray = mean + np.sqrt(self.b / gamma * variance) * normal
        return drawn

    def learn(self, x: FloatArray, arms: IntArray, rewards: FloatArray) -> None:
        """Take in one row of features x [seeds, features] for the arm [seeds] that was played."""
        one = self.everyone, arms
        inverse, mean = self.inverse[one], self.mean[one]
        direction = np.matmul(inverse, x[:, :, None])[:, :, 0]
        growth = 1.0 + np.sum(direction * x, axis=1)
        error = rewards - np.sum(mean * x, axis=1)
        gain = direction / growth[:, None]
        self.inverse[one] = inverse - gain[:, :, None] * direction[:, None, :]
        self.mean[one] = mean + gain * error[:, None]
        self.a[one] += 0.5
        # equal to b0 + (y'y - m'P m) / 2, without the difference of large numbers
        self.b[one] += 0.5 * error**2 / growth


class LinFullPost:
    """Plays the arm whose sampled regression promises most; contexts get a constant feature.

    Parameters
    ----------
    seeds : sequence of int
        Each decides the draws of its own policy alone.
    n_arms, n_features : int
        Of the bandit.
    """

    def __init__(self, seeds: Sequence[int], n_arms: int, n_features: int) -> None:
        self.posterior = NormalInverseGamma((len(seeds), n_arms, n_features + 1))
        self.generators = [np.random.default_rng([seed, 1]) for seed in seeds]

    def select(self, contexts: FloatArray) -> IntArray:
        """Return the arms [seeds] to play in contexts [seeds, features]."""
        best: IntArray = self.posterior.sample(_with_constant(contexts), self.generators).argmax(axis=1)
        return best

    def update(self, contexts: FloatArray, arms: IntArray, rewards: FloatArray) -> None:
        """Learn what the arms [seeds] paid [seeds]."""
        self.posterior.learn(_with_constant(contexts), arms, rewards)


def _with_constant(contexts: FloatArray) -> FloatArray:
    return np.column_stack([contexts, np.ones(len(contexts))])
