"""Is the model that of the acknowledged events, bit for bit? Learnt again here, by estimators alone."""

import json
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ggln import GGLNRegressor, GLNClassifier
from ggln.bandits import GLCB
from soak.models import MODELS

NAMES = ["u", "v"]


def entries(folder: Path, name: str) -> list[tuple[str, str | None, dict[str, float], Any]]:
    """Return the log of a model: kind, event, features and body of each entry."""
    with sqlite3.connect(folder / "log.db") as log:
        rows = log.execute(
            "SELECT kind, event, log.features, body FROM log JOIN models ON models.id = model "
            "WHERE name = ? ORDER BY seq",
            (name,),
        ).fetchall()
    log.close()
    return [
        (kind, event, dict(zip(NAMES, np.frombuffer(features or b""), strict=False)), json.loads(body))
        for kind, event, features, body in rows
    ]


def learnt_again(name: str, log: list[Any]) -> bytes:
    """Return the file of an estimator that has learnt a log, one entry after the other."""
    body = MODELS[name]
    settings = {key: tuple(v) if isinstance(v, list) else v for key, v in body.get("settings", {}).items()}
    settings["random_state"] = 0
    if name == "bandit":
        model: Any = GLCB(arms=body["arms"], exploration="thompson", **settings)
    else:
        model = GGLNRegressor(**settings) if name == "regressor" else GLNClassifier(**settings)
    for kind, _, features, truth in log:
        if kind == "decide":
            model.decided(truth)
        elif kind == "reward":
            model.update(features, truth["arm"], truth["reward"])
        elif name == "classifier" and not hasattr(model, "learner_"):
            model.partial_fit([list(features.values())], [truth], classes=body["classes"])
            model.feature_names_in_ = np.array(NAMES, dtype=object)
        else:
            model.learn_one(features, truth)
    with tempfile.TemporaryDirectory() as place:
        model.save(Path(place) / "again.ggln")
        return (Path(place) / "again.ggln").read_bytes()


def check(folder: Path, told: dict[str, list[Any]], files: dict[str, bytes]) -> dict[str, Any]:
    """Compare what was acknowledged with the log, and the log with the models; return what is wrong."""
    found: dict[str, Any] = {}
    for name, acknowledged in told.items():
        log = entries(folder, name)
        lessons = Counter(
            event if event is not None else body for kind, event, _, body in log if kind != "decide"
        )
        found[name] = {
            "acknowledged": len(acknowledged),
            "learnt": sum(lessons.values()),
            "lost": sum(one not in lessons for one in acknowledged),
            "learnt twice": sum(count > 1 for count in lessons.values()),
            "same bits": learnt_again(name, log) == files[name],
        }
    return found
