"""Conversion of instants between text and microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from eddyline.errors import DataError
from eddyline.types import END_OF_TIME, FIRST_INSTANT

#: ISO 8601 text, a datetime (both UTC without a zone), or microseconds since 1970.
Instant: TypeAlias = str | int | datetime


def instant_us(to: Instant) -> int:
    """Microseconds since the epoch of ISO 8601 text (UTC unless it has a zone) or a datetime.

    Raises:
        DataError: the text is not an instant, or the instant is not between the years 1 and 9999.
    """
    if not isinstance(to, (str, datetime)):
        return checked_instant(int(to))
    try:
        when = datetime.fromisoformat(to) if isinstance(to, str) else to
    except ValueError:
        raise DataError(f"not an instant: {to!r}; use ISO 8601 like 2026-01-31T12:00:00Z") from None
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
    since = when - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def shown(us: int) -> str:
    """An instant between the years 1 and 9999 as text.

    >>> shown(1_500_000)
    '1970-01-01 00:00:01.500000'
    """
    return str(datetime(1970, 1, 1) + timedelta(microseconds=us))


def checked_instant(us: int) -> int:
    """Check that an instant is in range; returns it.

    Raises:
        DataError: the instant is not between the years 1 and 9999.
    """
    if FIRST_INSTANT <= us < END_OF_TIME:
        return us
    raise DataError(f"not an instant between the years 1 and 9999: {us} microseconds since 1970")
