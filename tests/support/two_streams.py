"""Two streams with lateness, and generated batches of their rows."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from eddyline.types import TIMESTAMP

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts LATENESS 2 SECONDS;
"""


def batch(random: Random, start: int) -> dict[str, pa.Table]:
    """Rows of one stream or of both, from ``start`` on, in seconds."""
    found = {}
    for name in random.choice(["a", "ab", "ba"]):
        times = sorted(start + random.choice([0, 1, 1, 2, 3]) for _ in range(random.randint(1, 9)))
        columns = {
            "ts": pa.array([t * SECOND for t in times], pa.int64()).cast(TIMESTAMP),
            "k": pa.array(random.choices([None, 1, 2, 3, 4], k=len(times)), pa.int64()),
            "x": pa.array(random.choices([None, 0, 1, 2, 3], k=len(times)), pa.int64()),
        }
        found[name] = pa.table(columns)
    return found
