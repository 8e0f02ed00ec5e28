"""Every kind of neuron, compiled, against its plain twin and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from ggln.engine.jit import fast_kernel
from ggln.engine.newton import reference, reference_structures
from ggln.engine.newton.contexts import Rows, make_work
from ggln.engine.newton.lanes import LANES
from ggln.engine.newton.neurons import protocol
from ggln.engine.newton.neurons.bernoulli import LEAST_SPREAD, Bernoulli
from ggln.engine.newton.neurons.diagonal import Diagonal
from ggln.engine.newton.neurons.full import Full
from ggln.engine.newton.neurons.isotropic import Isotropic
from ggln.engine.newton.neurons.univariate import Univariate
from ggln.engine.newton.trees import solve_root

KINDS = {
    "univariate": (Univariate, reference_structures.Univariate),
    "isotropic": (Isotropic, reference_structures.Isotropic),
    "diagonal": (Diagonal, reference_structures.Diagonal),
    "full": (Full, reference_structures.Full),
    "bernoulli": (Bernoulli, reference_structures.Bernoulli),
}
SEVERAL = [
    *(("full", D) for D in (1, 2, 3)),
    # each kind takes half a minute to compile
    *(
        pytest.param(name, D, marks=pytest.mark.nightly)
        for name in ("isotropic", "diagonal")
        for D in (1, 2, 3)
    ),
]
GAUSSIAN = [("univariate", 1), *SEVERAL]
EVERY = pytest.mark.parametrize(("name", "D"), [*GAUSSIAN, ("bernoulli", 1)])
EVERY_GAUSSIAN = pytest.mark.parametrize(("name", "D"), GAUSSIAN)


@fast_kernel
def losses_of(kind, totals, y):
    found = np.empty(len(y))
    for t in range(len(y)):
        found[t] = protocol.loss(kind, totals, t, y, t)
    return found


def derivatives_of(kind, totals, y, inputs):
    rows, planes, size = inputs.shape
    width = -(-size // LANES) * LANES
    roots, residues = np.full((rows, planes, planes), np.nan), np.full((rows, planes), np.nan)
    factors, gradients = np.zeros((rows, planes, width)), np.zeros((rows, width))
    wide = np.zeros((rows, planes, width))
    wide[:, :, :size] = inputs
    differentiate(kind, totals, y, wide, size, roots, residues, factors, gradients)
    # nobody reads what is above the triangle
    return np.tril(roots), residues, factors[:, :, :size], gradients[:, :size]


@fast_kernel
def differentiate(kind, totals, y, inputs, size, roots, residues, factors, gradients):
    for t in range(len(inputs)):
        protocol.derive(kind, totals, t, y, t, roots[t], residues[t])
        protocol.expand(kind, roots[t], residues[t], inputs, t, size, 1.0, 0, factors[t], gradients[t])


@fast_kernel
def strides_of(kind, totals, changes):
    found = np.empty(len(totals))
    for t in range(len(totals)):
        found[t] = protocol.stride(kind, totals, t, changes[t])
    return found


@fast_kernel
def means_of(kind, totals, outputs):
    found = np.empty((len(totals), outputs))
    for t in range(len(totals)):
        protocol.mean_of(kind, totals[t], found[t])
    return found


@fast_kernel
def bounded(kind, totals, centre, reach, least, most):
    found = totals.copy()
    for t in range(len(totals)):
        protocol.bound(kind, found[t], centre, reach, least, most)
    return found


@fast_kernel
def input_of(kind, axis, value, precision, planes):
    found = np.full(planes, np.nan)
    protocol.put(kind, axis, value, precision, found)
    return found


@fast_kernel
def damping(kind, variance):
    return protocol.damp(kind, variance)


@fast_kernel
def width_of(kind, hat, root):
    return protocol.width(kind, hat, root)


def planes_of(name, parts):
    """Planes [.., Q] of the twin's parts, whose rows and inputs come first."""
    if name == "bernoulli":
        return parts[0][..., None]
    first, second = parts
    if name == "univariate":
        return np.stack([first, second], axis=-1)
    if name == "isotropic":
        return np.concatenate([first[..., None], second], axis=-1)
    if name == "full":
        lower = np.tril_indices(first.shape[-1])
        first = first[..., lower[0], lower[1]]
    return np.concatenate([first, second], axis=-1)


