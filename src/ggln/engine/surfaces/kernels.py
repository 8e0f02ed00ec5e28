"""Kernels of the arms' posteriors, whose formulas are in `reference`. None of them holds Python's lock.

Sums may be reordered, loops that write may not: see `jit`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ggln.engine.jit import exact_kernel, fused_multiply_add, inner_exact, inner_fast
from ggln.engine.newton.matern import write_heights
from ggln.engine.pinned import record_at
from ggln.engine.surfaces.constants import PRODUCT_REACH, REACH


class Surface(NamedTuple):
    """A Bayesian regression of one arm's reward on inputs made of the context."""

    units: Any  # [2, d]  shift and scale of features
    paid: Any  # [2]  shift and scale of rewards
    widths: Any  # [3]  deviations in advance of level, line, and products or bumps
    products: Any  # [1]  whether products of features are inputs
    lengths: Any  # [d]  of bumps
    centres: Any  # [d, M]  in units of the lengths; M may be 0
    factor: Any  # [M, M]  of the bumps' own covariance, inverted
    mean: Any  # [P]  of the weights
    spread: Any  # [P, P]  their covariance over the noise's variance
    noise: Any  # [2]  shape and scale of the inverse gamma of that variance


@inner_fast
def product(left: Any, right: Any) -> Any:
    """Return left' right."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@inner_exact
def write_inputs(surface: Any, x: Any, inputs: Any) -> None:
    """Write what a regression sees of a context [d] # OUT [P]."""
    features = x.size
    level, line, curve = surface.widths
    point = np.empty(features)
    for i in range(features):
        point[i] = min(max((x[i] - surface.units[0, i]) / surface.units[1, i], -REACH), REACH)
        inputs[1 + i] = line * point[i] / math.sqrt(features)
    inputs[0] = level / math.sqrt(features)
    place = 1 + features
    if surface.products[0]:
        for i in range(features):
            point[i] = min(max(point[i], -PRODUCT_REACH), PRODUCT_REACH)
        for i in range(features):
            for j in range(i):
                inputs[place] = curve / features * math.sqrt(2.0) * point[i] * point[j]
                place += 1
            inputs[place] = curve / features * (point[i] * point[i] - 1.0)
            place += 1
    bumps = surface.centres.shape[1]
    if bumps > 0:
        heights = np.empty(bumps)
        for i in range(features):
            point[i] /= surface.lengths[i]
        write_heights(surface.centres, point, heights)
        for j in range(bumps):
            inputs[place + j] = curve * product(surface.factor[j, : j + 1], heights[: j + 1])


@exact_kernel
def inputs_of(surface: Any, rows: Any) -> Any:
    """Return the inputs [n, P] of contexts [n, d]."""
    found = np.empty((rows.shape[0], surface.mean.size))
    for t in range(rows.shape[0]):
        write_inputs(surface, rows[t], found[t])
    return found


@inner_fast
def quadratic(spread: Any, inputs: Any) -> Any:
    """Return inputs' spread inputs; of the symmetric matrix, one half is read."""
    total = 0.0
    for j in range(inputs.size):
        line, own = spread[j], 0.0
        for i in range(j):
            own += line[i] * inputs[i]
        total += inputs[j] * (2.0 * own + line[j] * inputs[j])
    return total


@exact_kernel
def ask(surfaces: Any, asked: Any, rows: Any, found: Any) -> None:
    """Write mean, its variance and the noise's # OUT [n, C, 3] of all that are asked, in the user's units.

    surfaces: pinned, C of them; asked: [C]; rows: [n, d]. Of others, nothing is written.
    """
    for c in range(asked.size):
        if not asked[c]:
            continue
        surface = record_at(surfaces, c)
        inputs = np.empty(surface.mean.size)
        shift, scale = surface.paid
        noise = surface.noise[1] / surface.noise[0] * scale * scale
        for t in range(rows.shape[0]):
            write_inputs(surface, rows[t], inputs)
            found[t, c, 0] = shift + scale * product(surface.mean, inputs)
            found[t, c, 1] = noise * max(quadratic(surface.spread, inputs), 0.0)
            found[t, c, 2] = noise


@inner_exact
def log_student(error: Any, variance: Any, shape: Any) -> Any:
    """Return the log density of an error of Student's distribution with 2 shape degrees of freedom."""
    half = shape + 0.5
    constant = math.lgamma(half) - math.lgamma(shape) - 0.5 * math.log(2.0 * math.pi * shape * variance)
    return constant - half * math.log1p(error * error / (2.0 * shape * variance))


@exact_kernel
def learn(surfaces: Any, first: Any, x: Any, reward: Any, weight: Any, told: Any) -> None:
    """Learn a reward with the surfaces of one arm, from `first` on; told: [K] # OUT, log densities before."""
    for k in range(told.size):
        surface = record_at(surfaces, first + k)
        inputs, along = np.empty(surface.mean.size), np.empty(surface.mean.size)
        write_inputs(surface, x, inputs)
        for j in range(inputs.size):
            along[j] = product(surface.spread[j], inputs)
        error = (reward - surface.paid[0]) / surface.paid[1] - product(surface.mean, inputs)
        own = max(product(along, inputs), 0.0)
        shape, scale = surface.noise
        told[k] = log_student(error, scale / shape * (1.0 + own), shape) - math.log(surface.paid[1])
        rest = 1.0 + weight * own
        for j in range(inputs.size):
            surface.mean[j] += weight * error / rest * along[j]
            line, part = surface.spread[j], weight / rest * along[j]
            for i in range(inputs.size):
                line[i] = fused_multiply_add(-part, along[i], line[i])
        surface.noise[0] += 0.5 * weight
        surface.noise[1] += 0.5 * weight * error * error / rest
