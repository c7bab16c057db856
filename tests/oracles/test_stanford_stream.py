"""The Stanford STREAM prototype, the reference implementation of CQL: full inputs and outputs.

Its timestamps are ticks; here a tick is a second. It reports nothing after its last input row, so
neither is anything compared that happens later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing.bags import Row
from eddyline.testing.changes import changes_of
from eddyline.types import TIMESTAMP

TICK_US = 1_000_000

if TYPE_CHECKING:
    from conftest import Published

FILE = "stanford_stream.json"


@dataclass(frozen=True)
class Told:
    """How a test is told here: its streams (columns and input file), views, and query."""

    query: str
    streams: dict[str, tuple[str, str]]
    views: dict[str, str] = field(default_factory=dict)


RUNS = {
    "test1": Told(
        "SELECT A, B, C, D FROM S [UNBOUNDED] EMIT CHANGES",
        {"S": ("A BIGINT, B DOUBLE, C STRING, D STRING", "S3.dat")},
    ),
    "test2": Told(
        "SELECT A, B FROM VS EMIT CHANGES",
        {"S": ("A BIGINT", "S1.dat")},
        {"VS": "SELECT A DIV 2 AS A, A AS B FROM S [UNBOUNDED] WHERE (S.A DIV 2) * 2 = S.A"},
    ),
    "test3": Told(
        "SELECT X.A, Y.A FROM S1 [UNBOUNDED] AS X, S2 [UNBOUNDED] AS Y WHERE X.A = Y.A"
        " EMIT CHANGES",
        {"S1": ("A BIGINT", "S1.dat"), "S2": ("A BIGINT", "S1.dat")},
    ),
    "test5": Told(
        "SELECT G, SUM(A), COUNT(A), MAX(A), MIN(A) FROM S [UNBOUNDED] GROUP BY G EMIT CHANGES",
        {"S": ("G BIGINT, A BIGINT", "S2.dat")},
    ),
    "test7": Told("SELECT A FROM S [ROWS 2] EMIT CHANGES", {"S": ("A BIGINT", "S1.dat")}),
}
OUT_OF_THE_LANGUAGE = {
    "test9": "its input is a relation that changes (signed rows): retroactive tables come later",
}


def test_every_test_is_run_or_listed(published: Published) -> None:
    assert set(published.cases(FILE, "tests")) == set(RUNS) | set(OUT_OF_THE_LANGUAGE)


@pytest.mark.parametrize("batch_rows", [50_000, 777])
@pytest.mark.parametrize("name", RUNS)
def test_stream(published: Published, name: str, batch_rows: int) -> None:
    told = RUNS[name]
    engine = Engine()
    for stream, (columns, _) in told.streams.items():
        engine.sql(f"CREATE STREAM {stream} (ts TIMESTAMP, {columns}) TIMESTAMP BY ts")
    for view, select in told.views.items():
        engine.sql(f"CREATE VIEW {view} AS {select}")
    query = engine.query(told.query, name="q")
    inputs = {
        stream: _rows(published.lines(f"stanford_stream/{file}.gz"), columns)
        for stream, (columns, file) in told.streams.items()
    }
    found: Counter[tuple[int, str, Row]] = Counter()
    for start in range(0, max(t.num_rows for t in inputs.values()), batch_rows):
        out = engine.process({n: t.slice(start, batch_rows) for n, t in inputs.items()})
        found.update((c.ts_us // TICK_US, c.op, c.row) for c in changes_of(out[query.name]))
    test = published.cases(FILE, "tests")[name]
    expected = _expected(published.lines(test["output_file"]))
    assert found - expected == Counter()
    assert expected - found == Counter()


def _rows(lines: list[str], columns: str) -> pa.Table:
    """The rows of an input file: its first column is the tick; a first line may tell types."""
    table = [line.split(",") for line in lines]
    data = table[1:]
    convert = {"BIGINT": int, "DOUBLE": float, "STRING": str}
    names = ["ts", *(c.split()[0] for c in columns.split(", "))]
    kinds = [convert[c.split()[1]] for c in columns.split(", ")]
    ticks = pa.array([int(row[0]) * TICK_US for row in data], pa.int64()).cast(TIMESTAMP)
    values = [pa.array([kind(row[i + 1]) for row in data]) for i, kind in enumerate(kinds)]
    return pa.table([ticks, *values], names=names)


def _expected(lines: list[str]) -> Counter[tuple[int, str, Row]]:
    """The lines ``[ts]:+:v1, v2`` of an output file."""
    found: Counter[tuple[int, str, Row]] = Counter()
    for line in lines:
        tick, sign, values = line.split(":", 2)
        found[int(tick.strip("[]")), sign, tuple(_value(v) for v in values.split(", "))] += 1
    return found


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
