"""The program of a shard, without Spark."""

from __future__ import annotations

import pyarrow as pa

from eddyline.spark.layouts.shard_program import ShardProgram

SECOND = 1_000_000


def test_the_time_of_an_engine_is_that_of_its_batches() -> None:
    """However long it takes from the plan of the first batch until the engine has been built."""
    program = ShardProgram(
        (
            "CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts IDLE AFTER 2 SECONDS",
            "CREATE QUERY q AS SELECT COUNT(*) AS n FROM a [RANGE 3 SECONDS]",
        ),
        inputs=("a",),
    )
    engine = program.build()
    rows = {"a": pa.table({"ts": [100 * SECOND], "k": [1]})}
    assert engine.process(rows, now=200 * SECOND)["q"]["n"].to_pylist() == [0, 1]
    assert engine.process({}, now=204 * SECOND)["q"]["n"].to_pylist() == [0]
    assert engine.watermark == 104 * SECOND
