"""What disks do: they are full, and a crash tears the last page that was on its way."""

import contextlib
import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FIRST_KB, MORE_KB, PLENTY_KB = 1024, 256, 1 << 20
"""Sizes of a small disk: at first, with each time that it grows, and in the end."""
FULL_KB = 64
"""A disk with less room than this is as good as full."""
HEAD, PAGE = 24, 4096
"""Bytes of the head of a page in SQLite's write-ahead log, and of the page."""


class SmallDisk:
    """A file system of its own in memory, which is soon full and grows when it is told to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.size = folder, FIRST_KB

    def full(self) -> bool:
        """Return whether there is no room left."""
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize < FULL_KB * 1024

    def grow(self, size: int) -> None:
        """Let it have so many KB."""
        self.size = size
        options = ["-o", f"remount,size={size}k"]
        subprocess.run(["mount", *options, str(self.folder)], check=True, capture_output=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """Have a small disk at a folder; only the administrator of a machine may do so."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={FIRST_KB}k", "ggln-soak", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


def tear(folder: Path, draw: random.Random) -> None:
    """Leave a piece of a page at the end of the write-ahead log, as a crash does that interrupts a commit.

    It looks like the page before it: that it does not belong there is told by its checksum alone.
    """
    log = folder / "log.db-wal"
    size = log.stat().st_size if log.exists() else 0
    if size < HEAD + PAGE:
        return
    with log.open("rb") as content:
        content.seek(size - HEAD - PAGE)
        page = content.read()
    with contextlib.suppress(OSError), log.open("ab") as end:  # the disk may be full
        end.write(page[: draw.randrange(1, len(page) + 1)])
