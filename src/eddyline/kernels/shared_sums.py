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
from eddyline.kernels.shared_groups import COME, Walk, next_entry


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
