"""The rows and rules of every case: squares on a plane, and points on it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eddyline.types import TIMESTAMP

_SPACING_US = 1_000
_START_US = 1_000_000
COLUMNS = "ts TIMESTAMP, k BIGINT, x DOUBLE, y DOUBLE"


@dataclass(frozen=True)
class RuleWorkload:
    """``count`` rules, each a square that selects the points in it; a point is in about one.

    Points are uniform, a row each millisecond of event time: 10,000 live in a window of 10 seconds.
    """

    count: int

    @property
    def side(self) -> float:
        """Length of a square's side; the plane's is 1."""
        return 1 / math.sqrt(self.count)

    @cached_property
    def table(self) -> pa.Table:
        """The rules as rows: ``id``, the lowest and the highest ``x`` and ``y``."""
        corners = np.random.default_rng(1).random((2, self.count)) * (1 - self.side)
        return pa.table(
            {
                "id": np.arange(self.count),
                "x0": corners[0],
                "x1": corners[0] + self.side,
                "y0": corners[1],
                "y1": corners[1] + self.side,
            }
        )

    def selects(self) -> Iterator[tuple[str, str]]:
        """A standing query per rule: its name and its SELECT."""
        for rule in self.table.to_pylist():
            yield (
                f"rule{rule['id']}",
                "SELECT k, x, y FROM s [RANGE 10 SECONDS] "
                f"WHERE x BETWEEN {rule['x0']} AND {rule['x1']} "
                f"AND y BETWEEN {rule['y0']} AND {rule['y1']}",
            )

    @staticmethod
    def for_each() -> str:
        """All of them as one statement over the table ``rules``."""
        return (
            "CREATE QUERY alerts FOR EACH ROW OF rules AS "
            "SELECT rules.id, k, x, y FROM s [RANGE 10 SECONDS] "
            "WHERE x BETWEEN rules.x0 AND rules.x1 AND y BETWEEN rules.y0 AND rules.y1"
        )


def points(first: int, rows: int) -> pa.Table:
    """Rows ``first``, ``first + 1``, ... of the stream; the same numbers are the same rows."""
    random = np.random.default_rng(first)
    ts = (np.arange(rows, dtype=np.int64) + first) * _SPACING_US + _START_US
    return pa.table(
        {
            "ts": pa.array(ts).cast(TIMESTAMP),
            "k": random.integers(0, 1_000, rows),
            "x": random.random(rows),
            "y": random.random(rows),
        }
    )


def write_points(folder: Path, files: int, rows: int) -> None:
    """The stream as files. Spark takes files by age: that must be the order of time."""
    folder.mkdir()
    for number in range(files):
        file = folder / f"{number:03}.parquet"
        pq.write_table(points(number * rows, rows), file)
        os.utime(file, (1e9 + number, 1e9 + number))
