"""ASOF joins over divided streams give the answers of one engine."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from eddyline.spark.partitioning.frequent_keys import SplitLimits
from sharded import EAGER, Sharded
from two_streams import DDL, SECOND, batch

#: With the labels of the layout's axes.
QUERIES = {
    "by key": (
        "SELECT a.k, a.x, b.x AS y FROM a [RANGE 2 SECONDS] ASOF LEFT JOIN b ON a.k = b.k AND "
        "a.ts >= b.ts",
        ["a.k = b.k"],
    ),
    "before": (
        "SELECT a.k, COUNT(*) AS n, SUM(b.x) AS y FROM a [RANGE 2 SECONDS] ASOF JOIN "
        "b [RANGE 3 SECONDS] ON a.k = b.k AND a.ts > b.ts GROUP BY a.k",
        ["a.k = b.k"],
    ),
    "of all rows": (
        "SELECT a.k, a.x, b.x AS y FROM a [RANGE 2 SECONDS] ASOF JOIN b ON a.ts > b.ts",
        ["rows of a"],
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_asof_joins_over_shards(name: str, tmp_path: Path) -> None:
    sql, labels = QUERIES[name]
    for seed in range(3):
        random = Random(f"{name} {seed}")
        job = Sharded(
            DDL,
            {"q": sql},
            {},
            shards=3,
            directory=tmp_path / str(seed),
            partitions=2,
            is_durable=seed == 1,
            limits=EAGER if seed == 2 else SplitLimits(),
        )
        assert [a.label for of in job.layouts for a in of.layout.axes] == labels
        start = 1_000
        for _ in range(8):
            start += random.choice([0, 1, 4])
            job.process(batch(random, start))
            if random.random() < 0.3:
                job.restart()
            if random.random() < 0.2:
                job.lose_workers(list(job.shards)[::2])
        job.advance((start + 60) * SECOND)
        job.check()
