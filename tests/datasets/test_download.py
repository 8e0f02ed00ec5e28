import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import savemat

from ggln import datasets
from ggln.datasets import download, files, mirrors

Table = NDArray[np.float64]

ARFF = """@RELATION small
@ATTRIBUTE 'a (in m)' NUMERIC
@ATTRIBUTE b {2.0,3.0,-4.5,0.0,6.0}
@ATTRIBUTE y REAL
@DATA
"""


def serve_csv(folder: Path, rows: list[str]) -> None:
    (folder / "small.csv").write_text("\n".join(rows))


def serve_arff(folder: Path, server: str, rows: list[str], md5: str | None = None) -> None:
    data = (ARFF + "\n".join(rows)).encode()
    (folder / "small.arff").write_bytes(data)
    about = {"url": server + "small.arff", "md5_checksum": md5 or hashlib.md5(data).hexdigest()}
    (folder / "7").write_text(json.dumps({"data_set_description": about}))


def test_a_missing_set_is_downloaded_once_and_kept(
    small: files.File, folder: Path, cache: Path, table: Table, rows: list[str]
) -> None:
    serve_csv(folder, rows)
    first = datasets.load("small")
    (folder / "small.csv").unlink()
    again = datasets.load("small")
    for data in (first, again):
        np.testing.assert_array_equal(data.X, table[:, :2])
        np.testing.assert_array_equal(data.y, table[:, 2])
        assert len(data.splits) == 3
    assert [path.name for path in (cache / "toys").iterdir()] == ["small.npz"]


def test_text_with_a_header_and_the_target_in_front(folder: Path, table: Table) -> None:
    lines = ['"y";"a";"b"'] + [";".join(map(str, (row[2], row[0], row[1]))) for row in table]
    (folder / "wine.csv").write_text("\r\n".join(lines) + "\r\n")
    mirror = mirrors.Text((folder / "wine.csv").as_uri(), range(1, 3), 0, delimiter=";", skip=1)
    check(mirror, table)


def test_text_between_white_space_with_empty_lines_at_the_end(folder: Path, table: Table) -> None:
    lines = ["  " + "   ".join(map(str, row)) + " " for row in table]
    (folder / "yacht.data").write_text("\n".join(lines) + "\n\n \n")
    check(mirrors.Text((folder / "yacht.data").as_uri(), range(2), 2), table)


def test_text_in_a_zip_archive_whatever_its_folder(folder: Path, table: Table) -> None:
    with zipfile.ZipFile(folder / "table.zip", "w") as archive:
        archive.writestr("__MACOSX/._data.txt", b"\0")
        archive.writestr("Some Set/data.txt", "\n".join(" ".join(map(repr, row)) for row in table.tolist()))
    check(mirrors.Text((folder / "table.zip").as_uri(), range(2), 2, member="data.txt"), table)


def test_openml_with_numbers_declared_as_categories(
    folder: Path, server: str, table: Table, rows: list[str]
) -> None:
    serve_arff(folder, server, rows)
    check(mirrors.OpenML(7, range(2), 2, description=server + "{}"), table)


def test_openml_with_a_wrong_md5(folder: Path, server: str, rows: list[str]) -> None:
    serve_arff(folder, server, rows, md5="0" * 32)
    with pytest.raises(ValueError, match=r"small\.arff has another MD5"):
        mirrors.OpenML(7, range(2), 2, description=server + "{}").read(download.fetch, ("X", "y"))


def test_matlab(folder: Path, table: Table) -> None:
    savemat(folder / "arm.mat", {"arm": np.column_stack([table, 2 * table[:, 2]])})
    mirror = mirrors.Matlab((folder / "arm.mat").as_uri(), "arm", range(2), range(2, 4))
    check(mirror, table, np.column_stack([table[:, 2], 2 * table[:, 2]]))


def fetch(url: str) -> bytes:
    """Return what is at an address, or in a file, which no download reads."""
    return Path(url.removeprefix("file://")).read_bytes() if url.startswith("file:") else download.fetch(url)


def check(mirror: mirrors.Mirror, table: Table, y: Table | None = None) -> None:
    with np.load(io.BytesIO(mirror.read(fetch, ("X", "y"))), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["X"], table[:, :2])
        np.testing.assert_array_equal(arrays["y"], table[:, 2] if y is None else y)
        assert arrays["X"].dtype == arrays["y"].dtype == np.float64


def test_the_next_copy_is_tried_when_one_differs(
    small: files.File,
    folder: Path,
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    table: Table,
    rows: list[str],
) -> None:
    serve_csv(folder, [row.replace("0.125", "0.13") for row in rows])
    serve_arff(folder, server, rows)
    with pytest.raises(OSError, match=r"small\.csv can be read, but its content differs from the published"):
        download.download(small)
    both = (*small.mirrors, mirrors.OpenML(7, range(2), 2, description=server + "{}"))
    _, arrays = download.download(replace(small, mirrors=both))
    np.testing.assert_array_equal(arrays["X"], table[:, :2])


@pytest.mark.parametrize(
    ("serve", "message"),
    [
        (lambda folder, rows: None, "could not download .*small.csv: the server answers 404"),
        (
            lambda folder, rows: serve_csv(folder, ["<html>Sorry</html>"]),
            "does not lead to the expected table",
        ),
        (lambda folder, rows: serve_csv(folder, ["1,2", "3,4"]), "does not lead to the expected table"),
        (lambda folder, rows: serve_csv(folder, rows[:-1]), "content differs from the published"),
        (lambda folder, rows: serve_csv(folder, rows[::-1]), "content differs from the published"),
    ],
    ids=["missing", "html", "columns", "rows", "order"],
)
def test_a_failed_download_says_why_and_leaves_nothing(
    small: files.File,
    folder: Path,
    cache: Path,
    serve: Callable[[Path, list[str]], None],
    message: str,
    rows: list[str],
) -> None:
    serve(folder, rows)
    with pytest.raises(OSError, match=rf"(?s)toys/small\.npz is not here.*{message}.*GGLN_DATA"):
        datasets.load("small")
    assert not cache.exists()


