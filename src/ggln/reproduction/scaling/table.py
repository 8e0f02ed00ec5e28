"""Tables of the experiment, and what is wanted of its figures."""

import numpy as np

from ggln.reproduction.competitors.point_regressors import NOTES
from ggln.reproduction.costs import Goal
from ggln.reproduction.shared.record import Results
from ggln.reproduction.shared.tables import ScoreTable

GOALS = {
    "exponent": Goal("fit, exponent of time in rows", "", 1.05),
    "last_exponent": Goal("fit, the same of processor time, the most rows over a tenth of them", "", 1.05),
    "seconds_100000": Goal("fit, 100,000 rows", "s", 60.0),
    "seconds_1000000": Goal("fit, 1,000,000 rows", "s", 900.0),
    "megabytes_1000000": Goal("fit, 1,000,000 rows, peak of memory", "MB", 4096.0),
    "error_ratio": Goal("RMSE of the most rows over that of a tenth of them", "x", 1.0),
    "feature_exponent": Goal("fit, exponent of time in features", "", 1.0),
    "stream_megabytes": Goal("stream, memory grown by after its first rows", "MB", 8.0),
    "file_ratio": Goal("ggln fit of a file over learning it as a stream, time", "x", 1.2),
}


def exponent(fits: dict[str, Results], key: str = "seconds") -> float:
    """Return the slope of the logarithm of times over that of sizes, by least squares.

    >>> round(exponent({"10": {"seconds": 2.0}, "100": {"seconds": 20.0}, "1000": {"seconds": 200.0}}), 6)
    1.0
    """
    sizes = np.log([float(size) for size in fits])
    return float(np.polyfit(sizes, np.log([own[key] for own in fits.values()]), 1)[0])


def figures_of(results: Results) -> Results:
    """Return the figures that goals are about, as far as they were measured."""
    rows, features = results["rows"], results["features"]["fits"]
    marks = [mark["megabytes"] for mark in results["stream"].values()]
    file = results["file"]
    found: Results = {
        "stream_megabytes": max(marks) - marks[0],
        "file_ratio": file["fit"]["seconds"] / file["stream"]["seconds"],
    }
    if len(rows) > 1:
        found["exponent"] = exponent(rows)
        most = max(rows, key=int)
        fewer = str(int(most) // 10)
        if fewer in rows:
            found["last_exponent"] = exponent({size: rows[size] for size in (fewer, most)}, "processor")
            found["error_ratio"] = rows[most]["rmse"] / rows[fewer]["rmse"]
    for count in ("100000", "1000000"):
        if count in rows:
            found[f"seconds_{count}"] = rows[count]["seconds"]
            found[f"megabytes_{count}"] = rows[count]["megabytes"]
    if len(features) > 1:
        found["feature_exponent"] = exponent(features)
    return found


def table(results: Results) -> list[ScoreTable]:
    """Return times by rows and by features, all models side by side, stream, file, and goals."""
    wide = results["features"]
    return [
        _fits("Friedman 1, 10 features", "rows", results["rows"]),
        _fits(f"Friedman 1, {wide['rows']:,} rows", "features", wide["fits"]),
        _models(results, "processor", "Processor time of fit, of all threads, s", ".1f"),
        _models(results, "rmse", "RMSE on new rows", ".3f"),
        _stream(results),
        _file(results),
        _goals(results),
    ]


def _fits(title: str, what: str, fits: dict[str, Results]) -> ScoreTable:
    columns = {
        "fit, s": ".1f",
        "of all threads, s": ".1f",
        "µs for each": ".0f",
        "RMSE": ".4f",
        "peak, MB": ",.0f",
    }
    rows = {}
    for size, own in fits.items():
        each = 1e6 * own["processor"] / int(size)
        values = own["seconds"], own["processor"], each, own["rmse"], own["megabytes"]
        rows[f"{int(size):,} {what}"] = dict(zip(columns, values, strict=True))
    return ScoreTable(title, columns, rows)


def _models(results: Results, key: str, title: str, form: str) -> ScoreTable:
    models = list(dict.fromkeys(model for own in results["tables"].values() for model in own))
    rows = {
        name: {model: format(own[model][key], form) if model in own else "" for model in models}
        for name, own in results["tables"].items()
    }
    notes = [f"{model}: {note}" for model, note in NOTES.items() if model in models]
    if any(len(own) < len(models) for own in results["tables"].values()):
        notes.append(f"It is left out above {results['river_rows']:,} rows")
    return ScoreTable(title, dict.fromkeys(models, ""), rows, tuple(notes))


def _stream(results: Results) -> ScoreTable:
    rows = {
        f"{int(mark):,} rows": {"seconds": own["seconds"], "peak, MB": own["megabytes"]}
        for mark, own in results["stream"].items()
    }
    return ScoreTable("A stream, learnt in pieces", {"seconds": ".1f", "peak, MB": ".1f"}, rows)


def _file(results: Results) -> ScoreTable:
    own = results["file"]
    ways = {
        "read, nothing learnt": "read",
        "read once, learnt as a stream": "stream",
        f"ggln fit, {own['together']:,} rows together": "fit",
    }
    columns = {"seconds": "seconds", "of all threads, s": "processor", "peak, MB": "megabytes"}
    rows = {way: {heading: own[how][key] for heading, key in columns.items()} for way, how in ways.items()}
    return ScoreTable(f"A CSV file of {own['rows']:,} rows", dict.fromkeys(columns, ".1f"), rows)


def _goals(results: Results) -> ScoreTable:
    rows = {}
    for name, given in results["goals"].items():
        goal, value = Goal(**given), results["figures"][name]
        rows[goal.what] = {
            "measured": f"{value:,.0f} {goal.unit}" if value >= 1000 else f"{value:.3g} {goal.unit}",
            "goal": f"<= {goal.bound:,.6g} {goal.unit}",
            "": "met" if goal.met(value) else "missed",
        }
    note = f"{results['machine']['cpu']}, {results['threads']} threads"
    return ScoreTable("Goals", {"measured": "", "goal": "", "": ""}, rows, (note,))
