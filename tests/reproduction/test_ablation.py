import json

import numpy as np
import pytest

from ggln.estimators.regressor import GGLNRegressor
from ggln.reproduction import ablation, one_pass
from ggln.reproduction.shared import ablated, record

SMALL = {"layer_sizes": (4, 4), "context_dim": (1, 2), "n_estimators": 2}


@pytest.fixture
def few_variants(monkeypatch):
    chosen = {label: ablation.VARIANTS[label] for label in ("defaults", "no regression", "gates at random")}
    monkeypatch.setattr(ablation, "VARIANTS", chosen)


def test_every_variant_differs_from_the_defaults_in_what_it_names():
    model = GGLNRegressor()
    for label, own in ablation.VARIANTS.items():
        changed = {name for name, value in own.items() if getattr(model, name, ()) != value}
        assert changed == own.keys(), label
        assert len(own) == (label != "defaults"), label


@pytest.mark.parametrize("label", ablation.PARTS)
def test_every_part_can_be_left_out(label, tiny_sets):
    data = tiny_sets("yacht")
    # contexts are solved at the first and the third level; from three layers on, steps are shared
    small = SMALL | {"context_dim": 3, "layer_sizes": (4, 4, 4)}
    setting = small | ablation.VARIANTS[label]
    model, usual = (
        ablated.build(own, 0).fit(data.X[:-5], data.y[:-5]).partial_fit(data.X[-5:], data.y[-5:])
        for own in (setting, small)
    )
    assert model.learner_.settings.without == (ablation.PARTS[label],)
    logs, usual_logs = (each.predict_dist(data.X).log_prob(data.y) for each in (model, usual))
    assert np.isfinite(logs).all()
    if label != "means may stray":  # on a plane, none does
        assert not np.array_equal(logs, usual_logs)


def test_nothing_left_out_is_the_regressor_itself():
    assert type(ablated.build(SMALL, 3)) is GGLNRegressor
    assert ablated.build(SMALL, 3).random_state == 3


def test_test_rows_are_never_used(tiny_sets, monkeypatch):
    used = []
    fit, predict = GGLNRegressor.fit, GGLNRegressor.predict_dist
    monkeypatch.setattr(GGLNRegressor, "fit", lambda model, X, y: used.append(X) or fit(model, X, y))
    monkeypatch.setattr(GGLNRegressor, "predict_dist", lambda model, X: used.append(X) or predict(model, X))
    ablation.evaluate("yacht", 1, SMALL, 0, 40)
    data = tiny_sets("yacht")
    learnt, held_out = ({tuple(row) for row in X} for X in used)
    assert (len(learnt), len(held_out)) == (32, 8)
    assert not learnt & held_out
    assert learnt | held_out <= {tuple(row) for row in data.X[data.splits[1][0]]}


def test_measures_are_paired_by_split():
    cells = [{"rmse": 2.0, "nll": 1.0, "coverage_90": 1.0}, {"rmse": 1.0, "nll": 3.0, "coverage_90": 0.8}]
    defaults = [{"rmse": 1.0, "nll": 0.0}, {"rmse": 1.0, "nll": 1.0}]
    found = ablation.against(cells, defaults)
    assert (found["rmse_ratio"], found["nll_difference"]) == (1.5, 1.5)
    assert found["nll_difference_error"] == pytest.approx(0.5)
    assert ablation.against(cells[:1], defaults[:1])["rmse_ratio_error"] is None
    both = ablation.overall([found, found | {"rmse_ratio": 1 / 1.5, "nll_difference": -0.5}])
    assert both["rmse_ratio"] == pytest.approx(1.0)
    assert both["nll_difference"] == 0.5


def test_results_can_be_drawn(tiny_sets, few_variants, tmp_path):
    results = ablation.run(["yacht", "wine"], 2, 45, tmp_path / "store", **SMALL)
    record.write(tmp_path / "ablation.json", results)
    again = json.loads((tmp_path / "ablation.json").read_text())
    assert again["sets"]["wine"]["defaults"]["rmse_ratio"] == 1.0
    assert again["sets"]["wine"]["no regression"]["splits"] == 2
    assert np.isfinite(again["overall"]["no regression"]["nll_difference"])
    _, columns, rows, _ = ablation.table(again)
    assert list(rows) == [label for label in again["settings"] if label != "defaults"]
    assert all(row.keys() == columns.keys() for row in rows.values())
    ratio = again["overall"]["no regression"]["rmse_ratio"]
    assert rows["no regression"]["RMSE, %"] == f"{100 * (ratio - 1):+.1f}"
    figure = ablation.draw(again)
    assert len(figure.axes) == 2
    figure.savefig(tmp_path / "ablation.png")


def test_streams_are_those_of_one_pass(tiny_sets, few_variants, tmp_path):
    results = ablation.run(["yacht"], 2, 45, tmp_path, stream=True, **SMALL)
    assert results["experiment"] == "ablation-stream"
    setting = ablation.defaults.default_setting() | SMALL | {"base_model": "feature"}
    alone = [one_pass.follow("yacht", one_pass.OURS, setting, order, 45)["rmse"] for order in range(2)]
    assert results["sets"]["yacht"]["no regression"]["rmse"] == pytest.approx(np.mean(alone))
    ablation.draw(results).savefig(tmp_path / "ablation-stream.png")