def parts_of(name, planes, D):
    """The twin's parts of planes [.., Q]."""
    if name == "bernoulli":
        return (planes[..., 0],)
    if name == "univariate":
        return planes[..., 0], planes[..., 1]
    if name == "isotropic":
        return planes[..., 0], planes[..., 1:]
    first, second = planes[..., :-D], planes[..., -D:]
    if name == "full":
        first = matrices(first, D)
    return first, second


def matrices(lower, D):
    """Symmetric matrices [.., D, D] of their lower triangles."""
    found = np.empty((*lower.shape[:-1], D, D))
    i, k = np.tril_indices(D)
    found[..., i, k] = lower
    found[..., k, i] = lower
    return found


def precisions_of(name, planes, D):
    """Precision matrices [.., D, D]."""
    first = parts_of(name, planes, D)[0]
    if name == "full":
        return first
    wide = first[..., None] if first.ndim < planes.ndim else first
    return np.broadcast_to(wide, (*wide.shape[:-1], D))[..., None] * np.eye(D)


def draw(name, D, n, m=4, seed=0):
    """A kind, its twin, inputs [n, Q, m] that are guesses of the targets, and these [n, D]."""
    rng = np.random.default_rng(seed)
    kind, twin = KINDS[name][0](D), KINDS[name][1]()
    if name == "bernoulli":
        x = rng.normal(size=(n, 1, m))
        y = (rng.random(n) < 1 / (1 + np.exp(-x[:, 0, 0]))).astype(float)
        return kind, twin, x, y[:, None]
    y = rng.normal(size=(n, D))
    means = y[:, None] + np.linspace(0.6, 1.5, m)[:, None] * rng.normal(size=(n, m, D))
    half = np.eye(D) + 0.3 * rng.normal(size=(n, m, D, D))
    precisions = half @ half.swapaxes(2, 3)
    if name in ("isotropic", "univariate"):
        precisions = precisions[..., :1, :1] * np.eye(D)
    if name == "diagonal":
        precisions = precisions * np.eye(D)
    naturals = np.einsum("njde,nje->njd", precisions, means)
    lower = np.tril_indices(D)
    first = {
        "full": precisions[..., lower[0], lower[1]],
        "diagonal": np.einsum("njdd->njd", precisions),
    }.get(name, precisions[..., :1, 0])
    planes = np.concatenate([first, naturals], axis=2)
    assert planes.shape[2] == kind.planes
    return kind, twin, np.ascontiguousarray(planes.swapaxes(1, 2)), y


def totals_of(inputs, weights):
    return np.ascontiguousarray(inputs @ weights)


def for_twin(name, inputs, y, D):
    """Inputs and targets as the twin wants them."""
    return parts_of(name, inputs.swapaxes(1, 2), D), y[:, 0] if name in ("univariate", "bernoulli") else y


def some_weights(m):
    return np.random.default_rng(1).uniform(0.1, 0.6, m)


@EVERY
def test_loss_is_that_of_the_twin(name, D):
    kind, twin, inputs, y = draw(name, D, 20)
    totals = totals_of(inputs, some_weights(4))
    theirs = for_twin(name, inputs, y, D)[1]
    np.testing.assert_allclose(
        losses_of(kind, totals, y), twin.loss(parts_of(name, totals, D), theirs), 1e-12
    )


@EVERY
def test_what_is_no_density_has_an_infinite_loss(name, D):
    kind, _, inputs, y = draw(name, D, 5)
    totals = totals_of(inputs, some_weights(4)) * (-1.0 if name != "bernoulli" else np.inf)
    assert np.all(losses_of(kind, totals, y) == np.inf)


@EVERY
def test_root_and_residue_give_gradient_and_hessian_of_the_loss(name, D):
    kind, _, inputs, y = draw(name, D, 10)
    totals = totals_of(inputs, some_weights(4))
    roots, residues, _, _ = derivatives_of(kind, totals, y, inputs)
    gradients = np.einsum("tiq,ti->tq", roots, residues)
    steps = 1e-5 * np.eye(kind.planes)
    found = [(losses_of(kind, totals + s, y) - losses_of(kind, totals - s, y)) / 2e-5 for s in steps]
    np.testing.assert_allclose(gradients, np.stack(found, axis=1), rtol=1e-5, atol=1e-6)

    def slopes(at):
        own, rest, _, _ = derivatives_of(kind, at, y, inputs)
        return np.einsum("tiq,ti->tq", own, rest)

    hessians = np.stack([(slopes(totals + s) - slopes(totals - s)) / 2e-5 for s in steps], axis=2)
    np.testing.assert_allclose(roots.swapaxes(1, 2) @ roots, hessians, rtol=1e-5, atol=1e-6)


