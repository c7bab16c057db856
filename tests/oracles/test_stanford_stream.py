"""The Stanford STREAM prototype, the reference implementation of CQL: full inputs and outputs.

Its timestamps are ticks; here a tick is a second. It reports nothing after its last input row, so
neither is anything compared that happens later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
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
    """How a test is told here: its streams (columns and input file), views, and query.

    ``relations``: the inputs are relations that change, whose files tell what is done to a row.
    """

    query: str
    streams: dict[str, tuple[str, str]]
    views: dict[str, str] = field(default_factory=dict)
    relations: bool = False

    @property
    def ddl(self) -> str:
        """The CREATE statements."""
        created = [
            f"CREATE TABLE {name} ({columns}) WITH (updates = 'retroactive')"
            if self.relations
            else f"CREATE STREAM {name} (ts TIMESTAMP, {columns}) TIMESTAMP BY ts"
            for name, (columns, _) in self.streams.items()
        ]
        created += [f"CREATE VIEW {view} AS {select}" for view, select in self.views.items()]
        return "; ".join(created)


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
    "test9": Told("SELECT A FROM R EMIT CHANGES", {"R": ("A BIGINT", "R1.dat")}, relations=True),
}


def test_every_test_is_run(published: Published) -> None:
    assert set(published.cases(FILE, "tests")) == set(RUNS)


@pytest.mark.parametrize("batch_rows", [50_000, 777])
@pytest.mark.parametrize("name", RUNS)
def test_stream(published: Published, name: str, batch_rows: int) -> None:
    told = RUNS[name]
    engine = Engine()
    engine.sql(told.ddl)
    query = engine.query(told.query, name="q")
    inputs = {
        stream: _rows(published.lines(f"stanford_stream/{file}.gz"), columns, told.relations)
        for stream, (columns, file) in told.streams.items()
    }
    found: Counter[tuple[int, str, Row]] = Counter()
    for start in range(0, max(t.num_rows for t in inputs.values()), batch_rows):
        batches = {n: t.slice(start, batch_rows) for n, t in inputs.items()}
        out = engine.process(batches, watermark=_newest_us(batches))
        found.update((c.ts_us // TICK_US, c.op, c.row) for c in changes_of(out[query.name]))
    test = published.cases(FILE, "tests")[name]
    expected = _expected(published.lines(test["output_file"]))
    assert found - expected == Counter()
    assert expected - found == Counter()


def _newest_us(batches: dict[str, pa.Table]) -> int:
    times = [pc.max(t.column(0)).cast(pa.int64()).as_py() for t in batches.values()]
    return max(t for t in times if t is not None)


def _rows(lines: list[str], columns: str, relation: bool) -> pa.Table:
    """The rows of an input file, behind a line of types: tick, sign of a relation, values."""
    header = {"_ts": int, "_op": str} if relation else {"ts": int}
    convert = {"BIGINT": int, "DOUBLE": float, "STRING": str}
    kinds = header | {c.split()[0]: convert[c.split()[1]] for c in columns.split(", ")}
    cells = zip(*(line.split(",") for line in lines[1:]), strict=True)
    values = {
        name: pa.array(map(kind, column))
        for (name, kind), column in zip(kinds.items(), cells, strict=True)
    }
    time = next(iter(kinds))
    values[time] = pc.multiply(values[time], TICK_US).cast(TIMESTAMP)
    return pa.table(values)


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
