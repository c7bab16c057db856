"""Fifty windows' worth of rows: what an engine keeps stays within a few windows.

Measured by what it would save: every array of every store and operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.physical.flows import Executor
from eddyline.runtime.state import flatten
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.testing import engine_with

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v DOUBLE, t STRING) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, w BIGINT) TIMESTAMP BY ts
"""
WINDOW = 1000  # rows, and milliseconds: a row per millisecond
WINDOWS = 50
QUERIES: dict[str, list[str]] = {
    "range": ["SELECT k FROM a [RANGE 1 SECOND] EMIT CHANGES"],
    "rows": ["SELECT k FROM a [ROWS 1000] EMIT CHANGES"],
    "partition": ["SELECT v FROM a [PARTITION BY b5 ROWS 50]"],
    "partition, rows and range of one stream": [
        "SELECT v FROM a [PARTITION BY b5 ROWS 5] EMIT CHANGES",
        "SELECT v FROM a [ROWS 900]",
        "SELECT v FROM a [RANGE 1 SECOND]",
    ],
    "join": ["SELECT a.v, b.w FROM a [RANGE 1 SECOND], b [RANGE 500 MILLISECONDS] WHERE a.k = b.k"],
    "join of three": [
        "SELECT a.v FROM a [RANGE 1 SECOND], b [RANGE 900 MILLISECONDS], a [RANGE 800 MILLISECONDS]"
        " AS c WHERE a.k = b.k AND b.k = c.k"
    ],
    "join with a spool": [
        "SELECT g.n, b.w FROM (SELECT k, COUNT(*) AS n FROM a [RANGE 1 SECOND] GROUP BY k) AS g,"
        " b [RANGE 1 SECOND] WHERE g.k = b.k"
    ],
    "rows and range": [
        "SELECT a.k, COUNT(*) FROM a [ROWS 500], b [RANGE 1 SECOND] WHERE a.k = b.k GROUP BY a.k"
    ],
    "distinct": ["SELECT DISTINCT k, t FROM a [RANGE 1 SECOND]"],
    "distinct changes": ["SELECT DISTINCT k FROM a [RANGE 1 SECOND] EMIT CHANGES"],
    "groups that come and go": ["SELECT k, COUNT(*), SUM(v) FROM a [RANGE 1 SECOND] GROUP BY k"],
    "extremes": [
        "SELECT b5, MIN(v), MAX(t), COUNT(DISTINCT k) FROM a [RANGE 1 SECOND] GROUP BY b5"
    ],
    "pattern": [
        "SELECT k, n FROM a MATCH_RECOGNIZE (PARTITION BY k, t ORDER BY ts MEASURES COUNT(*) AS n "
        "PATTERN (A B* C) WITHIN INTERVAL 1 SECOND DEFINE A AS v > 1000, B AS B.v > A.v AND "
        "B.t = A.t, C AS v < 100) AS m"
    ],
    "pattern of all rows": [
        "SELECT * FROM a MATCH_RECOGNIZE (ORDER BY ts ALL ROWS PER MATCH AFTER MATCH SKIP TO NEXT "
        "ROW PATTERN (A B*? C) WITHIN INTERVAL 50 MILLISECONDS DEFINE A AS v > PREV(v), C AS v < "
        "PREV(v, 3)) AS m"
    ],
    "union": ["SELECT k FROM a [RANGE 1 SECOND] UNION ALL SELECT k FROM b [ROWS 900] EMIT CHANGES"],
    "snapshots": ["SELECT k, v FROM a [RANGE 1 SECOND] EMIT SNAPSHOT EVERY 1 SECOND"],
    "snapshots that are rare": ["SELECT k FROM a [RANGE 1 SECOND] EMIT SNAPSHOT EVERY 1 HOUR"],
    "snapshots of rows": ["SELECT v FROM a [ROWS 900] EMIT SNAPSHOT EVERY 500 MILLISECONDS"],
}
#: Those that run in flows.
SHARED: dict[str, list[str]] = {
    "shared filters": ["SELECT k FROM a WHERE v > 7", "SELECT k FROM a WHERE v < 7"],
    "shared filters, one with a window": [
        "SELECT k FROM a WHERE v > 7",
        "SELECT v FROM a [RANGE 1 SECOND] WHERE v < 7",
    ],
    "shared join": [
        "SELECT a.v, b.w FROM a [RANGE 1 SECOND], b [RANGE 5 SECONDS] WHERE a.k = b.k",
        "SELECT a.v, b.w FROM b [RANGE 1 SECOND], a [RANGE 2 SECONDS] WHERE a.k = b.k AND w > 3",
    ],
    "join of three": QUERIES["join of three"],
}


