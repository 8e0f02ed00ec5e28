"""The ablation of the bandits' policy, on a few steps of the wheel."""

import json

from ggln.reproduction import bandit_ablation
from ggln.reproduction.shared import record

SMALL = {"layer_sizes": (4, 2), "context_dim": 1}


def test_variants_play_the_same_episodes(tmp_path, monkeypatch):
    labels = (bandit_ablation.DEFAULTS, "no exploration", "upper bounds")
    variants = {label: bandit_ablation.VARIANTS[label] for label in labels}
    monkeypatch.setattr(bandit_ablation, "VARIANTS", variants)
    monkeypatch.setattr(bandit_ablation.presets, "PAPER_BANDITS", SMALL | {"exploration": "greedy"})
    results = bandit_ablation.run(["wheel"], 2, tmp_path, steps=30, **SMALL)
    own = results["tasks"]["wheel"]
    assert set(own) == {*labels, bandit_ablation.episodes.PAPERS, "LinFullPost"}
    assert own["LinFullPost"]["over_rival"] == 0
    assert all(0 < cell["reward"] <= 30 for cell in own.values())
    _, columns, rows, _ = bandit_ablation.table(results)
    assert list(columns) == ["wheel"]
    assert rows["LinFullPost"]["wheel"].endswith("(+0)")
    assert json.loads(json.dumps(record.plain(results)))
    bandit_ablation.draw(record.plain(results)).savefig(tmp_path / "picture.png")


def test_every_variant_is_a_policy():
    from ggln.bandits import GLCB

    for own in bandit_ablation.VARIANTS.values():
        GLCB(2, **{"step": "capped"} | own).select([0.0])
