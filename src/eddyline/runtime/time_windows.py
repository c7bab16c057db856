"""Which windows between fixed instants contain an instant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.algebra.time_windows import TimeWindows
from eddyline.runtime.stores.columns import Array
from eddyline.types import TIMESTAMP


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
    if windows.single:
        return Assigned(None, _aligned(windows, ts, windows.size_us) + windows.size_us)
    if windows.kind == "CUMULATE":
        first = _aligned(windows, ts, windows.step_us) + windows.step_us
        last = _aligned(windows, ts, windows.size_us) + windows.size_us
    else:
        newest = _aligned(windows, ts, windows.step_us)
        over = newest + windows.size_us - ts  # how long the newest window goes on, if positive
        last = newest + windows.size_us
        first = last - (-(-over // windows.step_us) - 1) * windows.step_us
    counts = np.maximum((last - first) // windows.step_us + 1, 0)
    row = np.repeat(np.arange(ts.size), counts)
    starts = np.cumsum(counts) - counts
    within = np.arange(row.size) - starts[row]
    return Assigned(row, first[row] + within * windows.step_us)


def starts_of(windows: TimeWindows, end: Array) -> Array:
    """When the windows that end at these instants start."""
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
