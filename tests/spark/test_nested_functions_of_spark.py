"""Functions and casts of lists, maps and structures give what Spark gives, for generated values."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine

pytestmark = pytest.mark.spark

DDL = (
    "CREATE STREAM r (i BIGINT, n INT, b BIGINT, x DOUBLE, d DATE, t TIMESTAMP, s STRING, "
    "ns ARRAY<INT>, bs ARRAY<BIGINT>, xs ARRAY<DOUBLE>, ss ARRAY<STRING>, ts_ ARRAY<STRING>, "
    "m MAP<STRING, INT>, st STRUCT<a: INT, b: STRING>, ts TIMESTAMP) TIMESTAMP BY ts"
)
CONVERSIONS = (
    *("coalesce(ns, bs)", "if(n > 0, ns, xs)", "CASE WHEN n > 0 THEN bs ELSE array(1.5D) END"),
    *("array(ns, bs)", "array_union(ns, bs)", "array_except(xs, ns)", "concat(ns, bs)"),
    *("array_append(ns, b)", "array_contains(ns, 2L)", "array_position(bs, n)", "ns = bs"),
    *("array_remove(ns, b)", "ns <=> bs", "ns <> array(1L)", "xs IN (ns, array(0.0D))"),
    *("st = named_struct('a', 1L, 'b', 'x')", "st IN (named_struct('a', n, 'b', s))"),
    *("coalesce(st, named_struct('a', b, 'b', s))", "coalesce(m, map('z', b))"),
    *("CAST(ns AS ARRAY<BIGINT>)", "CAST(ns AS ARRAY<STRING>)", "CAST(ts_ AS ARRAY<INT>)"),
    *("TRY_CAST(ss AS ARRAY<INT>)", "CAST(m AS MAP<STRING, DOUBLE>)", "CAST(ns AS STRING)"),
    *("CAST(st AS STRUCT<p: STRING, q: STRING>)", "CAST(st AS STRING)", "CAST(m AS STRING)"),
    *("TRY_CAST(st AS STRUCT<a: BIGINT, b: INT>)", "CAST(array(ns) AS STRING)"),
    *("CAST(xs AS STRING)", "array_join(ns, '-')", "array_join(xs, ',', 'none')"),
    *("greatest(n, 3)", "array_intersect(ns, bs)", "arrays_overlap(ns, xs)"),
)
FUNCTIONS = (
    *("sequence(1, 5)", "sequence(n, b)", "sequence(n, n + 7, 3)", "sequence(n, n - 7, -2)"),
    *("sequence(d, d + 3)", "sequence(d, d - 2)", "sequence(d, d + 9, INTERVAL '4' DAYS)"),
    *("sequence(d, d + 70, INTERVAL '1' MONTH)", "sequence(t, t, INTERVAL '1' MONTH)"),
    *(
        "sequence(t, t + INTERVAL '3' HOURS, INTERVAL '50' MINUTES)",
        "sequence(5, n, IF(n < 5, -1, 1))",
    ),
    *("sequence(t, t - INTERVAL '5' MONTHS, INTERVAL '-2' MONTHS)", "sequence(n, n, 0)"),
    *("arrays_zip(ns, bs)", "arrays_zip(ns, array(1, 2), ss)", "struct(n, b AS c, n + 1, st.a)"),
    *("map('a', n, 'b', b)", "map(i, s)", "map_from_arrays(array('p', 'q'), array(n, 3))"),
    *("map_entries(m)", "map_from_entries(map_entries(m))", "map_concat(m, map('z', n))"),
    *("map_from_entries(array(struct(n IS NULL, s)))", "str_to_map(s)", "str_to_map(s, ' ', '=')"),
    *("str_to_map('a=1&b=2&c', '&', '=')", "map_keys(map_concat(m, map('z', 1)))"),
    *("transform(ns, x -> x + n)", "transform(ns, (x, i) -> x * i)", "filter(ns, x -> x > 1)"),
    *("filter(ss, (x, i) -> i > 0 AND x <> s)", "exists(ns, x -> x > 2)", "forall(ns, x -> x < 3)"),
    *(
        "exists(array(n, NULL), x -> x = 1)",
        "forall(ns, x -> x IS NOT NULL)",
        "exists(ns, x -> NULL)",
    ),
    *("aggregate(ns, 0, (a, x) -> a + coalesce(x, 9))", "reduce(xs, 0.5D, (a, x) -> a + x)"),
    *(
        "aggregate(ns, n, (a, x) -> a * 2 + x, a -> a + n)",
        "aggregate(ss, '', (a, x) -> concat(a, x))",
    ),
    *("zip_with(ns, bs, (x, y) -> x + y)", "zip_with(ss, ns, (x, y) -> concat(x, n, y))"),
    *("map_filter(m, (k, v) -> v > n)", "transform_values(m, (k, v) -> concat(k, v, n))"),
    *(
        "transform(ns, x -> transform(bs, y -> x + y + n))",
        "transform(sequence(0, 3), x -> get(ns, x))",
    ),
    *("transform(array(st), e -> e.a)", "filter(transform(ns, x -> x * 2), x -> x > n)"),
    *("transform(ns, x -> CASE WHEN x > 1 THEN 6 DIV (x - 1) ELSE n END)", "transform(ns, x -> 5)"),
    *("size(filter(ss, x -> x RLIKE '[a-c]'))", "array_sort(transform(ns, x -> -x))"),
)

MORE = (
    *("to_json(struct(n, b, x, d, t, s, ns, ss, m, st))", "to_json(ns)", "to_json(map(i, s))"),
    *('to_json(struct(s AS `a"b`, x > 0 AS c))', "to_json(xs)", "to_json(m)"),
    *("to_json(struct(CAST(x AS DECIMAL(10, 2)) AS d, CAST(x AS FLOAT) AS f))", "pmod(n - 2, 3)"),
    *(
        "pmod(x, 1.5D)",
        "pmod(b - 3, -2)",
        "isnan(x)",
        "isnan(n)",
        "nanvl(get(xs, 0), x)",
        "trunc(d, 'MM')",
    ),
    *("trunc(d, 'YEAR')", "trunc(t, 'week')", "trunc(d, 'Quarter')", "unix_date(d)", "space(n)"),
    *("date_from_unix_date(n)", "equal_null(n, b)", "nullifzero(n)", "zeroifnull(n)"),
    *("substring_index(s, '=', 1)", "substring_index(s, ',', -1)", "substring_index(s, 'zz', 2)"),
    *(
        "substring_index(s, ' ', 0)",
        "n & b",
        "n | 5",
        "~n",
        "shiftleft(n, b)",
        "shiftright(b, 1)",
    ),
    *("shiftright(-n, 33)", "shiftleft(n, 31)", "bit_count(b)", "bit_count(-n)", "bit_count(n)"),
    *("shiftleft(b, 65)", "cast(-n AS TINYINT) & 3Y"),
)


def rows(seed: int, count: int) -> pa.Table:
    rng = random.Random(seed)

    def maybe(value: Any) -> Any:
        return None if rng.random() < 0.15 else value

    def some(make: Any) -> Any:
        return maybe([maybe(make()) for _ in range(rng.randrange(4))])

    def digit() -> int:
        return rng.randrange(5)

    texts = ["", "a", "b:1", "a=1 b=2", "c:2,d:3", "12", "é"]
    day = dt.date(2023, 1, 31)
    columns: dict[str, Any] = {
        "i": pa.array(range(count), pa.int64()),
        "n": pa.array([maybe(digit()) for _ in range(count)], pa.int32()),
        "b": pa.array([maybe(digit()) for _ in range(count)], pa.int64()),
        "x": pa.array([maybe(rng.gauss(0, 3)) for _ in range(count)]),
        "d": pa.array([maybe(day + dt.timedelta(rng.randrange(800))) for _ in range(count)]),
        "t": pa.array(
            [maybe(rng.randrange(-(10**15), 10**15)) for _ in range(count)],
            pa.timestamp("us", "UTC"),
        ),
        "s": pa.array([maybe(rng.choice(texts)) for _ in range(count)]),
        "ns": pa.array([some(digit) for _ in range(count)], pa.list_(pa.int32())),
        "bs": pa.array([some(digit) for _ in range(count)], pa.list_(pa.int64())),
        "xs": pa.array(
            [some(lambda: rng.choice([0.0, 1.0, 2.5, float("nan")])) for _ in range(count)],
            pa.list_(pa.float64()),
        ),
        "ss": pa.array(
            [some(lambda: rng.choice(texts)) for _ in range(count)], pa.list_(pa.string())
        ),
        "ts_": pa.array([some(lambda: str(digit())) for _ in range(count)], pa.list_(pa.string())),
        "m": pa.array(
            [maybe([(k, maybe(digit())) for k in "abc"[: digit() % 4]]) for _ in range(count)],
            pa.map_(pa.string(), pa.int32()),
        ),
        "st": pa.array(
            [maybe({"a": maybe(digit()), "b": maybe(rng.choice("xy"))}) for _ in range(count)],
            pa.struct([("a", pa.int32()), ("b", pa.string())]),
        ),
    }
    return pa.table(columns)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b or (a != a and b != b))


@pytest.mark.parametrize(
    "expressions", [CONVERSIONS, FUNCTIONS, MORE], ids=["casts", "functions", "more"]
)
def test_values_are_those_of_spark(spark: SparkSession, expressions: tuple[str, ...]) -> None:
    table = rows(1, 300)
    names = [f"v{i}" for i in range(len(expressions))]
    listed = ", ".join(f"{e} AS {n}" for e, n in zip(expressions, names, strict=True))
    spark.createDataFrame(table).createOrReplaceTempView("nested_values")
    theirs = spark.sql(f"SELECT {listed} FROM nested_values ORDER BY i").toArrow()
    engine = Engine()
    engine.sql(DDL)
    ours_listed = (
        listed.replace("2L", "CAST(2 AS BIGINT)")
        .replace("1L", "CAST(1 AS BIGINT)")
        .replace("3Y", "CAST(3 AS TINYINT)")
    )
    for literal in ("1.5D", "0.0D", "0.5D"):
        ours_listed = ours_listed.replace(literal, literal[:-1])
    engine.query(f"SELECT i, {ours_listed} FROM r [NOW]", name="q")
    ts = pa.array([0] * len(table), pa.timestamp("us", "UTC"))
    changes = engine.process({"r": table.append_column("ts", ts)})
    assert not changes.bad, changes.bad["q"].to_pylist()[:3]
    ours = changes["q"].take(
        pa.array(sorted(range(300), key=changes["q"]["i"].to_pylist().__getitem__))
    )
    for expression, name in zip(expressions, names, strict=True):
        found = zip(
            table.to_pylist(), theirs[name].to_pylist(), ours[name].to_pylist(), strict=True
        )
        different = [(row, e, f) for row, e, f in found if not same(e, f)]
        assert not different, (expression, different[:3])
