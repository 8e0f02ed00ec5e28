import numpy as np
import pytest
from scipy import stats

from ggln.reproduction.shared.scores import gaussian, scores


def test_scores_of_a_gaussian_are_those_of_the_textbook():
    random = np.random.default_rng(0)
    mean, std = random.normal(size=20_000), random.uniform(0.5, 2.0, 20_000)
    y = mean + std * random.standard_normal(mean.size)
    found = scores(gaussian(mean, std), y)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((y - mean) ** 2)))
    assert found["mse"] == pytest.approx(found["rmse"] ** 2)
    assert found["nll"] == pytest.approx(-stats.norm.logpdf(y, mean, std).mean())
    z = (y - mean) / std
    crps = std * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert found["crps"] == pytest.approx(crps.mean())
    for level in (50, 90, 95):
        assert found[f"coverage_{level}"] == pytest.approx(level / 100, abs=0.012)


def test_coverage_is_that_of_the_central_interval():
    random = np.random.default_rng(1)
    distribution = gaussian(random.normal(size=300), random.uniform(0.1, 1.0, 300))
    y = random.normal(size=300)
    for level in (0.5, 0.9, 0.95):
        lower, upper = distribution.interval(level)
        assert scores(distribution, y)[f"coverage_{100 * level:.0f}"] == np.mean((lower <= y) & (y <= upper))


def test_several_outputs_are_averaged_and_scored_jointly():
    random = np.random.default_rng(2)
    mean, std, y = random.normal(size=(50, 3)), random.uniform(0.5, 1.0, (50, 3)), random.normal(size=(50, 3))
    found = scores(gaussian(mean, std), y)
    each = [scores(gaussian(mean[:, d], std[:, d]), y[:, d]) for d in range(3)]
    for name in ("mse", "crps", "coverage_90"):
        assert found[name] == pytest.approx(np.mean([one[name] for one in each]))
    assert found["nll"] == pytest.approx(sum(one["nll"] for one in each))  # independent outputs
    assert found["rmse"] == pytest.approx(np.sqrt(found["mse"]))
