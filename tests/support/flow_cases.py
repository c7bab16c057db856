"""Queries that share flows, and random rows for them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from eddyline import Engine
from eddyline.testing import engine_with, rows_of

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;
    CREATE TABLE names (k BIGINT, name STRING)
"""
SECOND = 1_000_000
FILTER = "SELECT k, v FROM a [RANGE 3 SECONDS] WHERE v > {}"
JOIN = (
    "SELECT a.v, b.v AS w FROM a [RANGE {n} SECONDS], b [RANGE 3 SECONDS]"
    " WHERE a.k = b.k AND b.v > {n}"
)
GROUPS = (
    "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM a [RANGE 3 SECONDS] GROUP BY k) AS g"
    " WHERE n > {}"
)


def engine(**options: Any) -> Engine:
    out = engine_with(**options)
    out.sql(DDL)
    out.table("names", pa.table({"k": [1, 2], "name": ["one", "two"]}))
    return out


def rows(chance: random.Random, start: int, count: int = 8) -> dict[str, pa.Table]:
    """Rows of one second."""
    times = sorted(chance.randrange(SECOND) + start * SECOND for _ in range(2 * count))
    numbers = [[chance.randrange(n) for _ in range(2 * count)] for n in (3, 6)]
    columns = [pa.array(c) for c in (times, *numbers)]
    return {
        stream: pa.table([c.filter(pa.array(at)) for c in columns], names=["ts", "k", "v"])
        for stream, at in zip("ab", halves(chance, 2 * count), strict=True)
    }


def halves(chance: random.Random, count: int) -> tuple[list[bool], list[bool]]:
    first = [chance.random() < 0.5 for _ in range(count)]
    return first, [not f for f in first]


def bags(changes: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    return {name: sorted(map(repr, rows_of(changes[name]))) for name in names}
