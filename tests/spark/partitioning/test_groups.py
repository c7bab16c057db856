from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from eddyline.spark.partitioning.groups import connected, cores_by_group
from eddyline.spark.partitioning.shard_ids import shard_ids, spark_hash


def test_streams_of_one_query_form_one_group() -> None:
    reads = {"q": frozenset("ab"), "r": frozenset("c"), "s": frozenset("cd"), "t": frozenset("bd")}
    assert connected(reads) == [(frozenset("abcd"), ["q", "r", "s", "t"])]


def test_unrelated_streams_are_separate_groups() -> None:
    reads = {"q": frozenset("a"), "r": frozenset("b"), "s": frozenset("a")}
    assert connected(reads) == [(frozenset("a"), ["q", "s"]), (frozenset("b"), ["r"])]


def test_shards_are_spread_over_the_partitions() -> None:
    ids = shard_ids(7, 3)
    assert [spark_hash(i) % 3 for i in ids] == [0, 1, 2, 0, 1, 2, 0]
    assert len(set(ids)) == 7


def test_hash_is_sparks(spark: SparkSession) -> None:
    keys = [0, 1, 7, 1 << 31, (1 << 62) + 5]
    rows = spark.createDataFrame([(k,) for k in keys], "k BIGINT").select(F.hash("k")).collect()
    assert [spark_hash(k) for k in keys] == [row[0] for row in rows]


def test_capacity_is_what_engines_can_use() -> None:
    assert cores_by_group(1, 8, 8) == [1.0], "one group runs on one core, whatever the shards"
    assert cores_by_group(3, 8, 8) == [1.0, 1.0, 1.0]
    assert cores_by_group(4, 2, 8) == [0.5] * 4, "engines of one partition take turns"
    assert cores_by_group(4, 4, 2) == [0.5] * 4, "not more than the cores there are"
    assert cores_by_group(2, 2, 2, 1.0) == [0.5, 0.5]
    assert cores_by_group(2, 2, 2, 16.0) == [1.0, 1.0], "nor if more is asked for"
    assert cores_by_group(0, 2, 2) == []
