"""Draw block.png: how a block of rows flows through the layers. Run it from anywhere."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#7F7F7F"
figure = Figure(figsize=(11, 4.6), dpi=120, layout="constrained")
axes = figure.subplots()
axes.set(xlim=(0, 110), ylim=(0, 46))
axes.axis("off")


def box(x: float, y: float, width: float, height: float, text: str, colour: str, alpha: float = 0.2) -> None:
    """Draw a labelled box."""
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, alpha=alpha, edgecolor="none"))
    axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=colour, linewidth=1.2))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=9)


def arrow(start: tuple[float, float], end: tuple[float, float], colour: str = "black") -> None:
    """Draw an arrow."""
    axes.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, color=colour, linewidth=1.2)
    )


box(1, 12, 15, 22, "block:\nup to 1024 rows\n\nstandardised\nrow by row", GREY)
box(
    22,
    34,
    62,
    9,
    "gates of all layers at once: contexts, then the rows of weights they select (slots)",
    ORANGE,
)
arrow((16, 30), (22, 38.5))
for i, x in enumerate((22, 45, 68)):
    name = ("layer 1", "layer 2", "layer L")[i]
    axes.text(x + 8, 30.5, name, ha="center", fontsize=10, weight="bold")
    for tile in range(3):
        box(x, 24.5 - 5.5 * tile, 16, 4.5, f"neurons {4 * tile + 1}-{4 * tile + 4}", BLUE)
    axes.text(
        x + 8, 9.6, "each tile takes all rows in turn;\ntiles run on several threads", ha="center", fontsize=8
    )
    arrow((x + 8, 34), (x + 8, 32.3), ORANGE)
arrow((16, 22), (22, 22))
arrow((38, 22), (45, 22))
arrow((61, 22), (68, 22))
axes.text(19, 23, "base\ninputs", ha="center", fontsize=8)
axes.text(41.5, 23, "means,\nprecisions\nfrom before\nthe update", ha="center", fontsize=8)
axes.text(64.5, 23, "...", ha="center", fontsize=10)
box(
    90, 12, 18, 22, "switching:\nweights of all\nneurons, row\nafter row\n\nprediction:\ntheir mixture", GREEN
)
arrow((84, 22), (90, 22))
box(22, 1, 62, 6, "pool of weights: one row for each context that was ever visited", BLUE, 0.1)
for x in (26, 49, 72):
    arrow((x, 7), (x, 9.2), BLUE)
    arrow((x + 8, 9.2), (x + 8, 7), BLUE)
figure.savefig(Path(__file__).with_name("block.png"))
