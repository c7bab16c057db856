"""Rows whose values change one by one, and what is shown of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.copies import put_row
from eddyline.kernels.framed_rows import EXPIRED
from eddyline.kernels.options import kernel
from eddyline.kernels.ordered_rows import CHANGE, NOTHING

#: In place of the number of a value: it cannot be computed.
FAILED = -2


class Updates(NamedTuple):
    """New values of rows, in the order of events, those of a row at an event together.

    Attributes:
        event, row: int64[n]. column: int64[n], of a value; TAKEN_BACK or EXPIRED: the row has left.
        number: int64[n], of the value; NOTHING for NULL, or FAILED.
    """

    event: np.ndarray
    row: np.ndarray
    column: np.ndarray
    number: np.ndarray


@kernel
def show_updates(
    updates: Updates, rows: np.ndarray, values: np.ndarray, changes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Apply updates; a row is shown if all its values can be computed.

    Args:
        rows: ROW by number. values: int64[rows, f]. changes: how many there have been before.

    Returns:
        CHANGE[m], their values, int64[m, f]; int64[d, 2] columns and numbers of the values that
        rows do not have any more; and int64[k, 3] rows, events and columns that fail.
    """
    event, row, column, number = updates
    n, width = event.size, values.shape[1]
    change = np.empty(2 * n, CHANGE)
    shown = np.empty((2 * n, width), np.int64)
    dropped = np.empty((n * width, 2), np.int64)
    failing = np.empty((n, 3), np.int64)
    m, d, k = 0, 0, 0
    i = 0
    while i < n:
        r = row[i]
        end = i + 1
        while end < n and row[end] == r and event[end] == event[i] and column[i] >= 0:
            end += 1
        leaves = column[i] < 0
        differs = False
        for j in range(i, end):
            differs |= leaves or values[r, column[j]] != number[j]
        if rows[r].shown and differs and column[i] != EXPIRED:
            change[m].row, change[m].event, change[m].sign = r, event[i], -1
            change[m].version = rows[r].version
            put_row(values, r, shown, m)
            m += 1
        fails = False
        for j in range(i, end):
            if leaves:
                for f in range(width):
                    dropped[d, 0], dropped[d, 1] = f, values[r, f]
                    values[r, f] = NOTHING
                    d += 1
                continue
            if number[j] == FAILED and (values[r, column[j]] != FAILED):
                failing[k, 0], failing[k, 1], failing[k, 2] = r, event[j], column[j]
                k += 1
            dropped[d, 0], dropped[d, 1] = column[j], values[r, column[j]]
            values[r, column[j]] = number[j]
            d += 1
        for f in range(width):
            fails |= values[r, f] == FAILED
        if not leaves and not fails and (differs or not rows[r].shown):
            change[m].row, change[m].event, change[m].sign = r, event[i], 1
            change[m].version = changes + m
            rows[r].version = changes + m
            put_row(values, r, shown, m)
            m += 1
        rows[r].shown = not leaves and not fails
        i = end
    return change[:m].copy(), shown[:m].copy(), dropped[:d].copy(), failing[:k].copy()
