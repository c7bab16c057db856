"""All that a query has emitted, against the oracle, at every instant."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from eddyline.testing.changes import check_changes, check_snapshots
from eddyline.testing.keys import group_key
from eddyline.testing.oracle import Oracle
from eddyline.testing.reading import read_query


def check_history(
    oracle: Oracle, sql: str, changes: pa.Table, *, first_us: int, until_us: int
) -> None:
    """Check the changes of a query from the first row of any stream up to an instant.

    Args:
        oracle: knows all rows that were accepted.
        sql: the SELECT of the query, with its EMIT clause.
        changes: everything the query has emitted, in order.
        first_us: the smallest timestamp of any accepted row.
        until_us: where the clock stands.

    Raises:
        WrongAnswer: an instant at which the changes do not add up to the answer.
    """

    def answer_at(tau: int) -> list[tuple[Any, ...]]:
        return oracle.answer(sql, tau)

    reading = read_query(sql)
    if reading.mode == "snapshot":
        assert reading.every_us is not None
        every = reading.every_us
        check_snapshots(changes, answer_at, every_us=every, first_us=first_us, until_us=until_us)
    else:
        instants = oracle.instants(sql, until_us)
        key = group_key(sql, oracle.views)
        check_changes(changes, answer_at, instants, mode=reading.mode, key=key)
