"""Aggregates of the windows over row lists (``row_lists.py``): which groups may have to be emitted.

A condition of HAVING that compares a sum, mean or count with a constant is ``slope * sum + weight *
count + offset > 0``. A cell is *quiet* in a call if that is untrue at all its instants, whatever
the order of what comes and what expires: its state after the call is all that matters, so rows that
come are added up once for all windows of a list. The rows of other cells are processed one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.moments import HUGE
from eddyline.kernels.options import inlined, kernel
from eddyline.kernels.row_lists import (
    BLOCK,
    CAPACITY,
    LENGTH,
    PLACE,
    REGION,
)

#: What a condition is about: nothing (no cell is quiet), a count, a sum of integers.
NOTHING, COUNTED, INTEGERS = 0, 1, 2
#: Relative error of sums that are added up in doubles, and the most rows for which it holds.
RELATIVE_ERROR, MOST_ROWS = 1e-11, 30_000
NEVER = -np.inf
#: Columns of the scratch of ``watch``, by spot. Of the rows that come: their number, the sum of the
#: condition's terms, the largest sum of the first of these, the sum of magnitudes. Of a window:
#: its turn, the condition without the rows that come, magnitudes, values, and ``HIGHEST`` again.
COME, RUNNING, HIGHEST, SIZE, TURN, LEVEL, MARGIN, VALUES, ABOVE = range(9)
SCRATCH = 9


class Walk(NamedTuple):
    """Rows that enter and leave windows over row lists.

    Attributes:
        windows, lists, entries, next_block: as of ``row_lists.py``.
        of_list, list_starts: the windows of list l are ``of_list[list_starts[l]:list_starts[l +
            1]]``.
        grown: as of ``append``. spans: as of ``advance``.
        loud: int8 by cell, 1 where a cell is not quiet; 0 before ``watch``.
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
def watch(
    kind: int,
    slope: float,
    weights: np.ndarray,
    offsets: np.ndarray,
    valid: np.ndarray,
    value: np.ndarray,
    count: np.ndarray,
    total: np.ndarray,
    special: np.ndarray,
    members: np.ndarray,
    scratch: np.ndarray,
    turns: np.ndarray,
    walk: Walk,
) -> np.ndarray:
    """Mark the cells that are not quiet, and count the rows of all.

    Args:
        kind: of the condition, with its ``slope`` and, float64 by window, weight and offset.
        valid, value: by row number, what is aggregated.
        count, total: by cell, the number of values and their sum, rounded; only if ``kind`` needs
            them. special: by cell, several numbers; a cell where one is not 0 is not quiet.
        members: int64 by cell, the number of rows, changed in place.
        scratch, turns: float64[spots, SCRATCH] and [1], zeros at first, and kept by the caller.

    Returns:
        bool by window, whether one of its cells is not quiet.
    """
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
    any_loud = np.zeros(windows.shape[0], np.bool_)
    touched = np.empty(scratch.shape[0], np.int64)  # spots that rows enter
    is_sum = kind != COUNTED
    for number in range(lists.shape[0]):
        coming = grown[number, 2]
        touching = 0
        for i in range(list_starts[number], list_starts[number + 1]):
            w = of_list[i]
            passing = spans[w, 2]
            if coming == 0 and passing == 0:
                continue
            weight, offset = weights[w], offsets[w]
            if i == list_starts[number] or weight != weights[of_list[i - 1]]:
                for t in range(touching):
                    scratch[touched[t], COME] = 0.0
                touching = 0
                block, at = grown[number, 0], grown[number, 1]
                for _ in range(coming):
                    block, at = next_entry(block, at, next_block)
                    e = block * BLOCK + at
                    at += 1
                    row, spot = entries[e, 0], entries[e, 1]
                    mine = np.uint64(spot)
                    if scratch[mine, COME] == 0.0:
                        touched[touching] = spot
                        touching += 1
                        scratch[mine, RUNNING] = 0.0
                        scratch[mine, SIZE] = 0.0
                        scratch[mine, HIGHEST] = NEVER
                    scratch[mine, COME] += 1.0
                    if kind != NOTHING:
                        if valid[row]:
                            x = slope * value[row] if is_sum else 0.0
                            if not abs(x) < HUGE:
                                x = np.inf
                            scratch[mine, RUNNING] += x + weight
                            scratch[mine, SIZE] += abs(x) + abs(weight)
                        if not scratch[mine, RUNNING] <= scratch[mine, HIGHEST]:
                            scratch[mine, HIGHEST] = scratch[mine, RUNNING]
            cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
            too_many = kind == NOTHING or coming + passing > MOST_ROWS
            found = False
            for t in range(touching):
                spot = touched[t]
                cell = cells + spot
                members[cell] += int(scratch[spot, COME])
                is_quiet = not too_many
                if is_quiet:
                    n = count[cell]
                    base = slope * total[cell] if is_sum else 0.0
                    size = abs(base) + abs(weight) * n + abs(offset) + scratch[spot, SIZE]
                    base += weight * n + offset
                    for k in range(special.shape[1]):
                        is_quiet &= special[cell, k] == 0
                    highest = scratch[spot, HIGHEST]
                    if (n > 0 or not is_sum) and highest < 0.0:
                        highest = 0.0
                    is_quiet &= base + highest < -RELATIVE_ERROR * size
                if not is_quiet:
                    loud[cell] = 1
                    found = True
            turns[0] += 1.0
            turn = turns[0]
            block, at, left = spans[w, 0], spans[w, 1], passing
            while left:
                block, at = next_entry(block, at, next_block)
                run = min(left, BLOCK - at)
                for e in range(block * BLOCK + at, block * BLOCK + at + run):
                    row, mine = np.uint64(entries[e, 0]), np.uint64(entries[e, 1])
                    cell = np.uint64(cells) + mine
                    members[cell] -= 1
                    if loud[cell]:
                        continue
                    if scratch[mine, TURN] != turn:
                        is_quiet = not too_many
                        if is_quiet:
                            n = count[cell]
                            base = slope * total[cell] if is_sum else 0.0
                            size = abs(base) + abs(weight) * n + abs(offset)
                            for k in range(special.shape[1]):
                                is_quiet &= special[cell, k] == 0
                            base += weight * n + offset
                            highest = NEVER
                            if scratch[mine, COME] > 0.0:
                                highest = scratch[mine, HIGHEST]
                                size += scratch[mine, SIZE]
                            if n > 0 or not is_sum:
                                is_quiet &= base < -RELATIVE_ERROR * size
                            scratch[mine, TURN] = turn
                            scratch[mine, LEVEL] = base
                            scratch[mine, MARGIN] = size
                            scratch[mine, VALUES] = n
                            scratch[mine, ABOVE] = highest
                        if not is_quiet:
                            loud[cell] = 1
                            found = True
                            continue
                    if not valid[row]:
                        continue
                    x = slope * value[row] if is_sum else 0.0
                    level = scratch[mine, LEVEL] - (x + weight)
                    margin = scratch[mine, MARGIN] + abs(x) + abs(weight)
                    values = scratch[mine, VALUES] - 1.0
                    scratch[mine, LEVEL] = level
                    scratch[mine, MARGIN] = margin
                    scratch[mine, VALUES] = values
                    highest = scratch[mine, ABOVE]
                    if (values > 0.0 or not is_sum) and highest < 0.0:
                        highest = 0.0
                    if not level + highest < -RELATIVE_ERROR * margin:
                        loud[cell] = 1
                        found = True
                left -= run
                at += run
            any_loud[w] = found
        for t in range(touching):
            scratch[touched[t], COME] = 0.0
    return any_loud


