"""Thousands of queries come and go while rows flow: what the engine keeps does not grow.

Every round adds queries that were never there before, by the text, and drops them again; a few
queries stay all the time, so that streams are kept.
"""

from __future__ import annotations

import gc
import io
import tracemalloc
from collections.abc import Iterator
from itertools import islice
from random import Random

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.sql import templates
from eddyline.sql.parser import parse
from eddyline.testing import engine_with

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v DOUBLE, t STRING) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, w BIGINT) TIMESTAMP BY ts
"""
STAYING = [
    "SELECT k FROM a [RANGE 2 SECONDS]",
    "SELECT a.v, b.w FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k AND a.v > 0.5D",
]
#: 0, 1: numbers that are never the same twice.
COMING = [
    "SELECT k, v FROM a [RANGE {0} MILLISECONDS] WHERE v > {1}D",
    "SELECT k, t FROM a [NOW] WHERE t LIKE 'x{0}%' OR k IN ({0}, 1) AND v < {1}D",
    "SELECT a.v, b.w FROM a [RANGE {0} MILLISECONDS], b [RANGE 1 SECOND]"
    " WHERE a.k = b.k AND b.w < {0}",
    "SELECT a.k + {0} AS x FROM a [RANGE 1 SECOND] JOIN b [NOW] ON a.k = b.k"
    " WHERE a.v < b.w + {1}D",
    "SELECT a.v FROM a [NOW], b [RANGE 1 SECOND], b [RANGE {0} MILLISECONDS] AS c"
    " WHERE a.k = b.k AND b.k = c.k AND c.w > b.w",
    "SELECT k, COUNT(*) AS n, MAX(v) AS m FROM a [RANGE {0} MILLISECONDS] WHERE v < {1}D"
    " GROUP BY k",
    "SELECT DISTINCT t FROM a [RANGE 1 SECOND] WHERE v <> {1}D",
    "SELECT k FROM b [ROWS 5] WHERE w <> {0} EMIT CHANGES",
    "SELECT k + {0} AS k FROM b [RANGE {0} MILLISECONDS] EMIT SNAPSHOT EVERY 1 SECOND",
]
EXECUTORS = ["auto", "tree", "eddy"]


def texts(luck: Random) -> Iterator[str]:
    """Queries that differ from each other."""
    number = 0
    while True:
        number += 1
        form = luck.choice(COMING)
        yield form.format(1000 + number % 900, number + luck.random())


def rows(second: int) -> dict[str, pa.Table]:
    at = range(40)
    ts = [1_000_000 * second + 25_000 * i for i in at]
    k = [i % 7 for i in at]
    a = {"ts": ts, "k": k, "v": [i * 0.05 for i in at], "t": [f"x{i % 5}" for i in at]}
    return {"a": pa.table(a), "b": pa.table({"ts": ts, "k": k, "w": list(at)})}


def sizes(engine: Engine) -> dict[str, int]:
    """What the engine keeps, in several ways."""
    gc.collect()
    saved = io.BytesIO()
    engine.save(saved)
    kept = saved.getbuffer().nbytes
    del saved
    return {
        "queries": len(engine.queries),
        "operators": len(engine.stats()["operators"]),
        "bytes saved": kept,
        "bytes of Arrow": pa.total_allocated_bytes(),
        "bytes of Python and NumPy": tracemalloc.get_traced_memory()[0],
    }


def rounds(engine: Engine, count: int, queries: int) -> Iterator[dict[str, int]]:
    """Each adds queries while rows flow, and drops them in any order; yields what is left."""
    luck = Random(5)
    new = texts(luck)
    second = 0
    for number in range(count):
        there: list[str] = []
        for i in range(2 * queries):
            if i < queries:
                there.append(engine.query(next(new), name=f"q{number}_{i}").name)
            if there and (i >= queries or luck.random() < 0.3):
                engine.drop(there.pop(luck.randrange(len(there))))
            if i % (queries // 4) == 0:
                second += 1
                engine.process(rows(second))
        for name in there:
            engine.drop(name)
        for _ in range(4):  # longer than any window: as in every round before
            second += 1
            engine.process(rows(second))
        yield sizes(engine)


@pytest.fixture
def tracing() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("executor", "count", "queries"),
    [
        *((executor, 4, 40) for executor in EXECUTORS),
        pytest.param(EXECUTORS[0], 20, 500, marks=pytest.mark.long),
    ],
)
def test_what_is_kept_does_not_grow(
    tracing: None, monkeypatch: pytest.MonkeyPatch, executor: str, count: int, queries: int
) -> None:
    monkeypatch.setattr(templates, "KEPT", 64)  # few texts fill it
    for sql in islice(texts(Random(4)), 100):  # more than there are templates
        parse(sql)
    engine = engine_with(chunk_rows=64, executor=executor)
    engine.sql(DDL)
    for sql in STAYING:
        engine.query(sql)
    found = list(rounds(engine, count, queries))
    second, last = found[1], found[-1]  # caches fill and stores grow in the first
    growth = {
        "queries": 0,
        "operators": 0,
        "bytes saved": 100,  # digits of instants and counters in the header
        "bytes of Arrow": 0,
        "bytes of Python and NumPy": 100_000,
    }
    for what, most in growth.items():
        assert last[what] <= second[what] + most, f"{what}: {[f[what] for f in found]}"
