"""Model files: damage is noticed, saving is all or nothing, loading runs no code."""

import json
import os
import pickle
import stat
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from ggln import load, persistence


@pytest.fixture
def model(tiny, table):
    return tiny().fit(*table())


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.ggln")
    return tmp_path / "model.ggln"


def assert_one_sentence(error, path):
    message = str(error.value)
    assert path.name in message
    assert "\n" not in message
    assert len(message) < 300


def header_end(content):
    return 8 + int.from_bytes(content[:8], "little")


# Round trip --------------------------------------------------------------------------------------------


def test_loading_gives_the_same_model(model, path, table, assert_same):
    X, _ = table()
    loaded = load(path)
    assert_same(loaded, model)
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()
    assert np.array_equal(loaded.predict(X, return_std=True), model.predict(X, return_std=True))


@pytest.mark.parametrize("settings", [{}, {"base_model": "blr"}, {"gating": "sphere", "aggregation": "last"}])
@pytest.mark.parametrize("rows", [3, 60, 1100])
def test_equal_models_are_equal_files(tiny, table, tmp_path, settings, rows):
    model = tiny(**settings).partial_fit(*table(rows=rows))
    for name in "abcdef":  # several, since a random order would come out equal by chance
        model.save(tmp_path / name)
        model = load(tmp_path / name)
    assert len({(tmp_path / name).read_bytes() for name in "abcdef"}) == 1


@pytest.mark.parametrize("convert", [str, Path])
def test_paths_may_be_text_or_path_like(model, tmp_path, convert):
    model.save(convert(tmp_path / "modèle 1"))
    assert load(convert(tmp_path / "modèle 1")).n_features_in_ == 3


def test_shapes_of_targets_and_names_survive(tiny, table, tmp_path):
    import pandas as pd

    X, y = table()
    frame = pd.DataFrame(X, columns=["a", "ü", "c d"])
    tiny().fit(frame, y[:, None]).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["a", "ü", "c d"]
    assert loaded.predict(frame).shape == (60, 1)


def test_parameters_may_be_numbers_and_arrays_of_numpy(tiny, table, tmp_path):
    settings = {
        "layer_sizes": np.array([4, 2]),
        "context_dim": np.int64(2),
        "epochs": np.int32(1),
        "learning_rate": np.float32(0.5),
        "weight_range": np.array([0, 100]),
        "standardize": np.True_,
        "random_state": np.int64(3),
    }
    model = tiny(**settings).fit(*table())
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.layer_sizes == (4, 2)
    assert loaded.context_dim == 2
    assert np.array_equal(loaded.predict(table()[0]), model.predict(table()[0]))


def test_the_seed_that_was_drawn_is_kept(tiny, table, tmp_path, assert_same):
    model = tiny(random_state=np.random.RandomState(5)).fit(*table())
    model.save(tmp_path / "model")
    assert_same(load(tmp_path / "model").fit(*table()), model)


def test_saving_changes_nothing(model, path, tiny, table, assert_same):
    assert_same(model, tiny().fit(*table()))


def test_a_file_may_be_replaced(tiny, table, path, assert_same):
    other = tiny(random_state=9, layer_sizes=(3, 1)).fit(*table())
    other.save(path)
    assert_same(load(path), other)
    assert [file.name for file in path.parent.iterdir()] == ["model.ggln"]


def test_files_have_the_permissions_of_any_new_file(path):
    ordinary = path.with_name("ordinary")
    ordinary.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)


def test_loading_never_unpickles(path, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("pickle was used")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    monkeypatch.setattr(np, "load", refuse)
    load(path)


# Damage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999, 1.0])
def test_a_truncated_file_is_refused(path, share):
    content = path.read_bytes()
    length = min(int(share * len(content)), len(content) - 1)
    path.write_bytes(content[:length])
    with pytest.raises(ValueError, match="not a ggln model file, or is damaged") as error:
        load(path)
    assert_one_sentence(error, path)


def test_a_file_with_something_appended_is_refused(path):
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ValueError, match="damaged"):
        load(path)


