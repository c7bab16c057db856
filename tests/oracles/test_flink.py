"""Flink's interval joins and OVER windows: bags of all rows that ever come out.

An interval join ``t1.ts BETWEEN t2.ts - a AND t2.ts + b`` is a join of windows that hold every
row, with the BETWEEN as one more condition. ``OVER (PARTITION BY a ORDER BY arrival ROWS BETWEEN
4 PRECEDING AND CURRENT ROW)``, a value per row, is what GROUP BY a over the last 5 rows per a
emits at each arrival.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import rows_of
from eddyline.testing.bags import Row
from eddyline.types import TIMESTAMP

JOIN = "FROM t1 [RANGE 1 HOUR] AS t1 JOIN t2 [RANGE 1 HOUR] AS t2"
LEFT_JOIN = "FROM t1 [RANGE 1 HOUR] AS t1 LEFT JOIN t2 [RANGE 1 HOUR] AS t2"

if TYPE_CHECKING:
    from conftest import Published

FILE = "flink_interval_over.json"


@dataclass(frozen=True)
class Told:
    """A case in Eddyline's words; ``last`` takes the answer at the end, not all rows that came."""

    query: str
    last: bool = False


RUNS = {
    "flink_interval_inner": Told(
        f"SELECT t2.key, t2.id, t1.id {JOIN} ON t1.key = t2.key AND"
        " t1.ts BETWEEN t2.ts - INTERVAL 5 SECONDS AND t2.ts + INTERVAL 6 SECONDS"
    ),
    "flink_interval_no_equi": Told(
        f"SELECT t2.key, t2.id, t1.id {JOIN}"
        " ON t1.ts BETWEEN t2.ts - INTERVAL 5 SECONDS AND t2.ts + INTERVAL 6 SECONDS"
    ),
    "flink_interval_equal_times": Told(
        f"SELECT t1.key, UNIX_MILLIS(t1.ts), t1.val, t2.val {JOIN}"
        " ON t1.key = t2.key AND t2.ts = t1.ts"
    ),
    "flink_interval_then_tumble_left_time": Told(
        # A tumbling window of 4 s is the group of rows with the same whole number of 4 s.
        "SELECT t1.key, (UNIX_MILLIS(t1.ts) DIV 4000 + 1) * 4000 AS window_end, COUNT(t2.key)"
        f" {JOIN} ON t1.key = t2.key AND"
        " t1.ts BETWEEN t2.ts - INTERVAL 5 SECONDS AND t2.ts + INTERVAL 5 SECONDS"
        " GROUP BY t1.key, (UNIX_MILLIS(t1.ts) DIV 4000 + 1) * 4000",
        last=True,
    ),
    "flink_over_rows_4_partitioned": Told(
        "SELECT a, SUM(c), MIN(c) FROM t1 [PARTITION BY a ROWS 5] GROUP BY a"
    ),
    # Flink waits with a row of NULLs until no match can come; here it comes and is taken back.
    "flink_interval_left_outer": Told(
        f"SELECT t1.key, t2.id, t1.id {LEFT_JOIN} ON t1.key = t2.key AND"
        " t1.ts BETWEEN t2.ts - INTERVAL 5 SECONDS AND t2.ts + INTERVAL 6 SECONDS"
        " AND t1.id <> 'L-5'",
        last=True,
    ),
    "flink_interval_left_outer_empty_interval": Told(
        f"SELECT t2.key, t2.id, t1.id {LEFT_JOIN} ON t1.key = t2.key AND"
        " t1.ts BETWEEN t2.ts + INTERVAL 3 SECONDS AND t2.ts + INTERVAL 1 SECOND",
        last=True,
    ),
}


def test_every_case_is_run(published: Published) -> None:
    assert set(published.cases(FILE, "cases")) == set(RUNS)


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_flink(published: Published, name: str, one_by_one: bool) -> None:
    case, told = published.cases(FILE, "cases")[name], RUNS[name]
    inputs = {"t1": case.get("T1") or case["input"], "t2": case.get("T2", [])}
    engine = Engine()
    for stream in inputs:
        columns = ", ".join(f"{c} {_sql_type(c)}" for c in case["columns"] if c != "ts_ms")
        engine.sql(
            f"CREATE STREAM {stream} (ts TIMESTAMP, {columns}) TIMESTAMP BY ts LATENESS 1 SECOND"
        )
    query = engine.query(told.query)
    tables = {stream: _table(case["columns"], rows) for stream, rows in inputs.items()}
    calls = _row_by_row(tables) if one_by_one else [tables]
    emitted: Counter[Row] = Counter()
    for call in calls:
        _count_inserts(engine.process(call)[query.name], emitted)
    _count_inserts(engine.advance(60_000_000)[query.name], emitted)
    found = Counter(rows_of(query.snapshot())) if told.last else emitted
    assert found == Counter(tuple(row) for row in case["expected_bag"])


def _sql_type(column: str) -> str:
    return "BIGINT" if column in ("a", "c") else "STRING"


def _table(columns: list[str], rows: list[Row]) -> pa.Table:
    """The rows as a table; without a column of times, row i arrives in second i."""
    values = dict(zip(columns, zip(*rows, strict=True), strict=True)) if rows else {}
    ms = values.pop("ts_ms", None) or [1000 * i for i in range(len(rows))]
    ts = pa.array([t * 1000 for t in ms], pa.int64()).cast(TIMESTAMP)
    names = [c for c in columns if c != "ts_ms"]
    kinds = {"BIGINT": pa.int64(), "STRING": pa.string()}
    arrays = [pa.array(values.get(n, []), kinds[_sql_type(n)]) for n in names]
    return pa.table([ts, *arrays], names=["ts", *names])


def _row_by_row(tables: dict[str, pa.Table]) -> list[dict[str, pa.Table]]:
    """One call per row: in order of time over both streams, but as listed within each."""
    calls = []
    position = dict.fromkeys(tables, 0)
    for _ in range(sum(t.num_rows for t in tables.values())):
        left = [n for n, t in tables.items() if position[n] < t.num_rows]
        name = min(left, key=lambda n: tables[n]["ts"][position[n]].as_py())
        calls.append({name: tables[name].slice(position[name], 1)})
        position[name] += 1
    return calls


def _count_inserts(changes: pa.Table, into: Counter[Row]) -> None:
    operations = changes["_op"].to_pylist()
    rows = rows_of(changes, range(3, changes.num_columns))
    into.update(row for op, row in zip(operations, rows, strict=True) if op == "+")
