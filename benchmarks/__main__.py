"""Run all benchmarks: ``python -m benchmarks`` writes results/bench.json and its table in README and docs."""

from pathlib import Path

from rich.console import Console

from benchmarks import footprint, speed, table
from ggln.reproduction.shared import record


def main() -> None:
    """Run what needs quiet first."""
    console = Console()
    results: record.Results = {"machine": record.machine()}
    console.print(results["machine"])
    parts = {f"fit, context dimension {s}": (speed.fitting, s) for s in (4, 8, 10)}
    parts |= {f"predict, context dimension {s}": (speed.predicting, s) for s in (4, 8, 10)}
    for name, (benchmark, context_dim) in parts.items():
        results[name] = benchmark(context_dim)
        console.print(name, results[name])
    for name, measure in (
        ("one row at a time, 3 layers of 32", speed.one_by_one),
        ("a decision over 8 arms", speed.deciding),
        ("memory", footprint.memory),
        ("start-up", footprint.start_up),
    ):
        results[name] = measure()
        console.print(name, results[name])
    record.write(Path("results/bench.json"), results)
    for page in ("README.md", "docs/benchmarks.md"):
        table.write(Path(page), results)


main()
