"""Downloads: over https, into memory, no more than a data set needs, checked, and only then to the disk."""

import http.client
import io
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from ggln import atomic
from ggln.datasets.copies import Copy
from ggln.datasets.files import UNREADABLE, Arrays, File, cache, parse

TIMEOUT = 60.0  # seconds without a byte: servers of large files may think for a while
CHUNK = 1 << 16  # bytes between two steps of the progress bar
SCHEMES = (
    "https://",
)  # nothing on the way can then read or change what comes, nor lead to a file of this machine
MOST = 1 << 28  # bytes of a file: the largest known has 75 MB


class DownloadError(OSError):
    """A download that did not arrive, or not as a whole."""


def _require_scheme(url: str) -> None:
    if not url.lower().startswith(SCHEMES):
        raise DownloadError(f"{url} is not downloaded: only addresses that begin with {SCHEMES[0]} are")


class Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a server to another place, but not out of https."""

    def redirect_request(self, *given: Any) -> urllib.request.Request | None:
        """Return the next request."""
        _require_scheme(given[-1])
        return super().redirect_request(*given)


def fetch(url: str) -> bytes:
    """Return what is at `url`, with a progress bar on the terminal's error stream."""
    _require_scheme(url)
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    # some servers refuse the name that urllib gives itself
    request = urllib.request.Request(url, headers={"User-Agent": "ggln"})
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    received = io.BytesIO()
    try:
        with (
            urllib.request.build_opener(Redirects).open(request, timeout=TIMEOUT) as response,
            Progress(*columns, console=Console(stderr=True), transient=True) as progress,
        ):
            size = response.headers.get("Content-Length")
            total = int(size) if size else None
            _require_room(url, total or 0)
            task = progress.add_task(url.rpartition("/")[2], total=total)
            while chunk := response.read(CHUNK):
                received.write(chunk)
                _require_room(url, received.tell())
                progress.advance(task, len(chunk))
    except DownloadError:
        raise
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


def _require_room(url: str, size: int) -> None:
    if size > MOST:
        raise DownloadError(f"could not download {url}: it has more than {MOST >> 20} MB, no data set has")


def download(file: File) -> tuple[Path, Arrays]:
    """Put `file` into the cache, from the first public copy with the published content."""
    if not file.checksum and not file.content:
        origins = " or ".join(copy.url for copy in file.copies)
        raise OSError(
            f"{file.path} is not here, and no checksum of it is known, so that a download could not be "
            f"verified: get it from {origins}, put it into a folder and name that in GGLN_DATA"
        )
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
