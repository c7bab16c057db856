"""Rows that an expression cannot take: an overflow, a failed cast, a function that raises.

The value of such a row is NULL, and the row is reported with the reason to the innermost
``collecting`` around the evaluation. What becomes of the row is up to the operator: a filter and a
join drop it, as NULL is not TRUE; operators for which NULL is a value like any other leave it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.runtime.stores.columns import Array

#: In ``Failure.bits``: all queries of the flow.
EVERY_QUERY: Final = -1


@dataclass(frozen=True, slots=True)
class Failure:
    """Rows of one evaluation that failed.

    Attributes:
        columns: what the expression was evaluated over; a ``Batch`` where an operator ran.
        rows: int64[k], their numbers in ``columns``.
        reasons: string[k].
        reads: the columns that the expression reads, by name and number.
        bits: int64[k]: in a flow, the query for which each row failed; a row may occur once per
            query. None: for all queries that read the operator's output.
    """

    columns: Any
    rows: Array
    reasons: pa.Array
    reads: tuple[tuple[str, int], ...] = ()
    bits: Array | None = None

    def take(self, places: Array) -> Failure:
        """Some of the failed rows, by place in ``rows``; a place may occur several times."""
        reasons = self.reasons.take(pa.array(places))
        bits = None if self.bits is None else self.bits[places]
        return replace(self, rows=self.rows[places], reasons=reasons, bits=bits)

    def of_queries(self, places: Array, bits: Array) -> Failure:
        """Failed rows, by place in ``rows``, each with the bit of a query for which it failed."""
        return replace(self.take(places), bits=bits)


#: Where failures are reported to; None: they are discarded.
collected: Final[ContextVar[list[Failure] | None]] = ContextVar("row failures", default=None)


class collecting:
    """Collects the failures that are reported inside; outside of any, they are discarded. Not a
    generator, which takes five calls per use: expressions of each chunk are computed inside.
    """

    def __enter__(self) -> list[Failure]:
        found: list[Failure] = []
        self._token = collected.set(found)
        return found

    def __exit__(self, *_: object) -> None:
        collected.reset(self._token)


def report(failure: Failure) -> None:
    """Report rows for which an expression has no value."""
    found = collected.get()
    if found is not None and failure.rows.size:
        found.append(failure)


def failed_rows(failures: Sequence[Failure], count: int) -> Array:
    """bool[count]: the rows of a batch that failed."""
    failed = np.zeros(count, np.bool_)
    for failure in failures:
        failed[failure.rows] = True
    return failed
