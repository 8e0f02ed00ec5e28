"""The paper's control: a perceptron that undoes noise (Appendix H.4). Needs JAX and Optax."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln import extras

FloatArray = NDArray[np.float64]
SIZES = (64, 32)


def train(
    clean: FloatArray, noisy: FloatArray, learning_rate: float, batch: int, seed: int
) -> Callable[[FloatArray], FloatArray]:
    """Learn noisy -> clean in one pass with Adam, in batches; return the field x -> mu(x).

    Outputs are the mean and the logarithm of one variance; the loss is the Gaussian log-likelihood.
    """
    jax, optax = extras.require("jax"), extras.require("optax")
    jnp = jax.numpy
    widths = (clean.shape[1], *SIZES, clean.shape[1] + 1)
    keys = jax.random.split(jax.random.PRNGKey(seed), len(widths) - 1)
    parameters = [
        (jax.random.normal(key, (a, b)) * jnp.sqrt(2.0 / a), jnp.zeros(b))
        for key, a, b in zip(keys, widths[:-1], widths[1:], strict=True)
    ]

    def forward(parameters: Any, x: Any) -> tuple[Any, Any]:
        for weights, bias in parameters[:-1]:
            x = jax.nn.relu(x @ weights + bias)
        weights, bias = parameters[-1]
        out = x @ weights + bias
        return out[:, :-1], jnp.clip(out[:, -1], -12.0, 6.0)

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        mean, log_variance = forward(parameters, x)
        squares = ((y - mean) ** 2).sum(axis=1)
        return jnp.mean(0.5 * (squares * jnp.exp(-log_variance) + y.shape[1] * log_variance))

    optimiser = optax.adam(learning_rate)

    def step(state: Any, rows: Any) -> tuple[Any, None]:
        parameters, moments = state
        slopes = jax.grad(loss)(parameters, *rows)
        updates, moments = optimiser.update(slopes, moments)
        return (optax.apply_updates(parameters, updates), moments), None

    whole = len(clean) // batch * batch
    batches = tuple(
        jnp.asarray(part[:whole].reshape(-1, batch, part.shape[1]), jnp.float32) for part in (noisy, clean)
    )
    (parameters, _), _ = jax.lax.scan(step, (parameters, optimiser.init(parameters)), batches)
    field = jax.jit(lambda x: forward(parameters, x)[0])
    return lambda x: np.asarray(field(jnp.asarray(x, jnp.float32)), np.float64)
