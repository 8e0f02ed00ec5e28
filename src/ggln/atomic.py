"""Writing files that are complete or not there at all."""

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: what a killed process left stays
    fcntl = None  # type: ignore[assignment]

TOKEN = 8
"""Random bytes in the name of an unfinished file."""


def write(path: Path, content: bytes, like: Path | None = None) -> None:
    """Write a file. A crash at any moment leaves either the old file, if there was one, or the new one.

    like: another file, whose permissions a new one gets.
    """
    with replaced(path, like) as file, os.fdopen(file, "wb", closefd=False) as stream:
        stream.write(content)


@contextlib.contextmanager
def replaced(path: Path, like: Path | None = None) -> Iterator[int]:
    """Give the descriptor of a new file, which takes the place of another one when all is written.

    A link stays one: what it points at is written. A file that is replaced keeps its permissions. What is no
    ordinary file, such as a device, is not replaced.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it is no ordinary file, and would be lost", os.fspath(path))
    _remove_leftovers(target)
    unfinished, file = _create(target, like)
    try:
        yield file
        os.fsync(file)
        unfinished.replace(target)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error  # a full disk, for example
        raise
    finally:
        os.close(file)
    _keep_name(target.parent)


def _create(target: Path, like: Path | None) -> tuple[Path, int]:
    """Return a new file beside the target, locked and with the permissions that it is to have."""
    old = target if like is None or target.exists() else like
    try:
        mode = stat.S_IMODE(old.stat().st_mode)
    except FileNotFoundError:
        mode = None
    while True:
        path = target.with_name(f".{target.name}.{secrets.token_hex(TOKEN)}")
        # not `tempfile`, which denies all other users to read what it creates
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        file = os.open(path, flags, 0o666 if mode is None else mode & 0o600)
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(file, mode)
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file).st_nlink == 0:  # another process took it for one that was left
                os.close(file)
                continue
        return path, file


def _remove_leftovers(target: Path) -> None:
    """Remove what killed processes left of the same file: whoever still writes holds a lock."""
    if fcntl is None:
        return
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{{2 * TOKEN}}}")
    try:
        found = [entry.path for entry in os.scandir(target.parent) if pattern.fullmatch(entry.name)]
    except OSError:
        return  # a folder that may be written to, but not listed
    for path in found:
        with contextlib.suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                Path(path).unlink()
            finally:
                os.close(file)


def _keep_name(folder: Path) -> None:
    """Have the new name of a file on the disk, too, where systems can do so for a folder."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
