"""Saved state: nested dictionaries of NumPy arrays, nothing else.

So it can be written without pickling, read by any version that knows the names, and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, cast
from urllib.parse import quote, unquote

import numpy as np

from eddyline.errors import StateError

Array = np.ndarray[Any, np.dtype[Any]]
State: TypeAlias = Mapping[str, "State | Array"]


def nested(state: State, name: str) -> State:
    """The sub-dictionary ``name``, which is empty when nothing was saved under it."""
    part = state.get(name, {})
    if not isinstance(part, Mapping):
        raise StateError(f"saved state: {name!r} is an array where a group was expected")
    return part


def array(state: State, name: str) -> Array:
    """The array ``name``."""
    part = state.get(name)
    if not isinstance(part, np.ndarray):
        raise StateError(f"saved state lacks the array {name!r}; it holds {sorted(state)}")
    return part


def arrays(state: State, name: str) -> dict[str, Array]:
    """The arrays of the sub-dictionary ``name``."""
    return cast(dict[str, Array], dict(nested(state, name)))


def flatten(state: State, prefix: str = "") -> Iterator[tuple[str, Array]]:
    """All arrays with slash-separated paths; names are quoted, so they may hold anything."""
    for name, part in state.items():
        path = prefix + quote(name, safe="")
        if isinstance(part, np.ndarray):
            yield path, part
        else:
            yield from flatten(part, f"{path}/")


def unflatten(items: Mapping[str, Array]) -> State:
    """The inverse of ``flatten``."""
    out: dict[str, Any] = {}
    for path, values in items.items():
        *parents, name = path.split("/")
        place = out
        for parent in parents:
            place = place.setdefault(unquote(parent), {})
        place[unquote(name)] = values
    return out
