"""NeuralLinear: Thompson sampling with Bayesian linear regressions on a network's hidden layer."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, random

from ggln.reproduction.competitors.policies.constants import A0, B0, HIDDEN, PRECISION, ROUND, STEPS
from ggln.reproduction.competitors.policies.neural import (
    BanditSizes,
    Data,
    Method,
    Tree,
    hidden,
    rms_train,
    squared_error,
    start_rms,
)


class LinearPosterior(NamedTuple):
    """For each arm, what `linear.NormalInverseGamma` holds for each seed and arm."""

    inverse: Array  # [arms, HIDDEN, HIDDEN]
    mean: Array  # [arms, HIDDEN]
    a: Array  # [arms]
    b: Array  # [arms]


def _start(key: Array, shape: BanditSizes) -> Tree:
    prior = LinearPosterior(
        jnp.tile(jnp.eye(HIDDEN) / PRECISION, (shape.arms, 1, 1)),
        jnp.zeros((shape.arms, HIDDEN)),
        jnp.full(shape.arms, A0),
        jnp.full(shape.arms, B0),
    )
    return start_rms(key, shape), prior


def _values(state: Tree, key: Array, x: Array) -> Array:
    """Return one draw of z'β for each arm, z the hidden layer's output."""
    (network, _), posterior = state
    z = hidden(network, x)
    noise, normal = random.split(key)
    variance = posterior.b / random.gamma(noise, posterior.a) * (posterior.inverse @ z @ z)
    drawn: Array = posterior.mean @ z + jnp.sqrt(variance) * random.normal(normal, posterior.a.shape)
    return drawn


def _observe(state: Tree, x: Array, arm: Array, reward: Array) -> Tree:
    """Take in one row by the formula of Sherman and Morrison."""
    model, posterior = state
    z = hidden(model[0], x)
    direction = posterior.inverse[arm] @ z
    growth = 1.0 + direction @ z
    error = reward - posterior.mean[arm] @ z
    learnt = LinearPosterior(
        posterior.inverse.at[arm].add(-jnp.outer(direction, direction) / growth),
        posterior.mean.at[arm].add(direction * error / growth),
        posterior.a.at[arm].add(0.5),
        posterior.b.at[arm].add(0.5 * error**2 / growth),
    )
    return model, learnt


def _train(state: Tree, key: Array, data: Data, count: Array) -> Tree:
    """Train the network, then fit all regressions anew to what its hidden layer has become.

    Set back to its first value, the rate would silence the hidden layer in some contexts before long.
    """
    model, _ = state
    model = rms_train(squared_error, model, key, data, count, taken=(count // ROUND - 1) * STEPS)
    arms = model[0][1][1].shape[0]
    z = hidden(model[0], data.contexts)
    known = jnp.arange(len(data.rewards)) < count
    return model, jax.vmap(lambda arm: _fit(z, data.rewards, known & (data.arms == arm)))(jnp.arange(arms))


def _fit(z: Array, y: Array, rows: Array) -> LinearPosterior:
    """Return the posterior of one arm from features z [steps, HIDDEN] of some of the steps."""
    z, y = z * rows[:, None], y * rows
    inverse = jnp.linalg.inv(z.T @ z + PRECISION * jnp.eye(HIDDEN))
    mean = inverse @ (z.T @ y)
    error = jnp.sum((y - z @ mean) ** 2) + PRECISION * mean @ mean  # y'y - m'P m, as a sum of squares
    return LinearPosterior(inverse, mean, A0 + 0.5 * jnp.sum(rows), B0 + 0.5 * error)


NEURAL_LINEAR = Method(_start, _values, _train, _observe)
"""A network's last hidden layer as features of LinFullPost; it is trained from time to time."""
