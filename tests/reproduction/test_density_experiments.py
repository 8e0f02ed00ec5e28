"""The experiments of density modelling, small."""

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import cli
from ggln.reproduction import (
    anomaly,
    densities,
    digit_samples,
    gradient_check,
    hmc,
    imputation,
    mnist,
    swiss_roll,
)
from ggln.reproduction.shared import averages
from ggln.reproduction.tasks import roll

SMALL = {"layer_sizes": (8, 1), "context_dim": 4}


@pytest.fixture
def reproduce(monkeypatch, tmp_path):
    """Run a command with small networks; return what it printed and the names of the files it wrote."""
    monkeypatch.setattr(swiss_roll, "PASS", swiss_roll.PASS | SMALL)
    monkeypatch.setattr(anomaly, "SETTINGS", SMALL | {"step": "split"})  # many fits
    monkeypatch.setitem(mnist.SETTINGS, "digits", mnist.SETTINGS["digits"] | SMALL | {"epochs": 2})
    quick = digit_samples.SETTINGS | SMALL | {"noise": (8.0, 4.0), "epochs": 2}
    monkeypatch.setattr(digit_samples, "SETTINGS", quick)

    def run(*arguments):
        result = CliRunner().invoke(cli.app, ["reproduce", *arguments, "-o", str(tmp_path / "out")])
        assert result.exit_code == 0, result.output
        return result.output, {path.name for path in (tmp_path / "out").iterdir()}

    return run


def test_the_roll_is_scaled_and_its_true_score_leads_to_it():
    points = roll.sample(2000, 0)
    assert abs(points).max() == pytest.approx(1.0, abs=0.02)
    assert roll.distance(points) < 0.01
    noisy = points[:100] + roll.NOISE * np.random.default_rng(0).standard_normal((100, 2))
    assert roll.cosine_error(noisy, roll.true_mean(noisy)) == pytest.approx(0.0, abs=1e-9)
    assert roll.distance(roll.true_mean(noisy)) < 0.5 * roll.distance(noisy)


def test_fragments_of_the_roll_are_near_to_it_but_do_not_cover_it():
    points = roll.sample(500, 0)
    pieces = points[points[:, 0] > 0.3]
    assert roll.distance(pieces) < 0.01
    assert roll.coverage(points) < 0.02
    assert roll.coverage(pieces) > 0.2


def test_the_default_makes_a_roll_of_500_samples():
    found = swiss_roll.follow(swiss_roll.OURS, swiss_roll.SETTINGS, 500, 0)
    assert found["distance"] < 0.05
    assert found["coverage"] < 0.1
    assert found["cosine_error"] < 0.2


@pytest.mark.nightly
def test_swiss_roll(reproduce, monkeypatch):
    pytest.importorskip("optax")
    monkeypatch.setattr(swiss_roll, "METHODS", (swiss_roll.OURS, swiss_roll.NETWORKS, hmc.MLP))
    monkeypatch.setattr(swiss_roll, "STEPS", 4)
    monkeypatch.setattr(swiss_roll, "SHOWN", (0, 4))
    output, files = reproduce("swiss-roll", "--samples", "300", "--seeds", "1")
    assert files == {".jobs", "swiss-roll.json", "swiss-roll.png"}
    assert "G-GLN" in output


def test_hmc(reproduce):
    pytest.importorskip("optax")
    output, files = reproduce("hmc", "--rows", "300", "--steps", "200", "--substeps", "3")
    assert files == {"hmc.json", "hmc.png"}
    assert "energy distance" in output


def test_energy_distance_is_zero_for_equal_samples_only():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    assert hmc.energy_distance(rows, rows) == pytest.approx(0.0, abs=1e-12)
    assert hmc.energy_distance(rows, rows + 1.0) > 0.2


@pytest.mark.nightly
def test_mnist_on_digits(reproduce):
    output, files = reproduce("mnist", "--images", "8", "--steps", "50", "--step-length", "0.1")
    assert files == {"mnist-digits.json", "mnist-digits.png", "mnist-digits.gif"}
    assert "PCA" in output


