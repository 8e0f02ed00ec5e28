import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import pytest

from ggln.reproduction.bandits import episodes
from ggln.reproduction.shared import jobs

HERE = Path(__file__).parent
CODE = """
import sys
from pathlib import Path
import chores
from ggln.reproduction.shared import jobs
name, store, marks, n_jobs, seconds = sys.argv[1:]
arguments = {"marks": marks} | ({"seconds": float(seconds)} if name == "square" else {})
given = [jobs.Job(getattr(chores, name), {"x": x} | arguments) for x in range(8)]
print([result["square"] for result in jobs.run(given, Path(store), int(n_jobs))])
"""


@pytest.fixture
def chores(monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    import chores

    return chores


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def start(name, store, marks, n_jobs, seconds=0.0):
    command = [sys.executable, "-c", CODE, name, str(store), str(marks), str(n_jobs), str(seconds)]
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,
    )


def times_run(marks):
    return {int(path.stem): path.stat().st_size for path in marks.glob("*.mark")}


def finished(store):
    return {json.loads(path.read_text())["job"]["arguments"]["x"] for path in store.glob("*.json")}


def squares(chores, marks, numbers, **more):
    return [jobs.Job(chores.square, {"x": x}, places={"marks": str(marks)} | more) for x in numbers]


def test_results_come_in_the_order_of_the_jobs(chores, marks, tmp_path):
    given = squares(chores, marks, [3, 1, 2, 1])
    with joblib.parallel_config("threading"):
        results = jobs.run(given, tmp_path / "store", n_jobs=2)
    assert [result["square"] for result in results] == [9, 1, 4, 1]
    assert times_run(marks) == {1: 1, 2: 1, 3: 1}  # the same job asked for twice is run once


def test_a_grid_has_the_results_of_each_cell(chores, tmp_path):
    cells = {("a", "x"): [1, 2], ("a", "y"): [3], ("b", "x"): [2, 4], ("b", "y"): []}
    wanted = {cell: [jobs.Job(chores.square, {"x": x}) for x in own] for cell, own in cells.items()}
    found = jobs.run_grid(wanted, tmp_path, 1, "squares")
    squares = {
        row: {column: [one["square"] for one in own] for column, own in line.items()}
        for row, line in found.items()
    }
    assert squares == {"a": {"x": [1, 4], "y": [9]}, "b": {"x": [4, 16], "y": []}}


def test_jobs_of_a_package_are_named_after_their_experiment():
    arguments = {"task": {}, "policy": "uniform", "setting": None, "seeds": [0], "steps": None}
    name = jobs.Job(episodes.follow, arguments).identity["function"]
    assert episodes.follow.__module__ == "ggln.reproduction.bandits.episodes"
    assert name == "ggln.reproduction.bandits.follow"  # as in stores from before it was a package


def test_finished_jobs_are_not_repeated(chores, marks, tmp_path):
    first = jobs.run(squares(chores, marks, range(3)), tmp_path / "store")
    again = jobs.run(squares(chores, marks, range(5), seconds=0.001), tmp_path / "store")
    assert again[:3] == first
    assert times_run(marks) == dict.fromkeys(range(5), 1)


def test_another_version_of_an_experiment_starts_afresh(chores, marks, tmp_path):
    for version in ("1", "2"):
        jobs.run([jobs.Job(chores.square, {"x": 1}, version, {"marks": str(marks)})], tmp_path)
    assert times_run(marks) == {1: 2}
    assert len(jobs.stored(chores.square, "2", tmp_path)) == 1


@pytest.mark.parametrize(
    "content", ["", '{"job": {"fun', "[]", "3", '{"job": 1, "result": {}}', "\0\0\0", "\xff"]
)
def test_a_file_that_is_not_whole_is_ignored_and_its_job_rerun(chores, marks, tmp_path, content):
    given = squares(chores, marks, [4])
    path = tmp_path / given[0].file_name
    path.write_text(content, encoding="latin-1")
    assert jobs.stored(chores.square, "1", tmp_path) == []
    assert jobs.run(given, tmp_path)[0]["square"] == 16
    assert jobs.stored(chores.square, "1", tmp_path)[0][0] == {"x": 4}


def test_every_truncation_of_a_result_is_noticed(chores, tmp_path):
    given = jobs.Job(chores.square, {"x": 4})
    jobs.run([given], tmp_path)
    path = tmp_path / given.file_name
    whole = path.read_text().rstrip()
    for length in range(len(whole)):
        path.write_text(whole[:length])
        assert jobs.stored(chores.square, "1", tmp_path) == []


def test_a_result_of_another_job_under_this_name_is_not_taken(chores, marks, tmp_path):
    one, two = squares(chores, marks, [1, 2])
    jobs.run([one], tmp_path)
    (tmp_path / one.file_name).rename(tmp_path / two.file_name)
    assert jobs.run([two], tmp_path)[0]["square"] == 4


def test_an_error_names_its_job_and_the_others_are_kept(chores, tmp_path):
    given = [jobs.Job(chores.refuse, {"x": x}) for x in range(4)]
    with pytest.raises(
        jobs.JobError, match=r"2 of 4 jobs failed.*refuse\(x=1\): ValueError: 1 is odd"
    ) as error:
        jobs.run(given, tmp_path)
    assert "Traceback" in error.value.__notes__[0]
    assert finished(tmp_path) == {0, 2}


def test_arguments_must_be_plain(chores, tmp_path):
    with pytest.raises(TypeError, match="not JSON serializable"):
        jobs.run([jobs.Job(chores.square, {"x": {1}})], tmp_path)


@pytest.mark.nightly
def test_a_killed_run_goes_on_where_it_was(marks, tmp_path):
    store = tmp_path / "store"
    process = start("square", store, marks, 2, seconds=0.3)
    deadline = time.monotonic() + 300
    while not store.exists() or len(finished(store)) < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)  # the workers too
    process.communicate()
    before = finished(store)
    assert 3 <= len(before) < 8
    output, errors = start("square", store, marks, 2, seconds=0.3).communicate(timeout=60)
    assert output.strip().endswith(str([x * x for x in range(8)])), errors
    counts = times_run(marks)
    assert all(counts[x] == 1 for x in before)
    assert all(counts[x] <= 2 for x in range(8))
    assert finished(store) == set(range(8))


def test_a_job_that_takes_the_process_down_loses_itself_only(marks, tmp_path):
    store = tmp_path / "store"
    process = start("die_once", store, marks, 1)
    process.communicate(timeout=60)
    assert process.returncode == 9
    assert finished(store) == {0, 1, 2}
    output, errors = start("die_once", store, marks, 1).communicate(timeout=60)
    assert output.strip().endswith(str([x * x for x in range(8)])), errors
    assert times_run(marks) == dict.fromkeys(range(8), 1) | {3: 2}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")  # dask's and tornado's own
def test_jobs_run_on_a_dask_cluster(chores, marks, tmp_path):
    from distributed import Client, LocalCluster

    given = squares(chores, marks, range(6), seconds=0.1)
    with (
        LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        workers = set(client.run(os.getpid).values())
        with joblib.parallel_config("dask"):
            results = jobs.run(given, tmp_path / "store")
    assert [result["square"] for result in results] == [x * x for x in range(6)]
    assert {result["process"] for result in results} == workers
    assert os.getpid() not in workers
    assert jobs.run(given, tmp_path / "store") == results
    assert times_run(marks) == dict.fromkeys(range(6), 1)
