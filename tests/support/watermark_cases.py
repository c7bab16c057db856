"""Engines over three streams with clauses about time, and what tests read from them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from eddyline import Engine
from eddyline.testing import engine_with

SECOND = 1_000_000
TABLE = "CREATE TABLE t (x BIGINT) WITH (updates = 'retroactive')"
JOIN = "SELECT a.x FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.x = b.x"


def engine(*queries: str, a: str = "", b: str = "", c: str = "", **options: Any) -> Engine:
    out = engine_with(**options)
    out.wall_clock = lambda: 0
    for name, clauses in (("a", a), ("b", b), ("c", c)):
        out.sql(f"CREATE STREAM {name} (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts {clauses}")
    for number, sql in enumerate(queries, start=1):
        out.query(sql, name=f"q{number}")
    return out


def rows(*seconds: float, x: int = 1) -> pa.Table:
    return pa.table({"ts": [round(s * SECOND) for s in seconds], "x": [x] * len(seconds)})


def found(out: Any, name: str = "q1") -> list[Any]:
    return list(out[name]["x"].to_pylist())


def watermarks(eng: Engine) -> dict[str, int | None]:
    """In seconds, by the streams of each group."""
    return {
        "".join(g["members"]): g["watermark"] // SECOND if g["watermark"] > -(1 << 60) else None
        for g in eng.stats()["groups"]
    }
