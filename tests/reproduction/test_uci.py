import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import ShuffleSplit

from ggln import datasets, presets
from ggln.reproduction import uci
from ggln.reproduction.shared import record
from ggln.reproduction.shared.averages import averages

SMALL = {"layer_sizes": (4, 4), "epochs": 2, "n_estimators": 1}


@pytest.fixture
def tiny_grid(monkeypatch):
    monkeypatch.setattr(presets, "UCI_GRID", {"learning_rate": (1e-3, 1e-2), "context_dim": (1, 2)})


@pytest.fixture
def fits(monkeypatch):
    """Every fit that is really made, as (targets learnt, targets scored)."""
    made, fit, score = [], uci.GGLNRegressor.fit, uci.scores
    learnt = []
    monkeypatch.setattr(
        uci.GGLNRegressor, "fit", lambda model, X, y: learnt.append(set(y)) or fit(model, X, y)
    )
    monkeypatch.setattr(
        uci, "scores", lambda d, y, **options: made.append((learnt[-1], set(y))) or score(d, y, **options)
    )
    return made


def test_the_grid_is_the_papers():
    settings = uci.settings()
    assert len(settings) == 13
    paper = [setting for name, setting in settings.items() if name != uci.DEFAULTS]
    assert {s["learning_rate"] for s in paper} == {1e-3, 3e-3, 1e-2}
    assert {s["context_dim"] for s in paper} == {4, 6, 8, 10}
    assert {(s["layer_sizes"], s["epochs"]) for s in paper} == {((256,) * 12, 40)}
    algorithm = {(s["gating"], s["gating_bias"], s["step"], s["aggregation"]) for s in paper}
    assert algorithm == {("sphere", 1.0, "ogd", "switching")}  # offsets as in section 4


def test_rows_of_the_three_parts_never_mix(tiny_sets, fits):
    data = tiny_sets("yacht")
    assert len(set(data.y)) == data.y.size  # so that a target tells its row
    for part in "test", "validation":
        uci.evaluate("yacht", 1, SMALL | {"context_dim": 1}, 0, part)
    train, test = (set(data.y[rows]) for rows in data.splits[1])
    assert fits[0] == (train, test)
    rest, held_out = fits[1]
    assert not rest & held_out
    assert rest | held_out == train
    assert len(held_out) == 5


def test_results_say_everything_and_can_be_drawn(tiny_sets, tiny_grid, tmp_path):
    results = uci.run(["yacht", "naval"], 2, 2, tmp_path / "store", **SMALL)
    record.write(tmp_path / "uci.json", results)
    again = json.loads((tmp_path / "uci.json").read_text())
    assert len(again["jobs"]) == 2 * 2 * 2 * 5
    job = again["jobs"][0]
    assert {"set", "split", "seed", "setting", "test", "validation"} <= job.keys()
    assert {"rmse", "nll", "crps", "coverage_50", "coverage_90", "coverage_95", "seconds"} <= job[
        "test"
    ].keys()
    own = again["sets"]["yacht"]
    assert own.keys() == set(uci.CHOICES)
    best, chosen = own[uci.CHOICES[0]], own[uci.CHOICES[1]]
    assert best["rmse"] <= chosen["rmse"]  # what was chosen on the test rows flatters
    assert (best["splits"], best["seeds"]) == (2, 2)
    assert best["rmse_error_splits"] > 0
    assert best["rmse_error_seeds"] > 0
    _, columns, rows, _ = uci.table(again)
    assert rows["yacht"]["paper"] == "3.76"
    assert rows["yacht"].keys() == columns.keys()
    figure = uci.draw(again)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "naval\n< 0.005",
        "yacht\n3.76",
    ]
    figure.savefig(tmp_path / "uci.png")


def test_the_legend_names_all_choices_whichever_set_has_them(tmp_path):
    own = {"rmse": 1.0, "rmse_error_splits": None}
    sets = {"boston": {uci.DEFAULTS: own}, "yacht": {uci.CHOICES[0]: own, uci.DEFAULTS: own}}
    figure = uci.draw({"sets": sets, "paper": {name: {"rmse": 2.0} for name in sets}})
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(names) == len(set(names)) == 3
    assert any("best of 12" in name for name in names)


def test_a_limited_run_merges_with_the_store(tiny_sets, tiny_grid, fits, tmp_path):
    uci.run(["yacht"], 1, 1, tmp_path, **SMALL)
    made = len(fits)
    assert made == 4 * 2 + 1
    results = uci.run(["boston"], 1, 1, tmp_path, **SMALL)
    assert list(results["sets"]) == ["boston", "yacht"]
    assert len(fits) == 2 * made
    results = uci.run(["yacht"], 3, 1, tmp_path, **SMALL)
    assert results["sets"]["yacht"][uci.DEFAULTS]["splits"] == 3
    assert results["sets"]["boston"][uci.DEFAULTS]["splits"] == 1
    assert len(fits) == 4 * made
    other = uci.run(["yacht"], 1, 1, tmp_path, **SMALL | {"epochs": 1})  # another experiment
    assert list(other["sets"]) == ["yacht"]
    assert other["sets"]["yacht"][uci.DEFAULTS]["splits"] == 1


