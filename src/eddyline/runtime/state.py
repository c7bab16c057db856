"""Saved state: nested dictionaries of NumPy arrays, and of rows that never change.

So it can be written without pickling, read by any version that knows the names, and compared. Rows
that never change need to be written only once, however often the state is saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa

from eddyline.errors import StateError

Array = np.ndarray[Any, np.dtype[Any]]
#: Most rows of one batch.
MOST_ROWS: Final = 1 << 17


@dataclass(frozen=True)
class Rows:
    """Rows that do not change until they are removed.

    Attributes:
        numbers: int64[n] or a range, ascending: a row has the same number in all states of a store,
            and no other row ever has it. New rows have larger numbers than earlier ones.
        part: the rows in [start, end) as an Arrow batch, at most ``MOST_ROWS``; it may be a view of
            the store's memory, valid until the store changes.
        owner: the same object in all states of a store.
        claim: called with the new owner when the rows have been restored.
    """

    numbers: Array | range
    part: Callable[[int, int], pa.RecordBatch]
    owner: object = None
    claim: Callable[[object], None] = lambda owner: None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        """Size of all rows."""
        return sum(batch.nbytes for _, batch in self.batches())

    def batches(self, start: int = 0) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows from ``start``, in batches; each with the place of its first row."""
        for at in range(start, len(self), MOST_ROWS):
            yield at, self.part(at, min(at + MOST_ROWS, len(self)))


State: TypeAlias = Mapping[str, "State | Array | Rows"]


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


def rows(state: State, name: str) -> Rows:
    """The rows ``name``."""
    part = state.get(name)
    if not isinstance(part, Rows):
        raise StateError(f"saved state lacks the rows {name!r}; it holds {sorted(state)}")
    return part


def flatten(state: State, prefix: str = "") -> Iterator[tuple[str, Array | Rows]]:
    """All arrays and rows with slash-separated paths; names are quoted: they may hold anything."""
    for name, part in state.items():
        path = prefix + quote(name, safe="")
        if isinstance(part, (np.ndarray, Rows)):
            yield path, part
        else:
            yield from flatten(part, f"{path}/")


def unflatten(items: Mapping[str, Array | Rows]) -> State:
    """The inverse of ``flatten``."""
    out: dict[str, Any] = {}
    for path, values in items.items():
        *parents, name = path.split("/")
        place = out
        for parent in parents:
            place = place.setdefault(unquote(parent), {})
        place[unquote(name)] = values
    return out