def rows() -> Iterator[dict[str, pa.Table]]:
    """Half a window a batch; keys drift, so that values and groups come and go."""
    step = WINDOW // 2
    for start in range(0, WINDOWS * WINDOW, step):
        at = np.arange(start, start + step)
        a = {"ts": 1000 * at, "k": at // 4, "v": at * 7919 % 10_007 * 1.5, "b5": at % 5}
        texts = pa.array([f"a long prefix, then {i}" for i in at])
        yield {
            "a": pa.table({**a, "t": texts}),
            "b": pa.table({"ts": 1000 * at, "k": at // 4, "w": at}),
        }


def kept_bytes(engine: Engine) -> int:
    states = [o.state() for o in engine.parts.queries.execution.graph] + [
        s.state() for s in engine.parts.inputs.stems.values()
    ]
    return sum(values.nbytes for state in states for _, values in flatten(state))


def stores(thing: Any, seen: set[int]) -> Iterator[RowStore]:
    """Every row store that can be reached from an operator."""
    if id(thing) in seen or not type(thing).__module__.startswith("eddyline.runtime"):
        return
    seen.add(id(thing))
    if isinstance(thing, RowStore):
        yield thing
    for part in vars(thing).values() if hasattr(thing, "__dict__") else ():
        for item in part if isinstance(part, (list, tuple)) else (part,):
            yield from stores(item, seen)


@pytest.mark.parametrize(
    "executor, kind", [*(("tree", k) for k in QUERIES), *(("eddy", k) for k in SHARED)]
)
def test_bounded_memory(executor: Executor, kind: str) -> None:
    engine = engine_with(chunk_rows=256, executor=executor)
    engine.sql(DDL.replace("t STRING", "t STRING, b5 BIGINT"))
    for number, sql in enumerate((QUERIES if executor == "tree" else SHARED)[kind]):
        engine.query(sql, name=f"q{number}")
    sizes = []
    for batch in rows():
        engine.process(batch)
        sizes.append(kept_bytes(engine))
    early, later = max(sizes[4:20]), max(sizes[-16:])
    assert later <= 1.5 * early, f"{early} bytes after ten windows, {later} after fifty"
    for operator in engine.parts.queries.execution.graph:
        assert operator.kept() <= 8 * WINDOW, operator
        for store in stores(operator, set()):
            assert len(store) <= 8 * WINDOW, (operator, store)
            assert store.lane("ts").size <= 64 * WINDOW, (operator, store)


@pytest.mark.parametrize("kind", ["distinct", "groups that come and go", "extremes", "join"])
def test_nothing_is_kept_when_all_rows_have_expired(kind: str) -> None:
    engine = Engine()
    engine.sql(DDL.replace("t STRING", "t STRING, b5 BIGINT"))
    for number, sql in enumerate(QUERIES[kind]):
        engine.query(sql, name=f"q{number}")
    engine.process(next(rows()))
    engine.advance("1970-01-01T01:00:00Z")
    for operator in engine.parts.queries.execution.graph:
        assert operator.kept() == 0, operator

    assert all(len(stem) == 0 for stem in engine.parts.inputs.stems.values())


def test_a_partition_window_of_many_rows_takes_room_for_the_rows_it_has() -> None:
    engine = Engine()
    engine.sql(DDL)
    engine.query("SELECT v FROM a [PARTITION BY k ROWS 100000]", name="q")
    engine.process({"a": pa.table({"ts": [1], "k": [1], "v": [1.0], "t": ["x"]})})
    assert kept_bytes(engine) < 10_000_000
