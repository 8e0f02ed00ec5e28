"""The picture of the bandits: regret over time."""

from typing import Any

import numpy as np

from ggln.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY
from ggln.reproduction.shared.pictures import Figure, new_figure
from ggln.reproduction.shared.record import Results

LOOKS = {
    "GLCB": (GREEN, "-"),
    "GLCB-capped": (GREEN, "-."),
    "GLCB-paper": (GREEN, "--"),
    "GLCB-ctree": (GREEN, ":"),
    "LinFullPost": (BLUE, "-"),
    "NeuralLinear": (BLUE, "--"),
    "NeuralGreedy": (ORANGE, "-"),
    "BootRMS": (ORANGE, "--"),
    "Dropout": (ORANGE, ":"),
    "BBB": (PURPLE, "-"),
    "BBAlphaDiv": (PURPLE, "--"),
    "ParamNoise": (SKY, "-"),
    "constSGD": (RED, "-"),
    "uniform": (GREY, "-"),
}
"""Colour and dashes of each policy: families share a colour."""


def draw(results: Results) -> Figure:
    """Draw the cumulative regret of each policy, with bands of two standard errors."""
    tasks = results["tasks"]
    columns = min(3, len(tasks))
    rows = -(-len(tasks) // columns)
    figure = new_figure(3.6 * columns + 0.4, 2.9 * rows + 1.2)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    handles = {}
    for axes, (name, own) in zip(panels, tasks.items(), strict=False):
        steps = own["curve_steps"]
        for policy, (color, dashes) in LOOKS.items():
            if policy not in own["policies"]:
                continue
            regret = np.array(own["policies"][policy]["regret"])
            error = 2.0 * np.array(own["policies"][policy]["regret_error"])
            (line,) = axes.plot(steps, regret, color=color, linestyle=dashes, linewidth=1.3)
            axes.fill_between(steps, regret - error, regret + error, color=color, alpha=0.2, linewidth=0)
            handles[policy] = line
        axes.set_title(_title(name, own["bandit"]))
        axes.set_xlabel("step")
        axes.set_xlim(0, steps[-1])
        axes.set_ylim(0, 1.3 * _highest_but_worst(own["policies"]))
    for axes in panels[len(tasks) :]:
        axes.axis("off")
    for axes in panels[::columns]:
        axes.set_ylabel("cumulative regret")
    order = [policy for policy in LOOKS if policy in handles]
    figure.legend(
        [handles[policy] for policy in order], order, loc="outside upper center", ncols=min(6, 2 * columns)
    )
    return figure


def _title(name: str, bandit: dict[str, Any]) -> str:
    if bandit["kind"] != "wheel":
        return name
    return f"wheel, δ = {bandit['delta']:g}, percentile {bandit['percentile']:g}"


def _highest_but_worst(policies: dict[str, Any]) -> float:
    """Return the greatest final regret but for the uniform policy's, which would hide the others."""
    finals = {policy: own["regret"][-1] for policy, own in policies.items() if policy in LOOKS}
    others = [final for policy, final in finals.items() if policy != "uniform"]
    return float(max(others or finals.values(), default=1.0)) or 1.0
