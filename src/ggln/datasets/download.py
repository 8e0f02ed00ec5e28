"""Downloads by pooch: over https, into memory, no more than a data set needs, checked, then to the disk."""

import io
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from ggln import atomic
from ggln.datasets.files import UNREADABLE, Arrays, File, cache, parse
from ggln.datasets.mirrors import Mirror

TIMEOUT = 60.0  # seconds without a byte: servers of large files may think for a while
CHUNK = 1 << 16  # bytes between two steps of the progress bar
SCHEMES = (
    "https://",
)  # nothing on the way can then read or change what comes, nor lead to a file of this machine
MOST = 1 << 28  # bytes of a file: the largest known has 75 MB
MOST_STATIONS = 5  # places to which servers may send on, one after the other
# Some servers refuse the name that libraries give themselves; what is not packed cannot unpack to more.
HEADERS = {"User-Agent": "ggln", "Accept-Encoding": "identity"}


class DownloadError(OSError):
    """A download that did not arrive, or not as a whole."""


class Received(io.BytesIO):
    """What has come so far, of which there is no more than any data set has."""

    def __init__(self, url: str, progress: Any) -> None:
        super().__init__()
        self.url, self.progress = url, progress
        self.response: Any = None
        self.task = progress.add_task(url.rpartition("/")[2], total=None)
        self.total: int | None = None

    def look(self, response: Any, **_: Any) -> None:
        """Look at what a server says of its answer, before any of it is read."""
        self.response, size = response, response.headers.get("Content-Length")
        self.total = int(size) if size else None
        self.progress.update(self.task, total=self.total)
        self._require_room(self.total or 0)

    def write(self, chunk: Any) -> int:
        """Take a further piece of it."""
        self._require_room(self.tell() + len(chunk))
        self.progress.advance(self.task, len(chunk))
        return super().write(chunk)

    def _require_room(self, size: int) -> None:
        if size > MOST:
            raise DownloadError(
                f"could not download {self.url}: it has more than {MOST >> 20} MB, no data set has"
            )

    @property
    def next_url(self) -> str | None:
        """Where the server sends on, if it does."""
        return urljoin(self.url, self.response.headers["location"]) if self.response.is_redirect else None


def fetch(url: str) -> bytes:
    """Return what is at `url`, with a progress bar on the terminal's error stream."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    place = url
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for _ in range(MOST_STATIONS):
            received = _receive(place, progress)
            if received.next_url is None:
                return received.getvalue()
            place = received.next_url
    raise DownloadError(f"could not download {url}: servers send on and on, at last to {place}")


def _receive(url: str, progress: Any) -> Received:
    """Return one server's answer. Redirects are not left to requests, which would follow them anywhere."""
    if not url.lower().startswith(SCHEMES):
        raise DownloadError(f"{url} is not downloaded: only addresses that begin with {SCHEMES[0]} are")
    import pooch

    received = Received(url, progress)
    settings: Any = {"headers": HEADERS, "hooks": {"response": received.look}, "allow_redirects": False}
    try:
        pooch.HTTPDownloader(chunk_size=CHUNK, timeout=TIMEOUT, **settings)(url, received, None)
    except DownloadError:
        raise
    except OSError as error:
        reason, response = f"{_first_cause(error)}", received.response
        if response is not None and not response.ok:
            reason = f"the server answers {response.status_code} {response.reason}"
        raise DownloadError(f"could not download {url}: {reason}") from error
    finally:
        if received.response is not None:
            received.response.close()
    if received.total is not None and received.tell() != received.total:
        raise DownloadError(
            f"could not download {url}: it ended after {received.tell()} of {received.total} bytes"
        )
    return received


def _first_cause(error: BaseException) -> BaseException:
    return error if error.__context__ is None else _first_cause(error.__context__)


def download(file: File) -> tuple[Path, Arrays]:
    """Put `file` into the cache, from the first mirror with the published content."""
    if not file.checksum and not file.content:
        origins = " or ".join(mirror.url for mirror in file.mirrors)
        raise OSError(
            f"{file.path} is not here, and no checksum of it is known, so that a download could not be "
            f"verified: get it from {origins}, put it into a folder and name that in GGLN_DATA"
        )
    problems: list[str] = []
    for mirror in file.mirrors:
        try:
            data, arrays = _checked(file, mirror)
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


def _checked(file: File, mirror: Mirror) -> tuple[bytes, Arrays]:
    """Return the bytes for the cache and the arrays in them."""
    try:
        data = mirror.read(fetch, file.names)
    except DownloadError:
        raise
    except UNREADABLE as error:
        raise ValueError(f"{mirror.url} does not lead to the expected table ({error})") from error
    return data, parse(file, data, mirror.url)
