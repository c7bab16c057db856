import pyarrow as pa
import pytest

from eddyline.testing import batch, format_time, parse_time, pretty
from eddyline.types import BEGINNING, TIMESTAMP


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("0", 0),
        ("0s", 0),
        ("1s", 1_000_000),
        ("250ms", 250_000),
        ("17us", 17),
        ("1m30s", 90_000_000),
        ("1s1us", 1_000_001),
        ("-2s", -2_000_000),
        ("1970-01-01T00:00:05Z", 5_000_000),
        ("1970-01-01T00:00:05", 5_000_000),
        ("1970-01-01T02:00:05+02:00", 5_000_000),
    ],
)
def test_times(text: str, us: int) -> None:
    assert parse_time(text) == us
    assert parse_time(format_time(us)) == us


def test_times_far_from_the_epoch_are_dates() -> None:
    us = parse_time("2026-01-01T00:00:05.25Z")
    assert format_time(us) == "2026-01-01T00:00:05.250000+00:00"
    assert parse_time(format_time(us)) == us


def test_times_beyond_any_calendar_are_us() -> None:
    assert format_time(BEGINNING) == f"{BEGINNING}us"
    assert parse_time(format_time(BEGINNING)) == BEGINNING
    assert format_time(parse_time("9999-12-31T23:59:59Z")) == "9999-12-31T23:59:59+00:00"


@pytest.mark.parametrize("text", ["", "1", "1x", "s", "1s 2s", "yesterday"])
def test_invalid_times_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a time"):
        parse_time(text)


def test_batch_types_and_nulls() -> None:
    table = batch("""
        ts   | x:int32 | y | z    | s:str | u   | b:bool
        -----+---------+---+------+-------+-----+-------
        1s   | 3       | 4 | 0.5  | abc   | q r | true
        .    | null    | . | .    | ''    | '.' | .
    """)
    assert table.schema == pa.schema(
        [
            ("ts", TIMESTAMP),
            ("x", pa.int32()),
            ("y", pa.int64()),
            ("z", pa.float64()),
            ("s", pa.string()),
            ("u", pa.string()),
            ("b", pa.bool_()),
        ]
    )
    assert table.drop_columns("ts").to_pylist() == [
        {"x": 3, "y": 4, "z": 0.5, "s": "abc", "u": "q r", "b": True},
        {"x": None, "y": None, "z": None, "s": "", "u": ".", "b": None},
    ]
    assert table["ts"].cast(pa.int64()).to_pylist() == [1_000_000, None]


def test_a_batch_without_rows() -> None:
    table = batch("ts | x:int")
    assert table.num_rows == 0
    assert table.schema.types == [TIMESTAMP, pa.int64()]


def test_a_line_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells under 2 headings: 5"):
        batch("a | b\n5")


def test_an_unknown_type_lists_the_valid_ones() -> None:
    with pytest.raises(ValueError, match="no column type 'integer'; valid: time, int,"):
        batch("a:integer\n5")


def test_pretty_puts_the_operation_first_and_reads_back() -> None:
    changes = batch(
        """
        _ts  | _op | _exp | x | s:str
        1s   | +   | 3s   | 1 | ''
        3s   | -   | .    | . | .
        3s   | -   | .    | . | ' |'
    """.replace("' |'", "'null'")
    )
    assert pretty(changes) == (
        "_op | _ts | _exp | x:int | s:str\n"
        "+   | 1s  | 3s   | 1     | ''\n"
        "-   | 3s  | .    | .     | .\n"
        "-   | 3s  | .    | .     | 'null'"
    )
    assert batch(pretty(changes)).select(changes.column_names).equals(changes)