def test_masks_hide_a_rectangle_and_leave_the_rest():
    masks = mnist.rectangles(50, 28, np.random.default_rng(0)).reshape(50, 28, 28)
    for mask in masks:
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        assert mask.sum() == len(rows) * len(columns)
        assert 9 <= len(rows) <= 14
    assert len({mask.tobytes() for mask in masks}) > 40


@pytest.mark.nightly
def test_filling_digits_beats_the_mean_image():
    results = mnist.run("digits", images=60, steps=60, step_length=0.1, n_jobs=1)
    errors = results["test"]["errors"]
    assert errors["G-GLN"] < 0.7 * errors["mean image"]


def test_gradient_check(reproduce):
    output, files = reproduce("gradient-check", "--samples", "50,200", "--seeds", "1")
    assert files == {".jobs", "gradient-check.json", "gradient-check.png"}
    assert "three Gaussians" in output


def test_true_scores_are_gradients_of_log_densities():
    truth, noise, x = (
        gradient_check.DENSITIES["three Gaussians"],
        np.array([0.3, 0.3]),
        np.array([[0.4, -0.2]]),
    )

    def log_density(x):
        v = truth.variances + noise**2
        log = np.log(truth.weights) - 0.5 * ((truth.means - x) ** 2 / v + np.log(2 * np.pi * v)).sum(axis=1)
        return np.log(np.exp(log).sum())

    slopes = [(log_density(x + e) - log_density(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(truth.score(x, noise)[0], slopes, rtol=1e-5)


def test_anomaly(reproduce):
    output, files = reproduce("anomaly", "--seeds", "1")
    assert files == {".jobs", "anomaly.json", "anomaly.png"}
    assert "of 10 digits" in output


@pytest.mark.nightly
def test_digit_samples(reproduce):
    output, files = reproduce("digit-samples", "--count", "16")
    assert files == {"digit-samples.json", "digit-samples.png"}
    assert "annealed" in output


def test_means_over_seeds_have_standard_errors():
    assert averages.average([1.0, 3.0]) == (2.0, 1.0)
    assert str(averages.average([1.0, 3.0])) == "2.000 ± 1.000"
    assert str(averages.average([1.5])) == "1.500"


def test_wrong_numbers_of_samples_are_refused():
    result = CliRunner().invoke(cli.app, ["reproduce", "swiss-roll", "--samples", "many"])
    assert isinstance(result.exception, ValueError)
    assert "many" in str(result.exception)


def test_densities(reproduce, monkeypatch):
    names = ("Gaussian, 2 columns", "three Gaussians")
    monkeypatch.setattr(densities, "SCORES", {name: densities.SCORES[name] for name in names})
    monkeypatch.setattr(densities, "SAMPLES", {"parabola": densities.curved, "bent": densities.hidden})
    output, files = reproduce("densities", "--rows", "500", "--seeds", "1")
    assert files == {".jobs", "densities.json", "densities.png"}
    assert "kernel density estimate" in output


@pytest.mark.parametrize("name", ["Gaussian, 2 columns", "Gaussian, 8 columns", "three Gaussians"])
def test_scores_of_the_default_are_nearly_the_truth(name):
    assert densities.score(name, 1500, 0)["cosine"] > (0.95 if name.startswith("Gaussian") else 0.9)


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "most"), [("parabola, 2 columns", 2.0), ("bent, 8 columns", 1.2)])
def test_samples_of_the_default_are_no_further_from_the_data_than_kernels(name, most):
    found = densities.sample(name, 800, 0)
    assert found[densities.OURS] < most * found[densities.KERNEL]


def test_imputation(reproduce, monkeypatch):
    monkeypatch.setattr(imputation, "SETS", ("wine",))
    output, files = reproduce("imputation", "--seeds", "1")
    assert files == {".jobs", "imputation.json", "imputation.png"}
    assert "of 1 tables" in output
