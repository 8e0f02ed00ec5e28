import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import ggln
from ggln.bandits import GLCB

ROOT = Path(__file__).parents[1]


def test_version_is_the_same_everywhere():
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == ggln.__version__


def test_public_names_are_there_and_unknown_ones_are_not():
    for name in ggln.__all__:
        assert getattr(ggln, name) is not None
    assert set(dir(ggln)) == set(ggln.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = ggln.nothing


def test_import_is_light():
    code = "import sys, ggln; assert 'numba' not in sys.modules and 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("library", "code", "sentence"),
    [
        ("matplotlib", "import ggln.plots", "drawing needs matplotlib, .* pip install 'ggln\\[plots\\]'"),
        (
            "pyarrow",
            "from ggln.tables.write import Parquet; Parquet('x.parquet', ['a'], [])",
            "Parquet needs pyarrow, .* pip install 'ggln\\[parquet\\]'",
        ),
        (
            "distributed",
            "from ggln.distributed import DaskGGLNRegressor",
            "DaskGGLNRegressor needs distributed, .* pip install 'ggln\\[dask\\]'",
        ),
        ("river", "from ggln.extras import require; require('river')", "pip install 'ggln\\[peers\\]'"),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_extra(library, code, sentence, tmp_path):
    """In a process of its own, where the library cannot be imported."""
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules[{library!r}] = None; {code}"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert re.search(f"MissingExtraError: .*{sentence}", run.stderr)


def test_the_command_works_without_the_extras():
    code = (
        "import sys; sys.modules |= {'matplotlib': None, 'pyarrow': None, 'river': None, 'skpro': None}; "
        "from ggln.cli import run; sys.argv = ['ggln', 'plot', 'band', 'no.ggln']; run()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2
    assert "should not happen" not in run.stderr


def test_there_are_presets_of_all_the_papers_networks():
    names = {"PAPER_UCI", "PAPER_SARCOS", "PAPER_BANDITS", "PAPER_MNIST", "PAPER_SWISS_ROLL"}
    assert {name for name in dir(ggln.presets) if name.startswith("PAPER")} == names


@pytest.mark.parametrize("name", ["PAPER_UCI", "PAPER_SARCOS", "PAPER_BANDITS"])
def test_presets_are_valid_arguments(name):
    preset = getattr(ggln.presets, name) | {"layer_sizes": (4, 1), "context_dim": 2}
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (30, 2))
    if name == "PAPER_BANDITS":
        policy = GLCB(2, **preset, random_state=0).partial_fit(X, [0, 1] * 15, X[:, 0])
        assert np.isfinite(policy.predict_expectations(X)).all()
        return
    preset["epochs"] = 2
    model = ggln.GGLNRegressor(**preset, random_state=0).fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()


def test_documentation_names_files_that_exist():
    pages = ("docs/equations.md", "docs/architecture.md", "CONTRIBUTING.md")
    text = "".join((ROOT / page).read_text() for page in pages)
    named = re.findall(r"`((?:src/ggln|engine|estimators|reproduction|bandits|tests)/[\w/]+\.py)`", text)
    assert len(named) > 60
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "src" / "ggln" / name).exists(), name


def test_equations_name_functions_that_exist():
    text, package = (ROOT / "docs/equations.md").read_text(), ROOT / "src/ggln"
    named = re.findall(r"`([\w/*]+\.py)` \(((?:`\w+`(?:, )?)+)\)", text)
    assert len(named) > 30
    for name, functions in named:
        files = [*package.glob(name), *(package / "engine/newton").glob(name)]
        code = "".join(path.read_text() for path in files)
        for function in re.findall(r"\w+", functions):
            assert re.search(rf"^(?:def|class) {function}\b", code, re.MULTILINE), f"{function} in {name}"


def test_documentation_names_every_module_of_exact_learning():
    text = (ROOT / "docs/architecture.md").read_text().partition("| module of `ggln.engine.newton` |")[2]
    rows = re.findall(r"^\| (`[^|]*`) \|", text.partition("\n\n")[0], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    package = ROOT / "src/ggln/engine/newton"
    there = {path.stem for path in package.glob("*.py")} - {"__init__"} | {"neurons"}
    assert sorted(named) == sorted(there)


def test_readme_example_runs():
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert code is not None
    names: dict[str, object] = {}
    exec(code.group(1), names)
    assert names["lower"].shape == names["upper"].shape == (42,)  # type: ignore[attr-defined]
