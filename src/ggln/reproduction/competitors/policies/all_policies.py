"""The competitors by name."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggln.reproduction.competitors.policies import batch
from ggln.reproduction.competitors.policies.linear import LinFullPost

NEURAL = (
    "BBAlphaDiv",
    "BBB",
    "BootRMS",
    "Dropout",
    "NeuralGreedy",
    "NeuralLinear",
    "ParamNoise",
    "constSGD",
)
NAMES = ("LinFullPost", *NEURAL)
BLOCK = dict.fromkeys(NAMES, 10) | {"LinFullPost": 25}
"""Seeds that play in lock-step: a block is kept when all of its seeds have finished."""


def method(name: str) -> Any:
    """Return one of the policies that need jax."""
    from ggln.reproduction.competitors.policies import bayesian, neural, neural_linear

    return {
        "BBAlphaDiv": bayesian.BB_ALPHA_DIV,
        "BBB": bayesian.BBB,
        "BootRMS": neural.BOOT_RMS,
        "Dropout": neural.DROPOUT,
        "NeuralGreedy": neural.NEURAL_GREEDY,
        "NeuralLinear": neural_linear.NEURAL_LINEAR,
        "ParamNoise": neural.PARAM_NOISE,
        "constSGD": neural.CONST_SGD,
    }[name]


def play(name: str, episodes: batch.Batch) -> tuple[NDArray[np.intp], float]:
    """Return the arms [seeds, steps] that a policy plays, and the processor's seconds, compilation apart."""
    if name == "LinFullPost":
        start = time.process_time()
        policy = LinFullPost(episodes.seeds, episodes.n_arms, episodes.contexts.shape[2])
        arms = batch.play(policy, episodes)
        return arms, time.process_time() - start
    from ggln.reproduction.competitors.policies import neural

    return neural.play(method(name), episodes)
