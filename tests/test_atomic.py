"""Files that are complete or not there: permissions, links, leftovers, full disks, the name on the disk."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from ggln import atomic


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    return path


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_a_file_that_is_replaced_keeps_its_permissions(target, mode):
    target.chmod(mode)
    atomic.write(target, b"new")
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert target.read_bytes() == b"new"


def test_nobody_else_can_read_what_replaces_a_private_file(target, monkeypatch):
    target.chmod(0o600)
    modes = []
    monkeypatch.setattr(os, "fsync", lambda file: modes.append(stat.S_IMODE(os.fstat(file).st_mode)))
    atomic.write(target, b"new")
    assert modes[0] == 0o600


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_obeys_the_mask(tmp_path, mask):
    before = os.umask(mask)
    try:
        atomic.write(tmp_path / "new", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_one(tmp_path, there):
    (tmp_path / "folder").mkdir()
    real, link = tmp_path / "folder" / "real", tmp_path / "link"
    if there:
        real.write_bytes(b"old")
    link.symlink_to(real)
    atomic.write(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["folder", "link"]  # noqa: PTH208


KILLED = """
import os, signal, sys
from pathlib import Path
from ggln import atomic
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
atomic.write(Path(sys.argv[1]), b"lost")
"""


def test_what_a_killed_process_left_is_removed(target):
    killed = subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    assert killed.returncode < 0
    assert len(os.listdir(target.parent)) == 2  # noqa: PTH208
    assert target.read_bytes() == b"old"
    atomic.write(target, b"new")
    assert os.listdir(target.parent) == ["model"]  # noqa: PTH208


def test_what_others_still_write_stays(target, monkeypatch):
    """Whoever writes at the same time must not lose what is not finished; the last to end wins."""
    entered = []

    def fsync(file):
        if not entered:
            entered.append(file)
            atomic.write(target, b"inner")
            assert target.read_bytes() == b"inner"

    monkeypatch.setattr(os, "fsync", fsync)
    atomic.write(target, b"outer")
    assert target.read_bytes() == b"outer"
    assert os.listdir(target.parent) == ["model"]  # noqa: PTH208


def test_files_of_others_with_like_names_stay(target):
    others = [
        ".model.backup",
        ".model.0123456789abcdeX",
        ".models.0123456789abcdef",
        "model.0123456789abcdef",
    ]
    for name in others:
        target.with_name(name).touch()
    atomic.write(target, b"new")
    assert sorted(os.listdir(target.parent)) == sorted([*others, "model"])  # noqa: PTH208


def test_a_full_disk_names_the_file(target, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="model") as error:
        atomic.write(target, b"new")
    assert error.value.errno == errno.ENOSPC
    assert target.read_bytes() == b"old"


def test_the_name_is_brought_to_the_disk_as_well(target, monkeypatch):
    kinds = []
    monkeypatch.setattr(os, "fsync", lambda file: kinds.append(stat.S_ISDIR(os.fstat(file).st_mode)))
    atomic.write(target, b"new")
    assert kinds == [False, True]


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        with pytest.raises(OSError, match=f"no ordinary file.*{name}"):
            atomic.write(tmp_path / name, b"new")
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]  # noqa: PTH208
