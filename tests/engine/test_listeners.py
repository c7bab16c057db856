"""Callbacks and iterators that get the changes of a query."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from itertools import islice
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Change, Engine, Query

DDL = "CREATE STREAM {} (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts"


def engine() -> tuple[Engine, Query]:
    made = Engine()
    made.sql(DDL.format("s"))
    return made, made.query("SELECT x FROM s [RANGE 10 SECONDS] WHERE x > 1", name="q")


def row(second: int, x: int) -> dict[str, Any]:
    return {"ts": datetime(2026, 1, 1, second=second, tzinfo=UTC), "x": x}


def test_a_callback_gets_each_change() -> None:
    made, query = engine()
    found: list[Change] = []
    listener = query.subscribe(found.append)
    changes = made.push_many("s", [row(0, 1), row(1, 2), row(2, 3)])
    assert changes["q"].num_rows == 2, "the caller has them, too"
    begin, end = (datetime(2026, 1, 1, second=s, tzinfo=UTC) for s in (1, 11))
    assert found == [
        Change("+", begin, end, {"x": 2}),
        Change("+", begin.replace(second=2), end.replace(second=12), {"x": 3}),
    ]
    listener.close()
    made.push("s", row(3, 4))
    assert len(found) == 2


def test_a_callback_gets_a_table_per_call() -> None:
    made, query = engine()
    found: list[pa.Table] = []
    query.subscribe(found.append, tables=True)
    assert made.push("s", row(0, 1))["q"].num_rows == 0
    changes = made.push_many("s", [row(1, 2), row(2, 3)])
    assert [t.to_pylist() for t in found] == [changes["q"].to_pylist()]


def test_changes_of_time_and_of_stream_are_delivered() -> None:
    made = Engine()
    made.sql(DDL.format("s"))
    query = made.query("SELECT COUNT(*) AS n FROM s [RANGE 10 SECONDS] EMIT CHANGES", name="n")
    found: list[tuple[str, int]] = []
    query.subscribe(lambda change: found.append((change.op, change.row["n"])))
    yielded = list(made.stream([{"s": [row(0, 1)]}, {"s": row(1, 1)}]))
    assert [op + str(n) for op, n in found] == [
        f"{c['_op']}{c['n']}" for _, table in yielded for c in table.to_pylist()
    ]
    del found[:]
    ended = made.advance("2026-01-01T00:01:00")["n"]
    assert found == [(c["_op"], c["n"]) for c in ended.to_pylist()] != []


def test_a_callback_may_call_the_engine() -> None:
    made, query = engine()
    made.sql(DDL.format("alerts"))
    above = made.query("SELECT x FROM alerts [NOW]", name="above")
    found: list[str] = []
    query.subscribe(lambda c: made.push("alerts", {"ts": c.ts, "x": c.row["x"]}))
    query.subscribe(lambda c: found.append(f"q {c.row['x']}"))
    above.subscribe(lambda c: found.append(f"above {c.row['x']}"))
    made.push_many("s", [row(0, 2), row(1, 3)])
    assert found == ["above 2", "above 3", "q 2", "q 3"]


def test_an_error_of_a_callback_is_logged_and_stops_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made, query = engine()
    found: list[Change] = []
    query.subscribe(lambda change: change.row["y"])
    query.subscribe(found.append)
    with caplog.at_level(logging.ERROR):
        assert made.push("s", row(0, 2))["q"].num_rows == 1
    assert len(found) == 1
    assert "a callback of query 'q' failed" in caplog.text
    assert "KeyError: 'y'" in caplog.text


def test_a_listener_without_a_callback_is_iterated_over() -> None:
    made, query = engine()
    with query.subscribe() as changes:
        feeder = Thread(target=lambda: [made.push("s", row(i, i)) for i in range(5)])
        feeder.start()
        found = [change.row["x"] for change in islice(changes, 3)]
        feeder.join()
    assert found == [2, 3, 4]
    assert list(changes) == [], "it is closed"


def test_async_for_ends_when_the_query_is_dropped() -> None:
    made, query = engine()

    async def read() -> list[int]:
        return [change.row["x"] async for change in query]

    async def run() -> list[int]:
        task = asyncio.create_task(read())
        await asyncio.sleep(0)
        await asyncio.to_thread(made.push_many, "s", [row(0, 2), row(1, 3)])
        await asyncio.sleep(0)
        made.push("s", row(2, 4))
        made.drop("q")
        return await asyncio.wait_for(task, 10)

    assert asyncio.run(run()) == [2, 3, 4]


def test_threads_deliver_in_the_order_of_the_engine() -> None:
    made = Engine()
    made.sql(DDL.format("s"))
    query = made.query("SELECT COUNT(*) AS n FROM s [RANGE 1 HOUR]", name="n")
    found: list[int] = []
    query.subscribe(lambda change: found.append(change.row["n"]))

    def push() -> None:
        for _ in range(200):
            made.push("s", row(0, 1))

    threads = [Thread(target=push) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == list(range(601)), "0 is the first answer"
