import pyarrow as pa

from eddyline.testing import batch, parse_time
from eddyline.testing.arrivals import Arrivals, StreamRules, TableRules
from eddyline.types import BEGINNING, TIMESTAMP

SCHEMA = pa.schema([("ts", TIMESTAMP), ("x", pa.int64())])


def arrivals() -> Arrivals:
    lateness = parse_time("2s")
    return Arrivals({"a": StreamRules(SCHEMA), "b": StreamRules(SCHEMA, lateness_us=lateness)})


def test_the_clock_follows_the_newest_row_of_any_stream_minus_the_largest_lateness() -> None:
    model = arrivals()
    assert model.clock_us == BEGINNING
    model.process({"a": batch("ts | x\n5s | 1"), "b": batch("ts | x\n4s | 2")})
    assert model.clock_us == parse_time("3s")
    model.process({"b": batch("ts | x\n4s | 2")})
    assert model.clock_us == parse_time("3s")
    model.advance(parse_time("9s"))
    assert model.clock_us == parse_time("9s")


def test_rows_behind_the_clock_are_late_and_rows_without_time_are_bad() -> None:
    model = arrivals()
    model.process({"a": batch("ts | x\n5s | 1\n1s | 2")})
    model.process({"a": batch("ts | x\n3s | 3\n2s999ms | 4\n. | 5"), "b": batch("ts | x:int")})
    assert model.accepted["a"]["x"].to_pylist() == [1, 2, 3]
    assert model.late["a"]["x"].to_pylist() == [4]
    assert model.bad["a"]["x"].to_pylist() == [5]
    assert model.first_us == parse_time("1s")


def test_nothing_has_arrived_at_first() -> None:
    model = arrivals()
    model.process({"a": batch("ts:time | x:int\n. | 1")})
    assert model.first_us is None
    assert model.clock_us == BEGINNING


def with_table() -> Arrivals:
    contents = batch("k:int\n1")
    return Arrivals({"a": StreamRules(SCHEMA)}, {"live": TableRules(contents)})


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
