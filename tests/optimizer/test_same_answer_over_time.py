"""A running query has the same answer at every instant, optimized or not.

Rows come, expire, and are taken back; windows differ, so that results leave in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline.testing import engine_with

INSTANTS = range(0, 18_000_000, 500_000)  # until every window is empty again
STREAMS = ("a", "b", "c")

QUERIES = [
    # negation and existence move below the join
    "SELECT a.x, a.y, b.y AS z FROM a [RANGE 5 SECONDS], b [RANGE 3 SECONDS] WHERE a.x = b.x "
    "AND NOT EXISTS (SELECT 1 FROM c [RANGE 2 SECONDS] WHERE c.x = b.x AND c.y > b.y) "
    "AND EXISTS (SELECT 1 FROM c [RANGE 8 SECONDS] WHERE c.y = a.y)",
    # negation moves above DISTINCT
    "SELECT DISTINCT a.x FROM a [RANGE 5 SECONDS] "
    "WHERE NOT EXISTS (SELECT 1 FROM c [RANGE 2 SECONDS] WHERE c.x = a.x)",
    # bag negation moves above a look-up
    "SELECT a.x FROM (SELECT x FROM a [RANGE 5 SECONDS] EXCEPT ALL "
    "SELECT x FROM c [RANGE 2 SECONDS]) a, (SELECT DISTINCT x FROM b [RANGE 4 SECONDS]) b "
    "WHERE a.x = b.x",
    # DISTINCT moves below joins: instead of the upper one, beside it, and to one side
    "SELECT DISTINCT a.x, b.y FROM a [RANGE 5 SECONDS], b [RANGE 4 SECONDS] WHERE a.x = b.x",
    "SELECT DISTINCT a.x FROM a [RANGE 5 SECONDS], b [RANGE 4 SECONDS], c [RANGE 3 SECONDS] "
    "WHERE a.x = b.x AND b.x = c.x",
    "SELECT DISTINCT a.x FROM a [RANGE 5 SECONDS], b [ROWS 4] WHERE a.x = b.x",
]


def rows(seed: int) -> dict[str, pa.Table]:
    rng = np.random.default_rng(seed)

    def stream() -> pa.Table:
        n = int(rng.integers(10, 60))
        ts = np.sort(rng.choice(INSTANTS[:20], n))
        x, y = rng.integers(0, 3, (2, n)), rng.random((2, n)) < 0.1
        return pa.table({"ts": ts, "x": pa.array(x[0], mask=y[0]), "y": pa.array(x[1], mask=y[1])})

    return {name: stream() for name in STREAMS}


def answers(sql: str, data: dict[str, pa.Table], *, optimize: bool) -> Iterator[Counter[str]]:
    engine = engine_with(optimize=optimize)
    for name in STREAMS:
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, x BIGINT, y BIGINT) TIMESTAMP BY ts")
    query = engine.query(sql)
    for now in INSTANTS:
        engine.process({name: t.filter(pc.equal(t["ts"], now)) for name, t in data.items()})
        engine.advance(now)
        yield Counter(map(str, query.snapshot().to_pylist()))


@pytest.mark.parametrize("sql", QUERIES)
def test_same_answer_over_time(sql: str) -> None:
    for seed in range(3):
        data = rows(seed)
        optimized = list(answers(sql, data, optimize=True))
        assert optimized == list(answers(sql, data, optimize=False)), f"seed {seed}"
        assert any(optimized)
