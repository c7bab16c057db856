"""What the readers of an operator ask for: rows that none of them accepts need not be made.

Source: the feedback of Yang and Papadias 2008, section 3, whose consumers tell producers which
results they do not need; here a condition says so for all rows, as long as the readers are the
same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from eddyline.runtime.predicates.cells import keys_of
from eddyline.runtime.stores.columns import Array


class Bound(NamedTuple):
    """Rows whose value of a column is on one side of a value.

    Attributes:
        column: its number. above: whether rows are accepted from the value on, else below it.
        key: the value as an int or float, as of ``predicates/cells.py``. NULL is not accepted; NaN
            may be.
    """

    column: int
    above: bool
    key: Any

    def accepts(self, values: pa.Array) -> Array:
        """bool[n]: which values of the column may be accepted."""
        keys, _, valid = keys_of(values)
        accepted: Array = ~(keys < self.key) if self.above else ~(keys >= self.key)
        return accepted if valid is None else accepted & valid


#: Rows that one of these accepts.
Screen: TypeAlias = tuple[Bound, ...]


def united(screens: Iterable[Screen | None]) -> Screen | None:
    """What one of several readers accepts; None: everything."""
    loosest: dict[tuple[int, bool], Bound] = {}
    for screen in screens:
        if screen is None:
            return None
        for bound in screen:
            side = bound.column, bound.above
            held = loosest.get(side)
            if held is None or (bound.key < held.key if bound.above else bound.key > held.key):
                loosest[side] = bound
    return tuple(loosest.values())
