"""Sums and moments of floats of the windows over row lists, of cells that are quiet.

They are exact, as of ``moments.py``; what doubles cannot hold is returned, for limbs.
"""

from __future__ import annotations

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
from eddyline.kernels.options import kernel
from eddyline.kernels.row_lists import BLOCK, CAPACITY, PLACE, REGION
from eddyline.kernels.shared_groups import (
    COME,
    HIGHEST,
    MARGIN,
    MOST_ROWS,
    NEVER,
    RELATIVE_ERROR,
    RUNNING,
    SIZE,
    TURN,
    VALUES,
    Walk,
    next_entry,
)


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
                    scratch[touched[t], COME] = 0.0
                touching = 0
                block, at = grown[number, 0], grown[number, 1]
                for _ in range(coming):
                    block, at = next_entry(block, at, next_block)
                    e = block * BLOCK + at
                    at += 1
                    row, mine = np.uint64(entries[e, 0]), np.uint64(entries[e, 1])
                    if scratch[mine, COME] == 0.0:
                        touched[touching] = entries[e, 1]
                        touching += 1
                        scratch[mine, RUNNING] = 0.0
                        scratch[mine, SIZE] = 0.0
                        scratch[mine, HIGHEST] = NEVER
                        scratch[mine, VALUES] = 0.0
                        coming_sum[mine, 0] = 0.0
                        coming_sum[mine, 1] = 0.0
                    scratch[mine, COME] += 1.0
                    if valid[row]:
                        v = value[row]
                        x = slope * v
                        scratch[mine, VALUES] += 1.0
                        if not abs(v) < HUGE or add_to_sum(coming_sum, mine, v) != 0.0:
                            x = np.inf
                        scratch[mine, RUNNING] += x + weight
                        scratch[mine, SIZE] += abs(x) + abs(weight)
                    if not scratch[mine, RUNNING] <= scratch[mine, HIGHEST]:
                        scratch[mine, HIGHEST] = scratch[mine, RUNNING]
            cells = lists[number, REGION] + windows[w, PLACE] * lists[number, CAPACITY]
            too_many = coming + passing > MOST_ROWS
            found, undoing = False, False
            for t in range(touching):
                mine = np.uint64(touched[t])
                cell = np.uint64(cells) + mine
                members[cell] += int(scratch[mine, COME])
                n = counters[cell, COUNT]
                base = slope * sums[cell, 0]
                size = abs(base) + abs(weight) * n + abs(offset) + scratch[mine, SIZE]
                base += weight * n + offset
                highest = scratch[mine, HIGHEST]
                if n > 0 and highest < 0.0:
                    highest = 0.0
                is_quiet = not too_many and place[cell] == NO_PLACE
                is_quiet &= counters[cell, NANS] == 0
                is_quiet &= counters[cell, PLUS_INF] == 0 and counters[cell, MINUS_INF] == 0
                if not (is_quiet and base + highest < -RELATIVE_ERROR * size):
                    loud[cell] = 1
                    found = True
            turns[0] += 1.0
            turn = turns[0]
            block, at, left, passed = spans[w, 0], spans[w, 1], passing, 0
            while left:
                block, at = next_entry(block, at, next_block)
                run = min(left, BLOCK - at)
                for e in range(block * BLOCK + at, block * BLOCK + at + run):
                    row, mine = np.uint64(entries[e, 0]), np.uint64(entries[e, 1])
                    cell = np.uint64(cells) + mine
                    members[cell] -= 1
                    passed += 1
                    if loud[cell]:
                        continue
                    n = counters[cell, COUNT]
                    is_first = scratch[mine, TURN] != turn
                    if is_first:
                        scratch[mine, TURN] = turn
                        size = abs(slope * sums[cell, 0]) + abs(weight) * n + abs(offset)
                        if scratch[mine, COME] > 0.0:
                            size += scratch[mine, SIZE]
                        scratch[mine, MARGIN] = size
                        base = slope * sums[cell, 0] + weight * n + offset
                        is_quiet = not too_many and place[cell] == NO_PLACE
                        is_quiet &= counters[cell, NANS] == 0
                        is_quiet &= counters[cell, PLUS_INF] == 0 and counters[cell, MINUS_INF] == 0
                        if not (is_quiet and (n == 0 or base < -RELATIVE_ERROR * size)):
                            loud[cell] = 1
                            found = True
                            continue
                    if not valid[row]:
                        continue
                    v = value[row]
                    margin = scratch[mine, MARGIN] + abs(slope * v) + abs(weight)
                    scratch[mine, MARGIN] = margin
                    high, low = sums[cell, 0], sums[cell, 1]
                    rest = add_to_sum(sums, cell, -v)
                    level = slope * sums[cell, 0] + weight * (n - 1) + offset
                    if scratch[mine, COME] > 0.0:
                        highest = scratch[mine, HIGHEST]
                        if n > 1 and highest < 0.0:
                            highest = 0.0
                    else:
                        highest = 0.0 if n > 1 else NEVER
                    if rest != 0.0 or not level + highest < -RELATIVE_ERROR * margin:
                        sums[cell, 0], sums[cell, 1] = high, low
                        loud[cell] = 1
                        found = True
                        stopped[mine] = passed
                        scratch[mine, TURN] = -turn
                        undoing = True
                        continue
                    counters[cell, COUNT] = n - 1
                left -= run
                at += run
            if undoing:
                block, at, left, passed = spans[w, 0], spans[w, 1], passing, 0
                while left:
                    block, at = next_entry(block, at, next_block)
                    run = min(left, BLOCK - at)
                    for e in range(block * BLOCK + at, block * BLOCK + at + run):
                        row, spot = entries[e, 0], entries[e, 1]
                        passed += 1
                        undone = scratch[spot, TURN] == -turn and passed < stopped[spot]
                        if undone and valid[row]:
                            add_to_sum(sums, cells + spot, value[row])
                            counters[cells + spot, COUNT] += 1
                    left -= run
                    at += run
            for t in range(touching):
                spot = touched[t]
                cell = cells + spot
                if loud[cell] or scratch[spot, VALUES] == 0.0:
                    continue
                counters[cell, COUNT] += int(scratch[spot, VALUES])
                for half in range(2):
                    rest = add_to_sum(sums, cell, coming_sum[spot, half])
                    if rest != 0.0:
                        rest_cell[m] = cell
                        rests[m, :] = 0.0
                        rests[m, 0] = rest
                        m += 1
            any_loud[w] = found
        for t in range(touching):
            scratch[touched[t], COME] = 0.0
    return any_loud, rest_cell[:m].copy(), rests[:m].copy()


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
            block, at = next_entry(block, at, next_block)
            run = min(left, BLOCK - at)
            for e in range(block * BLOCK + at, block * BLOCK + at + run):
                row, spot = entries[e, 0], entries[e, 1]
                if not valid[row]:
                    continue
                if scratch[spot, COME] == 0.0:
                    touched[touching] = spot
                    touching += 1
                    sum_of[spot, 0] = 0.0
                    sum_of[spot, 1] = 0.0
                    is_exact[spot] = not squares
                scratch[spot, COME] += 1.0
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
                counters[cell, COUNT] += int(scratch[spot, COME])
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
                    block, at = next_entry(block, at, next_block)
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
            scratch[touched[t], COME] = 0.0
    return rest_cell[:m].copy(), rests[:m].copy()
