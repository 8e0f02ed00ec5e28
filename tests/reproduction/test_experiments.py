"""What every experiment has, and that a new one is one file."""

import json
import sys
import typing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ggln import cli, reproduction
from ggln.reproduction.shared import experiments
from ggln.reproduction.shared.options import NameList, NumberList
from ggln.reproduction.shared.tables import ScoreTable

RESULTS = Path(__file__).parents[2] / "results"
OTHER_NAMES = {
    "uci-paper": "uci",
    "mnist-digits": "mnist",
    "ablation-stream": "ablation",
    "peers-large": "peers",
}
OTHER_NAMES |= {"sarcos-leak-free": "sarcos", "sarcos-default": "sarcos"}
KINDS = (int, int | None, float, bool, Path, Path | None)
NAMES = experiments.names()


def test_there_are_experiments():
    assert {"uci", "bandits", "hetero", "bandit-peers"} <= set(NAMES)
    assert not {"shared", "tasks", "competitors"} & set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_help_reads_in_the_source_is_what_the_module_says(name):
    module, described = experiments.load(name), experiments.describe(name)
    imported = experiments.arguments_of(module.run)
    assert described.arguments.keys() == imported.keys()
    for key, (kind, option, default) in described.arguments.items():
        own = imported[key]
        assert (kind, option.help, option.least, option.most) == (
            own.type,
            own.option.help,
            own.option.least,
            own.option.most,
        )
        assert default in (own.default, experiments.OWN)
        known = isinstance(option, NameList | NumberList) or kind in KINDS
        assert known or typing.get_origin(kind) is typing.Literal, key
        if isinstance(option, NameList):
            assert set(own.default or ()) <= set(own.option.known() if own.option.known else own.default)
    assert described.help.partition("\n")[0].endswith(".")
    assert callable(module.table)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_results_that_were_kept_can_be_printed_and_drawn(path):
    if path.stem in ("bench", "serve", "serve-soak"):  # of make's targets, which are no experiments
        return
    module, results = experiments.load(OTHER_NAMES.get(path.stem, path.stem)), json.loads(path.read_text())
    found = module.table(results)
    for table in found if isinstance(found, list) else [found]:
        assert isinstance(table, ScoreTable)
        assert table.rows
        for row in table.rows.values():
            assert all(format(row[column], form) is not None for column, form in table.columns.items())
    if hasattr(module, "draw"):
        assert module.draw(results).axes


NEW = '''"""Multiples of a number.

Example: ggln reproduce multiples --of 3
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from ggln.reproduction.shared.options import STORE, NameList, NumberList, Option, Store
from ggln.reproduction.shared.pictures import new_figure
from ggln.reproduction.shared.tables import ScoreTable

FACTORS = ("two", "three")


def run(
    of: Annotated[int, Option("What is multiplied.", least=1)] = 1,
    factors: Annotated[Sequence[str], NameList("By what.")] = FACTORS,
    times: Annotated[Sequence[int], NumberList("How often.")] = (1, 2),
    how: Annotated[Literal["once", "twice"], Option("Once or twice.")] = "once",
    loud: Annotated[bool, Option("Say it.")] = False,
    store: Store = STORE,
    scale: float = 1.0,
):
    numbers = {factor: of * (FACTORS.index(factor) + 2) * scale for factor in factors}
    return {"experiment": "multiples", "numbers": numbers, "times": times, "loud": loud, "store": str(store)}


def table(results):
    rows = {name: {"product": number} for name, number in results["numbers"].items()}
    return ScoreTable("Multiples", {"product": ".1f"}, rows, ("LOUD",) if results["loud"] else ())


def draw(results):
    figure = new_figure(3.0, 2.0)
    figure.subplots().bar(list(results["numbers"]), list(results["numbers"].values()))
    return figure
'''


@pytest.fixture
def command(monkeypatch, tmp_path):
    """A new file among the experiments, and nothing else, makes a command."""
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "multiples.py").write_text(NEW)
    monkeypatch.setattr(reproduction, "__path__", [*reproduction.__path__, str(folder)])
    yield lambda *given: CliRunner().invoke(cli.app, ["reproduce", *given], env={"COLUMNS": "120"})
    sys.modules.pop("ggln.reproduction.multiples", None)


def test_a_new_file_is_a_new_command(command, tmp_path):
    assert "Multiples of a number." in command("--help").output
    said = command("multiples", "--help").output
    for words in ("--of", "What is multiplied.", "once|twice", "[default: 1,2]", "--loud", "--output"):
        assert words in said
    assert "--scale" not in said
    assert "--no-loud" not in said
    result = command(
        "multiples",
        "--of",
        "3",
        "--factors",
        "three",
        "--times",
        "4,5",
        "--loud",
        "-o",
        str(tmp_path / "out"),
    )
    assert result.exit_code == 0, result.output
    assert "9.0" in result.output
    assert "LOUD" in result.output
    kept = json.loads((tmp_path / "out" / "multiples.json").read_text())
    assert (kept["numbers"], kept["times"]) == ({"three": 9.0}, [4, 5])
    assert kept["store"] == str(tmp_path / "out" / ".jobs")
    assert (tmp_path / "out" / "multiples.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["multiples", "--of", "0"], "--of"),
        (["multiples", "--of", "1", "--factors", "tree"], "--factors knows no 'tree': did you mean 'three'?"),
        (["multiples", "--of", "1", "--times", "1,x"], "times must be positive whole numbers"),
        (["multipels"], "Did you mean 'multiples'?"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(given, words, command, tmp_path):
    result = command(*given, "-o", str(tmp_path / "out"))
    assert result.exit_code != 0
    assert words in result.output + str(result.exception)
    assert not (tmp_path / "out").exists()
