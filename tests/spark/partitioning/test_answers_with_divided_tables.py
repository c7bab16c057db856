"""Tables that are divided by the key of joins: all is as in one engine.

They are declared to be large. They have rows at the start and, if they change, changes in every
batch, of which some delete rows that are not there, or are late. Batches are repeated as after a
crash, the job is restarted and rescaled, workers are lost, queries are added and dropped.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.algebra.catalog import TableDef
from eddyline.spark.layouts.table_contents import ShardTables
from eddyline.spark.partitioning.dealing import Dealer
from eddyline.spark.workers.ingest import Packer
from eddyline.types import TIMESTAMP
from sharded import EAGER, Sharded
from sharded_moves import Moves, divided_tables, first_partitions, with_times

SECOND = 1_000_000
#: Longer than all windows.
END_US = 60 * SECOND

DDL = """
CREATE STREAM a (ts TIMESTAMP, k INT, d DOUBLE, x BIGINT) TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, d DOUBLE, x BIGINT) TIMESTAMP BY ts LATENESS 3 SECONDS;
CREATE TABLE s (k BIGINT, d DOUBLE, x BIGINT) WITH (rows = 1000000);
CREATE TABLE n (k BIGINT, d DOUBLE, x BIGINT) WITH (rows = 1000000, updates = 'non-retroactive');
CREATE TABLE r (k BIGINT, d DOUBLE, x BIGINT) WITH (rows = 1000000, updates = 'retroactive');
"""
TABLES = ("s", "n", "r")
COLUMNS = (("k", pa.int64()), ("d", pa.float64()), ("x", pa.int64()))
#: Sets of queries; T is one of the tables, R one that is no NRR; K is k or d; W, V are windows.
QUERIES = (
    ("SELECT a.k, a.x, t.x AS y FROM a [RANGE W], T AS t WHERE a.K = t.K",),
    ("SELECT a.k, a.x, t.x AS y FROM a [RANGE W], T AS t WHERE a.K = t.K AND a.x < t.x",),
    ("SELECT a.x, t.x AS y FROM a [RANGE W] LEFT JOIN R AS t ON a.K = t.K",),
    ("SELECT a.k, a.x FROM a [ROWS 4] WHERE NOT EXISTS (SELECT 1 FROM R AS t WHERE t.K = a.K)",),
    ("SELECT a.k, a.x FROM a [RANGE W] WHERE EXISTS (SELECT 1 FROM R AS t WHERE t.K = a.K)",),
    (
        "SELECT a.x, b.x AS y, t.x AS z FROM a [RANGE W], b [RANGE V], T AS t "
        "WHERE a.K = b.K AND b.K = t.K",
        "SELECT a.x, t.x AS y FROM a [RANGE V], T AS t WHERE a.K = t.K",
    ),
    ("SELECT a.x, s.x AS y, r.x AS z FROM a [RANGE W], s, r WHERE a.K = s.K AND s.K = r.K",),
    ("SELECT a.x, s.x AS y, r.x AS z FROM a [RANGE W], s, r WHERE a.k = s.k AND a.d = r.d",),
    ("SELECT a.x, t.x AS y FROM a [RANGE W], b [RANGE V], T AS t WHERE a.k = b.k AND a.d = t.d",),
    ("SELECT t.K, COUNT(*) AS m FROM a [RANGE W], R AS t WHERE a.K = t.K GROUP BY t.K",),
    ("SELECT t.x, COUNT(*) AS m FROM a [RANGE W], R AS t WHERE a.K = t.K GROUP BY t.x",),
    ("SELECT COUNT(DISTINCT t.x) AS m FROM a [RANGE W], R AS t WHERE a.K = t.K",),
    ("SELECT DISTINCT t.x FROM a [RANGE W], R AS t WHERE a.K = t.K",),
    (
        "SELECT a.x, t.x AS y FROM a [RANGE W], T AS t WHERE a.K = t.K "
        "UNION ALL SELECT b.x, b.k AS y FROM b [RANGE V]",
    ),
    ("SELECT t.x, a.x AS y FROM R AS t LEFT JOIN a [RANGE W] ON a.K = t.K",),
)
ADDED = (
    "SELECT a.x, t.x AS y FROM a [RANGE W], T AS t WHERE a.K = t.K",
    "SELECT a.x, t.x AS y FROM a [RANGE W], T AS t WHERE a.x = t.x",
    "SELECT a.x, t.x AS y FROM a [RANGE W], T AS t WHERE a.x > t.x",
    "SELECT a.x FROM a [RANGE W] WHERE a.x > 2",
)
EMITS = ("", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 3 SECONDS")


def values(random: Random) -> tuple[Any, ...]:
    return (
        random.choice([None, *range(5)]),
        random.choice([None, 0.0, -0.0, 1.5, 2.5, math.nan]),
        random.randrange(6),
    )


def rows_of_table(random: Random, count: int) -> pa.Table:
    columns = list(zip(*(values(random) for _ in range(count)), strict=True)) or [(), (), ()]
    return pa.table(
        {name: pa.array(c, type_) for (name, type_), c in zip(COLUMNS, columns, strict=True)}
    )


class Feed:
    """Generated rows of streams and changes of tables."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._start = 1_000 * SECOND

    def batch(self, inputs: set[str]) -> dict[str, pa.Table]:
        self._start += self._random.choice([0, 1, 3, 8]) * SECOND
        return {name: self._rows(name) for name in sorted(inputs - {"s"})}

    def _rows(self, name: str) -> pa.Table:
        random = self._random
        count = random.choice([0, 2, 6, 10])
        times = []
        for _ in range(count):
            late = 8 if random.random() < 0.05 else 2
            times.append(self._start + random.randrange(-late * 4, 8) * SECOND // 4)
        rows = rows_of_table(random, count)
        if name in TABLES:
            signs = pa.array([random.choice(["+", "+", "-", None]) for _ in times], pa.string())
            rows = rows.add_column(0, "_op", signs)
        at = pa.array(times, pa.int64()).cast(TIMESTAMP)
        return rows.add_column(0, "_ts" if name in TABLES else "ts", at)


def chosen(sql: str, table: str, key: str, random: Random) -> str:
    sql = sql.replace(" R AS", " r AS" if table == "n" else f" {table} AS")
    sql = sql.replace(" T AS", f" {table} AS").replace(".K", f".{key}")
    for place in ("W", "V"):
        sql = sql.replace(f"RANGE {place}", f"RANGE {random.choice([1, 2, 5, 9])} SECONDS")
    return sql


def size(engine: Engine, table: str) -> int:
    """Number of rows of a table now."""
    if table == "s":
        return int(engine.parts.inputs.contents[table].num_rows)
    return int(engine.stats()["tables"][table]["rows"])


def check_sizes(job: Sharded) -> None:
    """The cells of a layout together have each row of a table as often as it is copied."""
    for of in job.layouts:
        for table in of.layout.inputs.keys() & set(TABLES):
            found = sum(size(job.shards[shard].engine.engine, table) for shard in of.ids)
            expected = size(job.engine, table) * of.layout.copies(table)
            assert found == expected, f"{table} has {found} rows, not {expected}: {of.text}"


def play(seed: int, shards: int, directory: Path) -> set[str]:
    """A job with large tables; what has happened."""
    random = Random(seed)
    emit, table, key = random.choice(EMITS), random.choice(TABLES), random.choice("kkd")
    if table == "n":
        emit = ""
    texts = random.choice(QUERIES)
    queries = {f"q{i}": chosen(sql, table, key, random) + emit for i, sql in enumerate(texts)}
    start = first_partitions(random, shards)
    job = Sharded(
        with_times(DDL, random),
        queries,
        {name: rows_of_table(random, random.choice([0, 5, 12])) for name in TABLES},
        shards=shards,
        directory=directory / "control",
        limits=EAGER,
        **start,
    )
    moves = Moves(job, shards, random, is_durable=start["is_durable"], repeated=0.1)
    inputs = {n for of in job.layouts for n in (*of.group.streams, *of.group.live)}
    feed, seen, added = Feed(random), set[str](), 0
    divided_before = divided_tables(job)
    seen |= {f"a divided {updates} table" for updates in divided_before}
    seen |= {f"{min(len(of.layout.axes), 2)} axes" for of in job.layouts}
    for _ in range(random.choice([5, 10, 15])):
        match random.randrange(10):
            case 0:
                job.restart()
            case 1:
                sql = chosen(random.choice(ADDED), table, key, random)
                seen |= {"added" if job.add(f"added{added}", sql, 10 * SECOND) else "refused"}
                added += 1
            case 2 if "q1" in job.running.queries:
                job.drop("q1")
            case 3 | 4 | 5:
                moves.move()
        moves.process(feed.batch(inputs))
    if job.added:
        more = divided_tables(job)[len(divided_before) :]
        seen |= {f"an added layout divides a {updates} table" for updates in more}
    job.advance(max(job.engine.clock, 0) + END_US)
    job.check()
    check_sizes(job)
    return seen | moves.seen


@settings(max_examples=settings().max_examples // 3, phases=[Phase.generate])
@given(st.integers(0, 2**48), st.sampled_from([2, 3, 4, 6]))
def test_tables_are_divided_without_a_trace_in_the_answers(seed: int, shards: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        for seen in play(seed, shards, Path(directory)):
            event(seen)


def all_rows_everywhere(patch: pytest.MonkeyPatch) -> None:
    def whole(self: ShardTables, table: TableDef) -> pa.Table:
        return pa.concat_tables(self.contents[table.name].pieces())

    patch.setattr(ShardTables, "rows", whole)


def content_of_another_cell(patch: pytest.MonkeyPatch) -> None:
    own = ShardTables.own_part

    def other(self: ShardTables, dealer: Dealer, rows: pa.Table) -> pa.Table:
        cell = (self.cell + 1) % self.layout.cells
        return own(ShardTables(self.contents, self.layout, cell), dealer, rows)

    patch.setattr(ShardTables, "own_part", other)


def changes_to_one_cell(patch: pytest.MonkeyPatch) -> None:
    rows = Packer.rows

    def first(self: Packer, table: pa.Table, now_us: int) -> Any:
        if "_op" in table.column_names:
            self._dealers = [(shards[:1], d, c) for shards, d, c in self._dealers]
        return rows(self, table, now_us)

    patch.setattr(Packer, "rows", first)


@pytest.mark.parametrize(
    "fault", [all_rows_everywhere, content_of_another_cell, changes_to_one_cell]
)
def test_faults_with_divided_tables_are_found(
    fault: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        for seed in range(40):
            play(seed, 3, tmp_path / str(seed))


def test_rows_of_a_table_alone_begin_with_the_first_row_that_is_not_late(tmp_path: Path) -> None:
    """Only the cell with the row of 9 s would know that it is the first one."""
    sql = "SELECT s.k, a.x FROM s LEFT JOIN a [RANGE 1 SECOND] ON a.k = s.k"
    content = pa.table({"k": [*range(9)], "d": [0.0] * 9, "x": [*range(9)]})
    job = Sharded(DDL, {"q": sql}, {"s": content}, shards=3, directory=tmp_path / "control")
    for seconds, keys in (([10], [1]), ([7, 9, 20], [2, 3, 4])):
        ts = pa.array([s * SECOND for s in seconds]).cast(TIMESTAMP)
        rows = {"ts": ts, "k": keys, "d": [0.0] * len(keys), "x": keys}
        job.process({"a": pa.table(rows)})
    job.advance(END_US)
    assert job.engine.stats()["streams"]["a"]["late"] == 1
    job.check()
