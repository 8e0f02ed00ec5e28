"""Files of the contextual bandits (Riquelme et al., 2018)."""

from ggln.datasets.files import File
from ggln.datasets.mirrors import Matrix, Text, Zipped

PUBLISHED = "https://storage.googleapis.com/bandits_datasets/"
"""Where those who published the benchmark keep its files."""
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"

JESTER = File(
    "bandits/jester.npz",
    "sha256:f42490bafc18efcdbf82cb391226694b4fb291ce3e1afb79f3941a78f155e1d9",
    "1a13ec7c839e874b78d62b048c8049b656be23638bae809246535d5b5557352d",
    ("ratings",),
    (Matrix(PUBLISHED + "jester_data_40jokes_19181users.npy"),),
)
FINANCIAL = File(
    "bandits/financial.npz",
    "sha256:16f0e41f4b9536f70efc393d9ee124d2c10d951f47b05f7e9a7cd4f371992a45",
    "3987c0db672ee05fabdca77455a7370eb00ce394bc7ddf85a85078f0d42eff46",
    ("contexts",),
    (Matrix(PUBLISHED + "raw_stock_contexts", skip=1),),
)
STATLOG = File(
    "bandits/statlog_shuttle.npz",
    "sha256:082fdbc6792304a38b0c0797bf0aea204271112490d27828aaa469476960c246",
    "a08bd3bdabab568d709159c941a6265f0478c66878d0fe2386e95927d91e7e12",
    mirrors=(Text(PUBLISHED + "shuttle.trn", range(9), 9),),
)
COVERTYPE = File(
    "bandits/covertype.npz",
    "sha256:45b957764c8c6709916a75ae1b9438cc9752692e48cae01bf4695a6d9d0abafb",
    "74a0af8723951fb4a2ab4e69eaefa2df90c3eae34f0bb881fad47979e5e05248",
    mirrors=(Text(PUBLISHED + "covtype.data", range(54), 54, delimiter=","),),
)
MUSHROOM = File(
    "bandits/mushroom.data.gz",
    "sha256:8484c6f4da082e1d5cf964c46b97aa588c17fd4965417dc529e71cfc0aaf286f",
    "a10f76d85bc7d6c30f9c757c9c05b62fca76f8843f4926a08ee55e34767f5a9f",
    ("text",),
    (Zipped(UCI + "mushroom/agaricus-lepiota.data"), Zipped(PUBLISHED + "mushroom.data")),
)
ADULT = (
    File(
        "bandits/adult.data.gz",
        "sha256:fb9b6b419c38dd70d75d31f014b7f0905bf76e9625473c593455e31679a93184",
        "7fc98286bd3562864364cafc40bd92933897dd2b2f6c1b4138fc6572b47cbecd",
        ("text",),
        (Zipped(UCI + "adult/adult.data"),),
    ),
    File(
        "bandits/adult.test.gz",
        "sha256:5dd8e51005f6a86e42f058d66a957721196362cf8e8dde3efc8508532af4a083",
        "386256d9a93420c607d1741a2676708e7a074efb52622bbaab3117204fba268d",
        ("text",),
        (Zipped(UCI + "adult/adult.test"),),
    ),
)
# No checksum of it is known here, so it is not downloaded: whoever has it may put it into a folder. Its
# loader verifies columns and number of rows.
CENSUS = File(
    "bandits/census.data.gz",
    "",
    names=("text",),
    mirrors=(
        Zipped(PUBLISHED + "USCensus1990.data.txt"),
        Zipped(UCI + "census1990-mld/USCensus1990.data.txt"),
    ),
)
