"""Columns with NULLs for tests of expressions, and a short way to write expressions over them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef, Expr, Literal
from eddyline.algebra.functions import resolve
from eddyline.physical.expressions import compile_expr
from eddyline.runtime.failures import collecting
from eddyline.types import TIMESTAMP

ROWS = 400


class Rows:
    """The Columns protocol over a table."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table.combine_chunks()

    def column(self, index: int) -> pa.Array:
        chunks = self.table.column(index)
        return chunks.chunk(0) if chunks.num_chunks else pa.array([], chunks.type)

    def __len__(self) -> int:
        return int(self.table.num_rows)


def _make() -> pa.Table:
    random = np.random.default_rng(7)
    words = [
        "",
        "a",
        "ab",
        "abc",
        "aXb",
        " pad ",
        "x,y,,z",
        "Zürich",
        "日本語",
        "a%b",
        "10",
        "-3.5",
    ]
    micros = random.integers(-(10**15), 2 * 10**15, ROWS)
    columns = {
        "i": pa.array(random.integers(-5, 6, ROWS), pa.int32()),
        "j": pa.array(random.integers(-1000, 1000, ROWS), pa.int64()),
        "x": pa.array(np.round(random.normal(0, 5, ROWS), 3)),
        "y": pa.array(random.integers(-4, 5, ROWS) / 2.0),
        "s": pa.array(random.choice(words, ROWS).tolist()),
        "u": pa.array(random.choice(words, ROWS).tolist()),
        "b": pa.array(random.random(ROWS) < 0.5),
        "c": pa.array(random.random(ROWS) < 0.5),
        "t": pa.array(micros, pa.int64()).cast(TIMESTAMP),
        "r": pa.array(random.integers(0, 10**12, ROWS), pa.int64()).cast(TIMESTAMP),
        "d": pa.array(random.integers(-9000, 20000, ROWS).astype(np.int32)).cast(pa.date32()),
        "e": pa.array(random.integers(-9000, 20000, ROWS).astype(np.int32)).cast(pa.date32()),
    }
    holes = {n: pa.array(random.random(ROWS) < 0.15) for n in columns}
    return pa.table(
        {n: pa.compute.if_else(holes[n], None, column) for n, column in columns.items()}
    )


TABLE = _make()
_TYPES = {bool: pa.bool_(), int: pa.int32(), float: pa.float64(), str: pa.string()}


def column(name: str, table: pa.Table = TABLE) -> ColumnRef:
    place = table.column_names.index(name)
    return ColumnRef(table.column(place).type, place, name)


def lit(value: Any) -> Literal:
    if value is None:
        return Literal(pa.null(), None)
    if isinstance(value, dt.timedelta):
        return Literal(pa.duration("us"), value)
    return Literal(_TYPES[type(value)], value)


def fn(name: str, *args: Any) -> Expr:
    """The resolved call; arguments that are no expressions are constants."""
    return resolve(name, tuple(a if isinstance(a, Expr) else lit(a) for a in args))


def evaluate(expr: Expr, table: pa.Table = TABLE) -> pa.Array:
    result = compile_expr(expr)(Rows(table))
    assert isinstance(result, pa.Array)
    assert result.type == expr.type
    assert len(result) == table.num_rows
    result.validate(full=True)
    return result


def failing(expr: Expr, table: pa.Table = TABLE) -> tuple[pa.Array, dict[int, str]]:
    """The values of an expression, and the reasons of the rows that fail."""
    with collecting() as failures:
        values = evaluate(expr, table)
    reasons: dict[int, str] = {}
    for failure in failures:
        assert failure.rows.tolist() == sorted(set(failure.rows.tolist()))
        reasons |= dict(zip(failure.rows.tolist(), failure.reasons.to_pylist(), strict=True))
    assert len(failures) <= 1
    assert all(values[row].as_py() is None for row in reasons)
    return values, reasons


def connect(table: pa.Table = TABLE) -> duckdb.DuckDBPyConnection:
    """A DuckDB session with the columns as table ``t``; timestamps without zone, meaning UTC."""
    naive = [
        c.cast(pa.timestamp("us")) if pa.types.is_timestamp(c.type) else c for c in table.columns
    ]
    session = duckdb.connect()
    session.execute("SET threads = 1; SET ieee_floating_point_ops = true")
    session.register("arrow", pa.table(naive, names=table.column_names))
    session.execute("CREATE TABLE t AS SELECT * FROM arrow")
    return session


def same(ours: pa.Array, theirs: list[Any]) -> None:
    """Assert equal values: NaN equals NaN, floats to 12 digits, timestamps without their zone."""
    for row, (a, b) in enumerate(zip(ours.to_pylist(), theirs, strict=True)):
        if isinstance(a, float) and isinstance(b, (int, float)):
            assert np.isclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True), (row, a, b)
            continue
        if isinstance(a, dt.datetime):
            a = a.replace(tzinfo=None)
        assert a == b, (row, a, b)
