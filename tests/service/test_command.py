"""`ggln serve`, as a process; the soak; and the client."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ggln
from ggln import cli
from ggln.service import Client

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from ggln.cli import run; run()", "serve"]


@pytest.fixture
def served(tmp_path):
    """Start the command; return the process and where it serves."""
    started = []

    def begin(*options):
        command = [*COMMAND, "--data", str(tmp_path / "data"), "--port", "0", *options]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        started.append(process)
        line = process.stderr.readline()
        return process, re.search(r"http://\S+:\d+", line).group()

    yield begin
    for process in started:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def refusal(monkeypatch, tmp_path, capsys):
    """Run the command with options that it refuses; return what it says."""

    def run(*options):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["ggln", "serve", "--port", "0", *options])
        with pytest.raises(SystemExit) as end:
            cli.run()
        assert end.value.code == 2
        return capsys.readouterr().err

    return run


def test_it_serves_and_ends_in_peace(served, world, tmp_path, refusal):
    process, url = served()
    with Client(url, patience=20) as client:
        client.create("price", **world.models["price"])
        client.learn_rows("price", world.rows(10))
    assert "is in use by another ggln" in refusal("--data", str(tmp_path / "data"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0
    assert process.stderr.read() == ""
    assert (tmp_path / "data" / "models" / "1-10.ggln").exists()
    model = ggln.load(tmp_path / "data" / "models" / "1-10.ggln")
    assert model.feature_names_in_.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 lets others call this service: name a file of --tokens"),
        (["--tokens", "nowhere"], "No such file"),
        (["--host", "203.0.113.1", "--tokens", "tokens"], "cannot be listened to"),
        (["--database", "postgresql://nobody@127.0.0.1:1/x"], "cannot be used as a log"),
    ],
)
def test_refusals(refusal, tmp_path, options, words):
    (tmp_path / "tokens").write_text("read " + "r" * 20)
    said = refusal(*options)
    assert words in said
    assert said.count("\n") == 1


def soak(*options):
    """Run the soak; return what it found."""
    command = [sys.executable, "-m", "soak", *options]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert found.returncode == 0, found.stdout + found.stderr
    return json.loads(found.stdout)


def test_ten_seconds_of_the_soak():
    """Kills at random moments, under load: models are those of what was acknowledged, bit for bit."""
    told = soak("--seconds", "10")
    assert told["kills"] >= 3
    assert sum(model["acknowledged"] for model in told["models"].values()) > 0


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount a disk")
def test_kills_with_a_full_disk():
    told = soak("--kills", "40", "--full-disk")
    assert told["kills with a full disk"] > 5
    assert told["refused for want of room"] > 0


def test_the_client_waits_for_a_service_that_comes_back(start, world):
    first = start()
    client = Client(first.url, patience=20)
    client.create("price", **world.models["price"])
    first.close()
    again = start(port=first.port)
    assert client.learn_rows("price", world.rows(3), key="k")["accepted"] == 3
    client.close()
    again.close()
    with pytest.raises(OSError, match="refused"):
        Client(first.url).models()
    with pytest.raises(ValueError, match="url must be like"):
        Client("localhost:80")


def examples(page):
    """Return the commands of a page of the documentation that call curl."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [block for block in re.findall(r"```console\n(.*?)```", text, re.S) if "curl" in block]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_examples_with_curl_run(running, tmp_path):
    """Each line that begins with $ is run in a shell; ids of events are taken from the answers before."""
    blocks = examples("service.md")
    assert len(blocks) >= 4
    event = ""
    for block in blocks:
        for command in re.findall(r"^\$ ((?:.*\\\n)*.*)", block, re.M):
            line = command.replace("http://127.0.0.1:8080", running.url).replace("EVENT", event)
            found = subprocess.run(line, shell=True, capture_output=True, text=True, cwd=tmp_path, timeout=60)
            assert found.returncode == 0, (line, found.stderr)
            assert '{"error"' not in found.stdout, (line, found.stdout)
            running.service.learn_all()
            told = re.search(r'"event": "([0-9a-f]+)"', found.stdout)
            event = told.group(1) if told else event
    assert (tmp_path / "price.ggln").exists()
