"""Networks as arrays by name, as they are in files: without padding, and without what is zero."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.engine.checks import part
from ggln.engine.newton.gates import Gates
from ggln.engine.newton.lanes import padded
from ggln.engine.newton.network import Network

Arrays = dict[str, NDArray[Any]]
SCALARS = "regressions", "along_axes", "bias_range", "pace"


def flat(network: Network) -> Arrays:
    """Return a network's arrays by name."""
    fields = network._asdict()
    gates = fields.pop("gates")
    fields |= {f"gates.{name}": array for name, array in gates._asdict().items()}
    # gradients are zero where a Newton step has taken all rows
    pending = np.flatnonzero(network.fresh)
    gradients = fields.pop("gradients")
    fields["gradients.places"] = pending
    fields["gradients.values"] = gradients.reshape(-1, gradients.shape[-1])[pending]
    used = int(network.inputs.max())
    fields["tables"] = network.tables[..., :used]  # without their padding
    fields["curvatures"] = network.curvatures[..., _triangle(used)]
    return {name: np.atleast_1d(np.asarray(value)) for name, value in fields.items()}


def _triangle(size: int) -> NDArray[np.bool_]:
    """Return which numbers of a Hessian in lines of whole vectors (`trees.add_region`) mean something."""
    return np.concatenate([np.arange(padded(j + 1)) <= j for j in range(size)])


def unflat(arrays: Arrays, prefix: str) -> Network:
    """Return the network whose arrays `flat` gave."""
    fields = part(arrays, prefix)
    gates = Gates(*(np.require(fields.pop(f"gates.{name}"), requirements="W") for name in Gates._fields))
    fields = {name: np.require(array, requirements="W") for name, array in fields.items()}
    used = int(fields["inputs"].max())
    tables = np.zeros((*fields["tables"].shape[:2], padded(used)), np.float32)
    triangle = _triangle(used)
    tables[..., :used] = fields["tables"]
    curvatures = np.zeros((*fields["curvatures"].shape[:2], triangle.size))
    curvatures[..., triangle] = fields["curvatures"]
    fields["tables"], fields["curvatures"] = tables, curvatures
    gradients = np.zeros(tables.shape)
    places, values = fields.pop("gradients.places"), fields.pop("gradients.values")
    gradients.reshape(-1, gradients.shape[-1])[places] = values
    fields |= {name: fields[name][0].item() for name in SCALARS} | {"gradients": gradients}
    return Network(**fields, gates=gates)
