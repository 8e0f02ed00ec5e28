"""The short twin of ``make fuzz``: files, tables, parameters, interruptions and kills, at random."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KINDS = ["edits of model files", "tables", "parameters", "interruptions", "ended commands"]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes as Linux lets one")
def test_what_is_done_at_random_does_no_harm():
    models = ["table of numbers", "capped steps", "density"]
    command = [sys.executable, "-m", "fuzz", "--seconds", "20", "--models", *models]
    found = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    for kind in KINDS:
        assert f" {kind}, 0 went wrong: " in found.stdout
