import json

import numpy as np
import pytest

from ggln.reproduction import hetero
from ggln.reproduction.shared import record


@pytest.fixture(scope="module")
def results():
    return hetero.run(rows=600, points=41, layer_sizes=(8,) * 3, context_dim=4, epochs=4)


def test_samples_have_the_stated_mean_and_spread():
    X, y = hetero.sample(200_000, seed=0)
    near = np.abs(X[:, 0] - 0.6) < 0.01
    assert y[near].mean() == pytest.approx(hetero.true_mean(np.array(0.6)), abs=0.05)
    assert y[near].std() == pytest.approx(hetero.true_std(np.array(0.6)), rel=0.05)


def test_the_network_learns_mean_and_spread(results):
    assert results["nll"] < results["nll_of_the_truth"] + 0.2
    spread = np.array(results["upper"]) - np.array(results["lower"])
    assert spread[10] > 2 * spread[30]  # the noise is largest at x = 1/4 and least at x = 3/4


def test_deeper_neurons_predict_better_than_the_first_layer(results):
    assert results["neurons"][-1]["layer_nll"] < results["neurons"][0]["layer_nll"]


def test_results_survive_json_and_can_be_drawn(results, tmp_path):
    path = tmp_path / "folder" / "hetero.json"
    record.write(path, results)
    again = json.loads(path.read_text())
    assert again["settings"]["layer_sizes"] == [8, 8, 8]
    assert again["nll"] == pytest.approx(results["nll"], rel=1e-5)
    figure = hetero.draw(again)
    assert len(figure.axes) == 4
    figure.savefig(tmp_path / "hetero.png")
    assert (tmp_path / "hetero.png").stat().st_size > 10_000


def test_an_interrupted_write_leaves_the_old_results(results, tmp_path, monkeypatch):
    path = tmp_path / "hetero.json"
    record.write(path, {"old": 1})
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        record.write(path, results)
    assert json.loads(path.read_text()) == {"old": 1}