@kernel
def collect(
    any_loud: np.ndarray,
    members: np.ndarray,
    row_ts: np.ndarray,
    row_seq: np.ndarray,
    expiry: int,
    walk: Walk,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rows that enter and leave cells that are not quiet, by window and then in time.

    ``watch`` counted them in ``members``: that is undone. ``expiry``: the seq of an expiry.

    Returns:
        ts, seq, cell, sign and row number of each.
    """
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
    most = 0
    for number in range(lists.shape[0]):
        for i in range(list_starts[number], list_starts[number + 1]):
            if any_loud[of_list[i]]:
                most += grown[number, 2] + spans[of_list[i], 2]
    ts = np.empty(most, np.int64)
    seq = np.empty(most, np.int64)
    cell = np.empty(most, np.int64)
    sign = np.empty(most, np.int8)
    row = np.empty(most, np.int64)
    m = 0
    for number in range(lists.shape[0]):
        for i in range(list_starts[number], list_starts[number + 1]):
            w = of_list[i]
            if not any_loud[w]:
                continue
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
                c = cells + entries[e, 1]
                if loud[c]:
                    r = entries[e, 0]
                    row[m] = r
                    cell[m] = c
                    sign[m] = 1 if entering else -1
                    ts[m] = row_ts[r] if entering else row_ts[r] + length
                    seq[m] = row_seq[r] if entering else expiry
                    members[c] -= sign[m]
                    m += 1
    return ts[:m], seq[:m], cell[:m], sign[:m], row[:m]


@kernel
def count_members(members: np.ndarray, changed: np.ndarray, walk: Walk) -> None:
    """Count the rows that enter and leave, and mark the cells of these."""
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, _ = walk
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
                        cell = cells + entries[e, 1]
                        members[cell] += sign
                        changed[cell] = True
                    left -= run
                    at += run


@kernel
def count_quietly(
    valid: np.ndarray,
    count: np.ndarray,
    walk: Walk,
) -> None:
    """Let rows enter and leave quiet cells: COUNT(x)."""
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
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
                        cell = cells + entries[e, 1]
                        if valid[entries[e, 0]] and not loud[cell]:
                            count[cell] += sign
                    left -= run
                    at += run


@kernel
def steps_quietly(
    walk: Walk,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows that enter and leave quiet cells, by window: cells, signs and row numbers."""
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
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
                        cell = cells + entries[e, 1]
                        if not loud[cell]:
                            out_cell[m] = cell
                            out_sign[m] = sign
                            out_row[m] = entries[e, 0]
                            m += 1
                    left -= run
                    at += run
    return out_cell[:m], out_sign[:m], out_row[:m]
