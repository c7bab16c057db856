"""A stream with a column of each of six types, for tests of functions of users."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

from eddyline import Engine
from eddyline.testing import engine_with

DDL = (
    "CREATE STREAM s (ts TIMESTAMP, x BIGINT, y DOUBLE, t STRING, b BOOLEAN, d DECIMAL(9,2), "
    "day DATE) TIMESTAMP BY ts"
)
ROWS = pa.table(
    {
        "ts": [0, 1, 2, 3],
        "x": [1, None, 2**53 + 1, -4],
        "y": [0.5, math.nan, None, 9.0],
        "t": ["a", "bc", None, ""],
        "b": [True, None, False, True],
        "d": pa.array([Decimal("1.25"), None, Decimal(3), Decimal("0.01")], pa.decimal128(9, 2)),
        "day": [dt.date(2026, 1, 2), None, dt.date(1969, 12, 31), dt.date(2000, 2, 29)],
    }
)
SIX = ["BIGINT", "DOUBLE", "STRING", "BOOLEAN", "DECIMAL(9,2)", "DATE"]


def engine(chunk_rows: int = 16_384) -> Engine:
    out = engine_with(chunk_rows=chunk_rows)
    out.sql(DDL)
    return out


def column(engine: Engine, expression: str, rows: pa.Table = ROWS) -> list[Any]:
    query = engine.query(f"SELECT {expression} AS v FROM s [NOW]")
    values: list[Any] = engine.process({"s": rows})[query.name]["v"].to_pylist()
    return values
