"""Esper's windows, step by step: rows inserted and removed by each move of the clock or row sent.

Both engines drop a row at ts + T exactly, so no bound needs converting. Where a case has no
clock, row i is sent in second i.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from eddyline.testing import difference, rows_of
from eddyline.testing.bags import Row
from eddyline.testing.changes import changes_of
from eddyline.testing.script import Script
from eddyline.types import TIMESTAMP

if TYPE_CHECKING:
    from conftest import Published

FILE = "esper_windows.json"


@dataclass(frozen=True)
class Told:
    """A case in Eddyline's words.

    ``inserts_only``: the case reports (or checks) only what comes. ``answers_only``: what it
    reports leaves out rows of NULLs that come back or go, but its answers have them.
    ``time_column``: the column of the sent row that is its time, in ms. ``apart_us``: the time
    between two rows that are sent at one reading of the clock.
    """

    query: str
    types: dict[str, str] = field(default_factory=dict)
    inserts_only: bool = False
    answers_only: bool = False
    time_column: str | None = None
    apart_us: int = 0


RUNS = {
    "esper_time_window_10s": Told(
        "SELECT id FROM S [RANGE 10 SECONDS] EMIT CHANGES", {"id": "STRING"}
    ),
    "esper_time_sum_group": Told(
        # Esper repeats columns of the newest row beside the aggregate: the row [NOW], joined with
        # its group. The rows are 1 us apart, so that only one is now.
        "SELECT s.symbol, s.volume, g.total FROM S [NOW] AS s,"
        " (SELECT symbol, SUM(price) AS total FROM S [RANGE 30 SECONDS] GROUP BY symbol) AS g"
        " WHERE s.symbol = g.symbol EMIT CHANGES",
        {"symbol": "STRING", "price": "DOUBLE"},
        inserts_only=True,
        apart_us=1,
    ),
    "esper_ext_timed_1s": Told(
        "SELECT id FROM S [RANGE 1 SECOND] EMIT CHANGES", {"id": "STRING"}, time_column="ts"
    ),
    "esper_unique_partition_rows_1": Told(
        "SELECT k, v FROM S [PARTITION BY k ROWS 1] EMIT CHANGES", {"k": "STRING"}
    ),
    "esper_join_len3_len3_irstream": Told(
        "SELECT A.price, B.price FROM A [ROWS 3], B [ROWS 3] WHERE A.volume = B.volume"
        " EMIT CHANGES",
        {"price": "DOUBLE"},
    ),
    "esper_istream_join_len2_unbounded": Told(
        "SELECT A.x, B.x FROM A [ROWS 2], B [UNBOUNDED] WHERE A.x = B.x", inserts_only=True
    ),
    "esper_cross_join_len3": Told("SELECT A.v, B.v FROM A [ROWS 3], B [ROWS 3] EMIT CHANGES"),
    "esper_right_outer_len3_len5": Told(
        "SELECT A.id, A.p00, B.id, B.p10 FROM A [ROWS 3] RIGHT JOIN B [ROWS 5] ON A.p00 = B.p10"
        " EMIT CHANGES",
        {"p00": "STRING", "p10": "STRING"},
        answers_only=True,
    ),
    # Esper asks once, when the row comes: the row is [NOW].
    "esper_not_exists": Told(
        "SELECT A.id FROM A [NOW] WHERE NOT EXISTS (SELECT * FROM B [ROWS 1000]) EMIT CHANGES",
        inserts_only=True,
    ),
    "esper_two_exists": Told(
        "SELECT A.id FROM A [NOW] WHERE EXISTS (SELECT * FROM B [ROWS 1000] WHERE B.id = A.id)"
        " AND EXISTS (SELECT * FROM C [ROWS 1000] WHERE C.id = A.id) EMIT CHANGES",
        inserts_only=True,
    ),
}
OUT_OF_THE_LANGUAGE = {
    "esper_time_batch_10s": "a tumbling window that starts with the first row: not in the language",
}


def test_every_case_is_run_or_listed(published: Published) -> None:
    assert set(published.cases(FILE, "cases")) == set(RUNS) | set(OUT_OF_THE_LANGUAGE)


@pytest.mark.parametrize("name", RUNS)
def test_esper(published: Published, name: str) -> None:
    case, told = published.cases(FILE, "cases")[name], RUNS[name]
    script = Script(_ddl(case["streams"], told), told.query)
    seen = 0
    for number, step in enumerate(case["steps"]):
        _take(script, case, told, number, step)
        changes = changes_of(script.changes())
        inserted, removed = _net((c.op, c.row) for c in changes[seen:])
        seen = len(changes)
        if "expect" in step and not told.answers_only:
            where = f"step {number}: {step}"
            assert inserted == _bag(step["expect"]["insert"]), where
            assert told.inserts_only or removed == _bag(step["expect"]["remove"]), where
        if "expect_window" in step:
            window = [tuple(row) for row in step["expect_window"]]
            snapshot = rows_of(script.engine.queries["q"].snapshot())
            assert difference(window, snapshot) == ([], []), f"step {number}: {step}"
    script.finish()


def _ddl(streams: dict[str, list[str]], told: Told) -> str:
    return "".join(
        f"CREATE STREAM {name} (_at TIMESTAMP, "
        + ", ".join(f"{c} {told.types.get(c, 'BIGINT')}" for c in columns)
        + ") TIMESTAMP BY _at;"
        for name, columns in streams.items()
    )


def _take(script: Script, case: dict[str, Any], told: Told, number: int, step: Any) -> None:
    """Move the clock and send the row, as the step says."""
    clock_us = 1000 * step["advance_to_ms"] if "advance_to_ms" in step else number * 1_000_000
    if "advance_to_ms" in step:
        script.advance(max(clock_us, script.ingest.clock_us))
    if "send" not in step:
        return
    stream, row = step["send"]["stream"], step["send"]["row"]
    columns = case["streams"][stream]
    if told.time_column is not None:
        clock_us = 1000 * row[columns.index(told.time_column)]
    at = pa.array([clock_us + number * told.apart_us], pa.int64()).cast(TIMESTAMP)
    values = [pa.array([v]) for v in row]
    script.process_all(**{stream: pa.table([at, *values], names=["_at", *columns])})


def _net(changes: Any) -> tuple[Counter[Row], Counter[Row]]:
    """What came and went in a step, without what did both."""
    came: Counter[Row] = Counter()
    went: Counter[Row] = Counter()
    for op, row in changes:
        (came if op == "+" else went)[row] += 1
    return came - went, went - came


def _bag(rows: list[list[Any]]) -> Counter[Row]:
    return Counter(tuple(row) for row in rows)
