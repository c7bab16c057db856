"""The measurement of one shard and two."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline.bench import shards


@pytest.mark.spark
@pytest.mark.long
def test_two_shards_divide_each_workload_and_find_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "_RULES", 20)
    for workload in shards.workloads():
        found = shards.measured(spark, tmp_path, replace(workload, rows=2_000), 1, 2)
        assert found["results"] > 0, workload.name
