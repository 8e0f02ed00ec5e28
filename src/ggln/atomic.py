"""Writing files that are complete or not there at all."""

import os
import secrets
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write a file. A crash at any moment leaves either the old file, if there was one, or the new one."""
    # not `tempfile`, which denies all other users to read what it creates
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
