import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import cli, datasets
from ggln.reproduction import mnist_classifier as experiment
from ggln.reproduction.shared import record

SMALL = {"layer_sizes": (4, 4), "context_dim": 2}


@pytest.fixture
def tiny_digits(monkeypatch):
    """`datasets.load_mnist` gives small images: digit k has ink in its own pixels, a column each."""

    def load_mnist(data_dir=None):
        random = np.random.default_rng(0)
        labels = np.arange(180) % 10
        images = random.integers(0, 60, (180, 5, 10))
        images[np.arange(180), :, labels] += 190
        images = images.astype(np.uint8)
        return SimpleNamespace(
            train_images=images[:120],
            train_labels=labels[:120].astype(np.uint8),
            test_images=images[120:],
            test_labels=labels[120:].astype(np.uint8),
        )

    monkeypatch.setattr(datasets, "load_mnist", load_mnist)
    return load_mnist


def test_all_variants_are_there_and_one_is_chosen_without_the_test_images(tiny_digits, tmp_path):
    results = experiment.run(("raw", "raw own gates", "raw hinges"), None, 0, tmp_path / "store", **SMALL)
    record.write(tmp_path / "mnist.json", results)
    again = json.loads((tmp_path / "mnist.json").read_text())
    held_out = {name: found["held_out"]["accuracy"] for name, found in again["variants"].items()}
    assert again["chosen"] == max(held_out, key=held_out.get)
    for found in again["variants"].values():
        assert (found["held_out"]["learnt"], found["held_out"]["judged"]) == (100, 20)
        assert (found["test"]["learnt"], found["test"]["judged"]) == (120, 60)
        assert np.sum(found["test"]["confusion"]) == 60
        assert found["test"]["accuracy"] == pytest.approx(np.trace(found["test"]["confusion"]) / 0.6)
    assert again["variants"]["raw"]["test"]["accuracy"] > 50
    _, columns, rows, _ = experiment.table(again)
    assert all(row.keys() == columns.keys() for row in rows.values())
    experiment.draw(again).savefig(tmp_path / "mnist.png")


def test_rows_held_out_are_training_rows_and_nothing_else(tiny_digits):
    X, y, X_judge, y_judge = experiment.halves(True, False, None, None)
    digits = tiny_digits()
    np.testing.assert_array_equal(np.vstack([X, X_judge]), digits.train_images.reshape(120, -1))
    np.testing.assert_array_equal(np.concatenate([y, y_judge]), digits.train_labels)
    assert len(experiment.halves(False, False, 7, None)[0]) == 7


def test_deskewing_makes_a_slanted_stroke_upright_and_central():
    image = np.zeros((28, 28), np.uint8)
    for row in range(5, 23):
        image[row, 4 + row // 2 : 7 + row // 2] = 200
    (upright,) = experiment.deskew(image[None])
    rows, columns = np.indices(upright.shape)
    ink = upright / upright.sum()
    centre = (rows * ink).sum(), (columns * ink).sum()
    assert centre == pytest.approx((13.5, 13.5), abs=0.3)
    slant = ((rows - centre[0]) * (columns - centre[1]) * ink).sum() / ((rows - centre[0]) ** 2 * ink).sum()
    assert abs(slant) < 0.03
    assert not experiment.deskew(np.zeros((1, 28, 28), np.uint8)).any()


def test_the_command(tiny_digits, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "SETTING", experiment.SETTING | SMALL)
    arguments = ["reproduce", "mnist-classifier", "--variants", "raw,deskewed", "--rows", "100"]
    result = CliRunner().invoke(cli.app, [*arguments, "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "(chosen)" in result.output
    assert {path.name for path in tmp_path.iterdir()} == {
        ".jobs",
        "mnist-classifier.json",
        "mnist-classifier.png",
    }
    result = CliRunner().invoke(cli.app, ["reproduce", "mnist-classifier", "--variants", "rare"])
    assert isinstance(result.exception, ValueError)
    assert "--variants knows no 'rare': there are 'deskewed', 'raw'" in str(result.exception)
