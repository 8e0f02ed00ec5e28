"""What the shell sees: completion, help, errors that nobody foresaw."""

import csv
import os
import subprocess
import sys

import pytest

from ggln import cli

COMMAND = [sys.executable, "-c", "from ggln.cli import run; run()"]


def complete(words):
    """What bash is offered for the last of the words."""
    count = len(words.split()) - (not words.endswith(" "))
    request = {"_GGLN_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    result = subprocess.run(COMMAND, env=os.environ | request, capture_output=True, text=True, check=False)
    return result.stdout.split()


def test_commands_options_and_values_are_completed():
    assert complete("ggln st") == ["stream"]
    assert {"fit", "predict", "explain", "plot", "demo", "bench", "reproduce"} <= set(complete("ggln "))
    assert "--target" in complete("ggln fit --ta")
    assert complete("ggln plot --kind cal") == ["calibration"]


def test_the_script_for_completion_is_shown():
    shell = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    result = subprocess.run(
        [*COMMAND, "--show-completion", "bash"],
        env=os.environ | shell,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "_GGLN_COMPLETE" in result.stdout


def commands(group, path=()):
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def test_every_command_has_an_example():
    import typer

    found = dict(commands(typer.main.get_command(cli.app)))
    assert found.keys() > {("fit",), ("predict",), ("reproduce", "uci"), ("datasets", "list")}
    for path, command in found.items():
        assert f"Example: ggln {' '.join(path)}" in command.help or (
            f"ggln {' '.join(path)}" in command.help.partition("Example:")[2]
        ), path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demmo"], "No such command 'demmo'. Did you mean 'demo'? `ggln --help` says more"),
        (["fit", "--nope"], "No such option: --nope"),
        (["fit", "t.csv", "--seed", "-1"], "Invalid value for '--seed'"),
        (["plot", "m", "t", "--kind", "bnd"], "'bnd' is not one of 'calibration'"),
        (["predict"], "MODEL"),
    ],
)
def test_wrong_words_are_one_line_and_exit_code_2(arguments, said, ggln):
    code, output, line = ggln(*arguments)
    assert (code, output) == (2, "")
    assert line.startswith("ggln: ")
    assert line.count("\n") == 1
    assert said in line


def test_an_interruption_is_one_line(ggln, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ggln.tables.plan.Input.check", interrupt)
    code, output, line = ggln("fit", "t.csv", "--target", "y")
    assert (code, output) == (130, "")
    assert line.strip() == "ggln: interrupted"


def test_help_is_short_as_well_and_in_words(ggln):
    import typer

    for path, _ in commands(typer.main.get_command(cli.app)):
        code, output, _ = ggln(*path, "-h")
        assert code == 0
        assert f"Usage: ggln {' '.join(path)}" in output
        assert not any(word in output for word in ("<bool>", "<int", "<float"))
    assert ggln("reproduce", "-h")[1].startswith(ggln("reproduce", "--help")[1][:100])


def test_without_a_command_there_is_help(ggln):
    code, output, line = ggln()
    assert code == 2
    assert "Usage" in output
    assert line == "ggln: name a command after `ggln`\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "m.ggln"), "m.ggln: Permission denied"),
        (ValueError("two\nlines"), "two lines"),
        (MemoryError(), "there is not enough memory"),
        (KeyError("x"), "this should not happen, please report it (KeyError: 'x')"),
    ],
)
def test_every_error_is_one_line(error, said, monkeypatch, capsys):
    def fail(**_):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as stopped:
        cli.run()
    assert stopped.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"ggln: {said}")
    assert printed.count("\n") == 1


HEAVY = ("sklearn", "numba", "scipy", "matplotlib")
LIGHT = f"""
import sys
from ggln.cli import sentence, app
for line in sys.stdin.read().splitlines():
    try:
        app(line.split(), prog_name="ggln", standalone_mode=False)
    except Exception as error:
        print(line, sentence(error), [name for name in {HEAVY!r} if name in sys.modules], sep="|")
"""


def test_mistakes_are_found_before_anything_heavy_is_imported(ggln, sales, quick, tmp_path):
    assert ggln("fit", sales(30), "--target", "price", *quick)[0] == 0
    with (tmp_path / "other.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["area", "city", "price"], ["1", "Rome", "many"]])
    expected = {
        "fit nothing.csv -t price": "there is no file nothing.csv",
        "fit sales.csv -t prise": "no target column 'prise': did you mean 'price'?",
        "fit other.csv -t price": "is no column of numbers (it has 'many')",
        "fit sales.csv": "name the column to predict with --target",
        "predict model.ggln nothing.csv": "there is no file nothing.csv",
        "predict nothing.ggln sales.csv": "there is no model file",
        "predict model.ggln other.csv": "other.csv has no column 'age'",
        "explain model.ggln other.csv": "other.csv has no column 'age'",
        "plot model.ggln sales.csv -k band --feature aria": "did you mean 'area'?",
        "stream -m model.ggln --target age": "predicts price, not age",
    }
    result = subprocess.run(
        [sys.executable, "-c", LIGHT],
        input="\n".join(expected),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    found = [line.split("|") for line in result.stdout.splitlines()]
    assert [line for line, *_ in found] == list(expected)
    for line, said, imported in found:
        assert expected[line] in said
        assert imported == "[]", line
