"""Rows that enter and leave the cells of windows over row lists (``row_lists.py``)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.options import bare, bare_inlined, inlined, kernel
from eddyline.kernels.row_lists import (
    BLOCK,
    CAPACITY,
    END,
    LENGTH,
    PLACE,
    REGION,
)


class Walk(NamedTuple):
    """Rows that enter and leave windows over row lists.

    Attributes:
        windows, lists, entries, next_block: as of ``row_lists.py``.
        of_list, list_starts: the windows of list l are ``of_list[list_starts[l]:list_starts[l +
            1]]``.
        grown: as of ``append``. spans: as of ``advance``.
        loud: int8 by cell, 1 where a cell is not quiet.
    """

    windows: np.ndarray
    of_list: np.ndarray
    list_starts: np.ndarray
    lists: np.ndarray
    entries: np.ndarray
    next_block: np.ndarray
    grown: np.ndarray
    spans: np.ndarray
    loud: np.ndarray


@inlined
def next_entry(block: Any, at: Any, next_block: Any) -> Any:
    """The place of the next entry."""
    if at == BLOCK:
        return next_block[block], 0
    return block, at


@kernel
def mark(walk: Walk) -> np.ndarray:
    """Mark the cells of all rows that enter and leave; bool by window, whether there are some."""
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
    any_loud = np.zeros(windows.shape[0], np.bool_)
    for number in range(lists.shape[0]):
        for i in range(list_starts[number], list_starts[number + 1]):
            w = of_list[i]
            cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
            for part in range(2):
                span = spans[w] if part else grown[number]
                block, at = span[0], span[1]
                for _ in range(span[2]):
                    block, at = next_entry(block, at, next_block)
                    loud[cells + entries[block * BLOCK + at, 1]] = 1
                    at += 1
            any_loud[w] = grown[number, 2] + spans[w, 2] > 0
    return any_loud


@kernel
def unmark(any_loud: np.ndarray, walk: Walk) -> None:
    """Take back all marks, of windows with some."""
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
    for number in range(lists.shape[0]):
        end = lists[number, END]
        for i in range(list_starts[number], list_starts[number + 1]):
            w = of_list[i]
            if not any_loud[w]:
                continue
            cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
            if 2 * (grown[number, 2] + spans[w, 2]) >= end:
                loud[cells : cells + end] = 0
                continue
            for part in range(2):
                span = spans[w] if part else grown[number]
                block, at = span[0], span[1]
                for _ in range(span[2]):
                    block, at = next_entry(block, at, next_block)
                    loud[cells + entries[block * BLOCK + at, 1]] = 0
                    at += 1


@bare
def _rows_of(chosen: np.ndarray, walk: Walk) -> int:
    """How many rows enter and leave windows, bool by window."""
    rows = 0
    for number in range(walk.lists.shape[0]):
        for i in range(walk.list_starts[number], walk.list_starts[number + 1]):
            if chosen[walk.of_list[i]]:
                rows += walk.grown[number, 2] + walk.spans[walk.of_list[i], 2]
    return rows


@kernel
def collect(
    any_loud: np.ndarray,
    row_ts: np.ndarray,
    row_seq: np.ndarray,
    expiry: int,
    walk: Walk,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rows that enter and leave cells that are not quiet, by window and then in time.

    Args:
        any_loud: bool by window, whether it has such cells. expiry: the seq of an expiry.

    Returns:
        ts, seq, cell, sign and row number of each.
    """
    most = _rows_of(any_loud, walk)
    ts, seq, cell = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    sign, row = np.empty(most, np.int8), np.empty(most, np.int64)
    m = _collect(any_loud, row_ts, row_seq, expiry, walk, _Turns(ts, seq, cell, sign, row))
    return ts[:m], seq[:m], cell[:m], sign[:m], row[:m]


class _Turns(NamedTuple):
    """Rows that enter and leave cells, as ``collect`` returns them."""

    ts: np.ndarray
    seq: np.ndarray
    cell: np.ndarray
    sign: np.ndarray
    row: np.ndarray


@bare_inlined
def _collect(
    any_loud: np.ndarray,
    row_ts: np.ndarray,
    row_seq: np.ndarray,
    expiry: int,
    walk: Walk,
    turns: _Turns,
) -> int:
    """Write the rows of all windows with loud cells; returns their number."""
    m = 0
    for number in range(walk.lists.shape[0]):
        for i in range(walk.list_starts[number], walk.list_starts[number + 1]):
            w = walk.of_list[i]
            if any_loud[w]:
                m = _collect_window(number, w, row_ts, row_seq, expiry, walk, turns, m)
    return m


@bare_inlined
def _collect_window(
    number: int,
    w: int,
    row_ts: np.ndarray,
    row_seq: np.ndarray,
    expiry: int,
    walk: Walk,
    turns: _Turns,
    m: int,
) -> int:
    """Write the rows of a window of a list behind the first m; returns the new number."""
    windows, _, _, lists, entries, next_block, grown, spans, loud = walk
    length = windows[w, LENGTH]
    cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
    block, at, coming = grown[number, 0], grown[number, 1], grown[number, 2]
    out_block, out_at, passing = spans[w, 0], spans[w, 1], spans[w, 2]
    e, out = 0, 0
    while coming or passing:
        entering = False
        if coming:
            block, at = next_entry(block, at, next_block)
            entering = True
            e = block * BLOCK + at
        if passing:
            out_block, out_at = next_entry(out_block, out_at, next_block)
            out = out_block * BLOCK + out_at
            if not entering or row_ts[entries[out, 0]] + length <= row_ts[entries[e, 0]]:
                entering = False
                e = out
        if entering:
            at += 1
            coming -= 1
        else:
            out_at += 1
            passing -= 1
        r, c = entries[e, 0], cells + entries[e, 1]
        if loud[c]:
            turns.row[m], turns.cell[m], turns.sign[m] = r, c, 1 if entering else -1
            turns.ts[m] = row_ts[r] if entering else row_ts[r] + length
            turns.seq[m] = row_seq[r] if entering else expiry
            m += 1
    return m


@kernel
def steps(
    walk: Walk,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows that enter and then those that leave, by window: cells, signs and row numbers."""
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, _ = walk
    most = 0
    for number in range(lists.shape[0]):
        for i in range(list_starts[number], list_starts[number + 1]):
            most += grown[number, 2] + spans[of_list[i], 2]
    out_cell = np.empty(most, np.int64)
    out_sign = np.empty(most, np.int8)
    out_row = np.empty(most, np.int64)
    m = 0
    for number in range(lists.shape[0]):
        for i in range(list_starts[number], list_starts[number + 1]):
            w = of_list[i]
            cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
            for sign in (1, -1):
                span = grown[number] if sign > 0 else spans[w]
                block, at, left = span[0], span[1], span[2]
                while left:
                    block, at = next_entry(block, at, next_block)
                    run = min(left, BLOCK - at)
                    for e in range(block * BLOCK + at, block * BLOCK + at + run):
                        out_cell[m] = cells + entries[e, 1]
                        out_sign[m] = sign
                        out_row[m] = entries[e, 0]
                        m += 1
                    left -= run
                    at += run
    return out_cell[:m], out_sign[:m], out_row[:m]
