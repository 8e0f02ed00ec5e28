"""Single rows by the names of their features: dicts, and rows of data frames."""

from collections.abc import Mapping
from typing import Any


def _of_frame(x: Any) -> bool:
    """Return whether this is a row of a data frame."""
    return hasattr(x, "to_dict") and getattr(x, "ndim", 0) == 1


def with_names(x: Any) -> tuple[list[Any] | None, Any]:
    """Return the names and the values of a row that nothing was learnt before: a dict's, or a named row's."""
    if _of_frame(x) and all(isinstance(name, str) for name in x.index):
        x = x.to_dict()
    return (list(x), list(x.values())) if isinstance(x, Mapping) else (None, x)


def by_name(x: Any, names: Any, what: str = "x") -> Any:
    """Return a dict as it is, and a named row as one; whatever else has no names is returned, too.

    names: of the features, None where there are none; what: the row is called in an error.
    """
    if names is not None and _of_frame(x):
        x = x.to_dict()
    if isinstance(x, Mapping) and names is None:
        raise ValueError(
            f"{what} is a dict, but this model was fitted without feature names: give a 1-D array"
        )
    return x


def complete(x: Mapping[Any, Any], names: Any) -> bool:
    """Return whether a row has all features, and no others."""
    return len(x) == len(names) and all(name in x for name in names)


def in_order(x: Any, names: Any, what: str = "x") -> Any:
    """Return the values of a single row in the order of the features, all of which it has to have.

    As `by_name`; a dict may have no others.
    """
    x = by_name(x, names, what)
    if not isinstance(x, Mapping):
        return x
    missing, unknown = [n for n in names if n not in x], [n for n in x if n not in set(names)]
    if missing or unknown:
        lacks = [f"lacks the features {missing}"] if missing else []
        has = [f"has the unknown features {unknown}"] if unknown else []
        raise ValueError(f"{what} " + " and ".join(lacks + has))
    return [x[name] for name in names]
