"""A log that several machines share, in a real PostgreSQL that the tests start themselves."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ggln import GGLNRegressor
from ggln.service import Client
from ggln.service.learner import Habits

psycopg = pytest.importorskip("psycopg", reason="needs the extra postgres")
QUICK = Habits(snapshot_seconds=0.1)


def binaries():
    """Return the folder of PostgreSQL's programs, where Debian and others put it."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


@pytest.fixture(scope="module")
def database():
    """Start a server in a folder of its own; return what gives a new database's URL."""
    folder = binaries()
    if folder is None:
        pytest.skip("PostgreSQL is not installed")
    user = []
    if os.geteuid() == 0:  # which PostgreSQL refuses
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no runuser")
        user = ["runuser", "-u", "postgres", "--"]
    place = Path(tempfile.mkdtemp(prefix="ggln-postgres-"))  # pytest's own folders are closed to other users
    if user:
        shutil.chown(place, "postgres")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    data = place / "data"
    setup = [folder / "initdb", "-D", data, "-U", "ggln", "--auth=trust", "--no-sync", "-E", "UTF8"]
    subprocess.run([*user, *setup], check=True, capture_output=True, cwd="/")
    command = [
        folder / "postgres",
        "-D",
        data,
        "-p",
        str(port),
        "-k",
        place,
        "-c",
        "listen_addresses=127.0.0.1",
    ]
    server = subprocess.Popen([*user, *command], stderr=subprocess.DEVNULL, cwd="/")
    url = f"postgresql://ggln@127.0.0.1:{port}"
    for _ in range(200):
        try:
            connection = psycopg.connect(f"{url}/postgres", autocommit=True)
            break
        except psycopg.OperationalError:
            time.sleep(0.05)
    names = iter(range(100))

    def new():
        name = f"log{next(names)}"
        connection.execute(f"CREATE DATABASE {name}")
        return f"{url}/{name}"

    yield new
    connection.close()
    server.terminate()
    server.wait()
    shutil.rmtree(place)


@pytest.fixture
def machine(start, tmp_path):
    """Start a service on a database, as another machine would."""
    from ggln.service.log.postgres import PostgresLease, PostgresStore

    def begin(url, habits=QUICK):
        store = PostgresStore(url)
        return start(tmp_path, store=store, lease=PostgresLease(store, seconds=1.0), habits=habits)

    return begin


def expected_file(world, rows, folder):
    model = GGLNRegressor(layer_sizes=(4, 1), n_estimators=1, random_state=0)
    for row in rows:
        model.learn_one(row["features"], row["target"])
    model.save(folder / "expected.ggln")
    return (folder / "expected.ggln").read_bytes()


def wait_for(condition):
    for _ in range(6000):  # kernels may have to be compiled first
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it does not happen")


def test_one_learns_and_others_answer_and_append(database, machine, world, tmp_path):
    url = database()
    learner, replica = machine(url), machine(url)
    assert learner.service.lease.held()
    assert not replica.service.lease.held()
    learner.client.create("price", **world.models["price"])
    rows = world.rows(30)
    for row in rows[:15]:
        event = replica.client.predict("price", row["features"])["event"]
        learner.client.learn("price", row["target"], event=event)  # asked there, told here
    replica.client.learn_rows("price", rows[15:], key="batch")
    learner.client.learn_rows("price", rows[15:], key="batch")
    wait_for(lambda: replica.client.model("price")["rows"] == 30)
    expected = expected_file(world, rows, tmp_path)
    assert learner.client.export("price") == replica.client.export("price") == expected
    one, other = (client.predict("price", world.row(3)) for client in (learner.client, replica.client))
    assert one["mean"] == other["mean"]


def test_a_learner_that_dies_is_replaced(database, machine, world, tmp_path):
    url = database()
    first, second = machine(url), machine(url)
    first.client.create("price", **world.models["price"])
    rows = world.rows(60)
    for row in rows[:20]:
        first.client.learn("price", row["target"], features=row["features"])
    # it dies: nothing is saved, the lease is not given back, nobody renews it
    first.service.lease.stopping.set()
    first.service.lease.thread.join()
    first.crash()
    for row in rows[20:]:
        second.client.learn("price", row["target"], features=row["features"])
    wait_for(lambda: second.service.lease.held())
    wait_for(lambda: second.client.model("price")["rows"] == 60)
    assert second.client.export("price") == expected_file(world, rows, tmp_path)
    third = machine(url)  # and what it publishes is what others get
    wait_for(lambda: third.client.model("price")["rows"] == 60)
    assert third.client.export("price") == second.client.export("price")


@pytest.fixture
def process(tmp_path):
    """Start the command on a database; return the process and a client of it."""
    started = []

    def begin(url):
        command = [sys.executable, "-c", "from ggln.cli import run; run()", "serve", "--port", "0"]
        own = subprocess.Popen([*command, "--database", url], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        client = Client(re.search(r"http://\S+:\d+", own.stderr.readline()).group(), patience=60)
        started.append((own, client))
        return own, client

    yield begin
    for own, client in started:
        client.close()
        own.kill()
        own.wait()
        own.stderr.close()


def test_kill_9_of_the_learner_while_others_append(database, process, world, tmp_path):
    url = database()
    (first, one), (second, other) = process(url), process(url)
    one.create("price", **world.models["price"])
    rows = world.rows(90)
    for i, row in enumerate(rows):
        if i == 30:
            first.kill()  # while it may be learning or publishing what came before
        client = one if i < 30 and i % 2 else other
        client.learn("price", row["target"], features=row["features"], key=f"row-{i}")
        other.learn("price", row["target"], features=row["features"], key=f"row-{i}")  # changes nothing
    wait_for(lambda: other.model("price")["rows"] == 90)
    assert other.export("price") == expected_file(world, rows, tmp_path)
    assert second.poll() is None


def test_who_has_lost_the_lease_publishes_nothing(database, machine, world):
    url = database()
    first = machine(url)
    first.client.create("price", **world.models["price"])
    first.client.learn_rows("price", world.rows(5))
    first.learn_all("price")
    model = first.service.models.get(first.service.models.row("price"))
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE lease SET holder = 'somebody', epoch = epoch + 1")
        before = connection.execute("SELECT count(*) FROM snapshots").fetchone()
    first.client.learn_rows("price", world.rows(5, 5))
    model.saved = 0
    first.service.learner.save(model)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM snapshots").fetchone() == before


def test_numbers_of_the_log_have_no_gaps(database, machine, world, refused):
    url, habits = database(), Habits(keep_log=True)
    first, second = machine(url, habits), machine(url, habits)
    first.client.create("price", **world.models["price"])
    rows = [*world.rows(2), {"event": "nobody", "target": 1.0}]
    for i in range(6):
        (first, second)[i % 2].client.learn_rows("price", world.rows(3, i))
        assert refused((first, second)[i % 2].client.learn_rows, "price", rows) == (404, "unknown_event")
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT seq FROM log ORDER BY seq").fetchall()
    assert [seq for (seq,) in found] == list(range(1, 19))


def test_a_database_that_is_not_there():
    from ggln.service.log.postgres import PostgresStore

    with pytest.raises(ValueError, match="the database cannot be used as a log"):
        PostgresStore("postgresql://ggln@127.0.0.1:1/nothing?connect_timeout=2")
