"""Networks whose weights are independent Gaussians: Bayes by backprop, and black-box α-divergence.

A state is (means, log-deviations) of all weights and biases, and the state of Adam. Decisions are made by a
network drawn anew each time.
"""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax import Array, lax, random

from ggln.reproduction.competitors.policies.constants import (
    ADAM_RATE,
    ALPHA,
    FIRST_DEVIATION,
    FIRST_LOG_STD,
    HIDDEN,
    JITTER,
    MINIBATCH,
    PRIOR_VARIANCE,
    REWARD_NOISE,
    SAMPLES,
    STEPS,
)
from ggln.reproduction.competitors.policies.neural import (
    BanditSizes,
    Data,
    Method,
    Tree,
    minibatch,
    predict,
)

Gaussians = tuple[Tree, Tree]  # means and log-deviations, each shaped as a network


def _start(key: Array, shape: BanditSizes) -> Tree:
    sizes = ((shape.features, HIDDEN), (HIDDEN, shape.arms))
    shapes = tuple(((rows, columns), (columns,)) for rows, columns in sizes)
    leaves, tree = jax.tree.flatten(shapes, is_leaf=lambda s: isinstance(s[0], int))
    keys = random.split(key, 2 * len(leaves))
    draws = [FIRST_DEVIATION * random.normal(k, s) for k, s in zip(keys, leaves + leaves, strict=True)]
    means = jax.tree.unflatten(tree, draws[: len(leaves)])
    stds = jax.tree.unflatten(tree, [FIRST_LOG_STD + draw for draw in draws[len(leaves) :]])
    return (means, stds), optax.adam(ADAM_RATE).init((means, stds))


def draw_network(weights: Gaussians, key: Array) -> Tree:
    """Return one network."""
    means, tree = jax.tree.flatten(weights[0])
    stds = jax.tree.leaves(weights[1])
    keys = random.split(key, len(means))
    drawn = [m + jnp.exp(s) * random.normal(k, m.shape) for m, s, k in zip(means, stds, keys, strict=True)]
    return jax.tree.unflatten(tree, drawn)


def _values(state: Tree, key: Array, x: Array) -> Array:
    return predict(draw_network(state[0], key), x)


def _log_likelihood(predicted: Array, rows: Data) -> Array:
    """Return the log-density [rows] of the rewards that were paid."""
    chosen = jnp.take_along_axis(predicted, rows.arms[:, None], axis=1)[:, 0]
    return -0.5 * ((rows.rewards - chosen) / REWARD_NOISE) ** 2 - math.log(
        REWARD_NOISE * math.sqrt(2.0 * math.pi)
    )


def _adam_train(
    loss: Callable[[Gaussians, Array, Data, Array], Array], state: Tree, key: Array, data: Data, count: Array
) -> Tree:
    adam = optax.adam(ADAM_RATE)

    def step(state: Tree, number: Array) -> tuple[Tree, None]:
        weights, memory = state
        draw, noise = random.split(random.fold_in(key, number))
        rows, _ = minibatch(data, draw, count)
        change, memory = adam.update(jax.grad(loss)(weights, noise, rows, count), memory)
        return (optax.apply_updates(weights, change), memory), None

    trained, _ = lax.scan(step, state, jnp.arange(STEPS))
    return trained


# Bayes by backprop ------------------------------------------------------------------------------------------


def divergence(weights: Gaussians) -> Array:
    """Return KL(q || p) of the layers' weights, whose prior is N(0, 2 / inputs); biases have none."""
    total = jnp.zeros(())
    for (mean, _), (log_std, _) in zip(*weights, strict=True):
        prior = 2.0 / mean.shape[0]
        variance = jnp.exp(2.0 * log_std)
        total += 0.5 * jnp.sum((mean**2 + variance) / prior - 1.0 - 2.0 * log_std + math.log(prior))
    return total


def _activations(weights: Gaussians, key: Array, x: Array) -> Array:
    """Return predictions [rows, arms] with noise drawn for each row's activations, not for the weights.

    A sum of independent Gaussian weights is Gaussian, so that both have the same law for each row alone, and
    gradients have less variance (Kingma et al., 2015).
    """
    last = len(weights[0]) - 1
    keys = random.split(key, last + 1)
    for layer, ((mean, bias), (log_std, _)) in enumerate(zip(*weights, strict=True)):
        spread = jnp.sqrt(x**2 @ jnp.exp(2.0 * log_std) + JITTER)
        x = x @ mean + bias + spread * random.normal(keys[layer], spread.shape)
        x = x if layer == last else jax.nn.relu(x)
    return x


def _negative_bound(weights: Gaussians, key: Array, rows: Data, count: Array) -> Array:
    """Return the evidence's negative lower bound, for each row."""
    fit = jnp.mean(_log_likelihood(_activations(weights, key, rows.contexts), rows))
    return divergence(weights) / count - fit


BBB = Method(_start, _values, partial(_adam_train, _negative_bound))
"""Bayes by backprop (Blundell et al., 2015): weights that minimise the divergence from the posterior."""


# Black-box α-divergence -------------------------------------------------------------------------------------


def _site(weights: Gaussians, network: Tree, count: Array) -> Array:
    """Return the log of one row's site at a network: the n-th root of q / prior, without its constant."""
    leaves = zip(*map(jax.tree.leaves, (*weights, network)), strict=True)
    total = jnp.zeros(())
    for mean, log_std, w in leaves:
        precision = jnp.exp(-2.0 * log_std)
        total += jnp.sum(w * mean * precision + 0.5 * w**2 * (1.0 / PRIOR_VARIANCE - precision))
    return total / count


def _log_partition(weights: Gaussians) -> Array:
    """Return the log of the normaliser of q in its natural parameters, less that of the prior."""
    total = jnp.zeros(())
    for mean, log_std in zip(*map(jax.tree.leaves, weights), strict=True):
        scaled = mean * jnp.exp(-log_std)
        total += jnp.sum(0.5 * scaled**2 + log_std - 0.5 * math.log(PRIOR_VARIANCE))
    return total


def _energy(weights: Gaussians, key: Array, rows: Data, count: Array) -> Array:
    """Return the α-energy for each row (Hernandez-Lobato et al., 2016)."""

    def ratio(key: Array) -> Array:
        network = draw_network(weights, key)
        return _log_likelihood(predict(network, rows.contexts), rows) - _site(weights, network, count)

    ratios = ALPHA * jax.vmap(ratio)(random.split(key, SAMPLES))  # [samples, rows]
    mean = jnp.sum(jax.nn.logsumexp(ratios, axis=0) - math.log(SAMPLES))
    return -_log_partition(weights) / count - mean / (ALPHA * MINIBATCH)


BB_ALPHA_DIV = Method(_start, _values, partial(_adam_train, _energy))
"""Weights that minimise an α-divergence; α = 1 is expectation propagation's."""
