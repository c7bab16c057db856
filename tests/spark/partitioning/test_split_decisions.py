"""Which keys the driver splits, in which steps, and what it keeps of that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eddyline import CatalogError, StateError
from eddyline.spark.layouts.key_splits import DIRECTORY, KeySplits
from eddyline.spark.layouts.layout_shards import LayoutShards, layouts_of, planned
from eddyline.spark.partitioning.frequent_keys import (
    DEFAULT_LIMITS,
    KeyCounts,
    SplitLimits,
    keys_to_split,
)
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.partitioning.planning import best_layout
from eddyline.spark.partitioning.split_keys import (
    explained,
    longest_window_us,
    refusals,
    splittable,
)
from eddyline.spark.script import Script
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.verify import verify

SECOND = 1_000_000
DDL = (
    "CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts",
    "CREATE STREAM b (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts",
    "CREATE TABLE t (k BIGINT, x BIGINT) WITH (updates = 'retroactive')",
)
PAIRS = "SELECT a.x FROM a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] WHERE a.k = b.k"
GROUPS = "SELECT a.k, count(*) AS n FROM a [RANGE 4 SECONDS] GROUP BY a.k"


def script_of(sql: str) -> Script:
    return Script.of([*DDL, f"CREATE QUERY q AS {sql}"])


def query_of(sql: str) -> PlannedQuery:
    script = script_of(sql)
    return planned(script, script.queries["q"])


@pytest.mark.parametrize(
    ("sql", "inputs"),
    [
        (PAIRS, ("a", "b")),
        (PAIRS.replace("b [RANGE 9 SECONDS]", "b [UNBOUNDED]"), ("b",)),
        (PAIRS.replace("b [RANGE 9 SECONDS]", "b [PARTITION BY k ROWS 2]"), ()),
        (PAIRS.replace("b [RANGE 9 SECONDS]", "b [ROWS 2]"), ("b",)),
        (PAIRS.replace("RANGE 4 SECONDS", "ROWS 2").replace("RANGE 9 SECONDS", "ROWS 2"), ()),
        (
            "SELECT a.x FROM a [RANGE 4 SECONDS] LEFT JOIN b [RANGE 9 SECONDS] ON a.k = b.k",
            ("a",),
        ),
        ("SELECT a.k, count(*) AS n FROM a [NOW], b [NOW] WHERE a.k = b.k GROUP BY a.k", ()),
        ("SELECT DISTINCT a.k FROM a [NOW], b [NOW] WHERE a.k = b.k", ()),
    ],
)
def test_inputs_that_can_be_spread(sql: str, inputs: tuple[str, ...]) -> None:
    query = query_of(sql)
    layout = best_layout(query, 4)
    assert splittable(layout, [query]) == ({0: inputs} if inputs else {})
    (line,) = explained(layout, "q", query.inputs, refusals(layout, {"q": query}))
    if inputs:
        assert (
            line == f"frequent keys of a.k = b.k can be split: rows of {' or '.join(inputs)} spread"
        )
    else:
        assert "frequent keys of a.k = b.k are not split: " in line


def test_every_query_of_a_layout_decides() -> None:
    pairs = query_of(PAIRS)
    layout = best_layout(pairs, 4)
    assert splittable(layout, [pairs, query_of("SELECT x FROM b [NOW]")]) == {0: ("b",)}
    assert splittable(layout, [pairs, query_of(GROUPS)]) == {}


def test_the_longest_window() -> None:
    query = query_of(PAIRS)
    assert longest_window_us([query], {"a"}) == 4 * SECOND
    assert longest_window_us([query], {"a", "b"}) == 9 * SECOND
    unbounded = query_of("SELECT x FROM a [UNBOUNDED]")
    assert longest_window_us([query, unbounded], {"a"}) == float("inf")
    assert longest_window_us([], {"a"}) == 0


ROWS = {"a": 10_000.0, "b": 10_000.0}


@pytest.mark.parametrize(
    ("counts", "split"),
    [
        ({1: {"a": 3_000.0, "b": 10.0}}, {1: "a"}),
        ({1: {"a": 1_200.0}}, {}),  # less than half of a cell's part
        ({1: {"a": 3_000.0, "b": 3_000.0}}, {1: "a"}),
        # the copies of both would be more than the rows of the second
        ({1: {"a": 3_000.0, "b": 2_900.0}, 2: {"a": 1_500.0, "b": 1_400.0}}, {1: "a"}),
        ({1: {"a": 3_000.0}, 2: {"b": 2_000.0, "a": 9.0}}, {1: "a", 2: "b"}),
    ],
)
def test_keys_that_are_worth_a_split(
    counts: Mapping[int, Mapping[str, float]], split: Mapping[int, str]
) -> None:
    assert keys_to_split(ROWS, counts, 4, DEFAULT_LIMITS) == split
    assert keys_to_split(ROWS, counts, 4, DEFAULT_LIMITS, split) == {}
    few = dict.fromkeys(ROWS, 1999.0)
    assert keys_to_split(few, counts, 4, DEFAULT_LIMITS) == {}


class Driver:
    """The decisions of the driver of a job with one layout of four shards."""

    def __init__(self, directory: Path, limits: SplitLimits = DEFAULT_LIMITS) -> None:
        self._script = script_of(PAIRS)
        (self.layout,) = layouts_of(self._script, self._script.groups(), 4, 4, 4)
        self._directory = directory
        self._limits = limits
        self.restart()

    def restart(self) -> None:
        query = planned(self._script, self._script.queries["q"])
        of: list[tuple[LayoutShards, list[PlannedQuery]]] = [(self.layout, [query])]
        self.splits = KeySplits(LocalDirectory(self._directory), of, self._limits)

    def batch(self, clock_s: int, last_s: int, *, of_a: int = 300, of_b: int = 0) -> None:
        """A batch of 1,000 rows of each stream, of which some have the key with hash 7."""
        counted = [
            KeyCounts(name, 0, 1_000, {7: (n, "seven")} if n else {}).fields()
            for name, n in (("a", of_a), ("b", of_b))
        ]
        reports: list[dict[str, Any]] = [
            {"shard": s, "clock_us": clock_s * SECOND, "last_us": last_s * SECOND, "keys": ()}
            for s in self.layout.ids
        ]
        reports[0]["keys"] = counted
        self.splits.step(reports)

    def step(self) -> tuple[str, ...]:
        return tuple(f"{s['spread']} {s['step']}" for s in self.splits.shown())

    def spreads(self) -> list[bool]:
        """Of the keys that are copied in the next batch."""
        return [k.spreads for of in self.splits.next_batch().values() for k in of]


EAGER = SplitLimits(least_rows=1, kept=0.5)


def test_the_steps_of_a_key(tmp_path: Path) -> None:
    job = Driver(tmp_path, EAGER)
    assert job.splits.counted(job.layout) == {0}
    job.batch(100, 105)
    assert (job.step(), job.spreads()) == (("a copies",), [False])
    job.batch(113, 118)
    assert job.step() == ("a copies",), "rows of b until 105 live until 114"
    job.batch(114, 119)
    assert (job.step(), job.spreads()) == (("a spreads",), [True])
    for at in range(120, 125):
        job.batch(at, at + 5, of_a=0)
    assert (job.step(), job.spreads()) == (("a ends",), [False])
    job.batch(200, 205, of_a=0)
    assert (job.step(), job.spreads()) == (("a waits",), [])
    job.batch(213, 218, of_b=900)
    assert (job.step(), job.spreads()) == (("a waits",), [])
    job.batch(214, 219, of_b=900)
    assert (job.step(), job.spreads()) == ((), []), "a batch without copies is committed first"
    job.batch(215, 220, of_b=900)
    assert job.step() == ("b copies",)


def test_a_key_that_is_frequent_again_is_spread_at_once(tmp_path: Path) -> None:
    job = Driver(tmp_path, EAGER)
    job.batch(100, 105)
    job.batch(120, 125)
    while job.step() != ("a ends",):
        job.batch(120, 125, of_a=0)
    job.batch(121, 126, of_a=900)
    assert job.step() == ("a spreads",)


def test_the_first_batch_of_a_start_spreads_nothing(tmp_path: Path) -> None:
    job = Driver(tmp_path, EAGER)
    job.batch(100, 105)
    job.batch(120, 125)
    assert (job.step(), job.spreads()) == (("a spreads",), [True])
    job.restart()
    assert (job.step(), job.spreads()) == (("a spreads",), [False])
    job.batch(121, 126)
    assert job.spreads() == [True]
    job.splits.begin()
    assert job.spreads() == [False], "the streaming query is restarted in the same process"


def test_a_key_is_in_the_file_until_the_batch_without_it_is_committed(tmp_path: Path) -> None:
    job = Driver(tmp_path, EAGER)
    job.batch(100, 105)
    job.batch(120, 125)
    while job.step() != ("a ends",):
        job.batch(121, 126, of_a=0)
    job.batch(200, 205, of_a=0)
    job.batch(300, 305, of_a=0)
    assert job.step() == ()
    with pytest.raises(CatalogError, match=r"rows with a.k = b.k = seven are split: .*GROUP BY"):
        job.splits.require_fit(job.layout, query_of(GROUPS), "g")
    job.restart()
    assert (job.step(), job.spreads()) == (("a waits",), [False]), "it may be repeated"
    job.batch(301, 306, of_a=0)
    assert job.step() == ("a waits",), "copies of the first batch"
    job.batch(315, 316, of_a=0)
    job.batch(316, 317, of_a=0)
    job.restart()
    assert job.step() == ()


def test_a_query_that_needs_keys_together_ends_splits(tmp_path: Path) -> None:
    job = Driver(tmp_path, EAGER)
    job.splits.require_fit(job.layout, query_of("SELECT x FROM b [NOW]"), "s")
    job.batch(100, 105)
    assert job.step() == (), "a cannot be spread any more"
    job.batch(100, 105, of_a=0, of_b=900)
    assert job.step() == ("b copies",)
    with pytest.raises(CatalogError, match="query 'g' cannot be added while rows with"):
        job.splits.require_fit(job.layout, query_of(GROUPS), "g")


def test_a_longer_window_of_an_added_query_is_waited_for(tmp_path: Path) -> None:
    job = Driver(tmp_path, EAGER)
    job.batch(100, 105)
    job.splits.require_fit(job.layout, query_of(PAIRS.replace("9", "60")), "longer")
    job.batch(164, 170)
    assert job.step() == ("a copies",)
    job.batch(165, 171)
    assert job.step() == ("a spreads",)


def test_reports_of_some_shards_move_no_key(tmp_path: Path) -> None:
    job = Driver(tmp_path, EAGER)
    job.batch(100, 105)
    job.splits.step([{"shard": job.layout.ids[0], "clock_us": 1 << 50, "last_us": 1, "keys": ()}])
    assert job.step() == ("a copies",)
    job.splits.step([])
    assert job.step() == ("a copies",)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    job = Driver(tmp_path, EAGER)
    job.batch(100, 105)
    (file,) = (tmp_path / DIRECTORY).iterdir()
    directory = LocalDirectory(tmp_path)
    assert [f.text for f in verify(directory) if f.what == DIRECTORY] == ["1 split keys"]
    other = file.read_text().replace(f'"{job.layout.ids[0]}"', '"12345"')
    content = file.read_text()
    file.write_text(content[:-3])
    with pytest.raises(StateError, match=rf"{file.name} cannot be read"):
        job.restart()
    assert [f.level for f in verify(directory) if f.what == DIRECTORY] == ["error"]
    file.write_text(other)
    with pytest.raises(StateError, match="12345, which is not the first of a layout"):
        job.restart()
