import io

from rich.console import Console

from ggln.cli import progress
from ggln.tables.plan import Input, Plan
from ggln.tables.train import Training


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
