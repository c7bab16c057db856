from __future__ import annotations

import pytest

from eddyline.sql.durations import duration_us, parse_duration


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("5 seconds", 5_000_000),
        ("1 SECOND", 1_000_000),
        ("0.5 milliseconds", 500),
        ("2 Hours", 7_200_000_000),
        ("-1 day", -86_400_000_000),
        ("0 weeks", 0),
    ],
)
def test_durations(text: str, us: int) -> None:
    assert parse_duration(text) == us


@pytest.mark.parametrize(
    ("amount", "unit", "message"),
    [
        ("1", "month", "unknown time unit 'month'"),
        ("many", "seconds", "'many' is not a number"),
        ("NaN", "seconds", "not a whole number of microseconds"),
        ("0.1", "microseconds", "not a whole number of microseconds"),
    ],
)
def test_bad_durations(amount: str, unit: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        duration_us(amount, unit)


def test_a_duration_is_two_words() -> None:
    with pytest.raises(ValueError, match="'5s' is not a duration"):
        parse_duration("5s")
