"""Ingest's packed batches: what each shard gets of the rows of a source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark import TaskContext

from eddyline import Engine
from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.algebra.expressions import ColumnRef
from eddyline.engine.ingest.row_reader import DROPPED, ELSEWHERE, OWN, ROLE
from eddyline.spark.exchange.keep_rates import keep_rate
from eddyline.spark.exchange.packed_batches import Arrivals, unpack
from eddyline.spark.partitioning.layouts import (
    COPIED,
    SPREAD,
    Axis,
    ByKey,
    Coordinate,
    Layout,
    one_cell,
)
from eddyline.spark.workers import ingest
from eddyline.spark.workers.ingest import Destination, task_packer
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream, CreateTable
from eddyline.types import TIMESTAMP

SECOND = 1_000_000
START = 1_767_225_600 * SECOND  # 2026
K = ByKey((ColumnRef(pa.int64(), 1, "k"),))
STREAM = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, row BIGINT) TIMESTAMP BY ts WITH (source='none')"


def definition_of(text: str) -> StreamDef | TableDef:
    (statement,) = parse(text)
    assert isinstance(statement, CreateStream | CreateTable)
    return statement.definition


def layout(*axes: tuple[int, Coordinate], name: str = "s") -> Layout:
    sizes = tuple(Axis(f"axis {n}", size) for n, (size, _) in enumerate(axes))
    return Layout(sizes, {name: tuple(c for _, c in axes)})


def destinations(*layouts: Layout) -> list[Destination]:
    """Their shards are numbered from 0."""
    found, next_id = [], 0
    for number, of in enumerate(layouts):
        ids = tuple(range(next_id, next_id + of.cells))
        found.append(Destination(of, ids, number == 0))
        next_id += of.cells
    return found


@dataclass
class Sent:
    """What one shard got, in order of (part, seq)."""

    tables: list[pa.Table] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    clocks: list[Arrivals] = field(default_factory=list)

    def column(self, name: str) -> list[Any]:
        return [v for table in self.tables for v in table[name].to_pylist()]


def send(
    to: Sequence[Destination],
    *tables: pa.Table,
    definition: StreamDef | TableDef | None = None,
    keep: float | None = 1.0,
    now_us: int = START,
) -> dict[int, Sent]:
    """By shard, what it gets of the rows of a task, which come in some batches."""
    of = definition or definition_of(STREAM)
    batches = (batch for t in tables for batch in t.to_batches())
    pack = task_packer(None, to, of, keep, clock=lambda: now_us)
    rows = [row for made in pack(batches) for row in made.to_pylist()]
    sent = {shard: Sent() for d in to for shard in d.shards}
    assert [row["seq"] for row in rows] == sorted({row["seq"] for row in rows})
    for row in rows:
        shard = sent[row["shard"]]
        assert (row["name"], row["part"]) == (of.name, 0)
        if row["kind"] == "clock":
            shard.clocks.append(Arrivals.read(row["blob"]))
        else:
            assert row["kind"] == "rows"
            shard.tables.append(unpack(row["blob"]))
            shard.counts.append(row["n"])
    return sent


def rows_at(seconds: Sequence[int | None], keys: Sequence[int | None], first: int = 0) -> pa.Table:
    ts = [None if s is None else START + s * SECOND for s in seconds]
    numbers = np.arange(first, first + len(ts))
    return pa.table(
        {"ts": pa.array(ts, TIMESTAMP), "k": pa.array(keys, pa.int64()), "row": numbers}
    )


coordinates: st.SearchStrategy[Coordinate] = st.sampled_from([K, SPREAD, COPIED])
layouts = st.lists(st.tuples(st.integers(1, 3), coordinates), max_size=3).map(
    lambda axes: layout(*axes)
)
batches = st.lists(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.one_of(st.none(), st.integers(0, 4))),
        max_size=12,
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(of=st.lists(layouts, min_size=1, max_size=2), parts=batches, blob=st.sampled_from([1, 1000]))
def test_the_cells_that_count_have_all_rows_and_all_cells_one_clock(
    of: list[Layout], parts: list[list[tuple[int | None, int | None]]], blob: int
) -> None:
    tables, count = [], 0
    for part in parts:
        tables.append(rows_at([s for s, _ in part], [k for _, k in part], first=count))
        count += len(part)
    to = destinations(*of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest, "BLOB_BYTES", blob)  # several tables per task, or one
        sent = send(to, *tables)
    every = pa.concat_tables(tables)
    is_good = np.array(every["ts"].is_valid().to_numpy(zero_copy_only=False), np.bool_)
    good, bad = np.flatnonzero(is_good).tolist(), np.flatnonzero(~is_good).tolist()
    for number, destination in enumerate(to):
        counting: list[int] = []
        for cell, shard in enumerate(destination.shards):
            rows = sent[shard].column("row")
            usable = [row for row in rows if is_good[row]]
            assert usable == sorted(usable)
            refused = [row for row in rows if not is_good[row]]
            alone = len(sent) == 1
            assert refused == (bad if number == cell == 0 or alone else [])
            if destination.layout.counts("s", cell):
                counting += usable
            assert sent[shard].counts == [len(table) for table in sent[shard].tables]
        assert sorted(counting) == good
    times = [START + s * SECOND for part in parts for s, _ in part if s is not None]
    examined = bool(times) and len(sent) > 1
    expected = (
        Arrivals(count, newest=max(times), oldest=min(times)) if examined else Arrivals(count)
    )
    assert all(s.clocks == ([expected] if count else []) for s in sent.values())


def test_copies_are_the_same_and_rows_of_a_key_stay_in_order() -> None:
    to = destinations(layout((2, K), (3, COPIED)), one_cell({"s": None}))
    sent = send(to, rows_at(range(20), [n % 5 for n in range(20)]))
    for group in ((0, 1, 2), (3, 4, 5)):
        first, *others = (sent[shard] for shard in group)
        assert all(other.tables == first.tables for other in others)
    assert sorted(sent[0].column("row") + sent[3].column("row")) == list(range(20))
    assert not set(sent[0].column("k")) & set(sent[3].column("k"))
    assert sent[6].column("row") == list(range(20))


def test_shards_whose_layout_does_not_read_the_input_get_its_clock() -> None:
    other = layout((2, SPREAD), name="other")
    sent = send(destinations(layout((2, K)), other), rows_at([5, 3], [1, 2]))
    assert not sent[2].tables
    expected = Arrivals(2, newest=START + 5 * SECOND, oldest=START + 3 * SECOND)
    assert [s.clocks for s in sent.values()] == [[expected]] * 4


def test_rows_of_one_shard_are_not_read() -> None:
    sent = send(destinations(one_cell({"s": None})), pa.table({"anything": [1, 2]}))
    assert sent[0].column("anything") == [1, 2]
    assert sent[0].clocks == [Arrivals(2)]


def test_rows_are_spread_evenly_over_small_batches() -> None:
    got = [0, 0, 0]
    to = destinations(layout((3, SPREAD)))
    for batch in range(30):
        sent = send(to, rows_at([1], [1]), now_us=START + batch * 1_000)
        got = [n + len(sent[cell].column("row")) for cell, n in enumerate(got)]
    assert got == [10, 10, 10]


def test_dropped_rows_are_counted_where_they_would_have_been_sent() -> None:
    to = destinations(layout((2, K), (2, COPIED)), one_cell({"s": None}))
    table = rows_at(range(200), [n % 7 for n in range(200)])
    all_rows, some = send(to, table), send(to, table, keep=0.3)
    for shard, full in all_rows.items():
        (clock,) = some[shard].clocks
        assert (clock.rows, clock.newest) == (200, START + 199 * SECOND)
        assert len(some[shard].column("row")) + clock.dropped == len(full.column("row"))
    kept = some[4].column("row")
    assert 40 < len(kept) < 80
    assert sorted(some[0].column("row") + some[2].column("row")) == kept


def test_the_largest_rate_of_the_shards_that_read_the_input_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Task:
        def partitionId(self) -> int:
            return 0

        def getLocalProperty(self, key: str) -> str | None:
            rates = {"0": {"s": 0.1}, "1": {"s": 0.3}, "2": {}}
            return json.dumps(rates) if key == "eddyline.keep" else None

    monkeypatch.setattr(TaskContext, "get", Task)
    to = destinations(layout((2, K)), layout((1, SPREAD), name="other"))
    table = rows_at(range(200), [n % 7 for n in range(200)])
    decided, fixed = send(to, table, keep=None), send(to, table, keep=0.3)
    assert [s.tables for s in decided.values()] == [s.tables for s in fixed.values()]
    assert 0 < sum(s.clocks[0].dropped for s in decided.values()) < 200
    assert keep_rate([0], "s") == 0.1
    assert keep_rate([0, 2], "s") == 1


def test_bad_rows_have_their_original_values() -> None:
    texts = pa.table(
        {
            "ts": ["2026-01-01T00:00:00", "yesterday", "2026-01-01T00:00:01"],
            "k": ["1", "2", "three"],
            "row": ["0", "1", "2"],
        }
    )
    sent = send(destinations(layout((3, COPIED))), texts)
    assert sent[0].column("ts") == ["yesterday", "2026-01-01T00:00:01", "2026-01-01T00:00:00"]
    assert sent[0].column("k") == ["2", "three", "1"]
    assert sent[1].column("row") == sent[2].column("row") == ["0"]


def test_cells_of_a_layout_that_counts_get_the_timestamps_of_all_rows() -> None:
    counting = replace(layout((2, K), (2, COPIED)), counted=frozenset("s"))
    to = destinations(counting, layout((2, SPREAD)), layout((2, SPREAD), name="other"))
    table = rows_at([4, 4, 9, None, 4, 7], [0, 1, 2, 3, 4, None])
    sent = send(to, table)
    received = [sum(table.num_rows for table in s.tables) for s in sent.values()]
    assert received[:4] == [6, 5, 5, 5]  # the bad row is in the first
    assert (sum(received[4:6]), received[6:]) == (5, [0, 0])
    owners = set()
    for shard in range(4):
        rows = pa.concat_tables(t for t in sent[shard].tables if ROLE in t.column_names)
        assert rows["ts"].to_pylist() == table["ts"].drop_null().to_pylist()
        owns = [role == OWN for role in rows[ROLE].to_pylist()]
        assert set(rows[ROLE].to_pylist()) <= {OWN, ELSEWHERE}
        assert [v is not None for v in rows["row"].to_pylist()] == owns
        assert sent[shard].counts[-1] == sum(owns)
        owners.add(tuple(owns))
        assert rows.column_names == [*table.column_names, ROLE]
    assert len(owners) == 2
    assert all(ROLE not in t.column_names for n in (4, 5) for t in sent[n].tables)


@pytest.mark.parametrize("in_doubt", [True, False])
def test_dropped_rows_do_not_count(in_doubt: bool) -> None:
    counting = replace(layout((2, SPREAD)), counted=frozenset("s"))
    table = rows_at(range(200), range(200))
    if in_doubt:
        table = table.set_column(0, "ts", table["ts"].cast(pa.int64()))
    sent = send(destinations(counting), table, keep=0.3)
    roles = [np.array(sent[shard].column(ROLE)) for shard in (0, 1)]
    dropped = [s.clocks[0].dropped for s in sent.values()]
    assert 100 < sum(dropped) < 180
    assert all(np.count_nonzero(of == DROPPED) == sum(dropped) for of in roles)
    assert [n for s in sent.values() for n in s.counts] == [100 - n for n in dropped]
    assert all(
        np.count_nonzero(of == OWN) == n
        for of, n in zip(roles, (s.counts[0] for s in sent.values()), strict=True)
    )


@pytest.mark.parametrize("has_operation", [True, False])
def test_changes_of_a_table_are_dealt_by_the_columns_of_the_table(has_operation: bool) -> None:
    table = definition_of(
        "CREATE TABLE t (k BIGINT, v STRING) WITH (source = 'none', updates = 'retroactive')"
    )
    key = ByKey((ColumnRef(pa.int64(), 0, "k"),))
    columns = {
        "_ts": pa.array([START + n for n in range(8)], TIMESTAMP),
        "k": [n % 4 for n in range(8)],
        "v": list("abcdefgh"),
    }
    if has_operation:
        columns["_op"] = ["+", "-"] * 4
    to = destinations(layout((2, key), (2, COPIED), name="t"))
    sent = send(to, pa.table(columns), definition=table)
    assert sent[0].tables == sent[1].tables
    keys = [set(sent[shard].column("k")) for shard in (0, 2)]
    assert keys[0] | keys[1] == {0, 1, 2, 3}
    assert not keys[0] & keys[1]
    assert all(keys)
    assert sent[2].clocks == [Arrivals(8, newest=START + 7, oldest=START)]


# Integers without a unit may be seconds or milliseconds; the rows before decide.
numbers = st.sampled_from([5, 999, 978_307_201, 1_767_225_603, 979_000_000_000, 1_767_225_600_000])


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    of=layouts,
    rounds=st.lists(st.lists(numbers, min_size=1, max_size=6), min_size=1, max_size=3),
    keep=st.sampled_from([1.0, 0.5]),
)
def test_all_cells_judge_numbers_of_a_doubtful_unit_as_one_engine_does(
    of: Layout, rounds: list[list[int]], keep: float
) -> None:
    stream = definition_of(STREAM)
    elsewhere = layout((2, SPREAD), name="other")
    to = destinations(of, elsewhere)
    engines = {shard: _engine() for d in to for shard in d.shards}
    one = _engine()
    for values in rounds:
        table = pa.table({"ts": values, "k": [v % 5 for v in values], "row": range(len(values))})
        expected = one.process({"s": table}, now=START)
        sent = send(to, table, definition=stream, keep=keep)
        bad: list[str] = []
        for shard, engine in engines.items():
            (clock,) = sent[shard].clocks
            newest = {} if clock.newest is None else {"s": clock.newest}
            rows = {"s": pa.concat_tables(sent[shard].tables)} if sent[shard].tables else {}
            changes = engine.process(rows, now=START, newest=newest)
            counts = shard < of.cells and of.counts("s", shard)
            if counts and "s" in changes.bad:
                bad += changes.bad["s"]["row"].to_pylist()
            elif shard >= of.cells:
                assert "s" not in changes.bad
            assert engine.newest == one.newest
        known = expected.bad["s"]["row"].to_pylist() if "s" in expected.bad else []
        assert sorted(bad) == sorted(known)
    if keep == 1.0:
        counting = [e for s, e in engines.items() if s < of.cells and of.counts("s", s)]
        assert sum(e.stats()["streams"]["s"]["rows_in"] for e in counting) == sum(map(len, rounds))


def _engine() -> Engine:
    engine = Engine()
    engine.sql(STREAM)
    return engine
