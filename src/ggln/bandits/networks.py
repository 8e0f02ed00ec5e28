"""From the parameters of a policy to the settings of its arms' networks."""

from typing import Any

from ggln.bandits import logs
from ggln.engine.gradient.build import Settings, bernoulli_settings
from ggln.estimators.regressor import GGLNRegressor

PARAMETERS = (
    "layer_sizes",
    "context_dim",
    "n_estimators",
    "gating",
    "gating_bias",
    "base_model",
    "base_variance",
    "bias_range",
    "bias_variance",
    "learning_rate",
    "step",
    "projection",
    "barrier",
    "weight_range",
    "min_variance",
    "max_variance",
    "aggregation",
    "standardize",
    "n_jobs",
)
"""Parameters that mean what they mean to `GGLNRegressor`."""
SHARED = (
    "layer_sizes",
    "context_dim",
    "n_estimators",
    "gating",
    "gating_bias",
    "learning_rate",
    "step",
    "weight_range",
    "aggregation",
    "standardize",
    "seed",
)
"""Settings that Bernoulli networks have, too."""
GAUSSIAN, BERNOULLI = (3e-2, (0.0, 1e3)), (1e-1, (-200.0, 200.0))
"""Learning rate and range of the weights."""
LEAST = 0.01
"""Probabilities are kept this far from 0 and 1: an arm is never written off for good by its first rewards."""


def regressor(parameters: dict[str, Any], seed: int) -> GGLNRegressor:
    """Return a regressor with the settings of an arm's networks: it checks them, and knows what they mean."""
    values = {name: parameters[name] for name in PARAMETERS}
    values["step"] = "capped" if values["step"] == "newton" else values["step"]  # of trees, and for checks
    rate, span = GAUSSIAN if parameters["reward"] == "gaussian" else BERNOULLI
    values["learning_rate"] = rate if values["learning_rate"] is None else values["learning_rate"]
    values["weight_range"] = span if values["weight_range"] is None else values["weight_range"]
    return GGLNRegressor(
        **values, covariance="isotropic", epochs=1, folds=0, anneal=False, shuffle=False, random_state=seed
    )


def settings(parameters: dict[str, Any], features: int, seed: int) -> Settings:
    """Return the settings of one arm's networks for contexts of so many features."""
    gaussian: Settings = regressor(parameters, seed)._settings((0, features), 1)
    if parameters["reward"] == "gaussian":
        return gaussian
    outputs = 1 if parameters["reward"] == "bernoulli" else 2 ** parameters["depth"] - 1
    shared = {name: getattr(gaussian, name) for name in SHARED}
    return bernoulli_settings(**shared, features=features, outputs=outputs, min_probability=LEAST)


def reward_range(parameters: dict[str, Any]) -> tuple[float, float] | None:
    """Return what is mapped to [0, 1], None if rewards are to be standardised."""
    if parameters["reward_range"] is not None:
        return logs.check_range(parameters["reward_range"])
    return None if parameters["reward"] == "gaussian" else (0.0, 1.0)


def check(parameters: dict[str, Any]) -> None:
    """Raise ValueError where parameters, each of them valid, do not go together."""
    regressor(parameters, 0)._check_parameters()
    reward, base_model = parameters["reward"], parameters["base_model"]
    if parameters["pseudo_count"] == "leverage" and (reward, base_model) != ("gaussian", "linear"):
        raise ValueError(
            'pseudo_count="leverage" reads the regression of base_model="linear", which only Gaussian '
            f"rewards have, got base_model={base_model!r} and reward={reward!r}"
        )
    span = reward_range(parameters)
    if reward == "bernoulli" and span != (0.0, 1.0):
        raise ValueError(
            'reward_range must be None or (0, 1) with reward="bernoulli", whose rewards are 0 or 1, '
            f"got {parameters['reward_range']!r}"
        )
