"""Draw the storeys of the package: ``python docs/images/house.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch, Polygon

STOREYS = [
    (
        "what people do with them",
        [
            ["tables", "bandits", "density", "explain", "adapters"],
            ["cli", "service", "reproduction", "plots", "datasets"],
        ],
        "#cfe3f3",
    ),
    (
        "estimators: checks, units, scikit-learn's protocol",
        [["regressor", "classifier", "distributions", "persistence"]],
        "#f6dfc4",
    ),
    (
        "engine: arrays in, arrays out; compiled",
        [
            ["newton", "gradient", "gaussians", "surfaces", "arms"],
            ["neurons", "bases", "gating", "stream", "jit, threads"],
        ],
        "#d5ead8",
    ),
]
WIDTH, ROOM, GAP = 10.0, 0.62, 0.16


def room(axes: plt.Axes, left: float, bottom: float, width: float, name: str, colour: str) -> None:
    """Draw a room with its name."""
    box = FancyBboxPatch(
        (left, bottom),
        width,
        ROOM,
        boxstyle="round,pad=0,rounding_size=0.08",
        fc=colour,
        ec="#555555",
        lw=0.8,
    )
    axes.add_patch(box)
    axes.text(left + width / 2, bottom + ROOM / 2, name, ha="center", va="center", fontsize=10)


def main() -> None:
    """Draw the house, and the paper beside it."""
    figure, axes = plt.subplots(figsize=(12, 5.6), dpi=120)
    bottom = 0.0
    for title, lines, colour in reversed(STOREYS):
        height = len(lines) * (ROOM + GAP) + 0.55
        axes.add_patch(
            FancyBboxPatch(
                (0, bottom), WIDTH, height, boxstyle="square,pad=0", fc="white", ec="#333333", lw=1.4
            )
        )
        axes.text(0.2, bottom + height - 0.3, title, fontsize=11, weight="bold", va="center")
        for i, names in enumerate(reversed(lines)):
            width = (WIDTH - GAP * (len(names) + 1)) / len(names)
            for k, name in enumerate(names):
                left = GAP + k * (width + GAP)
                room(axes, left, bottom + GAP + i * (ROOM + GAP), width, name, colour)
        bottom += height
    axes.add_patch(
        Polygon(
            [(-0.25, bottom), (WIDTH / 2, bottom + 0.9), (WIDTH + 0.25, bottom)], fc="#eeeeee", ec="#333333"
        )
    )
    axes.text(WIDTH / 2, bottom + 0.3, "ggln", ha="center", va="center", fontsize=14, weight="bold")
    axes.add_patch(
        FancyBboxPatch((11.0, 0), 2.6, 1.6, boxstyle="square,pad=0", fc="#f3e3ef", ec="#333333", lw=1.4)
    )
    axes.text(12.3, 1.15, "paper", ha="center", fontsize=12, weight="bold")
    axes.text(12.3, 0.55, "plain NumPy,\nimports nothing of it", ha="center", va="center", fontsize=9.5)
    axes.annotate("", (WIDTH, 0.8), (11.0, 0.8), arrowprops={"arrowstyle": "<->"})
    axes.text(12.3, 1.85, "tests hold them equal", ha="center", va="center", fontsize=9)
    axes.text(10.4, bottom - 1.2, "imports go down only,\nimport-linter checks it", fontsize=9.5, va="center")
    axes.set_xlim(-0.4, 13.8)
    axes.set_ylim(-0.1, bottom + 1.0)
    axes.set_aspect("equal")
    axes.axis("off")
    figure.savefig(Path(__file__).with_suffix(".png"), bbox_inches="tight", facecolor="white")


if __name__ == "__main__":
    main()
