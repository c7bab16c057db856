from __future__ import annotations

from eddyline.spark.partitioning.groups import connected, cores_by_shard


def test_streams_of_one_query_form_one_group() -> None:
    reads = {"q": frozenset("ab"), "r": frozenset("c"), "s": frozenset("cd"), "t": frozenset("bd")}
    assert connected(reads) == [(frozenset("abcd"), ["q", "r", "s", "t"])]


def test_unrelated_streams_are_separate_groups() -> None:
    reads = {"q": frozenset("a"), "r": frozenset("b"), "s": frozenset("a")}
    assert connected(reads) == [(frozenset("a"), ["q", "s"]), (frozenset("b"), ["r"])]


def test_capacity_is_what_engines_can_use() -> None:
    assert cores_by_shard([0], 8) == [1.0], "an engine runs on one core"
    assert cores_by_shard([0, 1, 2], 8) == [1.0, 1.0, 1.0]
    assert cores_by_shard([0, 1, 0, 1], 8) == [0.5] * 4, "engines of one partition take turns"
    assert cores_by_shard([0, 1, 2, 3], 2) == [0.5] * 4, "not more than the cores there are"
    assert cores_by_shard([0, 1], 2, 1.0) == [0.5, 0.5]
    assert cores_by_shard([0, 1], 2, 16.0) == [1.0, 1.0], "nor if more is asked for"
    assert cores_by_shard([], 2) == []
