"""Whatever interrupts learning leaves the model of the rows that were learnt; threads wait for each other."""

import copy
import pickle
import signal
import threading

import numpy as np
import pytest

from ggln import GGLNRegressor, load
from ggln.estimators.whole import Interruptible, Uninterrupted, lock_of

SMALL = {"layer_sizes": (3, 2), "n_estimators": 2, "random_state": 1}
GRADIENT = {**SMALL, "step": "capped", "context_dim": 2, "epochs": 1}


def table(rows, seed=0):
    X = np.random.default_rng(seed).normal(size=(rows, 3))
    return X, X[:, 0] * X[:, 1]


def content(model, path):
    model.save(path)
    return path.read_bytes()


# Signals -----------------------------------------------------------------------------------------------


def test_signals_wait_until_the_end():
    seen = []

    def work():
        with Uninterrupted():
            signal.raise_signal(signal.SIGINT)
            seen.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert seen == ["after"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_signals_wait_for_the_outermost_end():
    seen = []

    def work():
        with Uninterrupted():
            with Uninterrupted():
                signal.raise_signal(signal.SIGINT)
            seen.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert seen == ["after"]


def test_a_signal_that_becomes_another_error_is_still_a_signal():
    def swallow(error):
        with Interruptible():
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                if error is not None:
                    raise error from None

    for error in (None, SystemError("returned a result with an exception set")):
        with pytest.raises(KeyboardInterrupt):
            swallow(error)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_errors_stay_what_they_are():
    with pytest.raises(ZeroDivisionError), Interruptible():
        _ = 1 / 0


def test_other_threads_have_no_signals():
    found = []

    def enter():
        with Uninterrupted():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


# Interruptions -----------------------------------------------------------------------------------------


class Interrupting:
    """Interrupts at the n-th call of a function, before or after it is done."""

    def __init__(self, function, call, error, after):
        self.function, self.left, self.error, self.after = function, call, error, after

    def __call__(self, *arguments, **options):
        self.left -= 1
        if self.left == 0 and not self.after:
            raise self.error
        found = self.function(*arguments, **options)
        if self.left == 0:
            raise self.error
        return found


PLACES = [
    "ggln.engine.newton.base.fit_bumps",
    "ggln.engine.newton.solving.fit_network",
    "ggln.engine.newton.learner.find_edges",
    "ggln.engine.newton.learner.ExactLearner._judge",
    "ggln.engine.newton.learner.ExactLearner._keep",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("outputs", [1, 2])
def test_a_solution_that_fails_leaves_the_model_of_the_rows_before(
    tmp_path, monkeypatch, place, after, outputs
):
    X, y = table(60)
    y = y if outputs == 1 else np.column_stack([y, X[:, 2]])
    model = GGLNRegressor(**SMALL).fit(X[:20], y[:20])
    model.learn_one(X[20], y[20])
    module, _, name = place.rpartition(".")
    parent = __import__("importlib").import_module(module.removesuffix(".ExactLearner"))
    parent = parent.ExactLearner if module.endswith("ExactLearner") else parent
    broken = Interrupting(getattr(parent, name), 1 + after, MemoryError("none left"), after)
    with monkeypatch.context() as patch:
        patch.setattr(parent, name, lambda *arguments: broken(*arguments))
        with pytest.raises(MemoryError):
            model.partial_fit(X[21:], y[21:])
    twin = GGLNRegressor(**SMALL).fit(X[:20], y[:20]).partial_fit(X[20:21], y[20:21])
    learnt = model.learner_.rows
    twin = twin if learnt == 21 else twin.partial_fit(X[21:learnt], y[21:learnt])
    assert content(model, tmp_path / "one") == content(twin, tmp_path / "other")
    assert content(model.partial_fit(X[learnt:], y[learnt:]), tmp_path / "one") == content(
        GGLNRegressor(**SMALL).fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]), tmp_path / "other"
    )


