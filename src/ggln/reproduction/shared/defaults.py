"""The defaults of `GGLNRegressor`, as experiments and their jobs know them."""

from typing import Any

from ggln.estimators.regressor import GGLNRegressor


def default_setting() -> dict[str, Any]:
    """Return what `GGLNRegressor()` learns with, spelt out.

    When the defaults change, a job with the old ones is then not taken for one with the new.
    """
    setting: dict[str, Any] = GGLNRegressor().get_params()
    return {name: v for name, v in setting.items() if name not in ("random_state", "n_jobs", "verbose")}
