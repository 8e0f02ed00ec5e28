"""One process at a time learns into a model file."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path | None) -> Iterator[None]:
    """Hold a model file, if there is one; ValueError says that another process does.

    The lock is the system's, on a file beside the model: it ends with the process that holds it, however that
    ends. A model itself cannot be held, since saving replaces its file.
    """
    if path is None:
        yield
        return
    place = path.with_name(f".{path.name}.lock")
    descriptor = _hold(place, path)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)  # while it is held: whoever waits for this file looks again
        os.close(descriptor)


def _hold(place: Path, model: Path) -> int:
    """Return the descriptor of a lock that is held."""
    while True:
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if place.exists() and os.path.samestat(place.stat(), os.fstat(descriptor)):
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"{os.getpid()}\n".encode())
                return descriptor
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise ValueError(
                f"{model} is in use by another ggln (process {holder}): wait for it, or name another file"
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the one before removed the file in between
