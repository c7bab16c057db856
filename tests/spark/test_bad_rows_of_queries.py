"""A bad row of one query is written to the side output and does not affect other queries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from eddyline.spark import Session

pytestmark = pytest.mark.spark

COLUMNS = "ts TIMESTAMP, k BIGINT"


def write(directory: Path, name: str, keys: list[int], start: int) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"ts": f"2026-01-01T00:00:{start + i:02}Z", "k": k}) for i, k in enumerate(keys)
    ]
    (directory / f"{name}.json").write_text("\n".join(lines))


def refusing() -> Callable[[int], int]:
    def refuse(k: int) -> int:  # sent to the workers by value
        if k == 13:
            raise ValueError("no 13")
        return k

    return refuse


def deadly() -> Callable[[int], int]:
    def die(k: int) -> int:
        import os

        if k == 13:
            os._exit(1)
        return k

    return die


def session(spark: SparkSession, tmp_path: Path, function: Callable[[int], int]) -> Session:
    made = Session(spark, checkpoint=tmp_path / "checkpoint")
    df = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    made.stream("a", df, timestamp="ts")
    made.function("f", function, args=["BIGINT"], returns="BIGINT", kind="python")
    for name, select in (("failing", "f(k) AS v"), ("healthy", "k AS v")):
        sink: dict[str, Any] = {"sink": "parquet", "path": str(tmp_path / name)}
        made.query(name, f"SELECT {select} FROM a [RANGE 10 SECONDS]", **sink)
    return made


def values(made: Session, name: str, column: str = "v") -> list[Any]:
    return sorted(row[column] for row in made.results(name).collect())


def test_bad_rows_of_a_query_do_not_affect_other_queries(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path / "in", "1", [12, 13, 14], 0)
    made = session(spark, tmp_path, refusing())
    run = made.start(available_now=True)
    run.finish()
    assert values(made, "healthy") == [12, 13, 14]
    assert values(made, "failing") == [12, 14]
    (row,) = made.results("bad:failing").collect()
    assert json.loads(row["_row"])["k"] == 13 and "no 13" in row["_reason"]
    assert made.results("bad:healthy").count() == 0
    assert run.progress().bad == {"a": 0, "failing": 1}
    assert run.stats()["failing"]["bad"] == 1 and run.stats()["failing"]["set_aside"] is None


def test_a_query_that_ends_the_job_is_dropped_before_the_repeated_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path / "in", "1", [12, 13, 14], 0)
    made = session(spark, tmp_path, deadly())
    run = made.start(available_now=True)
    with pytest.raises(Exception, match=r"worker|crash|exited"):
        run.finish()
    again = session(spark, tmp_path, deadly())
    run = again.start(available_now=True, drop=["failing"])
    run.awaitTermination()
    assert values(again, "healthy") == [12, 13, 14]
    assert list(again.queries) == ["healthy"]
    write(tmp_path / "in", "2", [15], 5)
    third = session(spark, tmp_path, deadly())
    run = third.start(available_now=True)  # it stays dropped
    run.awaitTermination()
    assert values(third, "healthy") == [12, 13, 14, 15]
    assert list(third.queries) == ["healthy"]
