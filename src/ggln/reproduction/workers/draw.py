"""The picture of the experiment: seconds by workers, for two tables and two networks."""

from ggln.palette import BLUE, GREY, ORANGE
from ggln.reproduction.shared.pictures import Figure, new_figure, styled
from ggln.reproduction.shared.record import Results


@styled
def draw(results: Results) -> Figure:
    """Draw what the model says, and what was measured."""
    networks = results["more"]
    tables = list(next(iter(networks.values())))
    figure = new_figure(8.0, 3.4)
    for axes, rows in zip(figure.subplots(1, len(tables)), tables, strict=True):
        for (name, own), color in zip(networks.items(), (BLUE, ORANGE), strict=False):
            counts = [int(count) for count in own[rows]]
            seconds = [one["seconds"] for one in own[rows].values()]
            axes.plot(counts, seconds, "o-", color=color, markersize=4, label=f"model, {name}")
        axes.plot(
            counts, [seconds[0] * counts[0] / count for count in counts], ":", color=GREY, label="ideal"
        )
        if int(rows) == results["rows"]:
            fits = results["fits"]
            measured = [own["seconds"] for own in fits.values()]
            axes.plot(
                [int(count) for count in fits], measured, "k*", markersize=9, label="measured, this machine"
            )
            axes.axhline(
                results["local"]["seconds"], color=GREY, linewidth=0.8, label="one thread, no cluster"
            )
        axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="fit, s", title=f"{int(rows):,} rows")
        axes.set_xticks(counts, list(map(str, counts)))
        axes.minorticks_off()
        axes.legend()
    return figure
