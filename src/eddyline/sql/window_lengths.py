"""Windows between fixed instants from their lengths as written."""

from __future__ import annotations

from typing import Final

from eddyline.algebra.time_windows import MONTH_US, Kind, Months, TimeWindows
from eddyline.sql.durations import Interval

_DAY_US: Final = 86_400_000_000


def windows_of(
    kind: Kind, size: Interval, step: Interval | None, offset: Interval | None = None
) -> TimeWindows:
    """The windows.

    Args:
        size, step: longer than zero; step None: the size.

    Raises:
        ValueError: a length is of months and a rest, or does not fit the others.
    """
    step, offset = step or size, offset or Interval()
    for length in (size, step):
        if length.months and length.us:
            raise ValueError("a window is of months or of a fixed length, not of both")
    if not size.months and not step.months:
        if offset.months:
            raise ValueError("an OFFSET of months is for windows of months")
        if kind == "CUMULATE" and size.us % step.us:
            raise ValueError(_no_multiple(step.us % size.us == 0))
        return TimeWindows(kind, size.us, step.us, offset.us % step.us)
    if not size.months or (not step.months and kind == "HOP"):
        raise ValueError(f"size and step of {kind} are both of months, or both of fixed lengths")
    if step.months and kind == "CUMULATE" and size.months % step.months:
        raise ValueError(_no_multiple(step.months % size.months == 0))
    if not step.months and _DAY_US % step.us:
        raise ValueError("a step of CUMULATE over months is a day, or a part of it without a rest")
    months = Months(size.months, step.months, offset.months % (step.months or size.months))
    if kind == "CUMULATE":
        months = Months(size.months, step.months, offset.months % size.months)
    step_us = step.months * MONTH_US or step.us
    return TimeWindows(kind, size.months * MONTH_US, step_us, offset.us, months)


def _no_multiple(swapped: bool) -> str:
    hint = ": the step comes first, then the size" if swapped else ""
    return f"the size of CUMULATE must be a multiple of its step{hint}"
