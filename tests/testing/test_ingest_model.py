from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from eddyline.testing import batch, parse_time
from eddyline.testing.ingest_model import IngestModel, StreamRules, TableRules
from eddyline.types import BEGINNING, TIMESTAMP

SCHEMA = pa.schema([("ts", TIMESTAMP), ("x", pa.int64())])
RULES = StreamRules(SCHEMA)


def arrivals(**more: StreamRules) -> IngestModel:
    late = replace(RULES, lateness_us=parse_time("2s"))
    model = IngestModel({"a": RULES, "b": late, **more})
    model.read(["a", "b"])
    return model


def test_the_clock_of_streams_that_are_read_together_is_the_smallest_bound() -> None:
    model = arrivals()
    assert model.clock_us == BEGINNING
    model.process({"a": batch("ts | x\n5s | 1")})
    assert model.clock_us == BEGINNING  # b has had no row
    model.process({"b": batch("ts | x\n4s | 2")})
    assert model.clock_us == parse_time("2s")
    model.process({"b": batch("ts | x\n9s | 2")})
    assert model.clock_us == parse_time("5s")
    model.advance(parse_time("9s"))
    assert model.clock_us == parse_time("9s")


def test_unconnected_streams_have_separate_clocks() -> None:
    model = arrivals(c=RULES)
    model.read(["c"])
    model.process({"c": batch("ts | x\n50s | 1")})
    assert model.clock_of("c") == parse_time("50s")
    assert model.clock_of("a") == BEGINNING
    model.process({"a": batch("ts | x\n5s | 1"), "b": batch("ts | x\n7s | 1")})
    assert model.clock_of("a") == model.clock_of("b") == parse_time("5s")
    model.read(["b", "c"])  # which lags is advanced
    assert {model.clock_of(n) for n in "abc"} == {parse_time("50s")}
    model.process({"a": batch("ts | x\n49s | 2")})
    assert model.late["a"]["x"].to_pylist() == [2]


def test_a_stream_that_no_query_reads_has_no_say() -> None:
    model = arrivals()
    model.read(["a"])
    model.unread(["a", "b"])
    model.process({"a": batch("ts | x\n5s | 1")})
    assert model.clock_of("a") == parse_time("5s")


def test_the_others_do_not_wait_for_an_idle_stream() -> None:
    model = arrivals(c=replace(RULES, idle_us=parse_time("30s")))
    model.read(["a", "c"])
    rows = batch("ts | x\n5s | 1")
    model.process({"a": rows, "b": batch("ts | x\n9s | 1")}, now_us=parse_time("10s"))
    assert model.clock_us == BEGINNING
    model.process({}, now_us=parse_time("39s"))
    assert model.clock_us == BEGINNING
    model.process({}, now_us=parse_time("40s"))
    assert model.clock_us == parse_time("5s")


@pytest.mark.parametrize(("by_row", "late"), [(False, [4]), (True, [2, 3, 4])])
def test_rows_behind_the_clock_are_late_and_rows_without_time_are_bad(
    by_row: bool, late: list[int]
) -> None:
    model = IngestModel({"a": replace(RULES, lateness_us=parse_time("2s"), row_by_row=by_row)})
    model.process({"a": batch("ts | x\n5s | 1\n2s | 2")})
    model.process({"a": batch("ts | x\n3s | 5\n6s | 6\n3s | 3\n2s999ms | 4\n. | 7")})
    assert model.late["a"]["x"].to_pylist() == late
    assert model.bad["a"]["x"].to_pylist() == [7]
    assert model.accepted["a"].num_rows == 6 - len(late)


def test_a_row_too_far_ahead_of_the_wall_clock_is_bad_and_moves_nothing() -> None:
    model = IngestModel({"a": replace(RULES, ahead_us=parse_time("1s"))})
    model.process({"a": batch("ts | x\n11s | 1\n11s1ms | 2\n5s | 3")}, now_us=parse_time("10s"))
    assert model.bad["a"]["x"].to_pylist() == [2]
    assert model.clock_us == parse_time("11s")
    assert model.first_us == parse_time("5s")


def test_nothing_has_arrived_at_first() -> None:
    model = arrivals()
    model.process({"a": batch("ts:time | x:int\n. | 1")})
    assert model.first_us is None
    assert model.clock_us == BEGINNING


def with_table() -> IngestModel:
    contents = batch("k:int\n1")
    model = IngestModel({"a": StreamRules(SCHEMA)}, {"live": TableRules(contents)})
    model.read(["a", "live"])
    return model


def test_changes_of_tables_may_be_late_but_do_not_move_the_clock() -> None:
    model = with_table()
    model.process({"live": batch("_ts | k\n9s | 2\n. | 3")})
    assert model.clock_us == BEGINNING
    assert model.first_us == parse_time("9s")
    model.process({"a": batch("ts | x\n5s | 1"), "live": batch("_ts | k\n4s | 4")})
    assert model.clock_us == parse_time("5s")
    model.process({"live": batch("_ts | k\n4s999ms | 5\n5s | 6")})
    assert model.accepted["live"]["k"].to_pylist() == [2, 4, 6]
    assert model.late["live"]["k"].to_pylist() == [5]
    assert model.bad["live"]["k"].to_pylist() == [3]


def test_a_row_that_is_not_there_is_bad_once_the_clock_passes() -> None:
    model = with_table()
    model.process({"live": batch("_ts | _op | k\n2s | - | 1\n3s | - | 1\n4s | - | 2\n9s | - | 3")})
    assert model.bad["live"].num_rows == 0
    model.process({"live": batch("_ts | _op | k\n3s500ms | + | 2")})  # arrives in time
    model.advance(parse_time("5s"))
    assert model.bad["live"]["_ts"].cast(pa.int64()).to_pylist() == [parse_time("3s")]
    assert model.accepted["live"]["k"].to_pylist() == [1, 2, 3, 2]
    assert model.live("live").orphans() == [2]  # not yet judged
    model.advance(parse_time("9s"))
    assert model.bad["live"]["k"].to_pylist() == [1, 3]
