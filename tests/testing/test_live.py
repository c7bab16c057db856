import pytest

from eddyline.testing import batch, parse_time
from eddyline.testing.live import LiveTable, as_changes
from eddyline.types import BEGINNING, FOREVER

CONTENTS = batch("k:int | s\n1 | x\n1 | x\n. | y")


def live(changes: str) -> LiveTable:
    return LiveTable("retroactive", CONTENTS, as_changes(batch(changes), CONTENTS.schema))


def test_a_change_takes_back_one_equal_row_and_null_equals_null() -> None:
    table = live("""
        _ts | _op | k:int | s
        2s  | +   | 1     | x
        3s  | -   | 1     | x
        4s  | -   | .     | y
        5s  | +   | .     | y
    """)
    ends = [parse_time("3s"), FOREVER, parse_time("4s"), FOREVER, FOREVER]
    starts = [BEGINNING, BEGINNING, BEGINNING, parse_time("2s"), parse_time("5s")]
    lifespans = table.lifespans()
    assert lifespans["__from"].to_pylist() == starts
    assert lifespans["__to"].to_pylist() == ends
    assert table.orphans() == []


def test_changes_count_in_the_order_of_time_then_arrival() -> None:
    table = live("""
        _ts | _op | k:int | s
        3s  | -   | 7     | z
        2s  | +   | 7     | z
        3s  | -   | 8     | z
        3s  | +   | 8     | z
    """)
    assert table.orphans() == [2]
    assert table.lifespans()["__to"].to_pylist()[-2:] == [parse_time("3s"), FOREVER]


@pytest.mark.parametrize("change", ["2s | - | 2 | x", "2s | - | 1 | ."])
def test_missing_rows_cannot_be_removed(change: str) -> None:
    assert live(f"_ts | _op | k:int | s:str\n{change}").orphans() == [0]


def test_a_change_without_a_kind_inserts_a_row() -> None:
    changes = as_changes(batch("k:int | s | _ts\n1 | x | 2s"), CONTENTS.schema)
    assert changes.column_names == ["_ts", "_op", "k", "s"]
    assert changes["_op"].to_pylist() == ["+"]