@EVERY
def test_factors_and_gradient_by_weights_are_those_of_the_twin(name, D):
    kind, twin, inputs, y = draw(name, D, 10)
    totals = totals_of(inputs, some_weights(4))
    roots, _, factors, gradients = derivatives_of(kind, totals, y, inputs)
    np.testing.assert_allclose(factors, roots @ inputs, rtol=1e-10, atol=1e-12)
    theirs, goals = for_twin(name, inputs, y, D)
    parts = parts_of(name, totals, D)
    np.testing.assert_allclose(gradients, twin.gradient(theirs, parts, goals), rtol=1e-9, atol=1e-11)
    F = twin.factors(theirs, parts)
    np.testing.assert_allclose(factors.swapaxes(1, 2) @ factors, F.swapaxes(1, 2) @ F, rtol=1e-9, atol=1e-11)


@EVERY
def test_stride_is_that_of_the_twin(name, D):
    kind, twin, inputs, _ = draw(name, D, 200)
    totals = totals_of(inputs, some_weights(4))
    change = np.random.default_rng(2).normal(size=totals.shape) * np.geomspace(0.01, 10.0, 200)[:, None]
    found = strides_of(kind, totals, change)
    expected = twin.stride(parts_of(name, totals, D), parts_of(name, -change, D))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert (found < 1).any()
    assert (found == 1).any()


@EVERY
def test_mean(name, D):
    kind, _, inputs, _ = draw(name, D, 10)
    totals = totals_of(inputs, some_weights(4))
    found = means_of(kind, totals, D)
    if name == "bernoulli":
        assert np.array_equal(found, totals)
    else:
        precisions = precisions_of(name, totals, D)
        expected = np.linalg.solve(precisions, totals[:, -D:, None])[..., 0]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@EVERY_GAUSSIAN
def test_totals_are_brought_into_range(name, D):
    kind, _, inputs, _ = draw(name, D, 60)
    totals = totals_of(inputs, some_weights(4)) * np.geomspace(0.01, 100.0, 60)[:, None]
    centre, reach, least, most = np.linspace(-0.3, 0.4, D), 0.7, 0.2, 5.0
    found = bounded(kind, totals, centre, reach, least, most)
    values = np.linalg.eigvalsh(precisions_of(name, found, D))
    assert values.min() > least * (1 - 1e-9)
    assert values.max() < most * (1 + 1e-9)
    before, after = means_of(kind, totals, D), means_of(kind, found, D)
    np.testing.assert_allclose(after, np.clip(before, centre - reach, centre + reach), rtol=1e-9, atol=1e-11)
    inside = np.linalg.eigvalsh(precisions_of(name, totals, D))
    kept = (inside.min(axis=1) > least) & (inside.max(axis=1) < most)
    P = precisions_of(name, totals, D)
    np.testing.assert_allclose(precisions_of(name, found, D)[kept], P[kept], rtol=1e-9, atol=1e-12)
    assert kept.any()
    assert not kept.all()


@EVERY_GAUSSIAN
def test_what_is_no_density_becomes_a_wide_one_at_the_centre(name, D):
    kind, _, inputs, _ = draw(name, D, 5)
    centre = np.linspace(-0.3, 0.4, D)
    found = bounded(kind, -totals_of(inputs, some_weights(4)), centre, 0.7, 0.2, 5.0)
    np.testing.assert_allclose(means_of(kind, found, D), np.tile(centre, (5, 1)), rtol=1e-9)
    np.testing.assert_allclose(precisions_of(name, found, D), np.tile(0.2 * np.eye(D), (5, 1, 1)))


def test_logits_are_brought_into_reach():
    kind, centre = Bernoulli(1), np.array([0.5])
    found = bounded(kind, np.array([[-9.0], [0.2], [9.0]]), centre, 2.0, 0.0, 1.0)
    np.testing.assert_allclose(found[:, 0], [-1.5, 0.2, 2.5])


@EVERY_GAUSSIAN
def test_damping_divides_the_precision(name, D):
    kind, _, inputs, _ = draw(name, D, 5)
    totals, factor = totals_of(inputs, some_weights(4)), damping(KINDS[name][0](D), 0.5)
    assert factor == pytest.approx(1 / 1.5)
    np.testing.assert_allclose(means_of(kind, factor * totals, D), means_of(kind, totals, D), rtol=1e-10)