def cell(split, setting, test, validation, seed=0):
    return {
        "set": "yacht",
        "split": split,
        "seed": seed,
        "setting": setting,
        "test": {"rmse": test},
        "validation": {"rmse": validation},
    }


def test_the_setting_is_chosen_in_both_ways(monkeypatch):
    monkeypatch.setattr(presets, "UCI_GRID", {"context_dim": (1, 2)})
    rows = [cell(0, "a", 1.0, 5.0), cell(0, "b", 2.0, 4.0), cell(1, "a", 3.0, 4.0), cell(1, "b", 9.0, 5.0)]
    rows.append(cell(2, "a", 100.0, 1.0))  # the rest of split 2's grid is still missing
    found = uci.summary(rows)
    best, chosen = found[uci.CHOICES[0]], found[uci.CHOICES[1]]
    assert (best["setting"], best["rmse"]) == ("a", 2.0)
    assert best["rmse_error_splits"] == pytest.approx(1.0)
    assert best["rmse_error_seeds"] is None
    assert chosen["setting"] == {"split 0, seed 0": "b", "split 1, seed 0": "a"}
    assert chosen["rmse"] == 2.5
    assert uci.DEFAULTS not in found


def test_what_is_not_there_yet_is_not_chosen_from(monkeypatch):
    monkeypatch.setattr(presets, "UCI_GRID", {"context_dim": (1, 2)})
    rows = [cell(0, "a", 1.0, 5.0), cell(0, "b", 2.0, 4.0), cell(1, "a", 3.0, 4.0), cell(1, "b", 9.0, 5.0)]
    del rows[1]["validation"]  # split 0 has been scored on its test rows alone
    found = uci.summary(rows)
    assert found[uci.CHOICES[0]]["splits"] == 2
    assert found[uci.CHOICES[1]]["setting"] == {"split 1, seed 0": "a"}
    del rows[2]["validation"]
    assert uci.summary(rows).keys() == {uci.CHOICES[0]}
    del rows[0]["test"], rows[3]["test"]
    assert not uci.summary(rows)


def test_a_stopped_run_has_the_papers_column_first(tiny_sets, tiny_grid, fits, tmp_path):
    uci.run(["yacht"], 2, 1, tmp_path, networks="paper", **SMALL)
    held_out = [scored for _, scored in fits]
    tested = [set(tiny_sets("yacht").y[test]) for _, test in tiny_sets("yacht").splits[:2]]
    assert held_out[:8] == [tested[0]] * 4 + [tested[1]] * 4
    assert not any(scored in tested for scored in held_out[8:])


def test_errors_over_splits_and_over_seeds_are_told_apart():
    values = {(split, seed): {"rmse": 10.0 * split + seed} for split in range(3) for seed in range(2)}
    found = averages(values)
    assert found["rmse_error_splits"] == pytest.approx(10.0 / np.sqrt(3))
    assert found["rmse_error_seeds"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("rmse", "paper", "text"),
    [(3.456, 3.76, "3.46±0.12"), (0.06934, 0.09, "0.0693±0.0012"), (2.21e-5, 0.0, "2.2e-05±1.2e-06")],
)
def test_small_errors_show_their_digits(rmse, paper, text):
    error = {3.456: 0.12, 0.06934: 0.0012, 2.21e-5: 1.2e-6}[rmse]
    own = {"rmse": rmse, "rmse_error_splits": error, "rmse_error_seeds": None}
    results = {"sets": {"naval": {uci.DEFAULTS: own | {"nll": 0.0}}}, "paper": {"naval": {"rmse": paper}}}
    _, columns, rows, _ = uci.table(results)
    assert rows["naval"]["defaults"] == text
    assert list(columns) == ["paper", "defaults", "NLL\ndefaults"]  # none that would be empty


def test_a_measure_that_older_jobs_lack_is_left_out():
    found = averages({(0, 0): {"rmse": 1.0, "new": 1.0}, (1, 0): {"rmse": 3.0}})
    assert found["rmse"] == 2.0
    assert "new" not in found


def test_unknown_sets_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"sets must be among boston.*got yatch"):
        uci.run(["yatch"], store=tmp_path)


@pytest.mark.nightly
def test_a_real_table_is_learnt(monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    splits = list(ShuffleSplit(1, test_size=0.1, random_state=0).split(X))
    monkeypatch.setattr(
        datasets, "load", lambda *_: SimpleNamespace(name="diabetes", X=X, y=y, splits=splits)
    )
    found = uci.evaluate("diabetes", 0, uci.settings()[uci.DEFAULTS], 0, "test")
    assert found["rmse"] < 0.85 * y.std()
    assert found["coverage_90"] > 0.75
