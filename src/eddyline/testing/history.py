"""Compares the whole output of a query with the oracle."""

from __future__ import annotations

import pyarrow as pa

from eddyline.testing.changes import (
    WrongAnswer,
    changes_of,
    check_changes,
    check_snapshots,
    compare,
)
from eddyline.testing.keys import group_key
from eddyline.testing.oracle import Oracle
from eddyline.testing.reading import read_query
from eddyline.types import BEGINNING


def check_history(
    oracle: Oracle,
    sql: str,
    changes: pa.Table,
    *,
    first_us: int,
    until_us: int,
    since_us: int = BEGINNING,
) -> None:
    """Check the changes of a query from the first row of any stream up to an instant.

    Args:
        oracle: over all accepted rows.
        sql: the SELECT of the query, with its EMIT clause.
        changes: all changes of the query, in order.
        first_us: the smallest accepted timestamp.
        until_us: the clock, now or when the query was dropped.
        since_us: instant from which on the query has all rows, if it was added later.

    Raises:
        WrongAnswer: at some instant the changes do not yield the answer.
    """
    reading = read_query(sql)
    if reading.mode == "final":
        found = [((c.ts_us, *c.row)) for c in changes_of(changes) if c.op == "+"]
        expected = [(e, *row) for e, row in oracle.finals(sql, until_us) if e > since_us]
        times = [ts for ts, *_ in found]
        if times != sorted(times) or len(found) < changes.num_rows:
            raise WrongAnswer("EMIT FINAL emits '+' alone, in the order of time")
        compare(expected, [f for f in found if f[0] > since_us], "in all final results")
        return
    if reading.mode == "snapshot":
        assert reading.every_us is not None
        check_snapshots(
            changes,
            lambda tick: oracle.answer(sql, tick),
            every_us=reading.every_us,
            offset_us=reading.offset_us,
            first_us=first_us,
            until_us=until_us,
            since_us=since_us,
        )
    else:
        instants = [t for t in oracle.instants(sql, until_us) if t >= since_us]
        if first_us <= since_us <= until_us:
            instants.append(since_us)
        answers = oracle.answers(sql, instants)
        key = group_key(sql, oracle.views)
        check_changes(changes, answers.__getitem__, instants, mode=reading.mode, key=key)
