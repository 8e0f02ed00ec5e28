import shutil
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from ggln.service import Client, ServiceError
from ggln.service.learner import Habits
from ggln.service.log.sqlite import SQLiteStore
from ggln.service.service import Limits, Service

SMALL = {"layer_sizes": [4, 1], "n_estimators": 1}
"""Networks that learn hundreds of rows in no time."""
MODELS = {
    "price": {"kind": "regressor", "settings": SMALL},
    "mail": {"kind": "classifier", "settings": SMALL, "classes": ["ham", "spam"]},
    "shop": {"kind": "bandit", "arms": ["red", "blue"]},
}


class Running:
    """A service with its server, in this process."""

    def __init__(self, folder, tokens=None, habits=None, limits=None, store=None, lease=None, port=0):
        from ggln.service.run import listen, make_server

        self.folder = folder
        self.service = Service(store or SQLiteStore(folder), lease, habits or Habits(), limits or Limits())
        self.server = make_server(self.service, tokens, "127.0.0.1")
        self.socket = listen("127.0.0.1", port)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = Client(self.url, patience=10)
        self.service.start()
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()

    def learn_all(self, name):
        """Wait until a model has learnt all of the log."""
        for _ in range(600):
            self.service.learner.wake.set()
            self.service.learn_all()
            if self.service.learner.seen >= self.service.last:
                return self.client.model(name)
            time.sleep(0.01)
        raise AssertionError(f"{name} does not learn")

    def crash(self):
        """End without saving anything, as far as a process can do that to itself."""
        self.server.should_exit = True
        self.thread.join()
        self.client.close()
        self.service.ready = False
        self.service.desk.close()
        self.service.learner.stopping = True
        self.service.learner.wake.set()
        self.service.learner.thread.join()
        self.service.store.close()
        self.socket.close()

    def close(self):
        self.server.should_exit = True
        self.thread.join()
        self.client.close()
        self.service.close()
        self.socket.close()


@pytest.fixture
def start(tmp_path):
    """Start services; all are ended in the end."""
    for library in ("starlette", "uvicorn", "prometheus_client"):
        pytest.importorskip(library, reason="needs the extra serve")
    running = []

    def begin(folder=None, **options):
        folder = folder or tmp_path / "data"
        folder.mkdir(exist_ok=True)
        one = Running(folder, **options)
        running.append(one)
        return one

    yield begin
    for one in running:
        if one.thread.is_alive():
            one.close()


@pytest.fixture
def running(start):
    return start()


@pytest.fixture
def client(running):
    return running.client


def row(i):
    """Features by their number alone."""
    return {"u": float(np.sin(1.7 * i)), "v": float(np.cos(0.3 * i * i))}


def target(i):
    return row(i)["u"] * row(i)["v"] + 0.01 * (i % 7)


def learnable(count, first=0):
    return [{"features": row(i), "target": target(i)} for i in range(first, first + count)]


@pytest.fixture(scope="session")
def world():
    """Rows by their numbers, and small models."""
    return SimpleNamespace(row=row, target=target, rows=learnable, models=MODELS, small=SMALL)


@pytest.fixture(scope="session")
def refused():
    """Return the status and the code with which a call is refused."""

    def call(function, *arguments, **options):
        with pytest.raises(ServiceError) as found:
            function(*arguments, **options)
        return found.value.status, found.value.code

    return call


@pytest.fixture
def copied(tmp_path):
    """A copy of a folder, as a crash would leave it."""

    def copy(folder, name="copy"):
        shutil.copytree(folder, tmp_path / name)
        return tmp_path / name

    return copy
