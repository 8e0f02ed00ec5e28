"""Policies with a neural network: the loop that all share, and those with a plain network.

All of an episode is one compiled loop: rounds of decisions, after each of which the network is trained on
what was seen so far. Seeds run side by side, each with random numbers of its own.
"""

import math
import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array, lax, random
from numpy.typing import NDArray

from ggln.reproduction.competitors.policies.batch import Batch
from ggln.reproduction.competitors.policies.constants import (
    EPS_FACTOR,
    HIDDEN,
    INCLUDED,
    INIT,
    KEEP,
    MAX_NORM,
    MINIBATCH,
    MODELS,
    NOISE,
    NOISE_EPS,
    NOISE_FACTOR,
    NOISE_ROWS,
    PULLS,
    RATE,
    RATE_DECAY,
    RMS,
    ROUND,
    SGD_MAX_RATE,
    SGD_MEMORY,
    SGD_NOISE,
    STEPS,
)

Tree = Any  # parameters, as nested tuples of arrays


class BanditSizes(NamedTuple):
    """Sizes of a bandit."""

    steps: int
    features: int
    arms: int


class Data(NamedTuple):
    """All steps of an episode; those that are still to come have arm 0 and reward 0."""

    contexts: Array  # [steps, features]
    arms: Array  # [steps]
    rewards: Array  # [steps]


class Method(NamedTuple):
    """A policy as pure functions of one seed."""

    start: Callable[[Array, BanditSizes], Tree]  # key, shape -> parameters
    values: Callable[[Tree, Array, Array], Array]  # parameters, key, context -> what each arm promises
    train: Callable[[Tree, Array, Data, Array], Tree]  # parameters, key, data, rows known -> parameters
    observe: Callable[[Tree, Array, Array, Array], Tree] = lambda state, *_: state  # context, arm, reward


def play(method: Method, batch: Batch, round_length: int = ROUND) -> tuple[NDArray[np.intp], float]:
    """Return the arms [seeds, steps] that a method plays, and the processor's seconds, compilation apart."""
    _, steps, n_arms = batch.rewards.shape
    padded = math.ceil(steps / round_length) * round_length
    shape = BanditSizes(padded, batch.contexts.shape[2], n_arms)
    filling = ((0, 0), (0, padded - steps), (0, 0))
    contexts, rewards = (
        jnp.asarray(np.pad(part, filling), jnp.float32) for part in (batch.contexts, batch.rewards)
    )
    keys = jnp.stack([random.key(seed) for seed in batch.seeds])
    run = _compiled(method, shape, round_length, len(batch.seeds))
    start = time.process_time()
    arms = np.asarray(run(keys, contexts, rewards))[:, :steps]
    return arms.astype(np.intp), time.process_time() - start


@lru_cache(maxsize=4)
def _compiled(method: Method, shape: BanditSizes, length: int, seeds: int) -> Any:
    """Return the compiled loop: a worker gets many blocks of the same kind."""
    run = jax.jit(jax.vmap(partial(_episode, method, shape, length)))
    keys = jnp.stack([random.key(0)] * seeds)
    contexts, rewards = (jnp.zeros((seeds, shape.steps, size)) for size in (shape.features, shape.arms))
    return run.lower(keys, contexts, rewards).compile()


