"""Regrets of policies of several libraries, from the results of `ggln reproduce bandit-peers`."""

from typing import Any

from matplotlib.figure import Figure

from ggln.plots.style import GREEN, GREY, in_order, styled

LIBRARIES = ("GLCB", "MABWiser", "VW", "contextualbandits")


@styled
def draw(results: dict[str, Any]) -> Figure:
    """Draw the regret of every policy, a panel for each kind of rewards and a line for each library."""
    worlds = results["worlds"]
    columns = min(3, len(worlds))
    rows = -(-len(worlds) // columns)
    figure = Figure(figsize=(3.2 * columns, 0.6 + 1.6 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    colors = dict(zip(LIBRARIES, (GREEN, *in_order(len(LIBRARIES))[1:]), strict=True))
    for axes, (world, own) in zip(panels, worlds.items(), strict=False):
        for policy, cell in own["policies"].items():
            library = policy.split()[0]
            default = policy == "GLCB"
            place, face = (
                LIBRARIES.index(library),
                colors[library] if default or library != "GLCB" else "none",
            )
            axes.plot(
                cell["mean"],
                place,
                "D" if default else "o",
                mec=colors[library],
                mfc=face,
                ms=7 if default else 5,
            )
        axes.axvline(own["policies"]["GLCB"]["mean"], color=GREEN, lw=0.8, zorder=0)
        axes.set_yticks(range(len(LIBRARIES)), LIBRARIES)
        axes.set_ylim(len(LIBRARIES) - 0.5, -0.5)
        axes.set_xlim(0, None)
        axes.set_title(world)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=GREY, alpha=0.3)
        axes.label_outer(remove_inner_ticks=True)
        axes.tick_params(axis="x", labelbottom=True)
    for axes in panels[len(worlds) :]:
        axes.set_axis_off()
    figure.supxlabel(f"regret after {results['steps']} steps (less is better)", fontsize="medium")
    return figure
