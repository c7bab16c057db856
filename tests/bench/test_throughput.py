"""The measurement of a job beside the same job without an engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline.bench import throughput
from eddyline.bench.cpu_time import cpu_seconds
from eddyline.errors import EddylineError


@pytest.mark.long
@pytest.mark.spark
def test_both_jobs_read_all_rows_and_one_has_no_engine(spark: SparkSession, tmp_path: Path) -> None:
    workload = next(throughput.workloads())
    found = throughput.measured(spark, tmp_path, workload, 1, 40_000)
    assert found["rounds"] == 1
    assert found["results_per_row"] > 0.5
    assert set(found["rows_per_s"]) == {"job", "without engine"}


@pytest.mark.parametrize(
    ("rate", "ratio", "ending"),
    [
        (1_600_000, 1.5, ": holds"),
        (1_000_000, 1.2, "bounded by Spark"),
        (1_000_000, 1.4, "does not hold"),
    ],
)
def test_the_verdict(rate: int, ratio: float, ending: str) -> None:
    figures = {
        "name": "join",
        "rows_per_s": {"job": rate, "without engine": 2_000_000},
        "asked_rows_per_s": 1_500_000,
        "ratio": ratio,
    }
    assert throughput.verdict(figures).endswith(ending)


def test_a_wrong_case_is_named() -> None:
    with pytest.raises(EddylineError, match=r"'joins'.*join, rules"):
        throughput.run_throughput(case="joins")


def test_cpu_time_contains_that_of_running_and_ended_children() -> None:
    work = "sum(range(4_000_000))"
    before = cpu_seconds()
    subprocess.run([sys.executable, "-c", work], check=True)
    ended = cpu_seconds()
    assert ended > before
    with subprocess.Popen(
        [sys.executable, "-c", f"import sys; {work}; print(flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdout.readline()
        assert cpu_seconds() > ended
        child.stdin.close()