def _episode(
    method: Method, shape: BanditSizes, length: int, key: Array, contexts: Array, rewards: Array
) -> Array:
    """Return the arms [steps] of one seed."""
    start_key, act_key, train_key = random.split(key, 3)

    def decide(state: Tree, inputs: tuple[Array, Array, Array]) -> tuple[Tree, tuple[Array, Array]]:
        step, context, paid = inputs
        promised = method.values(state, random.fold_in(act_key, step), context)
        arm = jnp.where(step < PULLS * shape.arms, step % shape.arms, jnp.argmax(promised))
        return method.observe(state, context, arm, paid[arm]), (arm, paid[arm])

    def round_(carry: tuple[Tree, Data], number: Array) -> tuple[tuple[Tree, Data], None]:
        state, data = carry
        first = number * length
        here, could = (lax.dynamic_slice_in_dim(part, first, length) for part in (contexts, rewards))
        state, (arms, paid) = lax.scan(decide, state, (first + jnp.arange(length), here, could))
        data = data._replace(
            arms=lax.dynamic_update_slice_in_dim(data.arms, arms, first, 0),
            rewards=lax.dynamic_update_slice_in_dim(data.rewards, paid, first, 0),
        )
        state = method.train(state, random.fold_in(train_key, number), data, first + length)
        return (state, data), None

    nothing = Data(contexts, jnp.zeros(shape.steps, jnp.int32), jnp.zeros(shape.steps))
    rounds = jnp.arange(shape.steps // length)
    (_, data), _ = lax.scan(round_, (method.start(start_key, shape), nothing), rounds)
    return data.arms


# The plain network ------------------------------------------------------------------------------------------


def start_network(key: Array, features: int, arms: int) -> Tree:
    """Return weights and biases of the hidden and of the last layer."""
    first, second = random.split(key)
    return (
        (random.uniform(first, (features, HIDDEN), minval=-INIT, maxval=INIT), jnp.zeros(HIDDEN)),
        (random.uniform(second, (HIDDEN, arms), minval=-INIT, maxval=INIT), jnp.zeros(arms)),
    )


def hidden(network: Tree, x: Array) -> Array:
    """Return what the hidden layer makes of contexts [..., features]."""
    weights, biases = network[0]
    return jax.nn.relu(x @ weights + biases)


def predict(network: Tree, x: Array) -> Array:
    """Return the rewards [..., arms] that are expected in contexts [..., features]."""
    weights, biases = network[1]
    rewards: Array = hidden(network, x) @ weights + biases
    return rewards


def squared_error(network: Tree, key: Array, rows: Data, weights: Array) -> Array:  # noqa: ARG001
    """Return the mean squared error of the arms that were played; weights [rows]."""
    return _error(predict(network, rows.contexts), rows, weights)


def _error(predicted: Array, rows: Data, weights: Array) -> Array:
    chosen = jnp.take_along_axis(predicted, rows.arms[:, None], axis=1)[:, 0]
    return jnp.mean(weights * (chosen - rows.rewards) ** 2)


def minibatch(data: Data, key: Array, count: Array) -> tuple[Data, Array]:
    """Return rows drawn with replacement from the first `count`, and which they are."""
    rows = random.randint(key, (MINIBATCH,), 0, count)
    return Data(data.contexts[rows], data.arms[rows], data.rewards[rows]), rows


def rms_train(
    loss: Callable[[Tree, Array, Data, Array], Array],
    state: tuple[Tree, Tree],
    key: Array,
    data: Data,
    count: Array,
    included: Array | None = None,
    taken: Array | int = 0,
) -> tuple[Tree, Tree]:
    """Return network and optimizer's state after one training.

    included: [steps], weighs the rows; taken: steps after which the rate goes on falling, 0 sets it back.
    """
    rms = optax.scale_by_rms(**RMS)
    clip = optax.clip_by_global_norm(MAX_NORM)

    def step(state: tuple[Tree, Tree], number: Array) -> tuple[tuple[Tree, Tree], None]:
        network, memory = state
        draw, noise = random.split(random.fold_in(key, number))
        rows, which = minibatch(data, draw, count)
        weights = jnp.ones(MINIBATCH) if included is None else included[which]
        gradient = jax.grad(loss)(network, noise, rows, weights)
        gradient, _ = clip.update(gradient, optax.EmptyState())
        change, memory = rms.update(gradient, memory)
        rate = RATE / (1.0 + RATE_DECAY * (taken + number))
        return (jax.tree.map(lambda w, c: w - rate * c, network, change), memory), None

    trained, _ = lax.scan(step, state, jnp.arange(STEPS))
    return trained


def start_rms(key: Array, shape: BanditSizes) -> tuple[Tree, Tree]:
    """Return a network and the optimizer's state."""
    network = start_network(key, shape.features, shape.arms)
    return network, optax.scale_by_rms(**RMS).init(network)


def greedy_values(state: Tree, key: Array, x: Array) -> Array:  # noqa: ARG001
    """Return what the network, the first part of a state, expects."""
    return predict(state[0], x)


NEURAL_GREEDY = Method(start_rms, greedy_values, partial(rms_train, squared_error))
"""Plays the arm that promises most."""


# Dropout ----------------------------------------------------------------------------------------------------


def _thinned(network: Tree, key: Array, x: Array) -> Array:
    h = hidden(network, x)
    weights, biases = network[1]
    rewards: Array = h * random.bernoulli(key, KEEP, h.shape) / KEEP @ weights + biases
    return rewards


def _dropout_error(network: Tree, key: Array, rows: Data, weights: Array) -> Array:
    return _error(_thinned(network, key, rows.contexts), rows, weights)


DROPOUT = Method(
    start_rms, lambda state, key, x: _thinned(state[0], key, x), partial(rms_train, _dropout_error)
)
"""A random network for each decision: that which dropout leaves."""


# BootRMS ----------------------------------------------------------------------------------------------------


def _boot_start(key: Array, shape: BanditSizes) -> Tree:
    keys = random.split(key, MODELS + 1)
    included = random.bernoulli(keys[0], INCLUDED, (MODELS, shape.steps)).astype(jnp.float32)
    return jax.vmap(lambda k: start_rms(k, shape))(keys[1:]), included


def _boot_values(state: Tree, key: Array, x: Array) -> Array:
    (networks, _), _ = state
    chosen = random.randint(key, (), 0, MODELS)
    return predict(jax.tree.map(lambda part: part[chosen], networks), x)


def _boot_train(state: Tree, key: Array, data: Data, count: Array) -> Tree:
    models, included = state
    train = partial(rms_train, squared_error)
    trained = jax.vmap(lambda m, k, i: train(m, k, data, count, i))(
        models, random.split(key, MODELS), included
    )
    return trained, included


BOOT_RMS = Method(_boot_start, _boot_values, _boot_train)
"""One of several networks decides, each of which sees most of the rows."""


# ParamNoise -------------------------------------------------------------------------------------------------


def _noisy(network: Tree, key: Array, deviation: Array) -> Tree:
    leaves, tree = jax.tree.flatten(network)
    keys = random.split(key, len(leaves))
    noise = [random.normal(k, leaf.shape) for k, leaf in zip(keys, leaves, strict=True)]
    return jax.tree.unflatten(tree, [a + deviation * n for a, n in zip(leaves, noise, strict=True)])


def _noise_start(key: Array, shape: BanditSizes) -> Tree:
    return start_rms(key, shape), jnp.float32(NOISE), jnp.float32(NOISE_EPS)


def _noise_values(state: Tree, key: Array, x: Array) -> Array:
    (network, _), deviation, _ = state
    return predict(_noisy(network, key, deviation), x)


def _noise_train(state: Tree, key: Array, data: Data, count: Array) -> Tree:
    """Train, then let the noise grow if noisy and plain decisions are closer than allowed, or shrink."""
    model, deviation, eps = state
    train_key, draw, noise = random.split(key, 3)
    model = rms_train(squared_error, model, train_key, data, count)
    x = data.contexts[random.randint(draw, (NOISE_ROWS,), 0, count)]
    plain = jax.nn.log_softmax(predict(model[0], x))
    noisy = jax.nn.log_softmax(predict(_noisy(model[0], noise, deviation), x))
    distance = jnp.mean(jnp.sum(jnp.exp(plain) * (plain - noisy), axis=1))
    arms = plain.shape[1]
    allowed = -jnp.log1p(-eps + eps / arms)
    factor = jnp.where(distance < allowed, NOISE_FACTOR, 1.0 / NOISE_FACTOR)
    return model, deviation * factor, eps * EPS_FACTOR


PARAM_NOISE = Method(_noise_start, _noise_values, _noise_train)
"""Noise on all parameters for each decision, as much as changes decisions by a given amount."""


# constSGD ---------------------------------------------------------------------------------------------------


def _sgd_start(key: Array, shape: BanditSizes) -> Tree:
    network = start_network(key, shape.features, shape.arms)
    zeros = jax.tree.map(jnp.zeros_like, network)
    return network, zeros, zeros  # moving averages of gradients and of their squares


def _sgd_train(state: Tree, key: Array, data: Data, count: Array) -> Tree:
    """Take steps of the constant rate at which the iterates' spread is closest to the posterior's.

    Mandt et al. (2017): rate 2 (S / N) (D / tr C), S rows of a minibatch, N rows in all, D parameters and C
    the covariance of one row's gradient.
    """

    def step(state: Tree, number: Array) -> tuple[Tree, None]:
        network, first, second = state
        draw, noise = random.split(random.fold_in(key, number))
        rows, _ = minibatch(data, draw, count)
        gradient = jax.grad(squared_error)(network, noise, rows, jnp.ones(MINIBATCH))
        gradient = jax.tree.map(lambda g: g / (2.0 * SGD_NOISE**2), gradient)  # of the log-likelihood
        first = jax.tree.map(lambda m, g: SGD_MEMORY * m + (1.0 - SGD_MEMORY) * g, first, gradient)
        second = jax.tree.map(lambda m, g: SGD_MEMORY * m + (1.0 - SGD_MEMORY) * g**2, second, gradient)
        spread = jax.tree.map(lambda m, s: jnp.sum(jnp.maximum(s - m**2, 0.0)), first, second)
        trace = MINIBATCH * sum(jax.tree.leaves(spread))
        size = sum(leaf.size for leaf in jax.tree.leaves(network))
        rate = jnp.minimum(SGD_MAX_RATE, 2.0 * MINIBATCH / count * size / (trace + 1e-12))
        return (jax.tree.map(lambda w, g: w - rate * g, network, gradient), first, second), None

    trained, _ = lax.scan(step, state, jnp.arange(STEPS))
    return trained


CONST_SGD = Method(_sgd_start, greedy_values, _sgd_train)
"""The last iterate of a stochastic gradient descent that wanders like the posterior."""