@pytest.mark.parametrize(
    "mirror",
    [
        lambda url: mirrors.Text(url, range(2), 2, member="data.txt"),
        lambda url: mirrors.OpenML(1, range(2), 2, description=url),
        lambda url: mirrors.Matlab(url, "arm", range(2), range(2, 3)),
    ],
    ids=["zip", "openml", "matlab"],
)
@pytest.mark.parametrize("data", [b"", b"{}", b"nonsense " * 100], ids=["empty", "json", "nonsense"])
def test_nonsense_is_one_sentence(
    small: files.File, folder: Path, server: str, mirror: Callable[[str], mirrors.Mirror], data: bytes
) -> None:
    (folder / "other").write_bytes(data)
    file = replace(small, mirrors=(mirror(server + "other"),))
    with pytest.raises(OSError, match="does not lead to the expected table"):
        download.download(file)


def test_a_download_that_ends_early(
    folder: Path, server: str, monkeypatch: pytest.MonkeyPatch, rows: list[str]
) -> None:
    serve_csv(folder, rows)
    monkeypatch.setattr(
        SimpleHTTPRequestHandler, "copyfile", lambda self, source, out: out.write(source.read(9))
    )
    with pytest.raises(OSError, match=r"it ended after 9 of|IncompleteRead\(9 bytes read"):
        download.fetch(server + "small.csv")


def test_a_server_that_is_not_there(server: str) -> None:
    with pytest.raises(OSError, match=r"could not download http://127\.0\.0\.1:1/x: .*refused"):
        download.fetch("http://127.0.0.1:1/x")


def test_a_download_killed_while_writing_leaves_nothing(
    small: files.File, folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, rows: list[str]
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    serve_csv(folder, rows)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", killed)
        with pytest.raises(KeyboardInterrupt):
            datasets.load("small")
    assert list((cache / "toys").iterdir()) == []
    assert datasets.find("small") is None
    assert datasets.load("small").X.shape == (5, 2)


@pytest.mark.parametrize("url", ["http://example.org/x", "file:///etc/hostname", "ftp://example.org/x"])
def test_nothing_but_https(url: str) -> None:
    with pytest.raises(OSError, match="only addresses that begin with https:// are"):
        download.fetch(url)


def test_a_server_leads_nowhere_else(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def lead_away(self: SimpleHTTPRequestHandler) -> None:
        self.send_response(302)
        self.send_header("Location", "http://localhost:1/secret")
        self.end_headers()

    monkeypatch.setattr(SimpleHTTPRequestHandler, "do_GET", lead_away)
    with pytest.raises(OSError, match="http://localhost:1/secret is not downloaded"):
        download.fetch(server + "x")


def test_a_server_may_send_on_but_not_for_ever(
    folder: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send_on(self: SimpleHTTPRequestHandler) -> None:
        if self.path == "/end":
            return answer(self)
        self.send_response(302)
        self.send_header("Location", "/end" if self.path == "/once" else "/again")
        self.end_headers()
        self.wfile.write(body)
        return None

    answer, body = SimpleHTTPRequestHandler.do_GET, b""
    monkeypatch.setattr(SimpleHTTPRequestHandler, "do_GET", send_on)
    (folder / "end").write_bytes(b"here")
    assert download.fetch(server + "once") == b"here"
    with pytest.raises(OSError, match=r"servers send on and on, at last to .*/again"):
        download.fetch(server + "again")
    body = bytes(100_000)
    monkeypatch.setattr(download, "MOST", 99_999)
    with pytest.raises(OSError, match="it has more than 0 MB"):
        download.fetch(server + "once")


def test_a_download_of_any_size_ends(folder: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "x").write_bytes(bytes(100_000))
    monkeypatch.setattr(download, "MOST", 99_999)
    with pytest.raises(OSError, match="it has more than 0 MB"):
        download.fetch(server + "x")
    monkeypatch.setattr(SimpleHTTPRequestHandler, "send_header", lambda *_: None)  # it does not say how much
    with pytest.raises(OSError, match="it has more than 0 MB"):
        download.fetch(server + "x")


def test_archives_that_hold_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.txt", bytes(100_000))
    monkeypatch.setattr(mirrors, "MOST_UNPACKED", 99_999)
    with pytest.raises(ValueError, match="more than"):
        mirrors.Text("x", range(2), 2, member="data.txt").read(lambda _: packed.getvalue(), ("X", "y"))
    monkeypatch.setattr(files, "MOST_UNPACKED", 99_999)
    with pytest.raises(ValueError, match="it holds more than 0 MB"):
        files.parse(files.File("a.gz", "sha256:x", "y", ("text",)), gzip.compress(bytes(100_000)), "there")


def test_what_cannot_be_verified_is_not_downloaded(small: files.File, folder: Path, rows: list[str]) -> None:
    serve_csv(folder, rows)
    with pytest.raises(OSError, match="no checksum of it is known"):
        download.download(replace(small, checksum="", content=""))
    entries = [entry for name, entry in datasets.ENTRIES.items() if name != "small"]
    known = [file for entry in entries for some in entry.files for file in some]
    assert [file.path for file in known if not file.checksum] == ["bandits/census.data.gz"]
    for mirror in [mirror for file in known for mirror in file.mirrors]:
        assert mirror.url.startswith("https://")
