"""Random edits of a model file, with its checksum computed again."""

import json
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
EXTREMES = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, -1e308, 1e300, 1e100, 1e30, -1e30, 1e-320, 2.0**31]
WHOLE = [-1, -(2**31), 2**31 - 1, 2**30, -(2**63), 2**63 - 1, 0, 1, 7]
TYPES = ["f8", "f4", "f2", "i8", "i4", "i1", "u8", "u1", "?"]
PLAIN: list[Any] = [
    None, True, False, -1, 0, 1, 2, 3, 7, 0.5, 2**31, 2**63, 10**30, 1e308, -1e308, 1e-320, float("nan"),
    float("inf"), "", "x", "auto", "apart", "full", "isotropic", "axis", "mixed", "newton", "ogd", "float64",
    [], [1], [0], [-1], [10**9], [3, 2], [[1]], {}, {"a": 1},
]  # fmt: skip
"""What may stand anywhere in a header instead of what belongs there."""


def some(items: Any, random: np.random.Generator) -> Any:
    """Return one of some items."""
    return items[int(random.integers(len(items)))]


def edit(header: Any, arrays: Arrays, random: np.random.Generator) -> str:
    """Edit a header or arrays # OUT, once to three times; return what was done."""
    done = []
    for _ in range(int(random.integers(1, 4))):
        whole_file = [edit_values, edit_values, edit_values, edit_shape, edit_type, edit_names, edit_header]
        change = some([*whole_file, edit_header, edit_header] if arrays else [edit_header], random)
        done.append(change(header, arrays, random))
    return "; ".join(done)


def edit_values(_: Any, arrays: Arrays, random: np.random.Generator) -> str:
    """Write extreme, random or displaced numbers into an array."""
    name = some(sorted(arrays), random)
    array = np.array(arrays[name])
    if array.size == 0:
        return "nothing"
    flat = array.reshape(-1)
    places = slice(None) if random.random() < 0.3 else random.integers(flat.size, size=random.integers(1, 4))
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f":
            value = (
                some(EXTREMES, random)
                if random.random() < 0.7
                else random.normal() * 10.0 ** random.integers(9)
            )
            flat[places] = np.asarray(value).astype(array.dtype)
        elif array.dtype.kind in "iu":
            value = some(WHOLE, random) if random.random() < 0.7 else int(random.integers(-5, 100))
            flat[places] = np.array(value, np.int64).astype(array.dtype)
        else:
            flat[places] = ~flat[places]
            value = "other"
    arrays[name] = array
    return f"{name}[{places}] = {value}"


def edit_shape(_: Any, arrays: Arrays, random: np.random.Generator) -> str:
    """Give an array another shape."""
    name = some(sorted(arrays), random)
    array = arrays[name]
    other = [
        array.reshape(-1),
        array[None],
        array[:0],
        np.concatenate([array, array]),
        np.zeros((0, 2**40), array.dtype),
    ]
    if array.ndim > 1:
        other += [np.swapaxes(array, 0, -1), array[:, :-1], np.repeat(array, 2, axis=1)]
    if array.size > 1:
        other += [array[1:], array[:1]]
    arrays[name] = np.ascontiguousarray(some(other, random))
    return f"{name} of shape {arrays[name].shape}, not {array.shape}"


def edit_type(_: Any, arrays: Arrays, random: np.random.Generator) -> str:
    """Give an array another type."""
    name, kind = some(sorted(arrays), random), some(TYPES, random)
    with np.errstate(all="ignore"):
        arrays[name] = arrays[name].astype(kind)
    return f"{name} as {kind}"


def edit_names(_: Any, arrays: Arrays, random: np.random.Generator) -> str:
    """Drop, add, rename or exchange arrays."""
    name, other, what = some(sorted(arrays), random), some(sorted(arrays), random), random.integers(4)
    if what == 0:
        del arrays[name]
        return f"without {name}"
    if what == 1:
        new = some(["more", f"{name}.more", "network.9.tables", "first.X", "seen"], random)
        arrays[new] = arrays[name]
        return f"with {new}"
    if what == 2:
        arrays[name + "x"] = arrays.pop(name)
        return f"{name} renamed"
    arrays[name], arrays[other] = arrays[other], arrays[name]
    return f"{name} and {other} exchanged"


def edit_header(header: Any, _: Arrays, random: np.random.Generator) -> str:
    """Write something else into a header, or take something away."""
    place, path = header, []
    while True:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return "nothing"
        key = some(keys, random)
        path.append(str(key))
        inner = place[key]
        if isinstance(inner, dict | list) and len(inner) and random.random() < 0.85:
            place = inner
            continue
        if isinstance(place, dict) and random.random() < 0.15:
            del place[key]
            return f"without {'/'.join(path)}"
        place[key] = json.loads(json.dumps(some(PLAIN, random)))
        if isinstance(inner, int) and not isinstance(inner, bool) and random.random() < 0.5:
            place[key] = inner + int(some([-1, 1, 2, 100, -100], random))
        return f"{'/'.join(path)} = {place[key]!r}"