def test_an_interrupted_beginning_is_none(monkeypatch):
    X, y = table(12)

    def interrupt(*_):
        raise KeyboardInterrupt

    model = GGLNRegressor(**SMALL)
    monkeypatch.setattr("ggln.engine.newton.base.fit_bumps", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    assert not hasattr(model, "learner_")
    assert not hasattr(model, "n_features_in_")


class Failing:
    """A regressor of the user that fails when it is told to."""

    def __init__(self):
        self.fails = False

    def fit(self, X, y):
        self.mean_ = np.mean(y, axis=0)
        return self

    def predict(self, X):
        if Failing.now:
            raise RuntimeError("not today")
        return np.full((len(X), *np.shape(self.mean_)), self.mean_)

    def get_params(self, deep=True):
        return {}

    now = False


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("covariance", ["apart", "isotropic"])
def test_a_regressor_that_fails_leaves_the_model_as_it_was(monkeypatch, outputs, covariance):
    X, y = table(40)
    y = y if outputs == 1 else np.column_stack([y, X[:, 2]])
    model = GGLNRegressor(base_model=[Failing()], covariance=covariance, **SMALL).fit(X[:30], y[:30])
    before = pickle.dumps(model.learner_.state())
    monkeypatch.setattr(Failing, "now", True)
    with pytest.raises(RuntimeError):
        model.learn_one(X[30], y[30])
    with pytest.raises(RuntimeError):
        model.partial_fit(X[30:], y[30:])
    assert pickle.dumps(model.learner_.state()) == before


def interrupt_after(seconds, learn):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        learn()
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    return False


@pytest.mark.parametrize("settings", [SMALL, GRADIENT])
def test_interruptions_at_any_moment_tear_nothing(tmp_path, settings):
    X, y = table(200)
    start = tmp_path / "start"
    GGLNRegressor(**settings).partial_fit(X[:50], y[:50]).save(start)
    random, interrupted = np.random.default_rng(0), 0
    for _ in range(8):
        model = load(start)

        def learn(model=model):
            for x, target in zip(X[50:120], y[50:120], strict=True):
                model.learn_one(x, target)
            model.partial_fit(X[120:], y[120:])

        interrupted += interrupt_after(float(random.uniform(1e-4, 0.1)), learn)
        twin, learnt = load(start), model.learner_.rows
        if learnt > 50:
            twin.partial_fit(X[50:learnt], y[50:learnt])
        assert content(model, tmp_path / "one") == content(twin, tmp_path / "other")
    assert interrupted


# Threads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [SMALL, GRADIENT])
def test_threads_that_learn_at_once_wait_for_each_other(tmp_path, settings):
    """Rows that are all the same have one order, whoever learns them."""
    X, y = table(50)
    start = tmp_path / "start"
    GGLNRegressor(**settings).partial_fit(X, y).save(start)
    model, errors = load(start), []

    def learn():
        try:
            for _ in range(25):
                model.learn_one(X[0], y[0])
                model.partial_fit(X[:2], y[:2])
        except Exception as error:
            errors.append(error)

    def read():
        try:
            for _ in range(50):
                assert np.isfinite(model.predict(X)).all()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=learn) for _ in range(3)] + [threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert model.learner_.rows == 50 + 3 * 75


def test_one_thread_waits_while_another_learns():
    model, order = GGLNRegressor(**SMALL), []
    X, y = table(5)
    with lock_of(model):
        thread = threading.Thread(target=lambda: (model.partial_fit(X, y), order.append("other")))
        thread.start()
        thread.join(0.2)
        order.append("one")
    thread.join()
    assert order == ["one", "other"]


def test_locks_are_no_part_of_a_model(tmp_path):
    model = GGLNRegressor(**SMALL).partial_fit(*table(5))
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert lock_of(other) is not lock_of(model)
        assert vars(other).keys() == vars(model).keys()