def test_any_changed_byte_of_the_header_is_noticed(path):
    content = path.read_bytes()
    unnoticed = []
    for place in range(0, header_end(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        try:
            load(path)
        except ValueError:
            continue
        unnoticed.append(place)
    # padding after the header carries no meaning
    assert not [place for place in unnoticed if content[place : header_end(content)].strip()]


@pytest.mark.parametrize("bit", [1, 128])
def test_any_changed_byte_of_the_arrays_is_noticed(path, bit):
    content = path.read_bytes()
    for place in np.linspace(header_end(content), len(content) - 1, 50).astype(int):
        damaged = bytearray(content)
        damaged[place] ^= bit
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="is damaged: its checksum does not match") as error:
            load(path)
        assert_one_sentence(error, path)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"x,y\n1,2\n", b"\xff" * 100, pickle.dumps([1])])
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a ggln model file") as error:
        load(path)
    assert_one_sentence(error, path)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_safetensors_files_of_others_are_refused(path, metadata):
    save_file({"weight": np.zeros(3)}, path, metadata=metadata)
    with pytest.raises(ValueError, match="safetensors file, but not a ggln model"):
        load(path)


def test_a_folder_is_called_a_folder(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        load(tmp_path)


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="no ordinary file"):
        load(tmp_path / "pipe")


def test_a_file_that_is_shortened_meanwhile_is_refused(path, monkeypatch):
    """Mapped, it would end the process: pages beyond the end are not there."""
    parse = persistence.parse

    def shortened(content):
        os.truncate(path, 100)
        return parse(content)

    monkeypatch.setattr(persistence, "parse", shortened)
    assert load(path).n_features_in_ == 3  # as it was when it was read
    with pytest.raises(ValueError, match="not a ggln model file, or is damaged"):
        load(path)


@pytest.mark.parametrize("kind", ["X99", "BF16", "F8_E4M3", 7])
def test_a_type_nobody_knows_is_refused(path, kind):
    header = json.dumps({"a": {"dtype": kind, "shape": [1], "data_offsets": [0, 2]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"00")
    with pytest.raises(ValueError, match="not a ggln model") as error:
        load(path)
    assert_one_sentence(error, path)


@pytest.mark.parametrize("name", ["missing", "missing/model"])
def test_a_missing_file_is_called_missing(tmp_path, name):
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        load(tmp_path / name)


def test_a_newer_format_asks_for_an_upgrade(model, path, monkeypatch):
    with monkeypatch.context() as newer:
        newer.setattr(persistence, "FORMAT", persistence.FORMAT + 1)
        model.save(path)
    with pytest.raises(ValueError, match=r"has format 2, this version of ggln reads up to 1: upgrade"):
        load(path)


@pytest.mark.parametrize("name", ["Oracle", "os.system", "", None])
def test_an_unknown_estimator_is_refused(path, name):
    header, arrays = persistence.read(path)
    persistence.write(path, {**header, "estimator": name}, arrays)
    with pytest.raises(ValueError, match="which this version of ggln does not know"):
        load(path)


def test_the_header_is_plain_json(path):
    content = path.read_bytes()
    metadata = json.loads(content[8 : header_end(content)])["__metadata__"]
    header = json.loads(metadata["ggln"].partition(" ")[2])
    assert header["estimator"] == "GGLNRegressor"
    assert header["parameters"]["epochs"] == 2


# Saving ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["os.fsync", "pathlib.Path.replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failed_save_leaves_the_old_file(tiny, table, path, monkeypatch, where, error):
    before = path.read_bytes()

    def fail(*arguments):
        raise error

    other = tiny(random_state=1).fit(*table())
    with monkeypatch.context() as broken:
        broken.setattr(where, fail)
        with pytest.raises(type(error)):
            other.save(path)
        with pytest.raises(type(error)):
            other.save(path.with_name("new"))
    assert [file.name for file in path.parent.iterdir()] == ["model.ggln"]
    assert path.read_bytes() == before


def test_saving_into_a_missing_folder_names_it(model, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*nowhere'"):
        model.save(tmp_path / "nowhere" / "model")


def test_a_name_without_a_folder_is_in_the_current_one(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model.save("model")
    assert load("model").n_features_in_ == 3
    assert os.listdir() == ["model"]  # noqa: PTH208


def test_a_folder_is_not_replaced(model, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder' is a folder: give the name of a file in it"):
        model.save(tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


# Files of older versions -------------------------------------------------------------------------------


def test_files_from_before_exact_learning_load(path, model, assert_same):
    header, arrays = persistence.read(path)
    header["learner"]["settings"] |= {"regressors": 0, "online": False}
    persistence.write(path, header, arrays)
    assert_same(load(path), model)


@pytest.mark.parametrize("gone", [{"regressors": 4, "online": False}, {"regressors": 0, "online": True}])
def test_files_with_regressors_below_gradient_steps_are_refused(path, gone):
    header, arrays = persistence.read(path)
    header["learner"]["settings"] |= gone
    persistence.write(path, header, arrays)
    with pytest.raises(ValueError, match=r"older version of ggln, with regressors below .*: let a new model"):
        load(path)
