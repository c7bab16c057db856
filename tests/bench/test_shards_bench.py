"""The measurement of one shard and two."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from eddyline.bench import shards
from eddyline.bench.replication import Copies, measured_copies, show_copies
from eddyline.errors import EddylineError


@pytest.mark.spark
@pytest.mark.long
def test_two_shards_divide_each_workload_and_find_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "_RULES", 20)
    for workload in shards.workloads():
        small = replace(workload, rows=workload.rows // 100, keys=workload.keys // 100)
        found = shards.measured(spark, tmp_path, small, 1)
        assert found["rounds"] == 1
        assert found["results"] > 0 or workload.name == "group", workload.name


@pytest.mark.spark
@pytest.mark.long
def test_a_chain_is_copied_as_often_as_predicted(spark: SparkSession, tmp_path: Path) -> None:
    chain = next(w for w in shards.workloads() if w.name == "chain")
    small = replace(chain, rows=3_000).input(tmp_path)
    copies = measured_copies(spark, small, shards.CHAIN, shards.COLUMNS)
    assert [(c.stream, c.read) for c in copies] == [(name, 3_000) for name in "abc"]
    assert [c.predicted for c in copies] == [2, 1, 2]
    assert [c.measured for c in copies] == [2, 1, 2]


@pytest.mark.parametrize(("received", "verdict"), [(200, "yes"), (150, "no")])
def test_the_verdict_on_copies(received: int, verdict: str) -> None:
    console = Console(file=StringIO(), width=120)
    show_copies([Copies("a", 100, received, 2), Copies("b", 100, 100, 1)], console)
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue().splitlines()[-1].endswith(verdict)


@pytest.mark.parametrize(
    ("stage", "job", "verdict"),
    [(1.8, 1.6, "holds"), (1.6, 1.6, "does not hold"), (1.8, 1.4, "does not hold")],
)
def test_the_verdict_on_two_shards(stage: float, job: float, verdict: str) -> None:
    (line,) = shards.verdicts([{"name": "join", "stage_ratio": stage, "job_ratio": job}])
    assert line.endswith(f": {verdict}")


def test_a_wrong_case_is_named() -> None:
    with pytest.raises(EddylineError, match=r"'joins'.*join, rules, group, chain, replication"):
        shards.run_shards(case="joins")
