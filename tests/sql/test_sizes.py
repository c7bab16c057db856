"""Short texts with large plans, long values, or both."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import SqlError


def engine(streams: int = 2, columns: int = 4, options: str = "") -> Engine:
    made = Engine()
    declared = ", ".join(f"c{i} BIGINT" for i in range(columns))
    for i in range(streams):
        made.sql(f"CREATE STREAM s{i} (ts TIMESTAMP, {declared}) TIMESTAMP BY ts {options}")
    return made


@pytest.mark.parametrize(
    "call", ["LPAD(c0::STRING, 2000000000, 'x')", "RPAD('a', 65537)", "REPEAT('ab', 32769)"]
)
def test_constants_that_make_long_texts_are_refused(call: str) -> None:
    with pytest.raises(SqlError, match=r"line 1, column 8: .* the maximum is 65536"):
        engine().query(f"SELECT {call} FROM s0")


def test_texts_of_the_largest_length_are_made() -> None:
    made = engine()
    made.query("SELECT LPAD(c0::STRING, 65536) AS a, REPEAT('ab', c0) AS b FROM s0", name="q")
    rows = {"ts": [1], "c0": [32_768], "c1": [0], "c2": [0], "c3": [0]}
    (row,) = made.process({"s0": pa.table(rows)})["q"].to_pylist()
    assert (len(row["a"]), len(row["b"])) == (65_536, 65_536)
    out = made.process({"s0": pa.table({**rows, "ts": [2], "c0": [2**62]})})
    (reason,) = out.bad["q"]["_reason"].to_pylist()
    assert "makes a text of more than 65536 characters" in reason


def nested(around: str, times: int, within: str) -> str:
    for _ in range(times):
        within = around.format(within)
    return within


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (nested("SELECT c0 + c0 AS c0 FROM ({})", 30, "SELECT c0 FROM s0"), "computes a value by"),
        (f"SELECT {nested('NULLIF({}, 1)', 25, 'c0')} FROM s0", "needs more than 100000 operators"),
        (f"SELECT c0 FROM s0 WHERE (c0 > 1){' BETWEEN false AND true' * 100}", "needs more than"),
        (f"SELECT {nested('CASE {} WHEN 1 THEN 1 WHEN 2 THEN 2 END', 25, 'c0')} FROM s0",
         "needs more than 100000 operators"),
        (" INTERSECT ALL ".join(["SELECT c0 FROM s0 [NOW]"] * 20), "joins more than 64 streams"),
        ("SELECT a.c0 FROM s0 [NOW] a "
         + " ".join(f"LEFT JOIN s1 [NOW] b{i} ON a.c0 = b{i}.c0" for i in range(70)),
         "joins more than 64 streams"),
        (f"SELECT 1 FROM {', '.join(f's0 [NOW] a{i}' for i in range(100))}", "joins more than 64"),
    ],
    ids=["columns", "nullif", "between", "case", "intersect", "left joins", "join"],
)  # fmt: skip
def test_plans_that_expand_beyond_the_limit_are_refused(sql: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        engine().query(sql)
    assert caught.value.line == 1


def test_views_that_read_each_other_twice_are_refused_before_they_are_large() -> None:
    made = engine()
    made.sql("CREATE VIEW v0 AS SELECT c0 FROM s0 [NOW]")
    with pytest.raises(SqlError, match="joins more than 64 streams and tables"):
        for i in range(1, 30):
            made.sql(f"CREATE VIEW v{i} AS SELECT a.c0 FROM v{i - 1} a, v{i - 1} b")


CHAIN = " AND ".join(f"s{i}.c0 = s{i + 1}.c1" for i in range(11))
CLIQUE = " AND ".join(f"s{i}.c{(i + j) % 4} = s{j}.c1" for i in range(12) for j in range(i))
OPTIONS = "WITH (rate = 100000, distinct = 'c0: 100, c1: 100, c2: 50, c3: 20')"


@pytest.mark.parametrize("condition", [CHAIN, CLIQUE], ids=["chain", "clique"])
@pytest.mark.parametrize("behind", ["", "ON OVERLOAD SHED"])
@pytest.mark.parametrize("options", ["", OPTIONS], ids=["unknown", "known"])
def test_joins_of_many_streams_are_planned_and_explained_soon(
    condition: str, behind: str, options: str
) -> None:
    """The bounds are many times what it takes: about a second on one core."""
    made = engine(12, options=options)
    streams = ", ".join(f"s{i} [RANGE 1 MINUTE]" for i in range(12))
    started = time.perf_counter()
    query = made.query(f"SELECT s0.c0 FROM {streams} WHERE {condition} {behind}")
    assert "Join" in query.explain()
    assert made.verdict is None or made.verdict.needed > 1
    assert time.perf_counter() - started < 15


def test_thousands_of_columns_are_planned_soon() -> None:
    made = engine(2, columns=3_000)
    names = ", ".join(f"c{i}" for i in range(3_000))
    started = time.perf_counter()
    made.query(f"SELECT {names} FROM s0 [NOW]")
    made.query("SELECT * FROM s0 [NOW] a, s1 [NOW] b WHERE a.c0 = b.c0")
    made.query(f"SELECT COUNT(*) AS n FROM s0 [NOW] GROUP BY {names}")
    made.query(f"SELECT {', '.join(f'SUM(c{i})' for i in range(3_000))} FROM s0 [NOW]")
    made.query(f"SELECT {', '.join(['c0'] * 3_000)} FROM s0 [NOW]")
    made.query(f"SELECT c0 FROM s0 [NOW] JOIN s1 [NOW] USING ({names[:3_000].rsplit(',', 1)[0]})")
    assert time.perf_counter() - started < 30
