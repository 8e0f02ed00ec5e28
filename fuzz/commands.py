"""Give random tables to the commands that read some: each ends in time, with a sentence if not well."""

import csv
import io
import json
import math
import tempfile
import time
import unicodedata
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.cells import Random
from fuzz.children import HUNG, Ended
from fuzz.children import run as run_command
from fuzz.tables import KNOWN, Table, clean, table
from fuzz.tally import Tally
from ggln import GGLNRegressor, TableRegressor

FINE = {"done", "refused"}
SETTINGS = {"layer_sizes": (2, 2), "n_estimators": 2}
PATIENCE, MOST_MEMORY = 60.0, 600 << 20
"""Seconds and bytes that a table of a few kilobytes, or a line of some megabytes, may take."""
NAMED, LONGEST = "ggln: ", 5000
OPTIONS: list[list[str]] = [
    *[[]] * 5, *[["--on-error", "skip"]] * 5, ["--encoding", "latin-1"], ["--encoding", "utf-16"],
    ["--skip-lines", "1"],
]  # fmt: skip
LEARNING: list[list[str]] = [
    *[[]] * 4, *[["--max-rejected", "100%"]] * 4, ["--decimal", "comma"], ["--thousands", "comma"],
    ["--day-first"], ["--drop", "city"], ["--category", "size"], ["--keep", "size"],
]  # fmt: skip


FITS: list[list[str]] = [[], [], ["--validate", "0.3"], ["--in-memory", "5"], ["--checkpoint", "0"]]
STREAMS: list[list[str]] = [
    [], ["--output-format", "jsonl"], ["-m", "model.ggln"], ["--quantiles", "0.1,0.9"],
]  # fmt: skip
PREDICTIONS: list[list[str]] = [[], ["--support"], ["--escape-formulas"]]
OUTPUTS: list[list[str]] = [[], ["--output-format", "jsonl"], ["-o", "found.parquet"], ["-o", "found.csv"]]


def options(choices: list[list[str]], random: Random) -> list[str]:
    """Return one of several choices."""
    return choices[int(random.integers(len(choices)))]


def command(made: Table, random: Random) -> tuple[list[str], bytes]:
    """Return the words of a command for a table, and what it reads from standard input."""
    which = str(random.choice(["fit", "fit", "stream", "stream", "predict", "score", "report"]))
    general, small = options(OPTIONS, random), said_as(SETTINGS)
    if which == "fit":
        words = [
            "fit",
            made.name,
            "-t",
            made.target,
            *options(LEARNING, random),
            *options(FITS, random),
            *small,
        ]
    elif which == "stream":
        words = ["stream", "-t", made.target, *options(LEARNING, random), *small, *options(STREAMS, random)]
    elif which == "predict":
        words = ["predict", "known.ggln", made.name, *options(PREDICTIONS, random), *options(OUTPUTS, random)]
    else:
        words = [which, "known.ggln", made.name]
        general = [] if which == "report" else general
    if which not in ("stream", "report") and random.random() < 0.2:
        words[words.index(made.name)] = "-"
    piped = which == "stream" or "-" in words
    return [*words, *general, "--n-jobs", "1"], made.content if piped else b""


def judge(ended: Ended, words: list[str]) -> str:
    """Return how a command ended, in a word or two."""
    if ended.code == HUNG:
        return "hang"
    if "Traceback" in ended.errors or "should not happen" in ended.errors:
        return "traceback"
    if ended.code not in (0, 1, 2):
        return f"code {ended.code}"
    if ended.memory > MOST_MEMORY:
        return f"memory of {ended.memory >> 20} MB"
    if any(unicodedata.category(letter) in ("Cc", "Cf") and letter != "\n" for letter in ended.errors):
        return "control characters"
    if any(len(line) > LONGEST for line in ended.errors.splitlines()):
        return "a line without an end"
    if ended.code and not any(line.startswith(NAMED) for line in ended.errors.splitlines()):
        return "no sentence"
    if ended.code == 0 and "jsonl" in words and not _finite(ended.output):
        return "no number"
    return "done" if ended.code == 0 else "refused"


def _finite(output: bytes) -> bool:
    """Return whether predictions in JSON lines are numbers, or not there yet."""
    try:
        records = [json.loads(line, parse_constant=int) for line in output.splitlines()]
    except ValueError:  # Infinity and NaN are no JSON, and no int either
        return False
    found = [
        value for record in records for name, value in record.items() if name.endswith(("_mean", "_std"))
    ]
    return all(value is None or isinstance(value, str | bool) or math.isfinite(value) for value in found)


def said_as(settings: dict[str, Any]) -> list[str]:
    """Return options that say settings."""
    return [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]


def warm_up(folder: Path, settings: dict[str, Any]) -> None:
    """Make a model, known.ggln; all that commands need is imported and compiled before there are children."""
    from ggln.cli import app

    table, model = folder / "warm.csv", folder / "known.ggln"
    table.write_text(clean(150))
    fit = ["fit", str(table), "-t", "y", "-o", str(model), *said_as(settings)]
    scores = [["score", str(model), str(table), "-o", str(folder / "warm.txt")], ["info", str(model)]]
    page = ["report", str(model), str(table), "-o", str(folder / "warm.html")]
    predict = ["predict", str(model), str(table), "-o", str(folder / "warm.parquet"), "--quantiles", "0.1"]
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        for words in (fit, *scores, page, predict):
            app(words, standalone_mode=False)
    columns = dict(zip(KNOWN, map(list, zip(*list(csv.reader(table.open()))[1:], strict=True)), strict=True))
    y = np.array(columns.pop("y"), float)
    TableRegressor(GGLNRegressor(**settings, random_state=0)).prequential(columns, y)
    for path in folder.glob("warm*"):
        path.unlink()


def run(attempts: int, seconds: float, seed: int) -> Tally:
    """Give so many tables to commands, or as many as there is time for."""
    tally = Tally("tables", FINE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        folder.mkdir()
        warm_up(folder, SETTINGS)
        usual = run_command(["info", "known.ggln"], b"", folder, PATIENCE).memory
        begun = time.monotonic()
        for number in range(attempts):
            if time.monotonic() - begun > seconds:
                break
            random = np.random.default_rng([seed, number])
            made = table(random)
            words, given = command(made, random)
            (folder / made.name).write_bytes(made.content)
            ended = run_command(words, given, folder, PATIENCE)
            ended = ended._replace(memory=ended.memory - usual)
            said = ended.errors.strip().splitlines()[-1:]
            about = f"{made.about}: ggln {' '.join(words)}: {ended.code}, {said!r}"
            tally.add(judge(ended, words), f"seed {seed}, table {number}: {about}")
            for path in folder.iterdir():
                if path.name != "known.ggln":
                    path.unlink()
    return tally
