"""The columns of a stream by which drop boxes decide on a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

#: Their number.
_MOST: Final = 3


def drawn_columns(types: Sequence[pa.DataType]) -> list[int]:
    """The columns that decide on a row, by the types of all: timestamps, then integers, other types
    of fixed size, and if there are too few, texts and nested values.

    >>> drawn_columns([pa.string(), pa.float64(), pa.int64(), pa.timestamp("us")])
    [3, 2, 1]
    """

    def rank(i: int) -> int:
        if pa.types.is_timestamp(types[i]):
            return 0
        if pa.types.is_integer(types[i]):
            return 1
        return 2 if pa.types.is_primitive(types[i]) else 3

    return sorted(range(len(types)), key=rank)[:_MOST]
