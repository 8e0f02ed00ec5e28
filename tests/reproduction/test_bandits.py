import json
import subprocess
import sys

import numpy as np
import pytest

from ggln import presets
from ggln.bandits import simulate
from ggln.reproduction import bandit_rewards, bandits
from ggln.reproduction.bandits import episodes, summary
from ggln.reproduction.bandits.draw import LOOKS
from ggln.reproduction.bandits.table import mean_ranks
from ggln.reproduction.shared import jobs, record
from ggln.reproduction.tasks import bandit_tasks

SMALL = {"layer_sizes": (4, 1), "context_dim": 1, "gating": "sphere", "gating_bias": 0.05}
WHEEL = bandit_tasks.TASKS["wheel"]


@pytest.fixture
def small(monkeypatch):
    """Make networks small, and defaults equal to the paper's."""
    monkeypatch.setattr(presets, "PAPER_BANDITS", presets.PAPER_BANDITS | SMALL)
    monkeypatch.setattr(
        episodes,
        "settings",
        lambda policy, binary: presets.PAPER_BANDITS if policy in (episodes.OURS, episodes.PAPERS) else None,
    )


def test_a_job_is_what_the_simulator_finds():
    found = episodes.follow(WHEEL._asdict(), "LinFullPost", None, [3, 4], 60)
    again = episodes.follow(WHEEL._asdict(), "LinFullPost", None, [4], 60)
    assert found["rewards"][1] == again["rewards"][0]
    assert len(found["regret"]) == 2
    assert found["steps"] == 60
    environment = bandit_tasks.build(WHEEL, 60)
    uniform = episodes.follow(WHEEL._asdict(), "uniform", None, [4], 60)
    run = simulate.simulate(environment, {}, seeds=[4])
    assert uniform["rewards"][0] == run.rewards[1, 0]
    assert uniform["regret"][0][-1] == run.regret[1, 0, -1]
    oracle = episodes.follow(WHEEL._asdict(), "oracle", None, [4], 60)
    assert oracle["rewards"][0] == run.rewards[0, 0]
    assert max(oracle["regret"][0]) == 0.0


def test_our_settings_build_policies():
    for binary in (False, True):
        for policy in episodes.OWN:
            setting = episodes.settings(policy, binary)
            simple = "bernoulli" if binary else "gaussian"
            assert setting["reward"] == ("ctree" if policy == episodes.TREES else simple)
            assert json.loads(json.dumps(setting))
            assert not {"n_arms", "arms", "random_state", "n_jobs"} & set(setting)
    assert episodes.settings("LinFullPost", False) is None
    assert episodes.settings(episodes.PAPERS, False)["layer_sizes"] == (1000, 100, 1)


def test_a_run_is_gone_on_with(small, tmp_path, monkeypatch):
    policies = (episodes.PAPERS, "LinFullPost")
    first = bandits.run(["wheel"], policies, 2, tmp_path, steps=40)
    assert first["tasks"]["wheel"]["policies"][episodes.PAPERS]["seeds"] == 2
    counted = []
    real = episodes.follow
    monkeypatch.setattr(jobs, "_unordered", lambda missing, n_jobs: counted.extend(missing) or iter(()))
    assert episodes.plan(["wheel"], policies, 2, 40, None)[0].function is real
    bandits.run(["wheel"], policies, 2, tmp_path, steps=40)
    assert counted == []  # all were there


def test_more_seeds_and_other_settings(small, tmp_path):
    bandits.run(["wheel"], (episodes.PAPERS,), 2, tmp_path, steps=40)
    results = bandits.run(["wheel"], (episodes.PAPERS, "LinFullPost"), 3, tmp_path, steps=40)
    own = results["tasks"]["wheel"]["policies"]
    assert own[episodes.PAPERS]["seeds"] == own["LinFullPost"]["seeds"] == 3
    assert results["tasks"]["wheel"]["seeds_ranked"] == 3
    assert own[episodes.PAPERS]["rank"] + own["LinFullPost"]["rank"] == pytest.approx(3.0)
    assert "paper" not in own["LinFullPost"]  # other episodes than the paper's
    assert summary.summary(tmp_path, steps=41)["tasks"] == {}
    presets.PAPER_BANDITS["learning_rate"] = 0.5
    changed = summary.summary(tmp_path, steps=40)["tasks"]["wheel"]["policies"]
    assert episodes.PAPERS not in changed  # what other settings gave is not mixed in
    assert "LinFullPost" in changed


def test_a_single_seed_has_no_error(tmp_path):
    results = record.plain(bandits.run(["wheel"], ["LinFullPost"], 1, tmp_path, steps=30))
    own = results["tasks"]["wheel"]["policies"]["LinFullPost"]
    assert own["error"] == max(own["regret_error"]) == 0.0


def test_ranks_are_over_seeds_that_all_have():
    few = {"a": {0: 1.0, 1: 5.0}, "b": {1: 4.0, 2: 10.0}}
    assert summary._ranks(few) == ({"a": 1.0, "b": 2.0}, 1)
    many = {
        name: dict.fromkeys(range(first, first + 12), float(first)) for name, first in (("c", 0), ("d", 1))
    }
    assert summary._ranks(few | many) == ({"c": 2.0, "d": 1.0}, 11)
    assert summary._ranks({"a": {0: 1.0}, "b": {1: 1.0}}) == ({}, 0)
    assert summary._ranks({}) == ({}, 0)


