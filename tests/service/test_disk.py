"""A disk that is full, a page that is torn, a log that is damaged."""

import os
import sqlite3
import subprocess

import pytest

from ggln import GGLNRegressor
from ggln.service.log.sqlite import SQLiteStore

FRAME = 24 + 4096
"""Bytes of a page in the write-ahead log, and its head."""


ROOM = 120_000
"""Bytes that are left on a disk that is nearly full."""


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of its own, of 4 MB; return it, and what fills the disk but for some bytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "ggln-test", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"only root can mount a small disk: {error}")

    def fill():
        found = os.statvfs(folder)
        (folder / "filler").write_bytes(b"x" * (found.f_bavail * found.f_frsize - ROOM))
        return (folder / "filler").unlink

    yield folder, fill
    subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


@pytest.fixture
def file_limit(tmp_path):
    """The same for whoever is not root: the system lets no file grow further."""
    resource = pytest.importorskip("resource")
    folder, before = tmp_path / "limited", resource.getrlimit(resource.RLIMIT_FSIZE)
    folder.mkdir()

    def fill():
        size = (folder / "log.db-wal").stat().st_size + ROOM
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)

    yield folder, fill
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("disk", ["small_disk", "file_limit"])
def test_a_crash_on_a_full_disk_takes_nothing(start, world, refused, disk, request, tmp_path):
    folder, fill = request.getfixturevalue(disk)
    running = start(folder)
    running.client.create("price", **world.models["price"])
    running.client.learn_rows("price", world.rows(20))
    running.learn_all("price")
    make_room, counts = fill(), [20]

    def learn_until_the_end(client):
        while counts[-1] < 5020:
            told = client.learn_rows("price", world.rows(50, counts[-1]))
            counts.append(counts[-1] + told["accepted"])

    assert refused(learn_until_the_end, running.client) == (507, "storage")
    assert counts[-1] > 20
    assert running.learn_all("price")["rows"] == counts[-1]
    running.crash()
    again = start(folder)  # which works although there is no more room than before
    assert again.learn_all("price")["rows"] == counts[-1]
    assert refused(learn_until_the_end, again.client) == (507, "storage")
    make_room()
    count = counts[-1] + again.client.learn_rows("price", world.rows(50, counts[-1]))["accepted"]
    again.learn_all("price")
    expected = GGLNRegressor(layer_sizes=(4, 1), n_estimators=1, random_state=0)
    for i in range(count):
        expected.learn_one(world.row(i), world.target(i))
    expected.save(tmp_path / "expected.ggln")
    assert again.client.export("price") == (tmp_path / "expected.ggln").read_bytes()
    again.close()  # before the disk is gone


def test_a_full_disk_is_a_refusal_and_nothing_has_changed(start, world, refused):
    running = start()
    client = running.client
    client.create("price", **world.models["price"])
    client.learn_rows("price", world.rows(20))
    expected = running.learn_all("price")
    writer = running.service.store.writer
    pages = writer.run("PRAGMA page_count")[0][0]
    writer.run(f"PRAGMA max_page_count={pages}")
    rows = world.rows(2000, 20)
    assert refused(client.learn_rows, "price", rows) == (507, "storage")
    assert running.learn_all("price") == expected
    assert client.predict("price", world.row(0))["mean"] is not None
    writer.run("PRAGMA max_page_count=1000000")
    assert client.learn_rows("price", rows[:20])["sequence"] == 40
    assert running.learn_all("price")["rows"] == 40


def test_a_disk_too_full_for_a_snapshot_is_tried_again(start, world, monkeypatch, caplog):
    running = start()
    running.client.create("price", **world.models["price"])
    running.client.learn_rows("price", world.rows(10))
    running.learn_all("price")
    model = running.service.models.get(running.service.models.row("price"))
    put = running.service.store.files.put

    def full(name, write):
        raise OSError(28, "No space left on device", name)

    monkeypatch.setattr(running.service.store.files, "put", full)
    running.service.learner._save_if(model, 1)
    assert "cannot be saved now" in caplog.text
    assert model.saved == 0
    monkeypatch.setattr(running.service.store.files, "put", put)
    running.service.learner._save_if(model, 1)
    assert model.saved == 10


def test_a_torn_last_page_takes_nothing_that_was_acknowledged(start, world, copied):
    """A crash while a commit is written leaves pieces of it at the end of the write-ahead log."""
    running = start()
    client = running.client
    client.create("price", **world.models["price"])
    client.learn_rows("price", world.rows(30))
    running.learn_all("price")
    expected = client.export("price")
    before = (running.folder / "log.db-wal").stat().st_size
    client.learn_rows("price", world.rows(300, 30))
    folder = copied(running.folder)
    running.close()
    after = (folder / "log.db-wal").stat().st_size
    assert after > before + FRAME
    for number, length in enumerate((after - 1, after - FRAME + 100, before + FRAME, before + 17, before)):
        torn = copied(folder, f"torn-{number}")
        os.truncate(torn / "log.db-wal", length)
        assert rows_of(torn) == 30
        with (torn / "log.db-wal").open("ab") as log:
            log.write(os.urandom(FRAME))
        assert rows_of(torn) == 30
    again = start(folder=torn)
    again.learn_all("price")
    assert again.client.export("price") == expected


def rows_of(folder):
    store = SQLiteStore(folder)
    with store.reading() as statements:
        found = statements.run("SELECT count(*) FROM log")[0][0]
    store.close()
    return found


def test_what_is_no_log_is_refused(tmp_path):
    (tmp_path / "log.db").write_bytes(b"this is no database, but a text " * 40)
    with pytest.raises(ValueError, match="cannot be used as a log"):
        SQLiteStore(tmp_path)


def test_a_log_of_a_later_version_is_refused(tmp_path):
    SQLiteStore(tmp_path).close()
    log = sqlite3.connect(tmp_path / "log.db")
    with log:
        log.execute("UPDATE counters SET value = 99 WHERE name = 'schema'")
    log.close()
    with pytest.raises(ValueError, match="log of version 99"):
        SQLiteStore(tmp_path)


def test_commits_are_on_disk(running):
    """The settings that the promise rests on."""
    assert running.service.store.writer.run("PRAGMA synchronous")[0][0] == 2
    assert running.service.store.writer.run("PRAGMA journal_mode")[0][0] == "wal"
