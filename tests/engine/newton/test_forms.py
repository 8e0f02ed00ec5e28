"""The form of a prediction: kernels against the plain twin, shares against an optimum from elsewhere."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from ggln.distributions import GaussianMixture
from ggln.engine.newton import constants, reference_forms
from ggln.engine.newton.form_kernels import blend_rows, climb, follow_form, moments_one, moments_rows
from ggln.engine.newton.forms import find_form, no_form, offsets_of, quantiles, repeated
from ggln.engine.newton.mixture import find_shares, log_densities

TARGETS = {
    "smooth": lambda random, f: f + random.exponential(size=f.size),
    "atom": lambda random, f: np.where(random.random(f.size) < 0.3, 0.0, f + random.normal(size=f.size)),
    "lattice": lambda random, f: np.round(2 * f + random.normal(size=f.size)) / 2,
    "long lattice": lambda random, f: np.round(8 * f + random.normal(size=f.size)) / 8,
}
EVERY = pytest.mark.parametrize("name", TARGETS)


def judged(name, rows=800, seed=0):
    """Three kinds that know a function more or less well, and targets around it."""
    random = np.random.default_rng(seed)
    f = random.normal(scale=2.0, size=rows)
    goals = TARGETS[name](random, f)
    precisions = np.exp(random.normal(scale=0.3, size=(rows, 3)))
    means = f[:, None] + 0.3 * random.normal(size=(rows, 3))
    planes = np.stack([precisions, precisions * means], axis=2)
    logs = log_densities(precisions * (goals[:, None] - means) ** 2, np.log(precisions), 1)
    shares = find_shares(logs.reshape(rows, -1), np.ones(rows))
    return planes, goals, shares


@pytest.fixture(scope="module")
def known():
    found = {}
    for name in TARGETS:
        planes, goals, shares = judged(name)
        found[name] = planes, goals, shares, find_form(planes, goals, np.ones(len(goals)), shares, goals)[0]
    return found


def blended(planes, shares, form):
    found = np.empty((3, len(planes), form.components(shares)))
    blend_rows(planes, shares, form, *found)
    return found


def distribution(planes, shares, form):
    return GaussianMixture(*blended(planes, shares, form))


@EVERY
def test_the_kernel_is_its_twin(known, name):
    planes, _, shares, form = known[name]
    assert (form.atoms.size > 0) == (name != "smooth")
    assert (form.values.size > 0) == ("lattice" in name)
    assert (form.values.size > constants.LATTICE_VALUES) == (name == "long lattice")
    expected = reference_forms.mixture_of(planes[..., 1] / planes[..., 0], planes[..., 0], shares, form)
    found = blended(planes, shares, form)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found[0].sum(axis=1), 1.0, atol=1e-12)
    moments = np.empty((2, len(planes)))
    moments_rows(*found, *moments)
    np.testing.assert_allclose(moments[0], distribution(planes, shares, form).mean, atol=1e-12)
    np.testing.assert_allclose(moments[1], distribution(planes, shares, form).std, rtol=1e-12)
    assert moments_one(planes[:1].copy(), shares, form) == tuple(moments[:, 0])


@EVERY
def test_a_density_of_mass_one(known, name):
    planes, _, shares, form = known[name]
    own = distribution(planes[:1], shares, form)
    grid = np.unique(
        np.concatenate(
            [m + s * np.linspace(-8, 8, 801) for m, s in zip(own.means[0], own.stds[0], strict=True)]
        )
    )
    wide = GaussianMixture(*(np.repeat(a, grid.size, axis=0) for a in (own.weights, own.means, own.stds)))
    density = np.exp(wide.log_prob(grid))
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-4)
    assert np.trapezoid(density * grid, grid) == pytest.approx(own.mean[0], abs=1e-3)
    assert np.all(np.diff(wide.cdf(grid)) >= -1e-15)
    middle = own.quantile(0.5)
    assert own.cdf(middle)[0] == pytest.approx(0.5, abs=1e-9)


def test_shares_are_the_optimum():
    random = np.random.default_rng(0)
    densities, weights = random.exponential(size=(60, 4)), random.integers(0, 3, 60).astype(float)
    members = random.dirichlet(np.ones(2), 60)
    pull = np.array([0.4, 0.1, 0.3, 0.2])

    def loss(x):
        tables = softmax(x.reshape(2, 4), axis=1)
        return -weights @ np.log(np.sum(members @ tables * densities, axis=1)) - np.sum(pull * np.log(tables))

    tables = np.full((2, 4), 0.25)
    climb(densities, weights, members, pull, 5000, tables)
    best = minimize(loss, np.zeros(8))
    assert loss(np.log(tables).ravel()) == pytest.approx(best.fun, abs=1e-6)
    np.testing.assert_allclose(tables, softmax(best.x.reshape(2, 4), axis=1), atol=2e-3)


@EVERY
def test_it_is_likelier_than_spreads_alone(known, name):
    form = known[name][-1]
    planes, goals, shares = judged(name, seed=1)
    scores = [-distribution(planes, shares, own).log_prob(goals).mean() for own in (form, no_form())]
    assert scores[0] < scores[1] - (0.05 if name != "long lattice" else -0.01)


def test_skewness_and_atoms_are_seen(known):
    planes, goals, shares = judged("smooth", 4000, seed=2)
    u = distribution(planes, shares, known["smooth"][-1]).cdf(goals)
    assert 0.03 < np.mean(u < 0.05) < 0.07
    assert 0.03 < np.mean(u > 0.95) < 0.07
    form = known["atom"][-1]
    np.testing.assert_array_equal(form.atoms, [0.0])
    planes, _, shares = judged("atom", 500, seed=2)
    own = distribution(planes, shares, form)
    jump = own.cdf(4 * form.narrow[0]) - own.cdf(-4 * form.narrow[0])
    assert 0.25 < jump.mean() < 0.4


@EVERY
def test_a_stream_goes_on_row_by_row(known, name):
    planes, goals, shares, form = known[name]
    weights = np.resize([1.0, 0.0, 2.0], len(goals))
    ends = []
    for cuts in ((0, 100), (0, 1, 37, 100)):
        own, state = shares.copy(), form._replace(**{f: getattr(form, f).copy() for f in form._fields})
        before, seen = blended(planes[:1], own, state), 500.0
        parts, ring = [], np.zeros((64, 9))
        for start, stop in pairwise(cuts):
            found = np.empty((3, stop - start, form.components(shares)))
            seen = follow_form(
                planes[start:stop],
                goals[start:stop],
                weights[start:stop],
                own,
                state,
                seen,
                ring,
                start,
                *found,
            )
            parts.append(found)
        every = np.concatenate(parts, axis=1)
        np.testing.assert_array_equal(every[:, :1], before)  # predicted before it was learnt
        ends.append((every, own, state.tables, state.experts, state.seen, ring))
        logs = GaussianMixture(*every[:, 98:99]).log_prob(goals[98:99])
        np.testing.assert_allclose(ring[98 % 64], [*planes[98].ravel(), goals[98], weights[98], logs[0]])
        assert seen == 500.0 + weights[:100].sum()
        np.testing.assert_allclose([own.sum(), state.experts.sum()], 1.0)
        np.testing.assert_allclose(state.tables.sum(axis=2), 1.0)
        assert not np.array_equal(own, shares)
    for one, other in zip(*ends, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_row_of_no_weight_teaches_nothing(known):
    planes, goals, shares, form = known["smooth"]
    own, tables = shares.copy(), form.tables.copy()
    found = np.empty((3, 5, form.components(shares)))
    assert follow_form(planes[:5], goals[:5], np.zeros(5), own, form, 9.0, np.zeros((8, 9)), 0, *found) == 9.0
    np.testing.assert_array_equal(own, shares)
    np.testing.assert_array_equal(form.tables, tables)


@EVERY
def test_derivatives_are_carried_along(known, name):
    planes, _, shares, form = known[name]
    means, precisions = planes[:50, :, 1] / planes[:50, :, 0], planes[:50, :, 0]
    step = 1e-6
    at = [
        reference_forms.mean_of(means + s * step, precisions * (1 + s * step), shares, form) for s in (-1, 1)
    ]
    tiny = 1e-30j
    found = reference_forms.mean_of(means + tiny, precisions * (1 + tiny), shares, form)
    slopes = (at[1] - at[0]) / (2 * step)
    close = np.isclose(found.imag / 1e-30, slopes, rtol=1e-4, atol=1e-5)
    assert close.mean() > 0.9  # a difference across a knot, or a window that moves, is none


def test_values_that_repeat():
    random = np.random.default_rng(0)
    smooth = random.normal(size=500)
    assert [part.size for part in repeated(smooth)[:2]] == [0, 0]
    assert [part.size for part in repeated(np.ones(500))[:2]] == [0, 0]
    inflated = np.where(random.random(500) < 0.2, 0.0, smooth)
    atoms, values, narrow = repeated(inflated)
    assert (atoms.tolist(), values.size, narrow) == ([0.0], 0, constants.ATOM_WIDTH)
    stars = np.resize([1.0, 2.0, 3.0, 4.0, 5.0], 500)
    atoms, values, narrow = repeated(stars)
    assert atoms.tolist() == values.tolist() == [1, 2, 3, 4, 5]
    assert narrow == pytest.approx(0.1)
    assert repeated(np.round(smooth, 3))[0].size == 0  # ties by rounding are no atoms


def test_offsets_follow_quantiles():
    random = np.random.default_rng(0)
    errors = random.exponential(size=5000)
    offsets, widths = offsets_of(errors, np.ones(5000))
    assert offsets.size == widths.size == constants.OFFSETS
    assert 0.0 < offsets[0] < 0.05
    assert np.all(np.diff(offsets) > 0)
    twice = quantiles(errors[:100], np.full(100, 2.0), np.array([0.1, 0.5]))
    np.testing.assert_allclose(twice, quantiles(errors[:100], np.ones(100), np.array([0.1, 0.5])))


def test_few_rows_have_spreads_alone():
    planes, goals, shares = judged("smooth", 20)
    form, _ = find_form(planes, goals, np.ones(20), shares, goals)
    assert form.offsets.size == 0
    assert blended(planes, shares, form)[0].shape == (20, shares.size)
