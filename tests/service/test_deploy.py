"""What `deploy/` says is there, and options that it names are known."""

import json
import re
import runpy
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ggln.cli.serve import app

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
UNIT = (ROOT / "deploy" / "ggln.service").read_text(encoding="utf-8")


def known_options():
    """Return the options of `ggln serve`."""
    return set(re.findall(r"--[a-z-]+", CliRunner().invoke(app, ["--help"], terminal_width=200).output))


def test_the_image_is_made_of_what_is_there():
    for line in re.findall(r"^COPY (.+)", DOCKERFILE, re.M):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source
    extras = re.search(r"/src\[([a-z,]+)\]", DOCKERFILE).group(1).split(",")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras) <= set(project["optional-dependencies"])


def test_commands_have_options_that_are_known():
    image = json.loads(re.search(r"^ENTRYPOINT (.+)", DOCKERFILE, re.M).group(1))
    unit = shlex.split(re.search(r"^ExecStart=(.+)", UNIT, re.M).group(1))
    for command in (image, unit):
        assert [Path(command[0]).name, command[1]] == ["ggln", "serve"]
        assert {word for word in command if word.startswith("--")} <= known_options()


def test_the_unit_is_one(tmp_path):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd is not installed")
    path = tmp_path / "ggln.service"
    path.write_text(re.sub(r"/usr/local/bin/ggln", shutil.which("true"), UNIT))
    found = subprocess.run([program, "verify", str(path)], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")


def test_kernels_can_be_compiled_in_advance(monkeypatch):
    """With networks as small as other tests have them; what is compiled is the same."""
    pytest.importorskip("prometheus_client", reason="needs the extra serve")
    own = runpy.run_path(str(ROOT / "deploy" / "warm.py"))
    small = {"settings": {"layer_sizes": [4, 1], "n_estimators": 1}}
    bodies = {name: body | (small if name != "bandit" else {}) for name, body in own["BODIES"].items()}
    monkeypatch.setitem(own["main"].__globals__, "BODIES", bodies)
    own["main"]()
