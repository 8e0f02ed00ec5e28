import json

import numpy as np
import pytest

from ggln.reproduction import gating
from ggln.reproduction.shared import record


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("gating") / "gating.json"
    record.write(path, gating.run(neurons=2, context_dim=3, points=31))
    return json.loads(path.read_text())


def test_contexts_are_the_half_spaces_that_hold_a_point(results):
    axis = np.array(results["axis"])
    points = np.stack(np.meshgrid(axis, axis), axis=-1)  # [y, x, 2]
    inside = (
        np.einsum("yxd,nsd->nsyx", points, results["normals"])
        >= np.array(results["offsets"])[..., None, None]
    )
    expected = (inside * 2 ** np.arange(3)[None, :, None, None]).sum(axis=1)
    np.testing.assert_array_equal(results["contexts"], expected)
    np.testing.assert_array_equal(results["inside"], inside.sum(axis=(0, 1)))


def test_regions_are_counted(results):
    for shares, contexts in zip(results["regions"], results["contexts"], strict=True):
        assert {int(context) for context in shares} == set(np.unique(contexts))
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-4)
        assert len(shares) <= 7  # three lines cut the plane into seven parts at most
    assert max(map(len, results["regions"])) <= results["polytopes"] <= 22  # six lines


def test_results_can_be_drawn(results, tmp_path):
    figure = gating.draw(results)
    assert len(figure.axes) == 2 + 1 + 1  # neurons, network, colours
    figure.savefig(tmp_path / "gating.png")
    assert (tmp_path / "gating.png").stat().st_size > 10_000
