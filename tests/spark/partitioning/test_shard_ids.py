from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from eddyline.spark.partitioning.shard_ids import partition_of, shard_id, spark_hash

NUMBERS = [*range(2_000), 1 << 20, (1 << 31) - 1]


def test_the_id_of_a_shard_is_the_key_with_its_number_as_hash() -> None:
    ids = [shard_id(n) for n in NUMBERS]
    assert [spark_hash(i) for i in ids] == NUMBERS
    assert all(0 <= i < 1 << 32 for i in ids)


def test_shards_are_spread_evenly_over_any_number_of_partitions() -> None:
    for shards in (1, 2, 3, 7, 12, 64):
        ids = [shard_id(n) for n in range(shards)]
        for partitions in range(1, shards + 1):
            placed = [partition_of(i, partitions) for i in ids]
            counts = [placed.count(p) for p in range(partitions)]
            assert max(counts) - min(counts) <= 1, (shards, partitions)


def test_hash_is_sparks(spark: SparkSession) -> None:
    keys = [0, 1, 7, 1 << 31, (1 << 62) + 5, *(shard_id(n) for n in NUMBERS[:64])]
    rows = spark.createDataFrame([(k,) for k in keys], "k BIGINT").select(F.hash("k")).collect()
    assert [spark_hash(k) for k in keys] == [row[0] for row in rows]


@pytest.mark.parametrize("partitions", [1, 2, 3, 5, 8])
def test_spark_runs_a_shard_in_that_partition(spark: SparkSession, partitions: int) -> None:
    ids = [shard_id(n) for n in range(16)]
    rows = spark.createDataFrame([(i,) for i in ids], "shard BIGINT")
    placed = rows.repartition(partitions, "shard").select("shard", F.spark_partition_id()).collect()
    assert {row[0]: row[1] for row in placed} == {i: partition_of(i, partitions) for i in ids}
