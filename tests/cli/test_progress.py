import io
import time

from rich.console import Console

from ggln.cli import progress
from ggln.tables.plan import Input, Plan
from ggln.tables.train import Training
from ggln.tables.watch import Silent


def test_a_terminal_sees_rows_per_second_and_the_loss(sales, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LOSS_EVERY", 0.0)
    shown = io.StringIO()
    watch = progress.Terminal(Console(file=shown, force_terminal=True, width=120))
    settings = {"layer_sizes": (4, 4), "n_estimators": 1, "epochs": 2, "base_model": "feature", "folds": 0}
    source = Input(str(tmp_path / sales(15_000)))
    model = Training(source, Plan(["price"], settings=settings, in_memory=500), watch).run()
    assert model.regressor_.learner_.rows == 15_000
    for words in ("reading", "learning", " rows/s", "loss "):
        assert words in shown.getvalue()


def test_looking_on_changes_nothing(sales, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LOSS_EVERY", 0.0)
    settings = {"layer_sizes": (4, 4), "n_estimators": 1, "epochs": 2, "base_model": "feature", "folds": 0}
    plan = Plan(["price"], settings=settings, in_memory=500)
    source = Input(str(tmp_path / sales(3_000)))
    terminal = progress.Terminal(Console(file=io.StringIO(), force_terminal=True))
    for name, watch in (("seen", terminal), ("unseen", None)):
        Training(source, plan, watch).run().save(tmp_path / name)
    assert (tmp_path / "seen").read_bytes() == (tmp_path / "unseen").read_bytes()


def test_without_a_terminal_a_line_comes_now_and_then(monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY", 0.05)
    shown = io.StringIO()
    watch = progress.Terminal(Console(file=shown, force_terminal=False, width=120))
    with watch.stage("learning", 2000, done=1000) as advance:
        advance(24, None)
        deadline = time.monotonic() + 10
        while "rows" not in shown.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert shown.getvalue().startswith("learning: 1,024 of 2,000 rows, ")
    before = shown.getvalue()
    time.sleep(0.2)
    assert shown.getvalue() == before  # nobody speaks after the end
    with watch.stage("learning", 300):
        time.sleep(0.2)
    assert "learning: 0 of 300 rows, 0 s (the first time, kernels are compiled)\n" in shown.getvalue()


def test_rows_that_are_solved_together_are_told_by_layers(sales, tmp_path, monkeypatch):
    stages = []

    class Watch(Silent):
        def stage(self, what, total, unit="rows", done=0):
            stages.append([what, total, unit, done])
            return super().stage(what, total, unit, done)

    settings = {"layer_sizes": (4, 4), "n_estimators": 1}
    Training(Input(str(tmp_path / sales(200))), Plan(["price"], settings=settings), Watch()).run()
    assert [what for what, *_ in stages] == ["reading", "learning 200 rows together"]
    assert stages[1][1] > 0
    assert stages[1][2] == "layers"