def found_results(tmp_path):
    """Return results as JSON gives them back, of full length, so that the paper's stand beside them."""
    for task in bandit_tasks.TASKS.values():
        for shift, policy in enumerate(("oracle", "uniform", episodes.OURS, "LinFullPost")):
            arguments = {
                "task": task._asdict(),
                "policy": policy,
                "setting": episodes.settings(policy, task.binary),
                "seeds": [0, 1],
                "steps": None,
            }
            version = episodes.VERSIONS.get(policy, episodes.VERSION)
            job = jobs.Job(episodes.follow, arguments, version)
            curve = np.linspace(0.0, 100.0 + shift, episodes.POINTS)
            result = {
                "rewards": [4000.0 - shift, 4010.0 - shift],
                "regret": [curve, curve + 1],
                "steps": 5000,
                "processor_seconds": 1.0,
            }
            record.write(tmp_path / job.file_name, {"job": job.identity, "result": result})
    record.write(tmp_path / "out" / "bandits.json", summary.summary(tmp_path))
    return json.loads((tmp_path / "out" / "bandits.json").read_text())


def test_jobs_without_the_processors_time_leave_it_blank(tmp_path):
    found_results(tmp_path)
    for path in tmp_path.glob("*.json"):
        job = json.loads(path.read_text())
        if job["job"]["arguments"]["policy"] == "LinFullPost":
            del job["result"]["processor_seconds"]
            path.write_text(json.dumps(job))
    rows = bandits.table(record.plain(summary.summary(tmp_path)))[0].rows
    assert [rows[policy]["us per\ndecision"] for policy in (episodes.OURS, "LinFullPost")] == ["100", ""]


def test_tables_and_picture(tmp_path):
    results = found_results(tmp_path)
    assert results["mean_rank"] == {episodes.OURS: 1.0, "LinFullPost": 2.0}
    own = results["tasks"]["wheel"]["policies"][episodes.OURS]
    assert (own["paper"], own["paper_error"]) == (4386, 11)
    assert own["error"] == pytest.approx(5.0)
    assert own["microseconds"] == pytest.approx(100.0)
    tables = bandits.table(results)
    assert len(tables) == len(bandit_tasks.TASKS) + 1  # of ranks
    title, columns, rows, _ = tables[2]
    assert title.startswith("wheel (delta 0.5, clipped at percentile 20)")
    assert rows["LinFullPost"]["of paper"] == f"{4002 / 4491:.1%}"
    assert all(row.keys() == columns.keys() for row in rows.values())
    rows = mean_ranks(results).rows
    assert list(rows) == [episodes.OURS, "LinFullPost"]
    figure = bandits.draw(results)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["financial", "jester"]
    figure.savefig(tmp_path / "bandits.png")


def test_published_numbers_are_of_known_policies():
    names = [episodes.published_as(policy, False) for policy in episodes.OWN]
    assert names == ["G-GLN", "G-GLN", "G-GLN", "B-GLN"]
    assert {episodes.published_as(policy, True) for policy in episodes.OWN} == {"B-GLN"}
    known = {*episodes.POLICIES, *names}
    for column, policies in bandit_tasks.PAPER.items():
        assert set(policies) <= known
        assert {"LinFullPost", "B-GLN"} <= set(policies)
        assert column in {task.column for task in bandit_tasks.TASKS.values()}
    assert LOOKS.keys() == {*episodes.POLICIES, "uniform"}


def test_scaling_is_calibrated_on_published_totals(tmp_path, monkeypatch):
    monkeypatch.setattr(bandit_rewards, "bandits", lambda: {"wheel, delta 0.5": WHEEL})
    results = bandit_rewards.run(2, tmp_path, steps=30, percentiles=(0.0, 20.0))
    own = results["bandits"]["wheel, delta 0.5"]
    assert own["paper"] == 4491
    expected = episodes.follow(WHEEL._asdict(), "LinFullPost", None, [0, 1], 30)
    assert own["reward"][1] == pytest.approx(np.mean(expected["rewards"]), rel=1e-5)
    assert own["reward"][0] < own["reward"][1]
    _, columns, rows, _ = bandit_rewards.table(results)
    assert list(columns) == ["paper", "0", "20"]
    assert rows["wheel, delta 0.5"].keys() == columns.keys()
    bandit_rewards.draw(record.plain(results)).savefig(tmp_path / "rewards.png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tasks": ["whell"]}, "there is no bandit 'whell'; known are financial"),
        ({"policies": ["LinFullPots"]}, "there is no policy 'LinFullPots'; known are GLCB"),
    ],
)
def test_unknown_names(arguments, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        bandits.run(store=tmp_path, **arguments)


def test_what_is_not_installed_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ValueError, match=r"needs jax.*pip install 'ggln\[peers\]'"):
        bandits.run(["wheel"], ["NeuralGreedy"], 1, tmp_path)


def test_jax_is_imported_by_those_alone_who_need_it():
    code = "import sys, ggln.bandits.simulate, ggln.reproduction.bandits; print('jax' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


@pytest.mark.parametrize("name", bandit_tasks.TASKS)
def test_each_bandit_can_be_built(name, tmp_path, monkeypatch):
    """On a table that stands in for all."""
    from ggln import datasets

    random = np.random.default_rng(0)
    table = datasets.BanditTable(name, random.normal(size=(30, 12)), np.arange(30) % 2)
    monkeypatch.setattr(bandit_tasks, "_load", lambda kind, data_dir: table)
    environment = bandit_tasks.build(bandit_tasks.TASKS[name], 25)
    episode = environment.episode(0)
    assert len(episode.contexts) == 25
    assert 0.0 <= episode.rewards.min() <= episode.rewards.max() <= 1.0
