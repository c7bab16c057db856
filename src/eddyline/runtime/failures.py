"""Rows that an expression cannot take: an overflow, a failed cast, a function that raises.

The value of such a row is NULL, and the row is reported here with the reason. Operators run inside
``collecting``; what they do about a row that failed is theirs to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from eddyline.runtime.columns import Array


@dataclass(frozen=True, slots=True)
class Failure:
    """Rows of one evaluation that failed.

    Attributes:
        columns: what the expression was evaluated over; a ``Batch`` where an operator ran.
        rows: int64[k], their numbers in ``columns``, ascending.
        reasons: string[k].
    """

    columns: Any
    rows: Array
    reasons: pa.Array


_collected: ContextVar[list[Failure] | None] = ContextVar("row failures", default=None)


@contextmanager
def collecting() -> Iterator[list[Failure]]:
    """Collect the failures that are reported inside; outside of any, they are discarded."""
    found: list[Failure] = []
    token = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(token)


def report(columns: Any, rows: Array, reasons: pa.Array) -> None:
    """Report rows for which an expression has no value; see :class:`Failure`."""
    found = _collected.get()
    if found is not None and rows.size:
        found.append(Failure(columns, rows, reasons))
