"""Rows of machines, and the queries that watch them: of each class any number, with different
constants. An alert has rare results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.types import TIMESTAMP

DDL: Final = """\
CREATE STREAM readings (ts TIMESTAMP, machine BIGINT, site BIGINT, temp DOUBLE, load DOUBLE)
  TIMESTAMP BY ts;
CREATE STREAM beats (ts TIMESTAMP, machine BIGINT, volts DOUBLE) TIMESTAMP BY ts"""

MACHINES: Final = 1_000
_SITES: Final = 20
_SPACING_US: Final = 1_000
_START_US: Final = 1_000_000


@dataclass(frozen=True)
class Rows:
    """Rows of a call: a reading each millisecond, and a beat of every second machine's reading.

    Temperatures are around 20, loads around 1.
    """

    readings: pa.Table
    beats: pa.Table


def rows(first: int, count: int) -> Rows:
    """Rows ``first``, ``first + 1``, ...: the same numbers are the same rows."""
    random = np.random.default_rng(first)
    ts = pa.array((np.arange(count, dtype=np.int64) + first) * _SPACING_US + _START_US)
    machine = random.integers(0, MACHINES, count)
    readings = pa.table(
        {
            "ts": ts.cast(TIMESTAMP),
            "machine": machine,
            "site": machine % _SITES,
            "temp": 20 + random.standard_normal(count) * 4,
            "load": random.exponential(1.0, count),
        }
    )
    half = np.arange(0, count, 2)
    beats = pa.table(
        {
            "ts": ts.take(pa.array(half)).cast(TIMESTAMP),
            "machine": random.integers(0, MACHINES - 10, half.size),  # the last ones are silent
            "volts": 230 + random.standard_normal(half.size),
        }
    )
    return Rows(readings, beats)


_Text = Callable[[int], str]


def _having(i: int) -> str:
    return (
        "SELECT machine, AVG(temp) AS t FROM readings [RANGE 60 SECONDS] GROUP BY machine "
        f"HAVING AVG(temp) > {23 + i / 100}"
    )


#: The classes: the text of query ``i``.
CLASSES: Final[dict[str, _Text]] = {
    "filter": lambda i: (
        f"SELECT ts, machine, temp FROM readings WHERE machine = {7 * i % MACHINES} AND temp > 32"
    ),
    "filter, CHANGES": lambda i: (
        f"SELECT ts, machine, temp FROM readings [RANGE 10 SECONDS] WHERE machine = "
        f"{7 * i % MACHINES} AND temp > 32 EMIT CHANGES"
    ),
    "join": lambda i: (
        "SELECT r.ts, r.machine, r.temp, b.volts FROM readings [RANGE 5 SECONDS] AS r, "
        "beats [RANGE 5 SECONDS] AS b WHERE r.machine = b.machine AND r.machine = "
        f"{7 * i % MACHINES} AND r.temp > 32"
    ),
    "join, last rows of keys": lambda i: (
        f"SELECT r.ts, r.machine, r.temp, b.volts FROM readings [PARTITION BY machine ROWS "
        f"{1 + i % 10}] AS r, beats [PARTITION BY machine ROWS {1 + i % 10}] AS b WHERE "
        f"r.machine = b.machine AND r.machine = {7 * i % MACHINES} AND r.temp > 32"
    ),
    "HAVING threshold": _having,
    "HAVING, other WHERE": lambda i: (
        f"SELECT site, AVG(temp) AS t FROM readings [RANGE 60 SECONDS] WHERE load > {i / 50} "
        "GROUP BY site HAVING AVG(temp) > 30"
    ),
    "other windows": lambda i: (
        f"SELECT machine, AVG(temp) AS t FROM readings [RANGE {20 + i} SECONDS] GROUP BY machine "
        "HAVING AVG(temp) > 30"
    ),
    "alerts": lambda i: (
        f"SELECT site, AVG(temp) AS t FROM readings [RANGE {10 + i % 10 * 10} SECONDS] WHERE "
        f"load > {i / 50} GROUP BY site HAVING AVG(temp) > {30 + i / 100}"
    ),
    "other aggregates": lambda i: (
        "SELECT machine, {0}({1}) AS v FROM readings [RANGE 60 SECONDS] GROUP BY machine "
        "HAVING {0}({1}) > {2}".format(
            ("AVG", "MIN", "SUM", "STDDEV", "MAX")[i % 5], ("temp", "load")[i // 5 % 2], 9000 + i
        )
    ),
    "HAVING, CHANGES": lambda i: f"{_having(i)} EMIT CHANGES",
    "SNAPSHOT": lambda i: (
        f"SELECT machine, COUNT(*) AS n, AVG(temp) AS t FROM readings [RANGE 60 SECONDS] WHERE "
        f"site = {i % _SITES} AND load > {i / 50} GROUP BY machine EMIT SNAPSHOT EVERY 10 SECONDS"
    ),
    "NOT EXISTS": lambda i: (
        f"SELECT r.ts, r.machine FROM readings [RANGE 10 SECONDS] AS r WHERE r.machine = "
        f"{7 * i % MACHINES} AND r.temp > 28 AND NOT EXISTS (SELECT 1 FROM beats [RANGE 10 "
        "SECONDS] AS b WHERE b.machine = r.machine)"
    ),
    "NOT EXISTS, other windows": lambda i: (
        f"SELECT r.ts, r.machine FROM readings [RANGE {10 + i} SECONDS] AS r WHERE r.machine = "
        f"{7 * i % MACHINES} AND r.temp > 28 AND NOT EXISTS (SELECT 1 FROM beats [RANGE {5 + i} "
        "SECONDS] AS b WHERE b.machine = r.machine)"
    ),
    "EXCEPT": lambda i: (
        f"SELECT machine FROM readings [RANGE 5 SECONDS] WHERE machine = {7 * i % MACHINES} AND "
        "temp > 28 EXCEPT SELECT machine FROM beats [RANGE 3 SECONDS]"
    ),
    "EXCEPT, other windows": lambda i: (
        f"SELECT machine FROM readings [RANGE {5 + i} SECONDS] WHERE machine = {7 * i % MACHINES} "
        f"AND temp > 28 EXCEPT SELECT machine FROM beats [RANGE {3 + i} SECONDS]"
    ),
    "LEFT JOIN, other windows": lambda i: (
        f"SELECT r.ts, r.machine, b.volts FROM readings [RANGE {5 + i} SECONDS] AS r LEFT JOIN "
        f"beats [RANGE {3 + i} SECONDS] AS b ON r.machine = b.machine WHERE r.machine = "
        f"{7 * i % MACHINES} AND r.temp > 32"
    ),
    "LEFT JOIN": lambda i: (
        "SELECT r.ts, r.machine, b.volts FROM readings [RANGE 5 SECONDS] AS r LEFT JOIN "
        f"beats [RANGE 5 SECONDS] AS b ON r.machine = b.machine WHERE r.machine = "
        f"{7 * i % MACHINES} AND r.temp > 32"
    ),
    "global": lambda i: (
        f"SELECT COUNT(*) AS n, AVG(temp) AS t FROM readings [RANGE 60 SECONDS] WHERE machine = "
        f"{7 * i % MACHINES} HAVING COUNT(*) > 200"
    ),
    "DISTINCT": lambda i: (
        f"SELECT DISTINCT machine FROM readings [RANGE 60 SECONDS] WHERE temp > {34 + i / 100}"
    ),
}

#: How many queries of a class a believable mix of a thousand has.
MIX: Final[dict[str, int]] = {
    "filter": 300,
    "filter, CHANGES": 50,
    "HAVING threshold": 50,
    "HAVING, other WHERE": 15,
    "other windows": 30,
    "alerts": 15,
    "other aggregates": 20,
    "HAVING, CHANGES": 20,
    "SNAPSHOT": 200,
    "join": 100,
    "NOT EXISTS": 80,
    "LEFT JOIN": 50,
    "global": 50,
    "DISTINCT": 20,
}


def queries(kind: str, count: int) -> Iterator[tuple[str, str]]:
    """Names and texts of queries of a class."""
    text = CLASSES[kind]
    word = "".join(c if c.isalnum() else "_" for c in kind)
    for i in range(count):
        yield f"{word}_{i}", text(i)
