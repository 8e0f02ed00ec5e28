"""Tables of the bandits: small files with the layout of the published ones, and those themselves."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ggln import datasets
from ggln.datasets import bandit_files, bandits, files, mirrors, registry

BANDITS = [name for name, entry in datasets.ENTRIES.items() if not entry.splits]
HERE = [name for name in BANDITS if name != "census"]
ADULT = "{age}, Private, 77516, Bachelors, 13, Divorced, {job}, Wife, White, {sex}, 0, 0, 40, Cuba, {income}"


@pytest.fixture
def stand_in(cache: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that puts a text in the place of a file and lets it count as the published one."""

    def put(name: str, text: str, index: int | None = None) -> None:
        known = getattr(bandit_files, name)
        file = known if index is None else known[index]
        data = gzip.compress(text.encode())
        (cache / file.path).parent.mkdir(parents=True, exist_ok=True)
        (cache / file.path).write_bytes(data)
        checksum = files.checksum(data, "sha256") if file.checksum else ""
        own = replace(file, checksum=checksum, content="")
        changed = own if index is None else tuple(own if i == index else f for i, f in enumerate(known))
        monkeypatch.setattr(bandit_files, name, changed)

    return put


def test_mushrooms(stand_in) -> None:
    stand_in("MUSHROOM", "p,x,?\ne,y,?\ne,x,a\n")
    table = datasets.load_bandit("mushroom")
    assert table.X.tolist() == [[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]]  # x, y, then ?, a
    assert table.y.tolist() == [1, 0, 0]


def test_adults(stand_in) -> None:
    first = [
        ADULT.format(age=39, job="Sales", sex="Male", income="<=50K"),
        ADULT.format(age=17, job="?", sex="Male", income="<=50K"),
        ADULT.format(age=50, job="Craft-repair", sex="Female", income=">50K"),
    ]
    second = ["|1x3 Cross validator", ADULT.format(age=28, job="Sales", sex="Female", income=">50K.")]
    stand_in("ADULT", "\n".join(first) + "\n\n", 0)
    stand_in("ADULT", "\n".join(second) + "\n\n", 1)
    table = datasets.load_bandit("adult")
    assert table.y.tolist() == [1, 0, 1]  # in the order of their names
    assert table.X[:, 0].tolist() == [39, 50, 28]  # a row with a question mark is dropped
    assert table.X[:, 1].tolist() == [77516] * 3
    assert table.X.shape == (
        3,
        6 + 5 + 2 + 1 + 3,
    )  # numbers, constants, sexes, country, incomes with full stop


def test_census(stand_in, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandits, "CENSUS_ROWS", 4)
    stand_in("CENSUS", "caseid,dAge,dOccup,iSex\n10000,5,1,0\n10001,6,0,0\n10002,5,2,1\n10003,3,0,1\n")
    table = datasets.load_bandit("census")
    assert table.y.tolist() == [1, 0, 2, 0]
    assert table.X.tolist() == [[0, 1, 0, 1, 0], [0, 0, 1, 1, 0], [0, 1, 0, 0, 1], [1, 0, 0, 0, 1]]
    monkeypatch.setattr(bandits, "CENSUS_LIMIT", 2)
    assert len(datasets.load_bandit("census").X) == 2
    monkeypatch.setattr(bandits, "CENSUS_ROWS", 5)
    with pytest.raises(ValueError, match=r"dOccup and 5 rows; this one has 4 columns and 4 rows"):
        datasets.load_bandit("census")


def test_a_text_that_is_another_one_is_refused(stand_in, cache: Path, monkeypatch) -> None:
    stand_in("MUSHROOM", "p,x\n")
    (cache / bandit_files.MUSHROOM.path).write_bytes(gzip.compress(b"e,x\n"))
    with pytest.raises(ValueError, match="damaged or another version"):
        datasets.load_bandit("mushroom")


def test_copies(cache: Path) -> None:
    table = np.array([[0.5, -1.25], [3.0, 1e-3]])
    text = b"AAPL MSFT\n0.5 -1.25\n3 0.001\n"
    for mirror in (mirrors.Matrix("http://here/raw", skip=1), mirrors.Matrix("http://here/t.npy")):
        source = text if mirror.skip else _npy(table)
        data = mirror.read(lambda url, source=source: source, ("contexts",))
        file = files.File("bandits/some.npz", "sha256:none", files.content([table]), ("contexts",))
        assert np.array_equal(files.parse(file, data, "the mirror")["contexts"], table)
    data = mirrors.Zipped("http://here/mushroom.data").read(lambda url: text, ("text",))
    values = np.frombuffer(text, np.uint8)
    file = files.File("bandits/some.data.gz", "sha256:none", files.content([values]), ("text",))
    assert files.parse(file, data, "the mirror")["text"].tobytes() == text


def _npy(table: np.ndarray) -> bytes:
    import io

    data = io.BytesIO()
    np.save(data, np.asfortranarray(table))
    return data.getvalue()


def test_names() -> None:
    assert set(BANDITS) == set(bandits._LOADERS)
    with pytest.raises(ValueError, match="there is no bandit 'jestre'; known are jester"):
        datasets.load_bandit("jestre")
    with pytest.raises(ValueError, match=r"load_bandit\('jester'\) returns its table"):
        datasets.load("jester")


@pytest.mark.parametrize("name", HERE)
def test_the_registry_describes_the_published_files(name: str, full_data: Path) -> None:
    entry, table = registry.entry(name), datasets.load_bandit(name, full_data)
    columns = entry.features + (entry.outputs if name == "jester" else 0)
    assert table.X.shape == (entry.rows, columns)
    if table.y is not None:
        assert set(np.unique(table.y)) == set(range(entry.outputs))
    for (file,) in entry.files:
        data = (full_data / file.path).read_bytes()
        assert files.checksum(data, "sha256") == file.checksum
        arrays = files.parse(replace(file, checksum="sha256:other"), data, file.path)  # by its content
        assert set(arrays) == set(file.names)
