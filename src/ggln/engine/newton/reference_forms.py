"""The mixture of one output, written out in NumPy: the plain twin of `form_kernels`.

Numbers may be complex, as in `inspect`: what is compared or looked up goes by real parts.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ggln.engine.newton import constants

if TYPE_CHECKING:
    from ggln.engine.newton.forms import Form

FloatArray = NDArray[np.float64]
Numbers = NDArray[Any]
ROOT = np.sqrt(np.asarray(constants.SPREADS))


def cdf(z: Numbers) -> Numbers:
    """Return Phi(z); a tiny imaginary part is multiplied by the density."""
    if not np.iscomplexobj(z):
        found: Numbers = ndtr(z)
        return found
    density = np.exp(-0.5 * z.real**2) / np.sqrt(2.0 * np.pi)
    carried: Numbers = ndtr(z.real) + 1j * density * z.imag
    return carried


def belong(values: Numbers, knots: FloatArray) -> Numbers:
    """Return how far values [..] belong to each class, [.., C]: linear between knots, one beyond them."""
    at = np.clip(np.searchsorted(knots, values.real, side="right") - 1, 0, knots.size - 2)
    part = (values - knots[at]) / (knots[at + 1] - knots[at])
    part = np.where(part.real <= 0.0, 0.0, np.where(part.real >= 1.0, 1.0, part))
    classes = np.arange(knots.size)
    found: Numbers = np.where(classes == at[..., None], 1.0 - part[..., None], 0.0)
    return found + np.where(classes == at[..., None] + 1, part[..., None], 0.0)


def mixture_of(
    means: Numbers, precisions: Numbers, shares: FloatArray, form: "Form"
) -> tuple[Numbers, Numbers, Numbers]:
    """Return weights, means and deviations [.., P] of kinds of means and precisions [.., K]."""
    before = means.shape[:-1]
    every = np.repeat(means, ROOT.size, axis=-1)
    wide = (np.sqrt(1.0 / precisions)[..., None] * ROOT).reshape(*before, -1)
    centre = np.sum(shares * every, axis=-1)
    scale = np.sqrt(np.sum(shares * (wide**2 + (every - centre[..., None]) ** 2), axis=-1))
    every = np.concatenate([every, centre[..., None] + scale[..., None] * form.offsets], axis=-1)
    wide = np.concatenate([wide, scale[..., None] * form.widths], axis=-1)
    values = _window(centre.real, form.values)
    narrow = np.broadcast_to(form.narrow, (*before, form.atoms.size + values.shape[-1]))
    atoms = np.broadcast_to(form.atoms, (*before, form.atoms.size))
    every, wide = np.concatenate([every, atoms, values], axis=-1), np.concatenate([wide, narrow], axis=-1)
    smooth = every.shape[-1] - values.shape[-1]
    members = belong(scale, form.knots[0]), belong(centre, form.knots[1])
    weights = np.zeros(every.shape, every.dtype)
    weights[..., : shares.size] = form.experts[0] * shares
    said = [members[e % 2] @ table for e, table in enumerate(form.tables)]
    for share, own in zip(form.experts[1:-1], said, strict=True):
        weights[..., :smooth] += share * own
    if values.shape[-1]:
        edges = 0.5 * (values[..., 1:] + values[..., :-1])
        inside = cdf((edges[..., None] - every[..., None, :smooth]) / wide[..., None, :smooth])
        below = np.sum(0.5 * (said[0] + said[1])[..., None, :] * inside, axis=-1)
        ends = np.zeros((*before, 1)), np.ones((*before, 1))
        upto = np.concatenate([ends[0], below, ends[1]], axis=-1)
        weights[..., smooth:] = form.experts[-1] * np.diff(upto, axis=-1)
    return weights, every, wide


def mean_of(means: Numbers, precisions: Numbers, shares: FloatArray, form: "Form") -> Numbers:
    """Return the mean [..] of the mixture of kinds of means and precisions [.., K]."""
    weights, every, _ = mixture_of(means, precisions, shares, form)
    found: Numbers = np.sum(weights * every, axis=-1)
    return found


def _window(centre: FloatArray, values: FloatArray) -> FloatArray:
    """Return the values of a lattice that take part, [.., W]."""
    count = min(values.size, constants.LATTICE_VALUES)
    first = np.clip(np.searchsorted(values, centre) - count // 2, 0, values.size - count)
    found: FloatArray = values[first[..., None] + np.arange(count)]
    return found
