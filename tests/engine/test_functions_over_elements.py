"""Functions over elements in queries that share their work, in joins, in groups, after restarts."""

from __future__ import annotations

import pyarrow as pa

from eddyline import Engine
from restarts import restarted

DDL = """
CREATE STREAM s (ts TIMESTAMP, k STRING, n INT, ns ARRAY<INT>) TIMESTAMP BY ts;
CREATE STREAM r (ts TIMESTAMP, k STRING, bs ARRAY<BIGINT>) TIMESTAMP BY ts
"""


def rows(*lists: list[int | None] | None, start: int = 1) -> pa.Table:
    ts = list(range(start, start + len(lists)))
    ns = pa.array(lists, pa.list_(pa.int32()))
    return pa.table({"ts": ts, "k": ["a"] * len(ts), "n": ts, "ns": ns})


def test_conditions_of_many_queries() -> None:
    engine = Engine()
    engine.sql(DDL)
    for least in range(20):
        sql = f"SELECT n FROM s [RANGE 1 MINUTE] WHERE exists(ns, x -> x > {least} AND n <> 3)"
        engine.query(sql, name=f"q{least}")
    out = engine.process({"s": rows([1, 7], [3], [9])})
    assert [out[f"q{i}"]["n"].to_pylist() for i in (0, 2, 3, 7)] == [[1, 2], [1, 2], [1], []]
    out = restarted(engine).process({"s": rows([9], start=4)})
    assert out["q8"]["n"].to_pylist() == [4]


def test_joins_groups_and_rows_that_fail() -> None:
    engine = Engine()
    engine.sql(DDL)
    engine.query(
        "SELECT s.n FROM s [RANGE 1 MINUTE], r [RANGE 1 MINUTE] "
        "WHERE s.k = r.k AND s.ns = filter(r.bs, b -> b < s.n + 2)",
        name="joined",
    )
    engine.query(
        "SELECT aggregate(ns, 0, (a, x) -> a + x) AS total, COUNT(*) AS n FROM s [RANGE 1 MINUTE] "
        "GROUP BY aggregate(ns, 0, (a, x) -> a + x) EMIT CHANGES",
        name="groups",
    )
    engine.query("SELECT n, transform(ns, x -> 6 / x) AS v FROM s [NOW]", name="failing")
    engine.query(
        "SELECT ns FROM s [RANGE 1 MINUTE] UNION ALL SELECT bs FROM r [RANGE 1 MINUTE]", name="all"
    )
    r = pa.table({"ts": [1], "k": ["a"], "bs": pa.array([[1, 2, 5]], pa.list_(pa.int64()))})
    out = engine.process({"r": r, "s": rows([1, 2], [2, 1], [3, 0], [1, 2, 5])}, watermark=10)
    assert out["joined"]["n"].to_pylist() == [1, 4]
    assert out["groups"].filter(pa.array([o == "+" for o in out["groups"]["_op"].to_pylist()]))[
        "total"
    ].to_pylist() == [3, 3, 3, 8]
    assert out["failing"]["n"].to_pylist() == [1, 2, 4]
    assert ["division by zero" in row["_reason"] for row in out.bad["failing"].to_pylist()] == [
        True
    ]
    assert out["all"].schema.field("ns").type == pa.list_(pa.int64())
    assert out["all"].num_rows == 5
