import pyarrow as pa

from eddyline.testing import batch, parse_time
from eddyline.testing.arrivals import Arrivals, StreamRules
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
