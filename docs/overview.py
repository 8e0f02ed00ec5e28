"""Write the table of docs/reproduce.md that has the paper's figures beside ours, from the folder `results`.

Run it after a result has changed: `python docs/overview.py`.
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reproduce.md"
BEGIN, END = "<!-- overview: written by docs/overview.py -->\n", "<!-- end of overview -->"
LIKE = 0.02
"""Figures that differ by less than this part are the same."""

COLUMNS = ("the paper", "in the paper", "the paper's network here", "our default", "mark", "command")
WHY = {
    "naval": "same two digits",
    "protein": "two of twelve settings were run",
    "sarcos": "{epochs} of 2,000 epochs, {share:.0f} % of the rows",
    "financial": "what was open in the paper's settings is in the deviations",
    "jester": "what was open in the paper's settings is in the deviations",
    "wheel": "the wheel's delta is not in the paper",
}
"""Why a figure of the paper's network is behind the paper's, or the same."""
SARCOS_ROWS = 44_484


def read(name: str) -> Any:
    """Return the results of an experiment."""
    return json.loads((ROOT / "results" / f"{name}.json").read_text("utf-8"))


def mark(paper: float, ours: float | None, why: str, *, most: bool = False) -> str:
    """Return how a figure compares with the paper's; most: more is better."""
    if ours is None:
        return "not run"
    better = (ours / paper if most else paper / ours) if paper and ours else 1.0
    if better > 1.0 + LIKE:
        return "ahead"
    if better > 1.0 - LIKE:
        return f"reached: {why}" if not paper else "reached"
    return (
        f"**short** by {100 / better - 100:.0f} %: {why}"
        if why
        else f"**short** by {100 / better - 100:.0f} %"
    )


def number(value: float | None, count: int | None = None) -> str:
    """Return a figure, and of how many splits or episodes it is the mean."""
    if value is None:
        return ""
    shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return shown if count is None else f"{shown} ({count})"


def tables() -> list[tuple[str, ...]]:
    """Return the rows of Table 1: test RMSE, the best of twelve settings as in the paper, and defaults."""
    ours, papers = read("uci"), read("uci-paper")["sets"]
    rows: list[tuple[str, ...]] = []
    for name, published in ours["paper"].items():
        network = papers.get(name, {}).get("best on the test rows")
        default = ours["sets"][name]["defaults"]
        found = network and network["rmse"]
        rows.append(
            (
                f"Table 1, {name}",
                number(published["rmse"]) if published["rmse"] else "0.00",
                number(found, network["splits"]) if network else "",
                number(default["rmse"], default["splits"]),
                mark(published["rmse"], found, WHY.get(name, "")) + _so_far(name, network),
                "`uci`",
            )
        )
    return rows


def _so_far(name: str, network: dict[str, Any] | None) -> str:
    wanted = 5 if name == "protein" else 20
    done = network["splits"] if network else wanted
    return f", on {done} of {wanted} splits" if done < wanted else ""


def torques() -> list[tuple[str, ...]]:
    """Return the row of Table 2, left: test MSE over seven torques, with test rows among those learnt."""
    results = read("sarcos")
    found, published = results["protocols"]["paper"], results["paper"]["G-GLN"]
    network, default = found["G-GLN"], read("sarcos-default")["protocols"]["paper"]["defaults"]
    epochs = results["settings"]["G-GLN"]["epochs"]
    why = WHY["sarcos"].format(epochs=epochs, share=100 * network["train_rows"] / SARCOS_ROWS)
    marked = mark(published, network["mse"], why)
    own = number(published), number(network["mse"]), number(default["mse"])
    return [("Table 2, SARCOS", *own, marked, "`sarcos`")]


def bandits() -> list[tuple[str, ...]]:
    """Return the rows of Table 3: rewards earned."""
    rows: list[tuple[str, ...]] = []
    for task in ("financial", "jester", "wheel"):
        found = read("bandits")["tasks"][task]
        published = found["published"]["G-GLN"][0]
        network, own = found["policies"].get("GLCB-paper"), found["policies"]["GLCB-capped"]
        earned = network and network["reward"]
        rows.append(
            (
                f"Tables 2 and 3, {task}",
                number(published),
                number(earned, network["seeds"]) if network else "",
                f'{number(own["reward"], own["seeds"])}, `step="capped"`',
                mark(published, earned, WHY[task], most=True),
                "`bandits`",
            )
        )
    return rows


def figures() -> list[tuple[str, ...]]:
    """Return the rows of the figures, of which the paper gives no numbers."""
    hetero, roll, chains = read("hetero"), read("swiss-roll")["samples"]["5000"], read("hmc")["samples"]
    filled, bases = read("mnist")["test"]["errors"], read("base-models")["sets"]
    network = next(name for name in roll if name != "G-GLN" and "MLP" not in name and "score" not in name)
    perceptrons = [value["distance"] for name, value in roll.items() if "MLP" in name]
    perceptron = next(own for name, own in chains.items() if name.startswith("MLP"))["energy_distance"]
    better = sum(own["blr"]["rmse"][-1] < own["none"]["rmse"][-1] for own in bases.values())
    drawn = "reached"
    return [
        ("Figure 1A, gates", "a picture", "[drawn](../results/gating.png)", "", drawn, "`gating`"),
        (
            "Figure 1C, heteroskedastic",
            "a picture",
            "",
            f"NLL {hetero['nll']:.3f}, the truth's {hetero['nll_of_the_truth']:.3f}",
            drawn,
            "`hetero`",
        ),
        (
            "Figures 3A and 4, Swiss roll",
            "a roll; perceptrons draw none",
            f"{roll[network]['distance']:.3f} from the roll",
            f"{roll['G-GLN']['distance']:.3f}; best perceptron {min(perceptrons):.3f}",
            drawn,
            "`swiss-roll`",
        ),
        (
            "Figure 3B, Hamiltonian samples",
            "samples as the data's; the perceptron's stray",
            "",
            f"energy distance {chains['G-GLN']['energy_distance']:.4f}, fresh rows "
            f"{chains['fresh samples']['energy_distance']:.4f}, perceptron {perceptron:.1f}",
            drawn,
            "`hmc`",
        ),
        (
            "Figures 3C and 5, in-filling",
            "pictures",
            f"error {filled['G-GLN']:.3f}, the mean image's {filled['mean image']:.3f}",
            "",
            drawn,
            "`mnist`",
        ),
        (
            "Appendix C, base models",
            "regression better than a constant on four sets",
            f"better on {better} of {len(bases)}",
            "",
            drawn if better == len(bases) else "**short**",
            "`base-models`",
        ),
    ]


def markdown() -> str:
    """Return the table."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *tables(), *torques(), *bandits(), *figures()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def written(page: str) -> str:
    """Return a page with the table between its marks."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + markdown() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
