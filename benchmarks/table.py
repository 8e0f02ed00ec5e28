"""The table of the README and of docs/benchmarks.md, written from results/bench.json."""

from pathlib import Path

from ggln.reproduction.shared.record import Results

BEGIN, END = "<!-- bench: written by make bench -->\n", "<!-- end of bench -->"


def markdown(results: Results) -> str:
    """Return the table: what was measured, the goal, and the figure."""
    fits = {s: results[f"fit, context dimension {s}"] for s in (4, 8, 10)}
    predictions = {s: results[f"predict, context dimension {s}"] for s in (4, 8, 10)}
    rows, memory, start = (
        results["one row at a time, 3 layers of 32"],
        results["memory"],
        results["start-up"],
    )

    decisions = results["a decision over 8 arms"]

    def series(values: dict[int, Results], name: str, form: str) -> str:
        return " / ".join(format(value[name], form) for value in values.values())

    lines = [
        ("`fit` on one core, rows/s", "", series(fits, "rows/s on one core", ",.0f")),
        (
            "the same, weights/s over the plain loop's",
            "2.5 / 4 / 4",
            series(fits, "one core / plain loop", ".2f"),
        ),
        ("two cores over one", "1.7", series(fits, "two cores / one core", ".2f")),
        (
            "learning a block over predicting it, time",
            "2",
            series(predictions, "learning / predicting", ".2f"),
        ),
        ("`learn_one`, 3 layers of 32, median", "40 us", f"{rows['learn_one, us']:.0f} us"),
        ("`predict_one`", "25 us", f"{rows['predict_one, us']:.0f} us"),
        (
            "a bandit's decision over 8 arms, [1000, 100, 1] / default networks, median",
            "2 ms",
            " / ".join(f"{1e-3 * decisions[f'select, {n}, us']:.2f}" for n in ("[1000, 100, 1]", "defaults"))
            + " ms",
        ),
        ("memory grown over touched rows, 12 x 256, s = 10", "1.5", f"{memory['grown / touched rows']:.2f}"),
        (
            "memory grown from 10,000 to 1,000,000 rows",
            "0",
            f"{memory['10,000 to 1,000,000 rows, grown by MB']:.1f} MB",
        ),
        ("`import ggln`", "1 s", f"{start['import ggln, s']:.2f} s"),
        (
            "first `fit` of networks alone, cold / warm cache of kernels",
            "15 / 1 s",
            f"{start['first fit, cold cache, s']:.1f} / {start['first fit, warm cache, s']:.2f} s",
        ),
        (
            "`fit` of 100 rows with the defaults, base models included",
            "",
            f"{start['defaults, 100 rows, s']:.1f} s",
        ),
    ]
    head = ["| 12 x 256 neurons, context dimension 4 / 8 / 10 | goal | measured |", "|---|---|---|"]
    body = [f"| {name} | {goal} | {value} |" for name, goal, value in lines]
    return "\n".join([*head, *body, "", f"Measured on {results['machine']['cpu']}.", ""])


def write(page: Path, results: Results) -> None:
    """Replace the table in a page."""
    text = page.read_text()
    before, rest = text.split(BEGIN)
    page.write_text(before + BEGIN + markdown(results) + END + rest.split(END, 1)[1])
