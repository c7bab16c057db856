"""Rows that fail are left out in the same way by every strategy, and reported alike."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from eddyline.testing import engine_with

DDL: Final = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts
"""
A: Final = "FROM a [RANGE 4 SECONDS]"
AB: Final = "FROM a [RANGE 4 SECONDS] AS a, b [RANGE 6 SECONDS] AS b"
QUERIES: Final = [
    f"SELECT f(k) AS v {A}",
    f"SELECT k {A} WHERE f(x) > 1",
    f"SELECT k {A} WHERE NOT f(x) > 1",
    f"SELECT k {A} WHERE f(x) IS NULL",
    f"SELECT k {A} WHERE x > 1 AND f(k) < 3",
    f"SELECT k {A} WHERE f(k) < 3 OR x = 2",
    f"SELECT k {A} WHERE (f(k) < 3 OR x = 2) AND (f(x) > 1 OR k = 1)",
    f"SELECT f(k) AS v, COUNT(*) AS n {A} GROUP BY f(k)",
    f"SELECT k, SUM(f(x)) AS s {A} GROUP BY k",
    f"SELECT k, SUM(x) AS s {A} GROUP BY k HAVING f(SUM(x)) > 0",
    f"SELECT DISTINCT f(k) AS v {A}",
    f"SELECT a.k {AB} WHERE f(a.k) = b.k",
    f"SELECT a.k, f(b.x) AS v {AB} WHERE a.k = b.k",
    f"SELECT a.k {AB} WHERE a.k = b.k AND f(a.x + b.x) > 1",
    f"SELECT a.k {AB} WHERE a.k = b.k AND f(a.x) > 0",
    f"SELECT a.k {AB} WHERE f(a.x + b.x) > 2",
    "SELECT k FROM a [RANGE 4 SECONDS] AS a WHERE NOT EXISTS "
    "(SELECT 1 FROM b [RANGE 6 SECONDS] AS b WHERE b.k = f(a.k))",
    "SELECT a.k, b.x FROM a [RANGE 4 SECONDS] AS a LEFT JOIN b [RANGE 6 SECONDS] AS b "
    "ON f(a.k) = b.k",
]
OPTIONS: Final[list[dict[str, Any]]] = [
    {"executor": "tree"},
    {"executor": "eddy"},
    {"executor": "tree", "state": "direct"},
    {"executor": "eddy", "selections": "pull"},
    {"executor": "tree", "feedback": "jit", "chunk_rows": 1},
    {"executor": "eddy", "chunk_rows": 3},
    {"executor": "eddy", "latency": "1 hour", "schedule": "swf"},
]

numbers = st.one_of(st.none(), st.integers(0, 4))
rows = st.lists(st.tuples(st.integers(0, 12), numbers, numbers), max_size=12)


def answer(
    sql: list[str], unlucky: set[int], given: dict[str, pa.Table], options: dict[str, Any]
) -> list[tuple[Counter[Any], set[Any]]]:
    def f(number: int) -> int:
        if number in unlucky:
            raise ValueError(f"no {number}")
        return number

    engine = engine_with(set_aside_after=None, **options)
    engine.sql(DDL)
    engine.function("f", f, args=["BIGINT"], returns="BIGINT", kind="python")
    for number, text in enumerate(sql):
        engine.query(text, name=f"q{number}")
    found: list[tuple[Counter[Any], set[Any]]] = [(Counter(), set()) for _ in sql]
    for out in (engine.process(given, watermark=12_000_000), engine.advance(40_000_000)):
        for number, (changes, bad) in enumerate(found):
            rows = out[f"q{number}"].to_pylist()
            changes.update(tuple(row.items()) for row in rows)
            table = out.bad.get(f"q{number}")
            bad.update(() if table is None else zip(*table.to_pydict().values(), strict=True))
    for query in engine.queries.values():
        assert query.stats()["set_aside"] is None
    return found


def table(some: list[tuple[int, int | None, int | None]]) -> pa.Table:
    columns: list[list[Any]] = [
        [row[i] for row in sorted(some, key=lambda r: r[0])] for i in range(3)
    ]
    ts, k, x = columns
    types = {"ts": pa.int64(), "k": pa.int64(), "x": pa.int64()}
    seconds = [t * 1_000_000 for t in ts]
    return pa.table({"ts": seconds, "k": k, "x": x}, schema=pa.schema(types))


@given(
    sql=st.lists(st.sampled_from(QUERIES), min_size=1, max_size=3),
    unlucky=st.sets(st.integers(0, 8), max_size=3),
    a=rows,
    b=rows,
)
def test_every_strategy_leaves_out_the_same_rows(
    sql: list[str], unlucky: set[int], a: list[Any], b: list[Any]
) -> None:
    given_rows = {"a": table(a), "b": table(b)}
    first, *others = (answer(sql, unlucky, given_rows, options) for options in OPTIONS)
    for options, other in zip(OPTIONS[1:], others, strict=True):
        for text, (changes, bad), (its_changes, its_bad) in zip(sql, first, other, strict=True):
            assert changes == its_changes, (options, text)
            reasons, its_reasons = {r for *_, r in bad}, {r for *_, r in its_bad}
            if "selections" in options:  # rows that meet no other are not examined
                assert its_reasons <= reasons, (options, text)
                continue
            assert reasons == its_reasons, (options, text)
            if "feedback" not in options:
                assert bad == its_bad, (options, text)
