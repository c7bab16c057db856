"""Durations in SQL text: ``5 SECONDS``, ``1.5 minutes``. Fixed lengths only."""

from __future__ import annotations

from decimal import Decimal, DecimalException
from typing import Final

from eddyline.errors import did_you_mean
from eddyline.sql.numbers import shortened
from eddyline.types import LONGEST_DURATION_US

_UNITS_US: Final[dict[str, int]] = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
_SHORT_US: Final = {"MS": _UNITS_US["MILLISECOND"]}
_DAY: Final = _UNITS_US["DAY"]
_LONGEST: Final = Decimal(LONGEST_DURATION_US)


def unit_us(unit: str) -> int:
    """The length in microseconds of a time unit, singular or plural or ``ms``, in any case.

    Raises:
        ValueError: the unit is unknown (months and years have no fixed length).
    """
    name = unit.upper()
    length = _UNITS_US.get(name) or _UNITS_US.get(name.removesuffix("S")) or _SHORT_US.get(name)
    if length is None:
        plurals = [f"{u}S" for u in _UNITS_US]
        raise ValueError(f"unknown time unit '{shortened(unit)}'; {did_you_mean(name, plurals)}")
    return length


def duration_us(amount: str, unit: str) -> int:
    """``amount`` units in microseconds.

    >>> duration_us("1.5", "seconds")
    1500000

    Raises:
        ValueError: the amount is not a number, the unit is unknown, or the duration is not a
            whole number of microseconds, or longer than the time from the year 1 to 9999.
    """
    length = unit_us(unit)
    try:
        number = Decimal(amount)
    except DecimalException:
        raise ValueError(f"'{shortened(amount)}' is not a number") from None
    if number.is_finite() and number.copy_abs() > _LONGEST / length:
        raise ValueError(
            f"{shortened(amount)} {unit} is too long: a duration lasts at most "
            f"{LONGEST_DURATION_US // _DAY} days, the time from the year 1 to 9999"
        )
    us = number * length
    if not us.is_finite() or us != us.to_integral_value():
        raise ValueError(f"{shortened(amount)} {unit} is not a whole number of microseconds")
    return int(us)


def parse_duration(text: str) -> int:
    """A duration of the form ``amount unit``, in microseconds.

    >>> parse_duration("5 seconds")
    5000000
    >>> parse_duration("500 ms")
    500000

    Raises:
        ValueError: as :func:`duration_us`, or the text is not an amount and a unit.
    """
    words = text.split()
    if len(words) != 2:
        raise ValueError(f"'{shortened(text)}' is not a duration such as '5 seconds'")
    return duration_us(*words)
