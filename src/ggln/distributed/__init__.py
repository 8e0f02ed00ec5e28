"""Tables whose rows lie on many workers. Needs `pip install ggln[dask]`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggln.distributed.regressor import DaskGGLNRegressor

__all__ = ["DaskGGLNRegressor"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ggln.distributed' has no attribute {name!r}")
    from ggln.distributed import regressor
    from ggln.extras import require

    require("distributed", name)
    return getattr(regressor, name)


def __dir__() -> list[str]:
    return __all__
