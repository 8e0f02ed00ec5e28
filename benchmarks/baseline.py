"""What the engine is measured against: Algorithm 1 as a plain compiled loop on one core.

It takes sample after sample through layer after layer and neuron after neuron, in single precision, with
the same compiler and the same mathematical flags as the engine. Contexts are computed beforehand and not
counted, and neither switching nor projections beyond a clip take any of its time.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.workloads import clustered

NUMBER = np.float32
RATE, LEAST, MOST, EDGE, HEAVIEST = (NUMBER(x) for x in (1e-4, 1e-3, 1e2, 5.0, 1e3))


@numba.njit(fastmath={"contract", "reassoc", "nsz", "arcp"}, nogil=True, error_model="numpy")
def learn(tables: Any, contexts: Any, features: Any, targets: Any) -> None:
    """One pass. tables: list of [K, 2**s, inputs] # OUT; contexts: [L, n, K]; features: [n, d]."""
    one, two = NUMBER(1), NUMBER(2)
    widest = 0
    for table in tables:
        widest = max(widest, table.shape[2], table.shape[0])
    a, b = np.empty(widest, NUMBER), np.empty(widest, NUMBER)
    means, precisions = np.empty(widest, NUMBER), np.empty(widest, NUMBER)
    for t in range(targets.size):
        inputs = features.shape[1]
        means[:inputs], precisions[:inputs] = features[t], one
        for layer in range(len(tables)):
            table = tables[layer]
            for j in range(inputs):
                a[j], b[j] = precisions[j], precisions[j] * means[j]
            a[inputs], b[inputs], a[inputs + 1], b[inputs + 1] = one, -EDGE, one, EDGE
            for k in range(table.shape[0]):
                row = table[k, contexts[layer, t, k]]
                total = weighted = NUMBER(0)
                for j in range(row.size):
                    total += row[j] * a[j]
                    weighted += row[j] * b[j]
                total = min(max(total, LEAST), MOST)
                mean = min(max(weighted / total, -EDGE), EDGE)
                means[k], precisions[k] = mean, total
                slope = RATE * ((targets[t] - mean) * (targets[t] + mean) - one / total)
                pull = RATE * two * (targets[t] - mean)
                for j in range(row.size):
                    row[j] = min(max(row[j] - slope * a[j] + pull * b[j], NUMBER(0)), HEAVIEST)
            inputs = table.shape[0]


def prepare(layer_sizes: tuple[int, ...], context_dim: int, rows: int, features: int) -> tuple[Any, ...]:
    """Return the arguments of `learn` for the benchmark's workload."""
    X, y = clustered(rows, features)
    random = np.random.default_rng(1)
    tables, contexts, inputs = numba.typed.List(), [], features
    for size in layer_sizes:
        normals = random.standard_normal((size, context_dim, features))
        bits = np.einsum("tf,ksf->tks", X, normals) >= 0
        contexts.append(bits @ (1 << np.arange(context_dim)))
        tables.append(np.full((size, 2**context_dim, inputs + 2), 1 / (inputs + 2), NUMBER))
        inputs = size
    stacked: NDArray[np.uint16] = np.array(contexts, np.uint16)
    return tables, stacked, X.astype(NUMBER), y.astype(NUMBER)
