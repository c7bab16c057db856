"""Engines that process parts of the same streams follow one clock."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pytest

from eddyline import CatalogError, Engine
from eddyline.testing import rows_of
from eddyline.types import TIMESTAMP

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
"""
JOIN = "SELECT a.k FROM a [RANGE 5 SECONDS], b [RANGE 5 SECONDS] WHERE a.k = b.k"
COUNT = "SELECT COUNT(*) AS n FROM b [RANGE 2 SECONDS] EMIT CHANGES"


def rows(*of: tuple[int, int]) -> pa.Table:
    ts = pa.array([s * SECOND for s, _ in of], pa.int64()).cast(TIMESTAMP)
    return pa.table({"ts": ts, "k": pa.array([k for _, k in of], pa.int64())})


def engine(**queries: str) -> Engine:
    made = Engine()
    made.sql(DDL)
    for name, sql in queries.items():
        made.query(sql, name=name)
    return made


def seconds(**of: int) -> dict[str, int]:
    return {name: s * SECOND for name, s in of.items()}


def test_the_watermark_is_that_of_all_rows() -> None:
    part = engine(join=JOIN)
    out = part.process({"a": rows((3, 1))}, newest=seconds(a=9, b=7), oldest=seconds(a=3, b=4))
    assert part.watermark == 7 * SECOND
    out = part.process({"b": rows((5, 1), (7, 1))}, newest=seconds(b=7), oldest=seconds(b=5))
    assert out.late["b"].num_rows == 1
    assert [r[0] for r in rows_of(out["join"])] == ["+"]


def test_a_stream_that_only_others_read_holds_the_watermark() -> None:
    part = engine(count=COUNT)
    part.parts.progress.share_clock(["a", "b"], ["a"])
    part.process({"b": rows((5, 1))}, newest=seconds(b=5), oldest=seconds(b=5))
    assert part.clock < 0, "a has had no row"
    part.process({}, newest=seconds(a=6), oldest=seconds(a=6))
    assert part.watermark == 5 * SECOND
    part.parts.progress.share_clock(["a", "b"], [])
    part.process({"b": rows((9, 1))})
    assert part.watermark == 9 * SECOND, "no query reads a any more"


def test_a_query_begins_with_the_first_row_of_all() -> None:
    whole, part = engine(join=JOIN, count=COUNT), engine(count=COUNT)
    part.parts.progress.share_clock(["a", "b"], ["a", "b"])
    batches = [
        ({"a": rows((3, 1)), "b": rows((6, 2))}, seconds(a=3, b=6), seconds(a=3, b=6)),
        ({"a": rows((8, 1)), "b": rows((9, 2))}, seconds(a=8, b=9), seconds(a=8, b=9)),
    ]
    for inputs, newest, oldest in batches:
        expected = whole.process(inputs)
        found = part.process({"b": inputs["b"]}, newest=newest, oldest=oldest)
        assert rows_of(found["count"]) == rows_of(expected["count"])
        assert rows_of(found["count"])[0][1] == 3 * SECOND or inputs is not batches[0][0]
    assert part.clock == whole.clock


def test_the_clock_is_shared_after_a_restart() -> None:
    part = engine(count=COUNT)
    part.parts.progress.share_clock(["a", "b"], ["a"])
    part.process({}, newest=seconds(b=5), oldest=seconds(b=4))
    saved = io.BytesIO()
    part.save(saved)
    saved.seek(0)
    again = Engine.load(saved)
    again.process({"b": rows((6, 1))})
    assert again.clock < 0, "a, which others read, has had no row"
    changes = again.process({}, newest=seconds(a=6), oldest=seconds(a=6))
    assert rows_of(changes["count"])[0][1] == 4 * SECOND, "it begins with the first row of all"


def test_what_cannot_be_shared_is_named() -> None:
    with pytest.raises(CatalogError, match="no stream or changing table 'c'; valid: a, b"):
        engine(count=COUNT).parts.progress.share_clock(["c"], [])


IDLE = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts LATENESS 1 SECOND IDLE AFTER 5 SECONDS;
CREATE STREAM b (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts LATENESS 1 SECOND IDLE AFTER 9 SECONDS;
"""
#: Seconds of the wall clock, and the newest and oldest timestamps of the rows of both streams.
BATCHES = [
    (100, {}, {}),
    (101, {"b": 12}, {"b": 11}),  # nothing of a yet
    (104, {"b": 15}, {"b": 12}),
    (106, {}, {}),  # a is idle
    (107, {"a": 9}, {"a": 8}),
    (109, {"a": 19, "b": 18}, {"a": 14, "b": 14}),
    (113, {"b": 23}, {"b": 20}),
    (114, {"b": 25}, {"b": 20}),  # a is idle again
    (119, {}, {}),
    (123, {}, {}),  # time goes on by itself
    (125, {"a": 50}, {"a": 48}),
]


def follower() -> Engine:
    made = Engine()
    made.sql(IDLE)
    made.parts.progress.share_clock(["a", "b"], ["a", "b"])
    return made


@pytest.mark.parametrize("start", range(len(BATCHES)))
def test_an_engine_that_begins_later_follows_the_clock(start: int) -> None:
    first, later = follower(), None
    for number, (now, newest, oldest) in enumerate(BATCHES):
        if number == start:
            clocks = json.loads(json.dumps(first.parts.progress.clocks()))
            later = follower()
            later.parts.progress.follow(clocks)
        for part in (first, later):
            if part is not None:
                times = seconds(**newest), seconds(**oldest)
                part.process({}, now=now * SECOND, newest=times[0], oldest=times[1])
        if later is not None:
            assert later.parts.progress.clocks() == first.parts.progress.clocks()
            assert later.watermark == first.watermark and later.clock == first.clock
    assert first.watermark > 20 * SECOND


def test_late_rows_are_those_of_the_others() -> None:
    first, later = follower(), follower()
    first.process({}, newest=seconds(a=30, b=40), oldest=seconds(a=20, b=20), now=0)
    later.parts.progress.follow(first.parts.progress.clocks())
    later.query("SELECT COUNT(*) AS n FROM b [RANGE 9 SECONDS] EMIT CHANGES", name="count")
    changes = later.process({"b": rows((28, 1), (29, 1), (31, 1))}, newest=seconds(a=35), now=1)
    assert changes.late["b"]["ts"].cast(pa.int64()).to_pylist() == [28 * SECOND]
    assert [row[1] for row in rows_of(changes["count"])][:1] == [29 * SECOND]
