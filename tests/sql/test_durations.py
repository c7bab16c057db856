from __future__ import annotations

import pytest

from eddyline.sql.durations import (
    Interval,
    duration_us,
    parse_duration,
    parse_interval,
    parse_span,
)


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("5 seconds", 5_000_000),
        ("1 SECOND", 1_000_000),
        ("0.5 milliseconds", 500),
        ("2 Hours", 7_200_000_000),
        ("-1 day", -86_400_000_000),
        ("0 weeks", 0),
        ("1 day 2 hours 500 ms", 93_600_500_000),
        ("1 day -02:03:04.5", 86_400_000_000 - 7_384_500_000),
        ("02:30", 9_000_000_000),
    ],
)
def test_durations(text: str, us: int) -> None:
    assert parse_duration(text) == us


@pytest.mark.parametrize(
    ("amount", "unit", "message"),
    [
        ("many", "seconds", "'many' is not a number"),
        ("NaN", "seconds", "not a whole number of microseconds"),
        ("0.1", "microseconds", "not a whole number of microseconds"),
    ],
)
def test_bad_durations(amount: str, unit: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        duration_us(amount, unit)


@pytest.mark.parametrize("text", ["5s", "", "1 day 2"])
def test_a_duration_is_amounts_and_units(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration such as '5 seconds'"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "first", "last", "expected"),
    [
        ("1-2", "YEAR", "MONTH", Interval(months=14)),
        ("-1-11", "year", "month", Interval(months=-23)),
        ("1 02", "DAY", "HOUR", Interval(us=93_600_000_000)),
        ("-1 02:03:04.5", "DAY", "SECOND", Interval(us=-93_784_500_000)),
        ("100:59", "HOUR", "MINUTE", Interval(us=363_540_000_000)),
        ("90:01.25", "MINUTE", "SECOND", Interval(us=5_401_250_000)),
    ],
)
def test_spans(text: str, first: str, last: str, expected: Interval) -> None:
    assert parse_span(text, first, last) == expected


@pytest.mark.parametrize(
    ("text", "first", "last", "message"),
    [
        ("1-12", "YEAR", "MONTH", "at most 11 months"),
        ("1 24:00", "DAY", "MINUTE", "is not DAY TO MINUTE"),
        ("1:60", "HOUR", "MINUTE", "is not HOUR TO MINUTE"),
        ("1", "SECOND", "DAY", "SECOND TO DAY is no INTERVAL"),
        ("1", "MONTH", "DAY", "MONTH TO DAY is no INTERVAL"),
    ],
)
def test_bad_spans(text: str, first: str, last: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_span(text, first, last)


def test_months_are_no_duration() -> None:
    assert parse_interval("1 year 2 days") == Interval(12, 172_800_000_000)
    with pytest.raises(ValueError, match="a month has no fixed length"):
        parse_duration("1 month")
    with pytest.raises(ValueError, match="not a whole number of MONTH"):
        parse_interval("1.5 months")
    with pytest.raises(ValueError, match="more than those of the years 1 to 9999"):
        parse_interval("10000 years")
