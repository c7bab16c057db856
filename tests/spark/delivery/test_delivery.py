"""Delivery of packed batches: what is written where, in which order, and what a repeat does."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from eddyline import Engine
from eddyline.engine.changes import QUERY_COLUMN
from eddyline.engine.query import Query
from eddyline.spark.delivery.delivery import Delivery
from eddyline.spark.delivery.final_stage import DividedQueries, FinalStage
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.delivery.sink_queues import SinkQueues
from eddyline.spark.exchange.packed_batches import OUTPUT_SCHEMA, pack
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.sinks import MemorySink

pytestmark = pytest.mark.spark

SECONDS = pa.timestamp("s", "UTC")


#: What the final stage reads in reports.
AGES = {"now": [[0.0, 1.0]], "before": [], "of": {}}
STATE = {
    "aside": {},
    "has_begun_again": False,
    "clock_us": 10_000_000,
    "now_us": 0,
    "ages": AGES,
}


class Batches:
    """Batches of changes of the queries of an engine, as shards would send them."""

    def __init__(self, spark: SparkSession, place: Path, sinks: dict[str, str]) -> None:
        engine = Engine()
        engine.sql("CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
        for i, (name, options) in enumerate(sinks.items()):
            select = f"SELECT k FROM s [NOW] WHERE k > {i}"
            engine.sql(f"CREATE QUERY {name} AS {select} WITH ({options})")
        self.queries = dict(engine.queries)
        self.printed: list[tuple[str, list[int], int]] = []
        self.memory = MemorySink()
        self.sinks = SinkFactory(spark, place, self._print, "job", self.memory)
        self.sinks.open_first(self.queries.values())
        self.reports: list[list[dict[str, Any]]] = []
        self.divided = DividedQueries()
        final = FinalStage(self.divided)
        self.queues = SinkQueues(spark, self.sinks, f"file:{place}")
        self.delivery = Delivery(
            self.sinks,
            self.queues,
            lambda *report: self.reports.append(report[1]),
            final,
            f"file:{place}",
            lambda *_: None,
        )
        self._spark = spark

    def _print(self, label: str, rows: pa.Table, n: int) -> None:
        self.printed.append((label, rows["k"].to_pylist(), n))

    def packed(
        self, shards: dict[int, dict[str, list[tuple[int, int]]]], *, small: bool = True
    ) -> DataFrame:
        """By shard and query, the (second, k) of its changes; with a report of each shard."""
        rows: list[tuple[int, str, str, int, bool, bytes]] = []
        for shard, changes in shards.items():
            large = []
            for name, found in changes.items():
                query, key = self.queries[name], route_of(self.queries[name]).key
                ts = pa.array([at * 1_000_000 for at, _ in found])
                columns = {
                    QUERY_COLUMN: pa.repeat(query.name, len(found)).dictionary_encode(),
                    "_op": pa.repeat("+", len(found)),
                    "_ts": ts.cast(pa.timestamp("us", "UTC")),
                    "_exp": ts.cast(pa.timestamp("us", "UTC")),
                    "k": pa.array([k for _, k in found]),
                }
                rows.append((shard, "changes", key, len(found), small, pack(pa.table(columns))))
                if not small:
                    large.append(("changes", key))
            out = {name: len(found) for name, found in changes.items()}
            report = json.dumps({"shard": shard, "out": out, "large": large, **STATE}).encode()
            rows.append((shard, "progress", "", 1, True, report))
        return self._spark.createDataFrame(rows, OUTPUT_SCHEMA).repartition(2, "shard")


def read(spark: SparkSession, path: Path, format_: str = "parquet") -> list[tuple[int, int]]:
    """Batch and k of all rows, files by name."""
    found = []
    for directory in sorted(path.glob("eddyline_batch=*")):
        for file in sorted(directory.glob(f"part-*.{format_}")):
            schema = "_op STRING, _ts TIMESTAMP, _exp TIMESTAMP, k BIGINT"
            rows = spark.read.format(format_).schema(schema).load(str(file)).collect()
            found += [(int(directory.name.partition("=")[2]), row.k) for row in rows]
    return found


FILES = {format_: f"sink = '{format_}', path = '{format_}'" for format_ in ("parquet", "csv")}
SHARDS = {
    7: {"parquet": [(1, 10), (3, 30), (3, 31), (5, 50)]},
    2: {"parquet": [(2, 20), (3, 29), (6, 60)]},
}


@pytest.mark.parametrize("small", [True, False], ids=["by the driver", "by Spark"])
@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_changes_of_several_shards_are_in_the_order_of_time(
    spark: SparkSession, tmp_path: Path, small: bool, format_: str
) -> None:
    batches = Batches(spark, tmp_path, FILES)
    shards = {shard: {format_: changes["parquet"]} for shard, changes in SHARDS.items()}
    batches.delivery(batches.packed(shards, small=small), 0)
    assert [k for _, k in read(spark, tmp_path / format_, format_)] == [10, 20, 29, 30, 31, 50, 60]
    written_by_spark = (tmp_path / format_ / "eddyline_batch=0" / "_SUCCESS").exists()
    assert written_by_spark is not small


@pytest.mark.parametrize(("first", "then"), [(True, True), (True, False), (False, True)])
def test_a_repeated_batch_replaces_its_files(
    spark: SparkSession, tmp_path: Path, first: bool, then: bool
) -> None:
    batches = Batches(spark, tmp_path, FILES)
    other = {2: {"parquet": [(9, 90)]}}
    batches.delivery(batches.packed(SHARDS, small=first), 0)
    batches.delivery(batches.packed(other), 1)
    before = read(spark, tmp_path / "parquet")
    batches.delivery(batches.packed(SHARDS, small=then), 0)
    assert read(spark, tmp_path / "parquet") == before
    assert len(before) == 8


def test_readers_see_whole_files_only(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file gets its name after its last byte: a failure leaves what readers skip."""
    batches = Batches(spark, tmp_path, FILES)

    def fail(*args: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", fail)
        with pytest.raises(Exception, match="disk full"):
            batches.delivery(batches.packed(SHARDS), 0)
    assert not list((tmp_path / "parquet").rglob("*.parquet"))
    batches.delivery(batches.packed(SHARDS), 0)
    assert len(read(spark, tmp_path / "parquet")) == 7
    (file,) = (tmp_path / "parquet" / "eddyline_batch=0").iterdir()
    umask = os.umask(0)
    os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~umask, "readable as other files of the user"


@pytest.mark.parametrize("small", [True, False])
def test_printed_rows_are_the_first_of_all_shards(
    spark: SparkSession, tmp_path: Path, small: bool
) -> None:
    batches = Batches(spark, tmp_path, {"q": "sink = 'print', rows = 3"})
    shards = {shard: {"q": changes["parquet"]} for shard, changes in SHARDS.items()}
    batches.delivery(batches.packed(shards, small=small), 0)
    assert batches.printed == [("q", [10, 20, 29], 7)]


@pytest.mark.parametrize("small", [True, False])
def test_memory_and_followers(spark: SparkSession, tmp_path: Path, small: bool) -> None:
    batches = Batches(spark, tmp_path, {"m": "sink = 'memory'", **FILES})
    followed: list[tuple[int, list[int], int]] = []
    for name in ("m", "parquet"):
        batches.delivery.follow(
            name, "key", lambda batch, rows, n: followed.append((batch, rows["k"].to_pylist(), n))
        )
    shards = {
        shard: {"m": changes["parquet"], "parquet": changes["parquet"]}
        for shard, changes in SHARDS.items()
    }
    batches.delivery(batches.packed(shards, small=small), 4)
    binding = batches.sinks.find("m")
    assert binding is not None
    in_order = [10, 20, 29, 30, 31, 50, 60]
    assert batches.memory.table(binding.target)["k"].to_pylist() == in_order
    assert [(batch, sorted(rows), n) for batch, rows, n in followed] == [(4, in_order, 7)] * 2
    assert [len(reports) for reports in batches.reports] == [2]


def test_rows_of_shared_sinks_name_their_query(spark: SparkSession, tmp_path: Path) -> None:
    same = "sink = 'parquet', path = 'same'"
    batches = Batches(spark, tmp_path, {"a": same, "b": same})
    for batch, small in enumerate((True, False)):
        shards = {1: {"a": [(1, 1)], "b": [(2, 2)]}, 2: {"b": [(1, 3)]}}
        batches.delivery(batches.packed(shards, small=small), batch)
    rows = spark.read.parquet(str(tmp_path / "same")).collect()
    expected = [("a", 1), ("b", 2), ("b", 3)]
    for batch in (0, 1):
        assert sorted((r._query, r.k) for r in rows if r.eddyline_batch == batch) == expected


def test_an_error_of_one_sink_is_raised_after_the_others_ended(
    spark: SparkSession, tmp_path: Path
) -> None:
    more = "on_failure = 'fail'"
    sinks = {name: f"sink = 'orc', path = '{name}', {more}" for name in ("a", "b", "c")}
    batches = Batches(spark, tmp_path, sinks)
    (tmp_path / "b").write_text("a file is in the way")
    with pytest.raises(Exception, match=r"(?i)b|parent"):
        batches.delivery(batches.packed({1: {name: [(1, 1)] for name in sinks}}), 0)
    assert read(spark, tmp_path / "a", "orc") == [(0, 1)]
    assert read(spark, tmp_path / "c", "orc") == [(0, 1)]
    assert not batches.reports


@pytest.mark.parametrize("small", [True, False])
def test_batches_that_wait_are_what_they_would_have_been(
    spark: SparkSession, tmp_path: Path, small: bool
) -> None:
    same = "sink = 'parquet', path = 'same'"
    sinks = {"parquet": FILES["parquet"], "orc": "sink = 'orc', path = 'orc'", "a": same, "b": same}
    batches = Batches(spark, tmp_path, sinks)
    for path in ("parquet", "orc", "same"):
        (tmp_path / path).write_text("a file is in the way")
    two = {1: {"a": [(1, 1)], "b": [(2, 2)]}, 2: {"b": [(1, 3)]}}
    shards = {s: {**of, "orc": of["parquet"], **two.get(s, {})} for s, of in SHARDS.items()}
    batches.delivery(batches.packed(shards, small=small), 0)
    batches.delivery(batches.packed(two, small=small), 1)
    waiting = {name: state.batches for name, state in batches.queues.undelivered().items()}
    assert waiting == {"parquet": 1, "orc": 1, "a": 2, "b": 2}
    assert len(batches.reports) == 2
    for path in ("parquet", "orc", "same"):
        (tmp_path / path).unlink()
    batches.queues.finish()
    in_order = [(0, k) for k in (10, 20, 29, 30, 31, 50, 60)]
    assert read(spark, tmp_path / "parquet") == in_order
    assert read(spark, tmp_path / "orc", "orc") == in_order
    rows = spark.read.parquet(str(tmp_path / "same")).collect()
    assert sorted((r._query, r.k) for r in rows if r.eddyline_batch == 1) == [
        ("a", 1),
        ("b", 2),
        ("b", 3),
    ]


@pytest.mark.parametrize("small", [True, False])
def test_discarded_rows_are_counted_and_followed_but_not_written(
    spark: SparkSession, tmp_path: Path, small: bool
) -> None:
    batches = Batches(spark, tmp_path, {"q": "sink = 'noop'", "again": "sink = 'noop'"})
    shards = {shard: {"q": changes["parquet"]} for shard, changes in SHARDS.items()}
    packed = batches.packed(shards, small=small)
    group = f"discard-{small}"
    spark.sparkContext.setJobGroup(group, "")
    batches.delivery(packed, 0)
    jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))
    followed: list[int] = []
    batches.delivery.follow("q", "key", lambda id_, rows, n: followed.extend([rows.num_rows, n]))
    batches.delivery(packed, 1)
    again = len(spark.sparkContext.statusTracker().getJobIdsForGroup(group)) - jobs
    spark.sparkContext.setJobGroup("others", "")
    assert followed == [7, 7]
    assert [sum(r["out"]["q"] for r in reports) for reports in batches.reports] == [7, 7]
    assert (again == jobs) is small, "only large rows are read again, for the follower"


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("sink", ["sink = 'memory'", "sink = 'orc', path = 'orc', shared = 'true'"])
def test_merged_rows_are_delivered_with_those_of_shards(
    spark: SparkSession, tmp_path: Path, sink: str, small: bool
) -> None:
    batches = Batches(spark, tmp_path, {"kept": sink})
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    select = "SELECT k FROM s [NOW] GROUP BY k EMIT CHANGES"
    (query,) = engine.sql(f"CREATE QUERY merged AS {select} WITH ({sink})")
    assert isinstance(query, Query)
    batches.sinks.open(query)
    batches.divided.add(query, [7, 2])
    counted: list[int] = []
    batches.delivery.follow("merged", "key", lambda id_, rows, n: counted.append(n))
    packed = batches.packed({7: {"kept": [(2, 20)]}, 2: {"kept": [(4, 40)]}}, small=small)
    parts = [(7, [1, 3], [10, 30]), (2, [3, 5], [30, 50])]
    changes = [
        (shard, pa.table({"_op": ["+"] * 2, "_ts": pa.array(ts, SECONDS), "k0": k}))
        for shard, ts, k in parts
    ]
    rows = [(shard, "parts", "merged", 2, True, pack(table)) for shard, table in changes]
    batches.delivery(packed.unionAll(spark.createDataFrame(rows, OUTPUT_SCHEMA)), 0)
    assert counted == [3], "30 is in both parts"
    if "orc" in sink:
        found = {r.k for r in spark.read.orc(str(tmp_path / "orc")).collect()}
    else:
        bindings = [batches.sinks.find(name) for name in ("kept", "merged")]
        tables = [batches.memory.table(b.target) for b in bindings if b is not None]
        found = {k for table in tables for k in table["k"].to_pylist()}
    assert found == {10, 20, 30, 40, 50}
