"""A process that has everything imported, and forks a server whenever it is told to.

A server is then there a few milliseconds after it is asked for, so that hundreds of crashes take minutes.
"""

import faulthandler
import os
import signal
import sys
from pathlib import Path

from ggln.service.learner import Habits
from ggln.service.log.sqlite import SQLiteStore
from ggln.service.run import listen, serve
from ggln.service.service import Service
from soak.models import MODELS, row_of


def warm() -> None:
    """Have all kernels in memory: to load them takes longer than a server lives."""
    import numpy as np

    from ggln.service.kinds import KINDS, Entry
    from ggln.service.spec import parse

    for name, body in MODELS.items():
        spec = parse(body)
        kind = KINDS[spec.kind]
        estimator, figures = kind.new(spec), kind.figures(spec)
        for i in range(40):
            features = np.array(list(row_of(i).values()))
            truths = {"regressor": float(i), "classifier": ("a", "b")[i % 2]}
            body_of = {"arm": "x", "reward": 1.0, "propensity": 0.5, "expectations": [0.0, 0.0]}
            entry = Entry(i, kind.tell, None, features, truths.get(name, body_of))
            kind.answers(estimator, features[None], [str(i)])
            kind.learn(estimator, spec, [entry], figures)


def child(folder: Path, port: int) -> None:
    """Serve until the end."""
    faulthandler.register(signal.SIGUSR1)  # says what all threads are doing
    service = Service(SQLiteStore(folder), habits=Habits(snapshot_events=60, keep_log=True))
    serve(service, None, listen("127.0.0.1", port), "127.0.0.1", lambda _: None)


def main() -> None:
    """Fork a server for each line that comes in, and say its number."""
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that are killed
    warm()
    print("ready", flush=True)
    for _ in sys.stdin:
        number = os.fork()
        if number == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            child(folder, port)
            os._exit(0)
        print(number, flush=True)


main()
