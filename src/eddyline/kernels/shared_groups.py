"""Aggregates of the windows over row lists (``row_lists.py``): which groups may have to be emitted.

A condition of HAVING that compares a sum, mean or count with a constant is ``slope * sum + weight *
count + offset > 0``. A cell is *quiet* in a call if that is untrue at all its instants, whatever
the order of what comes and what expires: its state after the call is all that matters, so rows that
come are added up once for all windows of a list. The rows of other cells are processed one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.moments import (
    COUNT,
    HUGE,
    MINUS_INF,
    NANS,
    NO_PLACE,
    PLUS_INF,
    STDDEV,
    TINY,
    add_to_squares,
    add_to_sum,
    two_product,
)
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
_ERROR, _MOST_ROWS = 1e-11, 30_000
_NEVER = -np.inf
#: Columns of the scratch of ``watch``, by spot. Of the rows that come: their number, the sum of the
#: condition's terms, the largest sum of the first of these, the sum of magnitudes. Of a window:
#: its turn, the condition without the rows that come, magnitudes, values, and ``_HIGHEST`` again.
_COME, _RUNNING, _HIGHEST, _SIZE, _TURN, _LEVEL, _MARGIN, _VALUES, _ABOVE = range(9)
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
def _next(block: Any, at: Any, next_block: Any) -> Any:
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
                    scratch[touched[t], _COME] = 0.0
                touching = 0
                block, at = grown[number, 0], grown[number, 1]
                for _ in range(coming):
                    block, at = _next(block, at, next_block)
                    e = block * BLOCK + at
                    at += 1
                    row, spot = entries[e, 0], entries[e, 1]
                    mine = np.uint64(spot)
                    if scratch[mine, _COME] == 0.0:
                        touched[touching] = spot
                        touching += 1
                        scratch[mine, _RUNNING] = 0.0
                        scratch[mine, _SIZE] = 0.0
                        scratch[mine, _HIGHEST] = _NEVER
                    scratch[mine, _COME] += 1.0
                    if kind != NOTHING:
                        if valid[row]:
                            x = slope * value[row] if is_sum else 0.0
                            if not abs(x) < HUGE:
                                x = np.inf
                            scratch[mine, _RUNNING] += x + weight
                            scratch[mine, _SIZE] += abs(x) + abs(weight)
                        if not scratch[mine, _RUNNING] <= scratch[mine, _HIGHEST]:
                            scratch[mine, _HIGHEST] = scratch[mine, _RUNNING]
            cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
            too_many = kind == NOTHING or coming + passing > _MOST_ROWS
            found = False
            for t in range(touching):
                spot = touched[t]
                cell = cells + spot
                members[cell] += int(scratch[spot, _COME])
                is_quiet = not too_many
                if is_quiet:
                    n = count[cell]
                    base = slope * total[cell] if is_sum else 0.0
                    size = abs(base) + abs(weight) * n + abs(offset) + scratch[spot, _SIZE]
                    base += weight * n + offset
                    for k in range(special.shape[1]):
                        is_quiet &= special[cell, k] == 0
                    highest = scratch[spot, _HIGHEST]
                    if (n > 0 or not is_sum) and highest < 0.0:
                        highest = 0.0
                    is_quiet &= base + highest < -_ERROR * size
                if not is_quiet:
                    loud[cell] = 1
                    found = True
            turns[0] += 1.0
            turn = turns[0]
            block, at, left = spans[w, 0], spans[w, 1], passing
            while left:
                block, at = _next(block, at, next_block)
                run = min(left, BLOCK - at)
                for e in range(block * BLOCK + at, block * BLOCK + at + run):
                    row, mine = np.uint64(entries[e, 0]), np.uint64(entries[e, 1])
                    cell = np.uint64(cells) + mine
                    members[cell] -= 1
                    if loud[cell]:
                        continue
                    if scratch[mine, _TURN] != turn:
                        is_quiet = not too_many
                        if is_quiet:
                            n = count[cell]
                            base = slope * total[cell] if is_sum else 0.0
                            size = abs(base) + abs(weight) * n + abs(offset)
                            for k in range(special.shape[1]):
                                is_quiet &= special[cell, k] == 0
                            base += weight * n + offset
                            highest = _NEVER
                            if scratch[mine, _COME] > 0.0:
                                highest = scratch[mine, _HIGHEST]
                                size += scratch[mine, _SIZE]
                            if n > 0 or not is_sum:
                                is_quiet &= base < -_ERROR * size
                            scratch[mine, _TURN] = turn
                            scratch[mine, _LEVEL] = base
                            scratch[mine, _MARGIN] = size
                            scratch[mine, _VALUES] = n
                            scratch[mine, _ABOVE] = highest
                        if not is_quiet:
                            loud[cell] = 1
                            found = True
                            continue
                    if not valid[row]:
                        continue
                    x = slope * value[row] if is_sum else 0.0
                    level = scratch[mine, _LEVEL] - (x + weight)
                    margin = scratch[mine, _MARGIN] + abs(x) + abs(weight)
                    values = scratch[mine, _VALUES] - 1.0
                    scratch[mine, _LEVEL] = level
                    scratch[mine, _MARGIN] = margin
                    scratch[mine, _VALUES] = values
                    highest = scratch[mine, _ABOVE]
                    if (values > 0.0 or not is_sum) and highest < 0.0:
                        highest = 0.0
                    if not level + highest < -_ERROR * margin:
                        loud[cell] = 1
                        found = True
                left -= run
                at += run
            any_loud[w] = found
        for t in range(touching):
            scratch[touched[t], _COME] = 0.0
    return any_loud


@kernel
def watch_sums(
    slope: float,
    weights: np.ndarray,
    offsets: np.ndarray,
    valid: np.ndarray,
    value: np.ndarray,
    counters: np.ndarray,
    sums: np.ndarray,
    place: np.ndarray,
    members: np.ndarray,
    scratch: np.ndarray,
    turns: np.ndarray,
    walk: Walk,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``watch`` of a sum or mean of floats, and ``sum_quietly`` of it, in one pass.

    What expires is taken off the sums of a cell as long as it is quiet; if it is not, that is
    undone, which is exact.

    Args:
        counters, sums, place: by cell, as of ``run_moments``.

    Returns:
        As of ``watch``, and as of ``sum_quietly``.
    """
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
    any_loud = np.zeros(windows.shape[0], np.bool_)
    spots, most = scratch.shape[0], 0
    for number in range(lists.shape[0]):
        most += 2 * grown[number, 2] * (list_starts[number + 1] - list_starts[number])
    touched = np.empty(spots, np.int64)
    coming_sum = np.empty((spots, 2))
    stopped = np.empty(spots, np.int64)  # before which entry a cell ceased to be quiet
    rest_cell = np.empty(most, np.int64)
    rests = np.empty((most, 5))
    m = 0
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
                    scratch[touched[t], _COME] = 0.0
                touching = 0
                block, at = grown[number, 0], grown[number, 1]
                for _ in range(coming):
                    block, at = _next(block, at, next_block)
                    e = block * BLOCK + at
                    at += 1
                    row, mine = np.uint64(entries[e, 0]), np.uint64(entries[e, 1])
                    if scratch[mine, _COME] == 0.0:
                        touched[touching] = entries[e, 1]
                        touching += 1
                        scratch[mine, _RUNNING] = 0.0
                        scratch[mine, _SIZE] = 0.0
                        scratch[mine, _HIGHEST] = _NEVER
                        scratch[mine, _VALUES] = 0.0
                        coming_sum[mine, 0] = 0.0
                        coming_sum[mine, 1] = 0.0
                    scratch[mine, _COME] += 1.0
                    if valid[row]:
                        v = value[row]
                        x = slope * v
                        scratch[mine, _VALUES] += 1.0
                        if not abs(v) < HUGE or add_to_sum(coming_sum, mine, v) != 0.0:
                            x = np.inf
                        scratch[mine, _RUNNING] += x + weight
                        scratch[mine, _SIZE] += abs(x) + abs(weight)
                    if not scratch[mine, _RUNNING] <= scratch[mine, _HIGHEST]:
                        scratch[mine, _HIGHEST] = scratch[mine, _RUNNING]
            cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
            too_many = coming + passing > _MOST_ROWS
            found, undoing = False, False
            for t in range(touching):
                mine = np.uint64(touched[t])
                cell = np.uint64(cells) + mine
                members[cell] += int(scratch[mine, _COME])
                n = counters[cell, COUNT]
                base = slope * sums[cell, 0]
                size = abs(base) + abs(weight) * n + abs(offset) + scratch[mine, _SIZE]
                base += weight * n + offset
                highest = scratch[mine, _HIGHEST]
                if n > 0 and highest < 0.0:
                    highest = 0.0
                is_quiet = not too_many and place[cell] == NO_PLACE
                is_quiet &= counters[cell, NANS] == 0
                is_quiet &= counters[cell, PLUS_INF] == 0 and counters[cell, MINUS_INF] == 0
                if not (is_quiet and base + highest < -_ERROR * size):
                    loud[cell] = 1
                    found = True
            turns[0] += 1.0
            turn = turns[0]
            block, at, left, passed = spans[w, 0], spans[w, 1], passing, 0
            while left:
                block, at = _next(block, at, next_block)
                run = min(left, BLOCK - at)
                for e in range(block * BLOCK + at, block * BLOCK + at + run):
                    row, mine = np.uint64(entries[e, 0]), np.uint64(entries[e, 1])
                    cell = np.uint64(cells) + mine
                    members[cell] -= 1
                    passed += 1
                    if loud[cell]:
                        continue
                    n = counters[cell, COUNT]
                    is_first = scratch[mine, _TURN] != turn
                    if is_first:
                        scratch[mine, _TURN] = turn
                        size = abs(slope * sums[cell, 0]) + abs(weight) * n + abs(offset)
                        if scratch[mine, _COME] > 0.0:
                            size += scratch[mine, _SIZE]
                        scratch[mine, _MARGIN] = size
                        base = slope * sums[cell, 0] + weight * n + offset
                        is_quiet = not too_many and place[cell] == NO_PLACE
                        is_quiet &= counters[cell, NANS] == 0
                        is_quiet &= counters[cell, PLUS_INF] == 0 and counters[cell, MINUS_INF] == 0
                        if not (is_quiet and (n == 0 or base < -_ERROR * size)):
                            loud[cell] = 1
                            found = True
                            continue
                    if not valid[row]:
                        continue
                    v = value[row]
                    margin = scratch[mine, _MARGIN] + abs(slope * v) + abs(weight)
                    scratch[mine, _MARGIN] = margin
                    high, low = sums[cell, 0], sums[cell, 1]
                    rest = add_to_sum(sums, cell, -v)
                    level = slope * sums[cell, 0] + weight * (n - 1) + offset
                    if scratch[mine, _COME] > 0.0:
                        highest = scratch[mine, _HIGHEST]
                        if n > 1 and highest < 0.0:
                            highest = 0.0
                    else:
                        highest = 0.0 if n > 1 else _NEVER
                    if rest != 0.0 or not level + highest < -_ERROR * margin:
                        sums[cell, 0], sums[cell, 1] = high, low
                        loud[cell] = 1
                        found = True
                        stopped[mine] = passed
                        scratch[mine, _TURN] = -turn
                        undoing = True
                        continue
                    counters[cell, COUNT] = n - 1
                left -= run
                at += run
            if undoing:
                block, at, left, passed = spans[w, 0], spans[w, 1], passing, 0
                while left:
                    block, at = _next(block, at, next_block)
                    run = min(left, BLOCK - at)
                    for e in range(block * BLOCK + at, block * BLOCK + at + run):
                        row, spot = entries[e, 0], entries[e, 1]
                        passed += 1
                        undone = scratch[spot, _TURN] == -turn and passed < stopped[spot]
                        if undone and valid[row]:
                            add_to_sum(sums, cells + spot, value[row])
                            counters[cells + spot, COUNT] += 1
                    left -= run
                    at += run
            for t in range(touching):
                spot = touched[t]
                cell = cells + spot
                if loud[cell] or scratch[spot, _VALUES] == 0.0:
                    continue
                counters[cell, COUNT] += int(scratch[spot, _VALUES])
                for half in range(2):
                    rest = add_to_sum(sums, cell, coming_sum[spot, half])
                    if rest != 0.0:
                        rest_cell[m] = cell
                        rests[m, :] = 0.0
                        rests[m, 0] = rest
                        m += 1
            any_loud[w] = found
        for t in range(touching):
            scratch[touched[t], _COME] = 0.0
    return any_loud, rest_cell[:m].copy(), rests[:m].copy()


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
                    block, at = _next(block, at, next_block)
                    entering = True
                    e = block * BLOCK + at
                if passing:
                    out_block, out_at = _next(out_block, out_at, next_block)
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
                    block, at = _next(block, at, next_block)
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
                    block, at = _next(block, at, next_block)
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


