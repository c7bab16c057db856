"""Structures, lists and maps: functions give what Spark's give, and jobs what an engine gives."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session
from eddyline.testing.bags import difference, rows_of
from net_changes import net_changes

pytestmark = pytest.mark.spark

COLUMNS: Final = (
    "ts TIMESTAMP, n INT, o STRUCT<x: BIGINT, p: STRUCT<a: DOUBLE, b: STRING>>, l ARRAY<BIGINT>, "
    "texts ARRAY<STRING>, parts ARRAY<STRUCT<a: DOUBLE, b: STRING>>, m MAP<STRING, BIGINT>"
)
#: Expressions with the same meaning in Spark.
EXPRESSIONS: Final = (
    "o.x",
    "o.p.b",
    "parts.b",
    "parts[0].a",
    "l[0] + 1",
    "l[n]",
    "get(l, n)",
    "get(l, -1)",
    "element_at(l, n + 1)",
    "try_element_at(l, -2)",
    "try_element_at(l, n + 2)",
    "m['k']",
    "m[o.p.b]",
    "element_at(m, 'j')",
    "size(l)",
    "cardinality(m)",
    "array_contains(l, o.x)",
    "array_contains(texts, 'u')",
    "map_contains_key(m, 'k')",
    "map_keys(m)",
    "map_values(m)",
    "array_join(texts, '-')",
    "array_join(texts, '-', '?')",
    "array(n, o.x, NULL)",
    "named_struct('a', n, 'b', o.p)",
    "CASE WHEN n > 0 THEN l END",
    "coalesce(l, array(o.x))",
    "o.p IS NULL",
    "split('a,b,,', ',')",
    "split(o.p.b, '[jk]+')",
)
QUERIES: Final = {
    "elements": "SELECT o.x, e, l FROM s [RANGE 5 SECONDS], UNNEST(l) AS t (e) WHERE e > 0",
    "groups": "SELECT b, COUNT(*) AS c FROM s [RANGE 5 SECONDS], UNNEST(parts) AS t (a, b) "
    "GROUP BY b EMIT CHANGES",
    "pairs": "SELECT t.o, u.m, e FROM s [RANGE 3 SECONDS] AS t, UNNEST(t.l) AS v (e), "
    "s [RANGE 2 SECONDS] AS u WHERE e = u.o.x",
    "values": "SELECT DISTINCT o, l FROM s [RANGE 1 SECOND] EMIT CHANGES",
    "texts": "SELECT key, value, n FROM s [NOW] LEFT JOIN UNNEST(m) AS t ON TRUE",
}


def rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Rows, one per 100 ms; the list has more than ``n`` elements."""
    random, found = Random(seed), []
    for i in range(count):
        n = random.randrange(3)
        part = random.choice([None, {"a": random.choice([None, 0.5]), "b": random.choice("jku")}])
        found.append(
            {
                "ts": 1_767_225_600_000_000 + 100_000 * i,
                "n": n,
                "o": random.choice([None, {"x": random.choice([None, 1, 2]), "p": part}]),
                "l": [random.choice([None, 0, 1, 2]) for _ in range(n + random.randint(1, 2))],
                "texts": random.choice([None, [], ["u", None], [None], ["v", "w"]]),
                "parts": random.choice([[part], [part, part, None]]),
                "m": random.choice([None, {}, {"k": 1}, {"j": random.choice([None, 4]), "k": 2}]),
            }
        )
    return found


def declared(engine: Engine, source: str = "none") -> str:
    text = f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts WITH (source = '{source}')"
    engine.sql(text)
    return text


def as_table(found: list[dict[str, Any]]) -> pa.Table:
    engine = Engine()
    declared(engine)
    fields = engine.catalog.streams["s"].schema
    schema = pa.schema([(f.name, pa.int64() if f.name == "ts" else f.type) for f in fields])
    pairs = [{**row, "m": row["m"] and list(row["m"].items())} for row in found]
    return pa.Table.from_pylist(pairs, schema=schema)


def test_functions_give_what_those_of_spark_give(spark: SparkSession, tmp_path: Path) -> None:
    table = as_table(rows(200, 1))
    times = table.column("ts").cast(pa.timestamp("us", "UTC"))
    pq.write_table(table.set_column(0, "ts", times), tmp_path / "rows.parquet")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    named = [f"{e} AS c{i}" for i, e in enumerate(EXPRESSIONS)]
    expected = frame.selectExpr("ts", *named).toArrow()
    engine = Engine()
    declared(engine)
    engine.query(f"SELECT ts, {', '.join(named)} FROM s [NOW]", name="q")
    found = engine.process({"s": table})["q"]
    assert found.num_rows == table.num_rows
    for i, expression in enumerate(EXPRESSIONS):
        columns = ["ts", f"c{i}"]
        assert rows_of(found.select(columns)) == rows_of(expected.select(columns)), expression


@pytest.mark.parametrize("format_", ["json", "parquet", "frame"])
def test_a_job_gives_what_an_engine_gives(
    spark: SparkSession, tmp_path: Path, format_: str
) -> None:
    found = rows(150, 2)
    table, path = as_table(found), tmp_path / "in"
    path.mkdir()
    if format_ == "json":
        texts = [{**r, "ts": datetime.fromtimestamp(r["ts"] / 1e6, UTC).isoformat()} for r in found]
        wrong = {**texts[0], "o": {"x": "much"}}
        (path / "1.json").write_text("\n".join(map(json.dumps, [wrong, *texts])))
    else:
        times = table.column("ts").cast(pa.timestamp("us", "UTC"))
        pq.write_table(table.set_column(0, "ts", times), path / "1.parquet")
    session = Session(spark, shards=2)
    if format_ == "frame":
        schema = spark.read.parquet(str(path)).schema
        session.stream("s", spark.readStream.schema(schema).parquet(str(path)), "ts")
    else:
        session.sql(
            f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts "
            f"WITH (source = '{format_}', path = '{path}')"
        )
    engine = Engine()
    declared(engine)
    for name, sql in QUERIES.items():
        session.query(name, sql, sink="memory")
        engine.query(sql, name=name)
    session.start(available_now=True).finish()
    changes = engine.process({"s": table})
    for name in QUERIES:
        results = session.results(name).toArrow().select(changes[name].column_names)
        expected, actual = (
            list(net_changes(engine.queries[name], rows_of(t), engine.clock))
            for t in (changes[name], results)
        )
        assert len(expected) > 30, name
        assert difference(expected, actual) == ([], []), name
    if format_ == "json":
        (bad,) = session.results("bad:s").toArrow().to_pylist()
        assert '"o": {"x": "much"}' in bad["_reason"]
