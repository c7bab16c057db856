"""The values of static tables in their declared types."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from eddyline import DataError, Engine

MILLISECONDS = 1_767_225_600_000  # 2026


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.sql("""
        CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
        CREATE TABLE t (k SMALLINT, since TIMESTAMP, o STRUCT<a: INT, b: STRING>)
    """)
    return engine


def contents(since: pa.Array, k: object = 1, b: str = "b") -> pa.Table:
    structure = pa.array([{b: "x", "A": 7}], pa.struct([(b, pa.string()), ("A", pa.int64())]))
    return pa.table({"k": pa.array([k]), "since": since, "o": structure})


@pytest.mark.parametrize(
    "since", [pa.array([MILLISECONDS * 1_000]), pa.array(["2026-01-01T00:00:00Z"])]
)
def test_values_are_converted(engine: Engine, since: pa.Array) -> None:
    engine.table("t", contents(since))
    engine.query("SELECT t.* FROM s [NOW], t WHERE s.k = t.k", name="q")
    (row,) = engine.process({"s": pa.table({"ts": [1], "k": [1]})})["q"].to_pylist()
    assert row["since"] == datetime(2026, 1, 1, tzinfo=UTC)
    assert row["o"] == {"a": 7, "b": "x"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            contents(pa.array([MILLISECONDS])),
            f"column 'since': {MILLISECONDS} microseconds since 1970 is in the first weeks of that "
            "year; milliseconds[?] supply timestamps, or declare it BIGINT",
        ),
        (contents(pa.array([MILLISECONDS // 1000])), "seconds[?] supply timestamps"),
        (contents(pa.array(["soon"])), "column 'since': cannot read 'soon' as TIMESTAMP"),
        (contents(pa.array([1]), k=70_000), "column 'k': cannot read '70000' as SMALLINT"),
        (contents(pa.array([1]), k="x"), "column 'k': cannot read 'x' as SMALLINT"),
        (contents(pa.array([1]), b="c"), "column 'o'.*there is no field 'b'"),
        (contents(pa.array([1.5])), "column 'since'.*DOUBLE"),
    ],
)
def test_values_that_do_not_fit_are_errors(engine: Engine, table: pa.Table, message: str) -> None:
    with pytest.raises(DataError, match=message):
        engine.table("t", table)
