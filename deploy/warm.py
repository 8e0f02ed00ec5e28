"""Compile what the service needs, so that no request waits for it."""

import numpy as np

from ggln.service.kinds import KINDS, Entry
from ggln.service.spec import parse

FEATURES = 3
ROWS = 40
BODIES = {
    "regressor": {"kind": "regressor"},
    "classifier": {"kind": "classifier", "classes": ["a", "b"]},
    "bandit": {"kind": "bandit", "arms": ["a", "b"]},
}


def main() -> None:
    """Let a model of each kind answer and learn some rows."""
    rows = np.random.default_rng(0).normal(size=(ROWS, FEATURES))
    for name, body in BODIES.items():
        spec = parse(body)
        kind = KINDS[spec.kind]
        estimator, figures = kind.new(spec), kind.figures(spec)
        for i, features in enumerate(rows):
            arm = "ab"[i % 2]
            reward = {"arm": arm, "reward": float(i % 3), "propensity": 0.5, "expectations": [0.0, 0.0]}
            truth = {"regressor": float(features.sum()), "classifier": arm, "bandit": reward}[name]
            kind.learn(estimator, spec, [Entry(i, kind.tell, None, features, truth)], figures)
            kind.answers(estimator, features[None], [str(i)])


if __name__ == "__main__":
    main()
