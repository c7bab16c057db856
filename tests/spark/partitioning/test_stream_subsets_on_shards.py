"""Queries over subsets of the same streams share an eddy in each shard."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from eddyline.engine.placement.eddies import IN_EDDY
from eddyline.types import TIMESTAMP
from sharded import Sharded

SECOND = 1_000_000
STREAMS = "abcd"
DDL = ";".join(
    f"CREATE STREAM {s} (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts LATENESS 1 SECOND"
    for s in STREAMS
)
SUBSETS = ("ab", "abc", "abd", "bcd", "abcd", "cd", "acd")


def query(random: Random, subset: str) -> str:
    first = subset[0]
    terms = [f"{first}.k = {s}.k" for s in subset[1:]] + [f"{random.choice(subset)}.x > 1"]
    sources = ", ".join(f"{s} [RANGE {random.randint(1, 3)} SECONDS] AS {s}" for s in subset)
    kind = random.choice(["{0}.k, {0}.x, {1}.x AS y", "{0}.k, COUNT(*) AS n"])
    group = f" GROUP BY {first}.k" if "COUNT" in kind else ""
    emit = random.choice(["INSERTS", "CHANGES", "SNAPSHOT EVERY 2 SECONDS"])
    selected = kind.format(*subset)
    return f"SELECT {selected} FROM {sources} WHERE {' AND '.join(terms)}{group} EMIT {emit}"


def batch(random: Random, start: int) -> dict[str, pa.Table]:
    """Rows of some streams, from ``start`` on, in seconds."""
    found = {}
    for name in random.sample(STREAMS, random.randint(1, 4)):
        times = sorted(start + random.choice([0, 1, 2]) for _ in range(random.randint(1, 6)))
        columns = {
            "ts": pa.array([t * SECOND for t in times], pa.int64()).cast(TIMESTAMP),
            "k": pa.array(random.choices([None, 1, 2, 3], k=len(times)), pa.int64()),
            "x": pa.array(random.choices([None, 0, 1, 2, 3], k=len(times)), pa.int64()),
        }
        found[name] = pa.table(columns)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_queries_over_subsets(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    queries = {f"q{i}": query(random, subset) for i, subset in enumerate(SUBSETS)}
    late = {"late": query(random, "abc"), "later": query(random, "bd")}
    job = Sharded(DDL, queries, {}, shards=3, directory=tmp_path, is_durable=seed % 2 == 1)
    start = 1_000
    for turn in range(8):
        start += random.choice([0, 1, 3])
        job.process(batch(random, start))
        if random.random() < 0.4:
            job.restart()
        if random.random() < 0.2:
            job.lose_workers(list(job.shards)[::2])
        if turn == 3:
            for name, sql in late.items():
                job.add(name, sql, 4 * SECOND)
            job.drop("q1")
    stats = job.engine.stats()["queries"]
    assert {s["why"] for s in stats.values()} == {IN_EDDY}
    job.advance((start + 60) * SECOND)
    job.check()
