"""Durations and intervals in SQL text: ``5 SECONDS``, ``1 day 2 hours``, ``1-2`` YEAR TO MONTH."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
#: The names of units of fixed length.
UNITS: Final = tuple(_UNITS_US)
_MONTHS: Final[dict[str, int]] = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SHORT_US: Final = {"MS": _UNITS_US["MILLISECOND"]}
_DAY: Final = _UNITS_US["DAY"]
_LONGEST: Final = Decimal(LONGEST_DURATION_US)
#: More months than between the years 1 and 9999.
_MOST_MONTHS: Final = 12 * 9999

#: Units of ``DAY TO SECOND``, from the longest, and how many of each are in the one before it.
_PARTS: Final = {"DAY": 0, "HOUR": 24, "MINUTE": 60, "SECOND": 60}
_SECONDS: Final = r"\d+(?:\.\d{1,6})?"
_TIME: Final = re.compile(rf"[+-]?\d+:\d+(?::{_SECONDS})?")


@dataclass(frozen=True, slots=True)
class Interval:
    """A length of time: months, then microseconds."""

    months: int = 0
    us: int = 0

    @property
    def is_positive(self) -> bool:
        """Whether it is longer than zero; one of months and a rest is if both are."""
        return min(self.months, self.us) >= 0 and max(self.months, self.us) > 0

    def plus(self, other: Interval, sign: int = 1) -> Interval:
        """The sum, or the difference."""
        return Interval(self.months + sign * other.months, self.us + sign * other.us)

    def fixed_us(self, text: str) -> int:
        """The microseconds.

        Raises:
            ValueError: there are months, whose length is not fixed.
        """
        if self.months:
            shown = shortened(text)
            raise ValueError(f"a month has no fixed length: write a number of DAYS, not {shown}")
        return self.us


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


def is_unit(word: str) -> bool:
    """Whether a word is a unit of time, of fixed length or not."""
    name = word.upper()
    names = (name, name.removesuffix("S"))
    return name in _SHORT_US or any(n in _UNITS_US or n in _MONTHS for n in names)


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


def interval(amount: str, unit: str) -> Interval:
    """``amount`` units, which may be months.

    >>> interval("2", "YEARS")
    Interval(months=24, us=0)

    Raises:
        ValueError: as :func:`duration_us`, or the number of months is not whole or too large.
    """
    name = unit.upper()
    months = _MONTHS.get(name) or _MONTHS.get(name.removesuffix("S"))
    if months is None:
        return Interval(us=duration_us(amount, unit))
    if re.fullmatch(r"[+-]?\d{1,6}", amount.strip()) is None:
        raise ValueError(f"'{shortened(amount)}' is not a whole number of {name}")
    return _of_months(int(amount) * months)


def parse_interval(text: str) -> Interval:
    """The sum of amounts and units, which a time of day may follow.

    >>> parse_interval("1 year 2 days 03:04:05")
    Interval(months=12, us=183845000000)

    Raises:
        ValueError: the text is something else, or a part is wrong.
    """
    words, total = text.split(), Interval()
    if words and _TIME.fullmatch(words[-1]):
        time = words.pop()
        last = "MINUTE" if time.count(":") == 1 else "SECOND"
        total = parse_span(time, "HOUR", last)
    if len(words) % 2 or not text.split():
        raise ValueError(f"'{shortened(text)}' is not a duration such as '5 seconds'")
    for amount, unit in zip(words[::2], words[1::2], strict=True):
        total = total.plus(interval(amount, unit))
    if abs(total.us) > LONGEST_DURATION_US:
        raise ValueError(f"'{shortened(text)}' is too long")
    return total


def parse_span(text: str, first: str, last: str) -> Interval:
    """The text of an INTERVAL from one unit to another, as ``DAY TO SECOND``.

    >>> parse_span("1 02:03:04", "DAY", "SECOND")
    Interval(months=0, us=93784000000)

    Raises:
        ValueError: the units or the text are wrong.
    """
    first, last, stripped = first.upper(), last.upper(), text.strip()
    sign = -1 if stripped.startswith("-") else 1
    if (first, last) == ("YEAR", "MONTH"):
        found = re.fullmatch(r"[+-]?(\d{1,5})-(\d{1,2})", stripped)
        if found is None or int(found[2]) > 11:
            message = "as in '1-2', with at most 11 months"
            raise ValueError(f"'{shortened(text)}' is not YEAR TO MONTH, {message}")
        return _of_months(sign * (int(found[1]) * 12 + int(found[2])))
    names = list(_PARTS)
    if first not in names or last not in names or names.index(first) >= names.index(last):
        raise ValueError(f"{first} TO {last} is no INTERVAL; valid: YEAR TO MONTH, DAY TO SECOND")
    units = names[names.index(first) : names.index(last) + 1]
    numbers = [_SECONDS if u == "SECOND" else r"\d+" for u in units]
    pattern = "".join(
        ("" if i == 0 else r"\s+" if units[i - 1] == "DAY" else ":") + f"({number})"
        for i, number in enumerate(numbers)
    )
    found = re.fullmatch("[+-]?" + pattern, stripped)
    parts = () if found is None else found.groups()
    if found is None or any(
        float(n) >= _PARTS[u] for n, u in zip(parts[1:], units[1:], strict=True)
    ):
        raise ValueError(f"'{shortened(text)}' is not {first} TO {last}, as in '1 02:03:04'")
    return Interval(us=sign * sum(duration_us(n, u) for n, u in zip(parts, units, strict=True)))


def parse_duration(text: str) -> int:
    """A duration of fixed length, as of :func:`parse_interval`, in microseconds.

    >>> parse_duration("5 seconds")
    5000000
    >>> parse_duration("1 hour 500 ms")
    3600500000

    Raises:
        ValueError: as :func:`parse_interval`, or there are months.
    """
    return parse_interval(text).fixed_us(text)


def _of_months(months: int) -> Interval:
    if abs(months) > _MOST_MONTHS:
        raise ValueError(f"{months} months are more than those of the years 1 to 9999")
    return Interval(months)
