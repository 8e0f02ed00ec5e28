"""Networks as tasks of joblib: whoever solves them, the model is the same to the last bit."""

import os
from contextlib import contextmanager

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import GridSearchCV

from ggln import GGLNRegressor, GLNClassifier
from ggln.engine.threads import Threads
from ggln.estimators.workers import Elsewhere, threads_for, workers_for

SMALL = {"layer_sizes": (3, 3), "n_estimators": 4, "random_state": 0}
X, Y = make_friedman1(400, noise=0.5, random_state=0)
LABELS = make_classification(400, 10, n_informative=6, n_classes=3, random_state=0)


def fitted(n_jobs=None):
    """Fit what `fit` solves: one output, two outputs, and three classes."""
    return (
        GGLNRegressor(**SMALL, n_jobs=n_jobs).fit(X, Y),
        GGLNRegressor(**SMALL, n_jobs=n_jobs).fit(X, np.stack([Y, -Y], axis=1), np.linspace(0.5, 2.0, 400)),
        GLNClassifier(**SMALL, n_jobs=n_jobs).fit(*LABELS),
    )


def contents(models, folder):
    found = []
    for model in models:
        model.set_params(n_jobs=None).save(folder / "model.ggln")
        found.append((folder / "model.ggln").read_bytes())
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return contents(fitted(), tmp_path_factory.mktemp("plain"))


@contextmanager
def cluster(workers=2, threads=1):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(workers, processes=True, threads_per_worker=threads, dashboard_address=None) as local,
        Client(local) as client,
    ):
        yield client


def test_without_a_backend_there_are_threads(plain, tmp_path):
    with workers_for(None) as one, workers_for(2) as two, joblib.parallel_config(n_jobs=2):
        assert [type(own) for own in (one, two)] == [Threads, Threads]
        assert (one.count, two.count, workers_for(None).count) == (1, 2, 2)
        assert contents(fitted(), tmp_path) == plain


def test_threads_of_joblib_are_ours():
    with joblib.parallel_config("threading", n_jobs=2), workers_for(None) as threads:
        assert type(threads) is Threads
        assert threads.count == 2


def test_processes_solve_the_same_networks(plain, tmp_path, monkeypatch):
    sent = []
    own = joblib.delayed

    def spy(function):
        return lambda *arguments: sent.append(arguments) or own(function)(*arguments)

    monkeypatch.setattr(joblib, "delayed", spy)
    with joblib.parallel_config("loky", n_jobs=2, max_nbytes=1000):  # arrays are mapped, read-only
        models = fitted()
        # a worker of loky has one thread unless somebody asks for more
        assert joblib.Parallel()(own(lambda: workers_for(None).count)() for _ in range(2)) == [1, 1]
        assert joblib.Parallel()(own(lambda: workers_for(2).count)() for _ in range(2)) == [2, 2]
    assert contents(models, tmp_path) == plain
    assert len(sent) == 4 + 2 * 4 + sum(model.learner_.count * 3 for model in models[2:])
    assert all(type(arguments[0]).__name__ == "function" for arguments in sent)
    for model in models:  # what came back can be learnt on
        model.partial_fit(X[:2], LABELS[1][:2] if isinstance(model, GLNClassifier) else model.predict(X[:2]))


@pytest.mark.nightly
def test_progress_tells_of_the_layers_that_others_solve():
    told = []
    model = GGLNRegressor(**SMALL)

    @contextmanager
    def observe(what, steps, learner):
        told.append(steps)
        yield lambda done: told.append(-done)

    model._observer = observe
    with joblib.parallel_config("loky", n_jobs=2):
        model.fit(X, Y)
    assert told[0] == 8
    assert sum(told) == 0


@pytest.mark.filterwarnings("ignore")  # dask's and tornado's own
def test_a_dask_cluster_solves_the_same_networks(plain, tmp_path, monkeypatch):
    from distributed import Client

    scattered = []
    with cluster() as client:
        own = Client.scatter

        def spy(self, data, *arguments, **more):
            scattered.append(data)
            return own(self, data, *arguments, **more)

        with monkeypatch.context() as patch, joblib.parallel_config("dask"):
            patch.setattr(Client, "scatter", spy)
            GGLNRegressor(**SMALL).fit(X, Y)
        # rows, regressions, targets, weights, folds and two kinds of residuals: each of them goes out once
        arrays = [one for one in scattered if isinstance(one, np.ndarray)]
        assert len(arrays) == 7
        assert len({id(array) for array in arrays}) == 7
        with joblib.parallel_config("dask"):
            assert type(workers_for(None)) is Elsewhere
            with threads_for(None) as here:  # what `predict` and `partial_fit` do is not sent out
                assert type(here) is Threads
                assert here.count <= joblib.cpu_count()
            assert contents(fitted(), tmp_path) == plain
            assert os.getpid() not in client.run(os.getpid).values()


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
def test_a_search_on_a_cluster_has_one_thread_for_each_task():
    search = GridSearchCV(GGLNRegressor(**SMALL), {"layer_sizes": [(2,), (3,)]}, cv=2)
    here = search.fit(X, Y).cv_results_["mean_test_score"]
    with cluster(), joblib.parallel_config("dask"):
        count = joblib.delayed(lambda n_jobs: (type(workers_for(n_jobs)).__name__, workers_for(n_jobs).count))
        found = joblib.Parallel()(count(n_jobs) for n_jobs in (None, 1, 3))
        there = search.fit(X, Y).cv_results_["mean_test_score"]
    assert found == [("Threads", 1), ("Threads", 1), ("Threads", 3)]
    assert here.tobytes() == there.tobytes()


@pytest.mark.nightly  # Ray takes half a minute to start, and 250 MB to install
@pytest.mark.filterwarnings("ignore")
def test_ray_solves_the_same_networks(plain, tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install ray")
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with joblib.parallel_config("ray", n_jobs=2):
            assert type(workers_for(None)) is Elsewhere
            models = fitted()
            count = joblib.delayed(lambda: (os.getpid(), workers_for(None).count))
            found = joblib.Parallel()(count() for _ in range(4))
    finally:
        ray.shutdown()
    assert contents(models, tmp_path) == plain
    assert {threads for _, threads in found} == {1}
    assert os.getpid() not in {process for process, _ in found}
