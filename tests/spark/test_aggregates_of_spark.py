"""Aggregates have the types and values that Spark gives in ANSI mode."""

from __future__ import annotations

import math
from decimal import Decimal
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark.environment import local_session

#: Ties are avoided where a row is chosen: of these Spark takes any.
AGGREGATES: Final = (
    *("corr(y, x)", "covar_samp(y, x)", "covar_pop(y, x)", "regr_slope(y, x)", "regr_r2(y, x)"),
    *("regr_intercept(y, x)", "regr_sxx(y, x)", "regr_syy(y, x)", "regr_sxy(y, x)"),
    *("regr_count(y, x)", "regr_avgx(y, x)", "regr_avgy(y, x)"),
    *("var_samp(x)", "var_pop(x)", "stddev_pop(x)", "stddev(x)"),
    *("skewness(x)", "kurtosis(x)", "skewness(n)", "kurtosis(d)", "skewness(y) FILTER (WHERE b)"),
    *("sum(d)", "avg(d)", "sum(w)", "avg(w)", "min(w)", "max(w)", "max_by(t, i)", "min_by(t, i)"),
    *("bit_and(n)", "bit_or(n)", "bit_xor(n)", "bool_and(b)", "bool_or(b)", "count_if(b)"),
    *("count(DISTINCT n, t)", "count(n, t)", "sum(DISTINCT n)", "avg(DISTINCT d)"),
    *("percentile(x, 0.25)", "percentile(n, array(0.1, 0.5))", "median(d)", "median(x)"),
    "percentile_cont(0.3) WITHIN GROUP (ORDER BY x DESC)",
    "percentile_disc(0.3) WITHIN GROUP (ORDER BY n)",
    "percentile_disc(0.3) WITHIN GROUP (ORDER BY x DESC)",
    *("approx_percentile(n, 0.4)", "approx_percentile(d, array(0.2, 0.8), 10000)"),
    *("mode() WITHIN GROUP (ORDER BY n)", "mode() WITHIN GROUP (ORDER BY t DESC)"),
    *("collect_list(n)", "collect_set(t)", "array_agg(DISTINCT d)", "collect_list(w)"),
    "listagg(t, ',') WITHIN GROUP (ORDER BY i DESC)",
    "string_agg(DISTINCT t, '|') WITHIN GROUP (ORDER BY t)",
    *("max(struct(n, i)).i", "min(struct(t, d, i))", "max(struct(b, w, i))"),
    *("collect_list(struct(i, t))", "collect_set(struct(n, t))", "max_by(struct(i, t), i)"),
    *("percentile(x, 0.5) FILTER (WHERE b)", "collect_list(n) FILTER (WHERE b)"),
)
#: Spark's lists have any order.
UNORDERED: Final = ("collect_list", "collect_set", "array_agg")
SCHEMA: Final = pa.schema(
    [
        *(("g", pa.int64()), ("i", pa.int64()), ("x", pa.float64()), ("y", pa.float64())),
        *(("n", pa.int32()), ("d", pa.decimal128(10, 2)), ("w", pa.decimal128(38, 4))),
        *(("t", pa.string()), ("b", pa.bool_())),
    ]
)
LIST: Final = ", ".join(f"{a} AS a{i}" for i, a in enumerate(AGGREGATES))
#: Spark fails for texts with an order beside DISTINCT.
ALONE: Final = (
    [a for a in AGGREGATES if "agg(t" not in a and "agg(DISTINCT t" not in a],
    *([a] for a in AGGREGATES if "agg(t" in a or "agg(DISTINCT t" in a),
)


def rows() -> pa.Table:
    random = Random(7)

    def some(*values: Any) -> Any:
        return random.choice([None, *values])

    def row(group: int, number: int) -> dict[str, Any]:
        return {
            "g": group,
            "i": number,
            "x": some(1.0, -2.5, 7.25, math.nan if group % 7 == 0 else 3.0),
            "y": some(0.5, 4.0, 1e3),
            "n": some(-3, 0, 6, 12),
            "d": some(Decimal("1.25"), Decimal("-0.01"), Decimal("99999999.99")),
            "w": some(Decimal("1e29"), Decimal("-0.0001"), Decimal("17")),
            "t": some("", "a", "b"),
            "b": some(True, False),
        }

    return pa.Table.from_pylist([row(g, i) for g in range(30) for i in range(g % 6)], SCHEMA)


@pytest.fixture(scope="module")
def spark() -> Any:
    session = local_session()  # the one of other tests, if they run in this process
    switches = ("spark.sql.ansi.enabled", "spark.sql.codegen.wholeStage")
    before = {name: str(session.conf.get(name)) for name in switches}
    for name, value in zip(switches, ("true", "false"), strict=True):
        session.conf.set(name, value)
    yield session
    for name, value in before.items():
        session.conf.set(name, value)


def without_names(type_: pa.DataType) -> pa.DataType:
    """The type without what Spark says of elements of lists."""
    return pa.list_(type_.value_type) if pa.types.is_list(type_) else type_


def test_types_and_values(spark: SparkSession) -> None:
    given = rows()
    spark.createDataFrame(given).createOrReplaceTempView("aggregated")
    expected: dict[str, Any] = {}
    for aggregates in ALONE:
        columns = ", ".join(f"{a} AS a{AGGREGATES.index(a)}" for a in aggregates)
        answer = spark.sql(f"SELECT g, {columns} FROM aggregated GROUP BY g ORDER BY g").toArrow()
        expected |= dict(zip(answer.column_names, answer.columns, strict=True))
    engine = Engine()
    columns = (
        "ts TIMESTAMP, g BIGINT, i BIGINT, x DOUBLE, y DOUBLE, n INT, d DECIMAL(10, 2), "
        "w DECIMAL(38, 4), t STRING, b BOOLEAN"
    )
    engine.sql(f"CREATE STREAM s ({columns}) TIMESTAMP BY ts")
    query = engine.query(f"SELECT g, {LIST} FROM s [RANGE 9 SECONDS] GROUP BY g", name="q")
    ts = pa.array([1] * given.num_rows, pa.int64())
    engine.process({"s": given.add_column(0, "ts", ts)})
    found = query.snapshot().sort_by("g")
    for i, aggregate in enumerate(AGGREGATES):
        ours, theirs = found[f"a{i}"], expected[f"a{i}"]
        assert without_names(ours.type) == without_names(theirs.type), aggregate
        for g, a, b in zip(
            found["g"].to_pylist(), ours.to_pylist(), theirs.to_pylist(), strict=True
        ):
            if aggregate.startswith(UNORDERED):
                a, b = sorted(a, key=repr), sorted(b, key=repr)
            if isinstance(b, float):
                b = pytest.approx(b, rel=1e-9, abs=1e-9, nan_ok=True)
            assert a == b, (aggregate, g)
