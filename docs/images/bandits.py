"""Draw the pictures of docs/bandits.md from the objects that its own code makes. Run it from anywhere."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from ggln.palette import BLUE, GREEN, GREY, ORANGE

FOLDER = Path(__file__).parent
COLOURS = {"nothing": GREY, "shipping": BLUE, "discount": ORANGE}


def run(page: Path) -> dict[str, Any]:
    """Run the Python of a page; return what it leaves, and what the policy was worth and chose on the way."""
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(block, found)
        if "values" in found and "truth" not in found:
            shop, later = found["Shop"](0), found["contexts"][3000:]
            names = found["policy"].predict(later)
            paid = [shop.expected(x)[found["OFFERS"].index(arm)] for x, arm in zip(later, names, strict=True)]
            found["true_value"] = np.mean(paid)
        if "earned" in found and "later" not in found:
            found["later"] = found["policy"].predict(found["grid"])
    return found


def draw_values(found: dict[str, Any]) -> Figure:
    """Draw every estimate with its standard error."""
    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    axes = figure.subplots()
    names = {
        "logged": "logged\n(the old policy)",
        "direct": "direct",
        "ips": "ips",
        "snips": "snips",
        "doubly_robust": "doubly robust",
    }
    for place, name in enumerate(names):
        estimate = getattr(found["values"], name)
        colour = GREY if name == "logged" else BLUE
        axes.errorbar(place, estimate.value, 2 * estimate.error, fmt="o", color=colour, capsize=4)
    axes.axhline(found["true_value"], color=GREEN, linewidth=1, linestyle="--")
    axes.annotate("truth", (4.45, found["true_value"]), color=GREEN, ha="right", va="bottom")
    axes.set_xticks(range(len(names)), list(names.values()))
    axes.set_xlim(-0.5, 4.5)
    axes.set_ylabel("euros per visitor\n(bars: 2 standard errors)")
    return figure


def draw_policy(found: dict[str, Any]) -> Figure:
    """Draw the policy's choices before and after going live, and what would be best, over two features."""
    figure = Figure(figsize=(8.4, 2.8), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    offers, shape = found["OFFERS"], found["basket"].shape
    best = [offers[found["Shop"](0).expected(x).argmax()] for x in found["grid"]]
    drawn = {"from the log": found["choices"], "after going live": found["later"], "the best offer": best}
    colours = ListedColormap([COLOURS[name] for name in offers])
    for axes, (title, names) in zip(panels, drawn.items(), strict=True):
        arms = np.array([offers.index(name) for name in names]).reshape(shape)
        axes.pcolormesh(found["basket"], found["hour"], arms, cmap=colours, vmin=0, vmax=2, alpha=0.8)
        axes.set(title=title, xlabel="basket, euros")
        axes.set_yticks([0, 6, 12, 18, 24])
    panels[0].set_ylabel("hour")
    for name in offers:
        panels[0].plot([], [], "s", color=COLOURS[name], alpha=0.8, label=name)
    figure.legend(loc="outside right center")
    return figure


def draw_live(found: dict[str, Any]) -> Figure:
    """Draw the loss against the best offer, of the policy and of the old rule."""
    figure = Figure(figsize=(6.4, 2.8), layout="constrained")
    axes = figure.subplots()
    possible = np.array(found["possible"])
    for name, label, colour in (("by_rule", "the old rule", GREY), ("earned", "GLCB", BLUE)):
        lost = np.cumsum(possible - np.array(found[name]))
        axes.plot(lost, color=colour)
        axes.annotate(
            label, (len(lost), lost[-1]), color=colour, va="center", xytext=(4, 0), textcoords="offset points"
        )
    axes.set(xlabel="visitors", ylabel="lost against the best offer, euros", xlim=(0, 1.15 * len(possible)))
    return figure


if __name__ == "__main__":
    everything = run(FOLDER.parent / "bandits.md")
    for picture, draw in (("values", draw_values), ("policy", draw_policy), ("live", draw_live)):
        draw(everything).savefig(FOLDER / f"bandits_{picture}.png")
