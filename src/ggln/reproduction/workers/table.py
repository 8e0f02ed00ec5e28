"""Tables of the experiment."""

from ggln.reproduction.shared.record import Results
from ggln.reproduction.shared.tables import ScoreTable

PARTS = "work", "client", "waiting", "traffic"


def table(results: Results) -> list[ScoreTable]:
    """Return what was measured beside the model, what a fit sends, and what more workers would take."""
    return [_measured(results), _sent(results), *(_more(results, name) for name in results["more"])]


def _measured(results: Results) -> ScoreTable:
    columns = {"measured": ".1f", "model": "", **dict.fromkeys(PARTS, "")}
    nothing = dict.fromkeys(columns, "")
    local = results["local"]
    rows = {"one thread, no cluster": nothing | {"measured": local["seconds"]}}
    for count, own in results["fits"].items():
        model = results["model"][count]
        parts = {part: format(model[part], ".1f") for part in PARTS}
        rows["1 worker" if count == "1" else f"{count} workers"] = {
            "measured": own["seconds"],
            "model": format(model["seconds"], ".1f"),
            **parts,
        }
    title = f"{results['rows']:,} rows in {results['partitions']} partitions, seconds"
    return ScoreTable(title, columns, rows, (results["machine"]["cpu"],))


def _sent(results: Results) -> ScoreTable:
    one, waiting = results["fits"]["1"], results["rounds"]
    nothing = waiting["seconds"] + results["partitions"] * waiting["seconds_each"]
    figures = {
        "rounds": f"{one['rounds']:,}",
        "a round of nothing": f"{1000 * nothing:.1f} ms",
        "to each worker": f"{one['messages'] / 1e6:,.0f} MB",
        "from each partition, to be added": f"{one['sums'] / 1e6:,.0f} MB",
        "single rows": f"{one['singles'] / 1e6:,.1f} MB",
        "rate here": f"{waiting['rate'] / 1e6:,.0f} MB/s",
        "computed by the client": f"{one['client']:.1f} s",
        "computed by workers": f"{sum(one['work']):.1f} s",
    }
    return ScoreTable("What a fit sends", {"": ""}, {name: {"": value} for name, value in figures.items()})


def _more(results: Results, network: str) -> ScoreTable:
    tables = results["more"][network]
    columns: dict[str, str] = {}
    for rows in tables:
        columns |= {f"{int(rows):,} rows, s": ",.0f", f"{int(rows):,}, x as fast": ".1f"}
    found = {}
    for count in next(iter(tables.values())):
        values = []
        for own in tables.values():
            values += [own[count]["seconds"], own["1"]["seconds"] / own[count]["seconds"]]
        found["1 worker" if count == "1" else f"{count} workers"] = dict(zip(columns, values, strict=True))
    return ScoreTable(f"The model: workers at {network}", columns, found)
