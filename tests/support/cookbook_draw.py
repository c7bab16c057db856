"""Draws the rows of the streams and tables of the cookbook's pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

import pyarrow as pa

from cookbook import START

#: How long the streams are.
SPAN_MS: Final = 3 * 3600 * 1000
_TS: Final = pa.timestamp("us")
Page = tuple[dict[str, pa.Table], dict[str, pa.Table]]


class Draw:
    """Draws columns of values."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def times(self, count: int, until_ms: int = SPAN_MS) -> list[datetime]:
        """Different times in order, in ms."""
        chosen = sorted(self.random.sample(range(until_ms), count))
        return [START.replace(tzinfo=None) + timedelta(milliseconds=ms) for ms in chosen]

    def of(
        self, count: int, values: Sequence[Any], weights: Sequence[int] | None = None
    ) -> list[Any]:
        return self.random.choices(values, weights, k=count)

    def numbers(self, count: int, low: int, high: int, per_unit: int = 1) -> list[Any]:
        """Whole numbers, or fractions that floats represent exactly."""
        drawn = [self.random.randint(low * per_unit, high * per_unit) for _ in range(count)]
        return drawn if per_unit == 1 else [n / per_unit for n in drawn]


def stream(times: list[datetime], **columns: list[Any]) -> pa.Table:
    return pa.table({"ts": pa.array(times, _TS), **columns})


def changes(draw: Draw, count: int, **columns: list[Any]) -> pa.Table:
    """Rows that come to a table at any time; two thirds of them leave it later."""
    rows = list(zip(*columns.values(), strict=True))
    found = []
    for time in draw.times(count):
        row = draw.random.choice(rows)
        found.append((time, "+", *row))
        if draw.random.random() < 0.67:
            later = time + timedelta(
                milliseconds=draw.random.randint(60_000, 2_400_000), microseconds=500
            )
            found.append((later, "-", *row))
    found.sort(key=lambda row: row[0])
    arrays = [list(column) for column in zip(*found, strict=True)]
    named = dict(zip(columns, arrays[2:], strict=True))
    return pa.table({"_ts": pa.array(arrays[0], _TS), "_op": arrays[1], **named})