@kernel
def sum_quietly(
    valid: np.ndarray,
    value: np.ndarray,
    what: int,
    counters: np.ndarray,
    sums: np.ndarray,
    place: np.ndarray,
    scratch: np.ndarray,
    walk: Walk,
) -> tuple[np.ndarray, np.ndarray]:
    """Let rows enter and leave quiet cells: aggregates of floats, as of ``run_moments``.

    Returns:
        int64[k] cells and float64[k, 5], what their doubles cannot hold: of the sum, of the halves
        of squares, and whole values, with their sign; for ``moments.add_rests``.
    """
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
    spots = scratch.shape[0]
    touched = np.empty(spots, np.int64)
    sum_of = np.empty((spots, 2))  # of the rows that come, exactly
    is_exact = np.empty(spots, np.bool_)
    most = 0
    for number in range(lists.shape[0]):
        for i in range(list_starts[number], list_starts[number + 1]):
            most += 2 * grown[number, 2] + spans[of_list[i], 2]
    rest_cell = np.empty(most, np.int64)
    rests = np.empty((most, 5))
    m = 0
    squares = what >= STDDEV
    for number in range(lists.shape[0]):
        touching = 0
        block, at, left = grown[number, 0], grown[number, 1], grown[number, 2]
        while left:
            block, at = _next(block, at, next_block)
            run = min(left, BLOCK - at)
            for e in range(block * BLOCK + at, block * BLOCK + at + run):
                row, spot = entries[e, 0], entries[e, 1]
                if not valid[row]:
                    continue
                if scratch[spot, _COME] == 0.0:
                    touched[touching] = spot
                    touching += 1
                    sum_of[spot, 0] = 0.0
                    sum_of[spot, 1] = 0.0
                    is_exact[spot] = not squares
                scratch[spot, _COME] += 1.0
                v = value[row]
                if not abs(v) < HUGE:
                    is_exact[spot] = False
                if is_exact[spot] and add_to_sum(sum_of, spot, v) != 0.0:
                    is_exact[spot] = False
            left -= run
            at += run
        any_inexact = False
        for t in range(touching):
            any_inexact |= not is_exact[touched[t]]
        for i in range(list_starts[number], list_starts[number + 1]):
            w = of_list[i]
            cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
            for t in range(touching):
                spot = touched[t]
                cell = cells + spot
                if loud[cell] or not is_exact[spot]:
                    continue
                counters[cell, COUNT] += int(scratch[spot, _COME])
                for half in range(2):
                    rest = add_to_sum(sums, cell, sum_of[spot, half])
                    if rest != 0.0:
                        rest_cell[m] = cell
                        rests[m, :] = 0.0
                        rests[m, 0] = rest
                        m += 1
            for sign in (1, -1):
                span = grown[number] if sign > 0 else spans[w]
                block, at, left = span[0], span[1], span[2]
                if sign > 0 and not any_inexact:
                    left = 0
                while left:
                    block, at = _next(block, at, next_block)
                    run = min(left, BLOCK - at)
                    for e in range(block * BLOCK + at, block * BLOCK + at + run):
                        row, spot = entries[e, 0], entries[e, 1]
                        cell = cells + spot
                        if loud[cell] or not valid[row] or (sign > 0 and is_exact[spot]):
                            continue
                        v = value[row]
                        counters[cell, COUNT] += sign
                        rest, high, low, whole = 0.0, 0.0, 0.0, 0.0
                        size = abs(v)
                        if np.isnan(v):
                            counters[cell, NANS] += sign
                        elif np.isinf(v):
                            counters[cell, PLUS_INF if v > 0 else MINUS_INF] += sign
                        elif size < HUGE and (size > TINY or not squares):
                            rest = add_to_sum(sums, cell, sign * v)
                            if squares:
                                p, e_low = two_product(v, v)
                                high = add_to_squares(sums, cell, sign * p)
                                low = add_to_squares(sums, cell, sign * e_low)
                        else:
                            whole = v
                        is_empty = counters[cell, COUNT] == 0
                        if is_empty:
                            sums[cell, :] = 0.0
                        if (
                            rest != 0.0
                            or high != 0.0
                            or low != 0.0
                            or whole != 0.0
                            or (is_empty and place[cell] != NO_PLACE)
                        ):
                            rest_cell[m] = cell
                            rests[m, 0] = rest
                            rests[m, 1] = high
                            rests[m, 2] = low
                            rests[m, 3] = whole
                            rests[m, 4] = sign
                            m += 1
                    left -= run
                    at += run
        for t in range(touching):
            scratch[touched[t], _COME] = 0.0
    return rest_cell[:m].copy(), rests[:m].copy()
