"""Downloads: into memory, checked, and only then onto the disk."""

import http.client
import io
import urllib.error
import urllib.request
from pathlib import Path

from ggln import atomic
from ggln.datasets.copies import Copy
from ggln.datasets.files import UNREADABLE, Arrays, File, cache, parse

TIMEOUT = 60.0  # seconds without a byte: servers of large files may think for a while
CHUNK = 1 << 16  # bytes between two steps of the progress bar


class DownloadError(OSError):
    """A download that did not arrive, or not as a whole."""


def fetch(url: str) -> bytes:
    """Return what is at `url`, with a progress bar on the terminal's error stream."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    # some servers refuse the name that urllib gives itself
    request = urllib.request.Request(url, headers={"User-Agent": "ggln"})
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    received = io.BytesIO()
    try:
        with (
            urllib.request.urlopen(request, timeout=TIMEOUT) as response,
            Progress(*columns, console=Console(stderr=True), transient=True) as progress,
        ):
            size = response.headers.get("Content-Length")
            total = int(size) if size else None
            task = progress.add_task(url.rpartition("/")[2], total=total)
            while chunk := response.read(CHUNK):
                received.write(chunk)
                progress.advance(task, len(chunk))
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(
            f"could not download {url}: the server answers {error.code} {error.reason}"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise DownloadError(f"could not download {url}: {getattr(error, 'reason', error)}") from error
    if total is not None and received.tell() != total:
        raise DownloadError(f"could not download {url}: it ended after {received.tell()} of {total} bytes")
    return received.getvalue()


def download(file: File) -> tuple[Path, Arrays]:
    """Put `file` into the cache, from the first public copy with the published content."""
    problems: list[str] = []
    for copy in file.copies:
        try:
            data, arrays = _checked(file, copy)
        except (OSError, ValueError) as error:
            problems.append(str(error))
            continue
        path = cache() / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, data)
        return path, arrays
    tried = "; ".join(problems) or "no public copy is known"
    raise OSError(
        f"{file.path} is not here, and downloading it failed: {tried}. Put it into a folder and name that in "
        "GGLN_DATA"
    )


def _checked(file: File, copy: Copy) -> tuple[bytes, Arrays]:
    """Return the bytes for the cache and the arrays in them."""
    try:
        data = copy.read(fetch, file.names)
    except DownloadError:
        raise
    except UNREADABLE as error:
        raise ValueError(f"{copy.url} does not lead to the expected table ({error})") from error
    return data, parse(file, data, copy.url)
