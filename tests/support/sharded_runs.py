"""Runs of one query over divided streams, compared with one engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from eddyline.spark.partitioning.frequent_keys import SplitLimits
from sharded import EAGER, Sharded
from two_streams import DDL, SECOND, batch


def run_over_shards(
    name: str, sql: str, labels: Sequence[str], directory: Path, *, seeds: int = 3, batches: int = 8
) -> None:
    """Run a query over ``two_streams`` with restarts and lost workers, and compare the answers.

    Args:
        labels: of the axes of its layout.
        seeds: number of runs; the second is durable, the last splits keys early.
    """
    for seed in range(seeds):
        random = Random(f"{name} {seed}")
        job = Sharded(
            DDL,
            {"q": sql},
            {},
            shards=3,
            directory=directory / str(seed),
            partitions=2,
            is_durable=seed == 1,
            limits=EAGER if seed == seeds - 1 else SplitLimits(),
        )
        assert [a.label for of in job.layouts for a in of.layout.axes] == labels
        start = 1_000
        for _ in range(batches):
            start += random.choice([0, 1, 4])
            job.process(batch(random, start))
            if random.random() < 0.3:
                job.restart()
            if random.random() < 0.2:
                job.lose_workers(list(job.shards)[::2])
        job.advance((start + 60) * SECOND)
        job.check()
