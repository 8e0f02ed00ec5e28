"""Policies of other libraries beside ours, on a few steps."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ggln import cli
from ggln.bandits import simulate
from ggln.reproduction import bandit_peers
from ggln.reproduction.competitors import bandit_libraries
from ggln.reproduction.tasks import bandit_worlds

pytest.importorskip("mabwiser")
pytest.importorskip("contextualbandits")
pytest.importorskip("vowpalwabbit")


@pytest.mark.parametrize("world", bandit_worlds.WORLDS)
def test_worlds_differ_by_arm_and_depend_on_the_seed_alone(world):
    one, same, other = (bandit_worlds.episode(world, seed, 200) for seed in (0, 0, 1))
    assert np.array_equal(one.rewards, same.rewards)
    assert not np.array_equal(one.rewards, other.rewards)
    assert len(np.unique(one.expected.argmax(axis=1))) > 1
    if world.startswith("binary"):
        assert set(np.unique(one.rewards)) == {0.0, 1.0}
    else:
        assert np.std(one.rewards - one.expected) == pytest.approx(bandit_worlds.NOISE, rel=0.1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    ["MABWiser LinUCB", "VW squarecb, quadratic", "contextualbandits LinTS", "contextualbandits LogisticUCB"],
)
def test_others_learn(name):
    """Binary linear rewards, on which all of them do better than an arm drawn at random."""
    episode = bandit_worlds.episode("binary linear", 0, 400)
    policy = bandit_libraries.policies(binary=True)[name](0)
    arms = simulate.play(policy, episode).arms
    assert simulate.regret(episode, arms)[-1] < 0.9 * simulate.regret(episode, np.arange(400) % 5)[-1]


@pytest.mark.filterwarnings("ignore")
def test_the_command(tmp_path, monkeypatch):
    few = ("GLCB", "GLCB capped", "MABWiser LinUCB", "VW squarecb", "MABWiser LinTS", "MABWiser LinGreedy")
    known = bandit_libraries.policies
    monkeypatch.setattr(bandit_peers, "policies", lambda binary: {name: known(binary)[name] for name in few})
    options = ["--worlds", "linear,binary waves", "--tasks", "wheel", "--seeds", "1", "--steps", "60"]
    monkeypatch.setattr(bandit_peers, "PAID", ("oracle", "LinFullPost"))
    result = CliRunner().invoke(cli.app, ["reproduce", "bandit-peers", *options, "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "bandit-peers.json").read_text())
    assert list(found["worlds"]) == ["linear", "binary waves"]
    assert found["worlds"]["linear"]["best_other"] in bandit_libraries.LINEAR
    assert set(found["late"]) == {"ucb", "thompson"}
    assert found["tasks"]["wheel"]["oracle"]["mean"] > found["tasks"]["wheel"]["LinFullPost"]["mean"]
    assert (tmp_path / "bandit-peers.png").exists()
    assert "A decision over 8 arms" in result.output
