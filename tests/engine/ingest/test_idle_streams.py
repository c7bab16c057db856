"""Quiet streams: IDLE AFTER, and the watermark of a group while no rows come."""

from __future__ import annotations

import pyarrow as pa

from eddyline.testing import batch
from restarts import restarted
from watermark_cases import JOIN, SECOND, TABLE, engine, found, rows, watermarks


def test_others_wait_for_a_quiet_stream_until_it_is_idle() -> None:
    eng = engine(JOIN, b="IDLE AFTER 30 SECONDS")
    eng.process({"b": rows(95)}, now=1_000 * SECOND)
    assert found(eng.process({"a": rows(100)}, now=1_010 * SECOND)) == []
    assert found(eng.process({}, now=1_029 * SECOND)) == []
    assert found(eng.process({}, now=1_030 * SECOND)) == [1]
    late = eng.process({"b": rows(99, 100)}, now=1_031 * SECOND).late  # it has come back
    assert late["b"]["ts"].cast(pa.int64()).to_pylist() == [99 * SECOND]


def test_a_stream_that_has_had_no_row_is_idle_after_a_while_too() -> None:
    eng = engine(JOIN, b="IDLE AFTER 30 SECONDS")
    eng.process({"a": rows(100)}, now=1_000 * SECOND)
    assert watermarks(eng)["ab"] is None
    eng = restarted(eng)
    eng.process({}, now=1_030 * SECOND)
    assert watermarks(eng)["ab"] == 100


def test_where_all_streams_are_idle_nothing_waits() -> None:
    eng = engine(JOIN, a="IDLE AFTER 30 SECONDS", b="IDLE AFTER 30 SECONDS")
    eng.process({"a": rows(100), "b": rows(90)}, now=0)
    assert watermarks(eng)["ab"] == 90
    eng.process({}, now=30 * SECOND)
    assert watermarks(eng)["ab"] == 100


ABSENCE = (
    "SELECT x FROM a [RANGE 1 HOUR] AS o WHERE NOT EXISTS "
    "(SELECT 1 FROM b [RANGE 5 SECONDS] AS i WHERE i.x = o.x)"
)
IDLE = "IDLE AFTER 30 SECONDS"


def test_a_silent_stream_goes_on_with_the_wall_clock() -> None:
    eng = engine("SELECT COUNT(*) AS x FROM a [RANGE 20 SECONDS]", a=IDLE)
    assert found(eng.process({"a": rows(100)}, now=1_000 * SECOND)) == [0, 1]
    assert found(eng.process({}, now=1_029 * SECOND)) == []
    assert watermarks(eng)["a"] == 100
    out = eng.process({}, now=1_030 * SECOND)["q1"]  # idle: 30 s later than the row
    assert out["_ts"].cast(pa.int64()).to_pylist() == [120 * SECOND]
    assert out["x"].to_pylist() == [0]
    assert watermarks(eng)["a"] == 130
    for each in (eng, restarted(eng)):
        each.process({}, now=1_031 * SECOND + 7)
        assert each.watermark == 131 * SECOND + 7


def test_rows_with_the_delay_of_before_are_not_late_after_a_silence() -> None:
    eng = engine("SELECT x FROM a [NOW]", a=f"LATENESS 5 SECONDS {IDLE}")
    eng.process({"a": rows(990)}, now=1_000 * SECOND)  # they arrive 10 s after their timestamps
    for now in (1_040, 1_099):
        eng.process({}, now=now * SECOND)
        assert watermarks(eng)["a"] == now - 15
    out = eng.process({"a": rows(1_084, 1_089, 1_083)}, now=1_099 * SECOND)
    assert out.late["a"]["ts"].cast(pa.int64()).to_pylist() == [1_083 * SECOND]
    eng.process({}, now=1_128 * SECOND)  # awake again, and never backwards
    assert watermarks(eng)["a"] == 1_084


def test_absence_is_reported_while_all_streams_are_silent() -> None:
    eng = engine(ABSENCE, a=IDLE, b="IDLE AFTER 10 SECONDS")
    eng.process({"a": rows(100), "b": rows(101)}, now=1_000 * SECOND)
    assert found(eng.process({"b": rows(90)}, now=1_010 * SECOND)) == []  # late, but it is a row
    assert watermarks(eng)["ab"] == 100
    out = eng.process({}, now=1_030 * SECOND)
    assert watermarks(eng)["ab"] == 121  # 20 s after the last row of the group
    assert out["q1"]["_op"].to_pylist() == ["-", "+"]
    assert out["q1"]["_ts"].cast(pa.int64()).to_pylist() == [101 * SECOND, 106 * SECOND]


def test_a_stream_without_idle_after_holds_the_time_of_its_group() -> None:
    eng = engine(ABSENCE, a=IDLE)
    eng.process({"a": rows(100), "b": rows(101)}, now=1_000 * SECOND)
    eng.process({}, now=9_000 * SECOND)
    assert watermarks(eng)["ab"] == 101


def test_time_does_not_go_on_before_the_first_row_or_ahead_of_the_wall_clock() -> None:
    eng = engine("SELECT x FROM a [NOW]", "SELECT x FROM b [NOW]", a=IDLE, b=IDLE)
    eng.process({"a": rows(1_060)}, now=1_000 * SECOND)
    for now, reached in ((1_050, 1_060), (1_070, 1_070), (1_071, 1_071), (900, 1_071)):
        eng.process({}, now=now * SECOND)
        assert watermarks(eng) == {"a": reached, "b": None, "c": None}
    eng.reset_watermark("a")
    eng.process({}, now=2_000 * SECOND)
    assert watermarks(eng)["a"] is None


def test_a_table_follows_the_streams_when_they_are_silent() -> None:
    eng = engine("SELECT x FROM a [NOW]", a=IDLE)
    eng.sql(TABLE)
    query = eng.query("SELECT COUNT(*) AS n FROM t", name="n")
    eng.process({"t": batch("_ts | x\n110s | 1"), "a": rows(100)}, now=1_000 * SECOND)
    assert query.snapshot().to_pylist() == [{"n": 0}]
    eng.process({}, now=1_030 * SECOND)
    assert query.snapshot().to_pylist() == [{"n": 1}]


def test_what_inspects_an_engine_does_not_begin_a_silence() -> None:
    eng = engine(JOIN, b=IDLE)
    eng.groups(now=1_000 * SECOND)
    eng.process({"a": rows(100)}, now=1_020 * SECOND)
    eng.process({}, now=1_049 * SECOND)
    assert watermarks(eng)["ab"] is None


def test_bad_rows_do_not_end_idleness() -> None:
    eng = engine(JOIN, b="IDLE AFTER 30 SECONDS")
    eng.process({"a": rows(100), "b": rows(90)}, now=0)
    nothing = pa.table({"ts": pa.array([None], pa.int64()), "x": [1]})
    eng.process({"b": nothing}, now=30 * SECOND)
    assert watermarks(eng)["ab"] == 100


def test_the_clock_of_the_machine_is_used_by_default() -> None:
    eng = engine(JOIN, b="IDLE AFTER 30 SECONDS")
    now = [0]
    eng.wall_clock = lambda: now[0]
    eng.process({"a": rows(100)})
    now[0] = 31 * SECOND
    eng.advance(0)
    assert watermarks(eng)["ab"] == 0  # what is said, is not overruled
    eng.process({})
    assert watermarks(eng)["ab"] == 100
