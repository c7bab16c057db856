"""Rows of which another engine processes some: their event times count as those of one stream."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.engine.ingest.row_reader import ELSEWHERE, OWN, ROLE

SECOND = 1_000_000
STREAM = (
    "CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts LATENESS 2 SECONDS "
    "WITH (source = 'none', lateness_by = '{}')"
)


def started(by: str) -> Engine:
    engine = Engine()
    engine.sql(STREAM.format(by))
    engine.query("SELECT v FROM s [NOW]", name="q")
    return engine


def shares(ts: list[int], own: list[bool]) -> list[pa.Table]:
    """The rows for two engines: each has the values of its own rows only."""
    values = range(len(ts))
    return [
        pa.table(
            {
                "ts": pa.array(ts, pa.int64()),
                "v": pa.array([v if o is of else None for v, o in zip(values, own, strict=True)]),
                ROLE: [OWN if o is of else ELSEWHERE for o in own],
            }
        )
        for of in (True, False)
    ]


def column(changes: Any, kind: str) -> list[Any]:
    tables = getattr(changes, kind)
    return [int(v) for v in tables["s"]["v"].to_pylist()] if "s" in tables else []


@pytest.mark.parametrize("by", ["row", "batch"])
def test_rows_are_late_or_bad_as_in_one_engine(by: str) -> None:
    one, parts = started(by), [started(by), started(by)]
    seconds = 1_767_225_603  # as microseconds: in doubt
    batches = [
        ([seconds, 1 * SECOND, 5 * SECOND, 2 * SECOND + 1], [True, False, False, True]),
        ([4 * SECOND, 9 * SECOND, seconds, 6 * SECOND], [True, False, True, True]),
        ([8 * SECOND, 1 * SECOND], [False, False]),
    ]
    late, bad = 0, 0
    for ts, own in batches:
        expected = one.process({"s": pa.table({"ts": ts, "v": range(len(ts))})})
        found = [
            part.process({"s": rows}) for part, rows in zip(parts, shares(ts, own), strict=True)
        ]
        for kind in ("late", "bad"):
            both = sorted(v for changes in found for v in column(changes, kind))
            assert both == sorted(column(expected, kind))
        late += len(column(expected, "late"))
        bad += len(column(expected, "bad"))
        values = sorted(v for changes in found for v in changes["q"]["v"].to_pylist())
        assert values == sorted(expected["q"]["v"].to_pylist())
        assert [part.watermark for part in parts] == [one.watermark] * 2
    assert late > 1
    assert bad == 1
    counted = [engine.stats()["streams"]["s"] for engine in (one, *parts)]
    for key in ("rows_in", "late", "bad"):
        assert counted[0][key] == counted[1][key] + counted[2][key]


def test_an_engine_may_have_no_row_of_its_own() -> None:
    engine = started("batch")
    rows = shares([3 * SECOND, 4 * SECOND], [False, False])[0]
    changes = engine.process({"s": rows})
    assert changes["q"].num_rows == 0
    assert engine.stats()["streams"]["s"]["rows_in"] == 0
    assert engine.watermark == 2 * SECOND
