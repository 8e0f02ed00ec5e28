"""`GGLNRegressor` without some of what it is made of, for experiments that ask what each part is worth."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ggln.engine.newton.settings import Settings
from ggln.estimators.regressor import GGLNRegressor

WITHOUT = "without"
"""Beside the constructor's arguments in a setting: the names of what is left out."""


class Ablated(GGLNRegressor):
    """A regressor that leaves out parts that no argument switches off. `Settings` knows their names."""

    without: tuple[str, ...] = ()

    def _exact_settings(self, shape: tuple[int, int], outputs: int) -> Settings:
        return dataclasses.replace(super()._exact_settings(shape, outputs), without=self.without)


def build(setting: Mapping[str, Any], seed: int) -> GGLNRegressor:
    """Return a regressor with a setting's arguments, on one thread, and without what it says."""
    if WITHOUT not in setting:
        return GGLNRegressor(**setting, random_state=seed, n_jobs=1)
    arguments = {name: value for name, value in setting.items() if name != WITHOUT}
    model = Ablated(**arguments, random_state=seed, n_jobs=1)
    model.without = tuple(setting[WITHOUT])
    return model
