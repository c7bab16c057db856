"""The limit of memory is divided evenly over the shards of a job's first start."""

from __future__ import annotations

from pathlib import Path

from eddyline import EngineOptions
from eddyline.engine.settings import Settings
from eddyline.spark.layouts.job_program import JobProgram
from eddyline.spark.script import Script
from eddyline.spark.storage.directory import LocalDirectory

STATEMENTS = [
    *(
        f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts WITH (source = 'none', "
        "rate = 1000)"
        for name in "abc"
    ),
    "CREATE QUERY j AS SELECT a.k FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.k = b.k",
    "CREATE QUERY alone AS SELECT k FROM c [RANGE 1 HOUR] ON OVERLOAD SHED",
]


def test_each_shard_gets_an_equal_part(tmp_path: Path) -> None:
    settings = Settings(EngineOptions(memory="4 GB"))
    script = Script.of(STATEMENTS, settings=settings)
    directory = LocalDirectory(str(tmp_path / "checkpoint"))
    for cores in (4, 2):
        job = JobProgram(directory, script, script.groups(), None, 3, cores)
        shards = [len(of.ids) for of in job.layouts]
        assert sorted(shards) == [1, 3], "queries that shed run in one engine"
        for of in job.layouts:
            assert job.options(of).memory_bytes == 1_000_000_000
        assert script.options.memory == "4 GB", "that of the checkpoint is the whole"


def test_verdicts_are_of_the_part_of_a_group() -> None:
    script = Script.of(STATEMENTS, settings=Settings(EngineOptions(memory="100 MB")))
    found = {group.streams: v for group, v, _ in script.verdicts([1.0, 1.0], [0.75, 0.25])}
    assert [v.memory for v in found.values()] == [75e6, 25e6]
    assert all(v.state > v.memory for v in found.values())
