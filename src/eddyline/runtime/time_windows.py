"""Which windows between fixed instants contain an instant."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.algebra.time_windows import Months, TimeWindows
from eddyline.runtime.stores.columns import Array
from eddyline.types import TIMESTAMP

_DAY_US: Final = 86_400_000_000


class Assigned(NamedTuple):
    """Rows and the windows that contain them, by row, then by the instant at which they end.

    Attributes:
        row: int64[n], the number of the row; None: each row is in one window.
        end: int64[n], microseconds.
    """

    row: Array | None
    end: Array


def assigned(windows: TimeWindows, ts: Array) -> Assigned:
    """The windows that contain instants, int64[n] in microseconds."""
    if windows.months is not None:
        return _in_months(windows, windows.months, ts)
    if windows.single:
        return Assigned(None, _aligned(windows, ts, windows.size_us) + windows.size_us)
    if windows.kind == "CUMULATE":
        first = _aligned(windows, ts, windows.step_us) + windows.step_us
        last = _aligned(windows, ts, windows.size_us) + windows.size_us
        return _repeated(first, last, windows.step_us)
    newest = _aligned(windows, ts, windows.step_us)
    return _hopping(newest, newest + windows.size_us - ts, windows.size_us, windows.step_us)


def starts_of(windows: TimeWindows, end: Array) -> Array:
    """When the windows that end at these instants start."""
    months = windows.months
    if months is not None:
        last = _month(windows, end - 1)
        if windows.kind == "CUMULATE":
            return _start(windows, _whole(months, last, months.size))
        return _start(windows, last + 1 - months.size)
    if windows.kind == "CUMULATE":
        return _aligned(windows, end - 1, windows.size_us)
    return end - windows.size_us


def instants(us: Array) -> pa.Array:
    """Instants as a column."""
    return pa.array(us).cast(TIMESTAMP)


def _aligned(windows: TimeWindows, ts: Array, every: int) -> Array:
    """The last of the instants every ``every`` that is not behind each instant."""
    aligned: Array = ts - (ts - windows.offset_us) % every
    return aligned


def _repeated(first: Array, last: Array, step: int) -> Assigned:
    """Windows that end every ``step`` from int64[n] ``first`` up to ``last``."""
    counts = np.maximum((last - first) // step + 1, 0)
    row = np.repeat(np.arange(counts.size), counts)
    starts = np.cumsum(counts) - counts
    within = np.arange(row.size) - starts[row]
    return Assigned(row, first[row] + within * step)


def _hopping(newest: Array, over: Array, size: int, step: int) -> Assigned:
    """The windows of HOP.

    Args:
        newest: int64[n], the start of the newest window; over: how long it goes on, if positive.
    """
    last = newest + size
    return _repeated(last - (-(-over // step) - 1) * step, last, step)


def _in_months(windows: TimeWindows, months: Months, ts: Array) -> Assigned:
    month = _month(windows, ts)
    if windows.kind == "CUMULATE":
        last = _whole(months, month, months.size) + months.size
        if not months.step:
            first = _aligned(windows, ts, windows.step_us) + windows.step_us
            return _repeated(first, _start(windows, last), windows.step_us)
        found = _repeated(_whole(months, month, months.step) + months.step, last, months.step)
    else:
        newest = _whole(months, month, months.step)
        if windows.single:
            return Assigned(None, _start(windows, newest + months.size))
        found = _hopping(newest, newest + months.size - month, months.size, months.step)
    return Assigned(found.row, _start(windows, found.end))


def _month(windows: TimeWindows, ts: Array) -> Array:
    """The months of instants, from January 1970 on, which begin at the offset."""
    days = (ts - windows.offset_us) // _DAY_US
    months: Array = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
    return months


def _start(windows: TimeWindows, months: Array) -> Array:
    """When months begin, in microseconds."""
    days: Array = months.astype("M8[M]").astype("M8[D]").astype(np.int64)
    return days * _DAY_US + windows.offset_us


def _whole(months: Months, month: Array, count: int) -> Array:
    """The last month that is not behind each one, and a multiple of ``count`` from the offset."""
    whole: Array = month - (month - months.offset) % count
    return whole
