"""Rows of streams (ts TIMESTAMP, k STRING, x BIGINT) for windows of some hundred milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pyarrow as pa


def rows(random: Random, clock: list[int], count: int, keys: str) -> pa.Table:
    """Generated rows from ``clock[0]`` on, in us, which becomes the time of the last one."""
    found: list[tuple[int, str, int | None]] = []
    for _ in range(count):
        clock[0] += random.choice([0, 0, 1, 99_999, 100_000, 300_000, 500_000, 1_300_000])
        found.append((clock[0], random.choice(keys), random.choice([None, 0, 1, 2, 3])))
    return table(found)


def table(found: Sequence[tuple[int, str, int | None]]) -> pa.Table:
    """Rows as (ts, k, x)."""
    columns = list(zip(*found, strict=True)) or [()] * 3
    types = {"ts": pa.int64(), "k": pa.string(), "x": pa.int64()}
    return pa.table({n: pa.array(c, t) for (n, t), c in zip(types.items(), columns, strict=True)})
