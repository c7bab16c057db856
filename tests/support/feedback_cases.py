"""A join with a row of c for some rows of a only, and what its gates have counted."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from eddyline import Engine
from eddyline.testing import engine_with


def fan_out(feedback: str, **options: Any) -> Engine:
    engine = engine_with(**{"executor": "tree", "feedback": feedback} | options)
    for name in "abc":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, k BIGINT) TIMESTAMP BY ts")
    streams = ", ".join(f"{name} [RANGE 1 HOUR]" for name in "abc")
    engine.query(f"SELECT a.k FROM {streams} WHERE a.g = b.g AND a.k = c.k", name="q")
    return engine


def keyed(keys: Any, ts: int = 0) -> pa.Table:
    n = len(keys)
    values = {"g": pa.array([0] * n, pa.int64()), "k": pa.array(list(keys), pa.int64())}
    return pa.table({"ts": pa.array([ts] * n, pa.timestamp("us")), **values})


def stats(engine: Engine, name: str) -> int:
    """A counter, over all gates."""
    gates = [g for o in engine.stats()["operators"] for g in o.get("feedback", [])]
    return sum(g[name] for g in gates if g["rows_of"] == "a")


def waiting(engine: Engine) -> dict[str, int]:
    return {name: stats(engine, name) for name in ("refused", "resumed", "waiting")}
