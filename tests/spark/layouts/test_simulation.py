"""The simulated load of shards."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from eddyline.cli.main import app
from eddyline.spark.layouts.simulation import (
    TIMESTAMP_BYTES,
    WORKLOADS,
    ShardLoad,
    Skew,
    Workload,
    costs_of_one_key,
    planned_layout,
    simulate,
)

JOIN, CHAIN, RULES = WORKLOADS
RATE = 1e6


def load(workload: Workload, shards: int, skew: Skew = "uniform") -> ShardLoad:
    return simulate(workload, shards, skew, rate=RATE, row_bytes=100, exponent=1.0)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: w.name)
@pytest.mark.parametrize("shards", [1, 8, 64])
def test_as_many_rows_are_sent_as_the_layout_says(workload: Workload, shards: int) -> None:
    layout = planned_layout(workload, shards)
    found = load(workload, shards)
    copies = sum(layout.copies(s) for s in workload.keys) / len(workload.keys)
    assert found.copies == pytest.approx(copies)
    assert found.rows * layout.cells == pytest.approx(RATE * copies)
    assert found.shuffled == pytest.approx(RATE * copies * 100)
    assert found.most_rows <= 1.25 * found.rows


def test_timestamps_that_are_sent_to_all_cells_are_counted() -> None:
    of_rows = replace(JOIN, sql=JOIN.sql.replace("a [RANGE 60 SECONDS]", "a [ROWS 1000]"))
    found, without = load(of_rows, 8), load(JOIN, 8)
    timestamps = RATE / 2 * 7
    assert found.copies == without.copies
    assert found.shuffled - without.shuffled == pytest.approx(timestamps * TIMESTAMP_BYTES)
    assert found.logged == found.shuffled
    cores = timestamps / 4 / JOIN.core_rows
    assert found.cores - without.cores == pytest.approx(cores)
    assert found.busiest - without.busiest == pytest.approx(cores / 8, rel=0.05)


def test_one_shard_has_everything() -> None:
    found = load(JOIN, 1)
    assert (found.sizes, found.most_rows, found.most_results) == ((), RATE, 1.0)
    assert found.most_state == RATE * 60 * 100


def test_a_frequent_key_bounds_the_busiest_shard() -> None:
    even, skewed = load(JOIN, 64), load(JOIN, 64, "zipf")
    assert skewed.copies == even.copies
    first = 1 / sum(1 / k for k in range(1, 100_001))  # the share of the most frequent key
    assert skewed.most_rows >= 0.95 * first * RATE
    assert skewed.most_results > 10 * even.most_results


@pytest.mark.parametrize(("workload", "shards"), [(JOIN, 8), (CHAIN, 64)], ids=["join", "chain"])
def test_frequent_keys_are_split(workload: Workload, shards: int) -> None:
    skews: tuple[Skew, ...] = ("uniform", "zipf", "zipf, split")
    even, skewed, split = (load(workload, shards, skew) for skew in skews)
    assert split.most_work < 0.75 * skewed.most_work
    assert split.most_results < skewed.most_results
    assert split.copies > skewed.copies == pytest.approx(even.copies)


def test_copies_are_bounded() -> None:
    split, skewed = (load(JOIN, 64, skew) for skew in ("zipf, split", "zipf"))
    assert split.copies == skewed.copies, "each row of the key would be sent to 64 shards"


def test_one_key_with_a_third_of_a_stream_costs_little_if_it_is_split() -> None:
    unsplit, split = costs_of_one_key(4)
    assert unsplit > 1.5
    assert split < 1.1


def test_rules_are_not_skewed() -> None:
    assert load(RULES, 8, "zipf").most_rows == pytest.approx(RATE / 8)


def test_the_command_prints_an_object_per_line() -> None:
    found = CliRunner().invoke(app, ["scale", "--json", "--rate", "1000"])
    assert found.exit_code == 0
    lines = [json.loads(line) for line in found.output.splitlines()]
    assert len(lines) == 24
    assert {(line["workload"], line["shards"]) for line in lines} == {
        (w.name, n) for w in WORKLOADS for n in (8, 64, 512)
    }