def test_damping_a_logit_gives_the_mean_probability():
    """MacKay's approximation, to one in a hundred."""
    draws = np.random.default_rng(0).normal(1.0, 1.5, 200_000)
    found = 1 / (1 + np.exp(-damping(Bernoulli(1), 1.5**2)))
    assert found == pytest.approx(np.mean(1 / (1 + np.exp(-draws))), abs=0.01)


@pytest.mark.parametrize(("name", "D"), SEVERAL)
def test_inputs_along_an_axis_and_along_all(name, D):
    kind = KINDS[name][0](D)
    every = input_of(kind, -1, 1.5, 4.0, kind.planes)
    np.testing.assert_allclose(precisions_of(name, every, D), 4.0 * np.eye(D))
    np.testing.assert_allclose(every[-D:], np.full(D, 6.0))
    one = input_of(kind, D - 1, 1.5, 4.0, kind.planes)
    own = np.arange(D) == D - 1
    expected = 4.0 * np.eye(D) if name == "isotropic" else np.diag(4.0 * own)
    np.testing.assert_allclose(precisions_of(name, one, D), expected)
    np.testing.assert_allclose(one[-D:], 6.0 * own)
    assert not input_of(kind, -1, 0.0, 0.0, kind.planes).any()


def test_inputs_of_one_output():
    np.testing.assert_allclose(input_of(Univariate(1), -1, 1.5, 4.0, 2), [4.0, 6.0])
    np.testing.assert_allclose(input_of(Bernoulli(1), -1, 1.5, 4.0, 1), [1.5])
    np.testing.assert_allclose(input_of(Bernoulli(1), 0, 1.5, 0.0, 1), [0.0])


@EVERY
def test_width_is_the_posterior_variance_in_units_of_the_own(name, D):
    kind, twin, inputs, y = draw(name, D, 20)
    weights, inverse = some_weights(4), np.linalg.inv(np.eye(4) * np.arange(10.0, 14.0) + 1.0)
    totals = totals_of(inputs, weights)
    roots, _, factors, _ = derivatives_of(kind, totals, y, inputs)
    hats = factors @ inverse @ factors.swapaxes(1, 2)
    found = [width_of(kind, hat, root) for hat, root in zip(hats, roots, strict=True)]
    parts = for_twin(name, inputs, y, D)[0]
    if name == "full":
        slopes = twin.slopes(parts, parts_of(name, totals, D))
        covariances = 2.0 * np.einsum("njd,jk,nke->nde", slopes, inverse, slopes)
        expected = np.einsum("nde,nde->n", covariances, parts_of(name, totals, D)[0]) / D
    else:
        variances = reference.posterior_variance(twin, parts, weights, inverse).reshape(20, -1)
        own = 1.0 if name == "bernoulli" else np.einsum("tdd->td", precisions_of(name, totals, D))
        expected = np.mean(variances * own, axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@EVERY
def test_solve_and_leave_out_are_those_of_the_twin(name, D):
    kind, twin, inputs, y = draw(name, D, 80)
    counts = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 2.0], 80)
    centre, pull = np.full(4, 0.25), np.linspace(2.0, 4.0, 4)
    wide, start = np.zeros((80, kind.planes, LANES)), np.zeros(LANES)
    wide[:, :, :4], start[:4] = inputs, centre
    work = make_work(80, kind.planes, 4)
    weights, left, widths = solve_root(kind, Rows(wide, y, counts), start, pull, work)
    assert not weights[4:].any()
    weights = weights[:4]
    theirs, goals = for_twin(name, inputs, y, D)
    solution = reference.solve(twin, theirs, goals, counts, centre, pull)
    np.testing.assert_allclose(weights, solution.weights, rtol=1e-4, atol=1e-4)
    expected = planes_of(
        name, reference.leave_out(twin, theirs, goals, counts, solution.weights, solution.inverse)
    )
    totals = totals_of(inputs, solution.weights)
    change = parts_of(name, totals - expected, D)
    length = twin.stride(parts_of(name, totals, D), change)
    np.testing.assert_allclose(left, totals + length[:, None] * (expected - totals), rtol=2e-3, atol=2e-3)
    assert np.all(widths >= 0)
    assert np.all(np.isfinite(widths))


def test_certain_logits_have_some_curvature():
    roots = derivatives_of(Bernoulli(1), np.array([[40.0]]), np.array([[0.0]]), np.ones((1, 1, 1)))[0]
    assert roots[0, 0, 0] == pytest.approx(np.sqrt(LEAST_SPREAD))
