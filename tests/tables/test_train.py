import io
from pathlib import Path

import numpy as np
import pytest

import ggln
from ggln.engine.newton.learner import ExactLearner
from ggln.tables import train
from ggln.tables.checkpoint import Checkpoint
from ggln.tables.plan import Input, Plan
from ggln.tables.read import OpenTable
from ggln.tables.schema import Encoder
from ggln.tables.train import Training


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Short pieces, and little to decide from, so that a thousand rows are a long table."""
    monkeypatch.setattr(train, "INFER_ROWS", 100)
    monkeypatch.setattr(train, "PIECE", 64)


@pytest.fixture
def pipe(monkeypatch):
    """Let standard input be the content of a file."""

    def fill(path):
        content = io.BytesIO(Path(path).read_bytes())
        stdin = type("Pipe", (), {"buffer": content, "isatty": lambda _: False})()
        monkeypatch.setattr("sys.stdin", stdin)

    return fill


def plan_of(small, **changes):
    return Plan(["price"], settings=small, **changes)


def file_of(model, path):
    model.save(path)
    return path.read_bytes()


def test_a_table_in_memory_is_fitted(houses, small):
    model = Training(Input(houses()), plan_of(small)).run()
    frame = {name: [] for name in ("sold", "city", "area", "garden", "rooms", "price")}
    with Input(houses()).open() as table:
        for row in table.chunk(1000, wait=True).rows:
            for name, cell in zip(frame, row, strict=True):
                frame[name].append(cell)
    same = ggln.GGLNRegressor(**small, random_state=0)
    same.fit(model.features(frame), np.array(frame["price"], float))
    assert np.array_equal(same.predict(model.features(frame)), model.predict(frame))
    assert list(model.regressor_.feature_names_in_)[:1] == ["sold"]
    assert "rooms is missing" in model.regressor_.feature_names_in_


@pytest.mark.nightly
def test_rows_beyond_the_sample_are_learnt_once_and_only_once(houses, small):
    path = houses(1000)
    model = Training(Input(path), plan_of(small, in_memory=200)).run()
    assert model.regressor_.learner_.rows == 1000
    held = Training(Input(path), plan_of(small, in_memory=200, validate=0.2))
    learnt = held.run().regressor_.learner_.rows
    X, Y = held.held_out_rows()
    assert learnt + len(X) == 1000
    assert 150 < len(X) < 250
    assert Y.shape == (len(X), 1)


def test_a_file_beyond_memory_is_read_twice_and_translated_once(houses, small, monkeypatch):
    """What `ggln fit` takes longer than a stream is one reading, and the fit of its sample."""
    read, translated = [], []
    chunk, encode = OpenTable.chunk, Encoder.__call__

    def reading(self, *arguments):
        found = chunk(self, *arguments)
        read.extend(found.numbers)
        return found

    def translating(self, rows):
        translated.extend(rows.numbers)
        return encode(self, rows)

    monkeypatch.setattr(OpenTable, "chunk", reading)
    monkeypatch.setattr(Encoder, "__call__", translating)
    training = Training(Input(houses(300)), plan_of(small, in_memory=40))
    training.run()
    assert sorted(read) == sorted([*range(1, 301)] * 2)
    assert sorted(translated) == list(range(1, 301))


@pytest.mark.parametrize("piped", [False, True])
def test_rows_beyond_the_sample_are_never_solved_afresh(piped, houses, pipe, monkeypatch):
    """A table that is longer than the sample goes on row by row; a shorter one may grow later."""
    solved, solve = [], ExactLearner._solve

    def counted(self, X, *arguments):
        solved.append(len(X))
        solve(self, X, *arguments)

    monkeypatch.setattr(ExactLearner, "_solve", counted)
    exact, path = {"layer_sizes": (3,), "n_estimators": 2, "context_dim": 1}, houses(400)
    sizes = []
    for in_memory in (200, 5000):
        pipe(path)
        source = Input("-") if piped else Input(path)
        model = Training(source, plan_of(exact, in_memory=in_memory)).run()
        sizes.append((model.regressor_.learner_.rows, model.regressor_.learner_.due))
    together = 192 if piped else 200  # of a pipe, whole pieces
    assert solved == [together, 400]
    assert sizes == [(400, 0), (400, 500)]


@pytest.mark.parametrize("in_memory", [0, 150, 5000])
def test_a_pipe_is_read_once(in_memory, houses, small, pipe):
    path = houses(700)
    pipe(path)
    training = Training(Input("-"), plan_of(small, in_memory=in_memory, validate=0.1))
    model = training.run()
    assert model.regressor_.learner_.rows + len(training.held_out_rows()[0]) == 700


def test_nothing_depends_on_the_pieces(houses, small, monkeypatch, tmp_path):
    path, plan = houses(700), plan_of(small, in_memory=150, validate=0.1)
    one = file_of(Training(Input(path), plan).run(), tmp_path / "model")
    monkeypatch.setattr(train, "PIECE", 11)
    assert file_of(Training(Input(path), plan, n_jobs=2).run(), tmp_path / "model") == one


class StopError(Exception):
    pass


class StoppingWatch(train.Silent):
    """Interrupts learning after some rows, as a crash would."""

    def __init__(self, rows):
        self.rows = rows

    def stage(self, what, total, unit="rows", done=0):
        watch = self

        class Stage:
            def __enter__(self):
                return self.advance

            def __exit__(self, *_):
                pass

            def advance(self, rows, loss):
                if what == "learning":
                    watch.rows -= rows
                    if watch.rows < 0:
                        raise StopError

        return Stage()


@pytest.mark.parametrize("piped", [False, True])
def test_after_a_crash_learning_goes_on_to_the_same_model(piped, houses, small, pipe, tmp_path):
    path, plan = houses(900), plan_of({**small, "epochs": 2}, in_memory=150, validate=0.1)
    source = Input("-" if piped else path)

    def learn(watch=None, checkpoint=None):
        if piped:
            pipe(path)
        training = Training(source, plan, watch, checkpoint)
        training.run()
        return training

    whole = learn()
    model, place = tmp_path / "model", tmp_path / "model.checkpoint"
    for rows in (500, 200, 100):
        with pytest.raises(StopError):
            learn(StoppingWatch(rows), Checkpoint(model, 0.0, source.identity(plan)))
        assert place.exists()
    resumed = learn(None, Checkpoint(model, 0.0, source.identity(plan)))
    assert file_of(whole.model, tmp_path / "a") == file_of(resumed.model, tmp_path / "b")
    for one, other in zip(whole.held_out_rows(), resumed.held_out_rows(), strict=True):
        assert np.array_equal(one, other)


def test_a_checkpoint_of_another_command_is_refused(houses, small, tmp_path):
    source, plan = Input(houses()), plan_of(small, in_memory=100)
    model = tmp_path / "model"
    model.touch(0o600)
    Training(source, plan, None, Checkpoint(model, 0.0, source.identity(plan))).run()
    assert (tmp_path / "model.checkpoint").stat().st_mode & 0o777 == 0o600  # it holds rows as the model does
    other = plan_of(small, in_memory=100, seed=1)
    with pytest.raises(ValueError, match="another seed: run that one again to go on, or delete"):
        Training(source, other, None, Checkpoint(model, 0.0, source.identity(other))).run()


def test_unreadable_rows_stop_or_are_left_out(write_csv, small):
    rows = [["x", "price"], *([str(i), str(2 * i)] for i in range(300))]
    rows[250] = ["oops", "1"]
    rows[100] = ["1", "oops"]
    rows[60] = ["1", "2", "3"]
    rows[40] = ["1", ""]
    path = write_csv(rows)
    with pytest.raises(ValueError, match=r"row 60: it has 3 cells, not 2: correct it, or .* --on-error skip"):
        Training(Input(path), plan_of(small)).run()
    for in_memory in (50, 5000):
        training = Training(Input(path), plan_of(small, on_error="skip", in_memory=in_memory))
        assert training.run().regressor_.learner_.rows == 296
        assert (training.unreadable, training.unlabelled) == (3, 1)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["x", "price"]], "has no rows"),
        ([["x", "price"], ["1", ""], ["2", "NA"]], "has no row with a value of price"),
        (
            [["x", "price"], ["1", "Rome"], ["2", "Oslo"]],
            "'price' of .* is no column of numbers .it has 'Rome'",
        ),
        ([["x", "prise"], ["1", "2"]], "did you mean 'prise'"),
        ([["price"], ["1"]], "no column to predict price from"),
        (
            [["x", "price"], ["", "2"]],
            "column 'x' is left out: no row has a value there",
        ),
    ],
)
def test_tables_that_cannot_be_learnt(rows, message, write_csv, small):
    with pytest.raises(ValueError, match=message):
        Training(Input(write_csv(rows)), plan_of(small)).run()


def test_a_constant_target_and_a_single_row(write_csv, small):
    model = Training(Input(write_csv([["x", "price"], *[["1", "7"], ["2", "7"]]])), plan_of(small)).run()
    mean, std = model.predict({"x": [1, 2]}, return_std=True)
    assert np.allclose(mean, 7.0, atol=1.0)
    assert (std > 0).all()
    assert Training(Input(write_csv([["x", "price"], ["1", "7"]])), plan_of(small)).run()


def test_several_targets(write_csv, small, tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    rows = [["x", "a", "b"], *([str(v), str(v + 1), str(-v)] for v in x)]
    plan = Plan(["b", "a"], settings=small, in_memory=100)
    model = Training(Input(write_csv(rows)), plan).run()
    model.save(tmp_path / "model")
    again = ggln.load(tmp_path / "model")
    assert again.targets == ["b", "a"]
    assert again.predict({"x": [0.5]}).shape == (1, 2)
