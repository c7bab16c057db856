"""Duplicate elimination with auxiliary output state (delta*).

Source: Golab and Ozsu 2005, section 5.3.1; the row kept aside is the one that *expires* last, not
the one that arrived last, because results may expire in another order than they arrived.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import kernel

#: ``seq`` of a change that an expiry causes.
EXPIRY = -1


class ArrivingValues(NamedTuple):
    """Arriving rows, int64[n] each.

    Attributes:
        slot: number of the distinct value. order: number of the row among all that have arrived.
    """

    slot: np.ndarray
    ts: np.ndarray
    seq: np.ndarray
    exp: np.ndarray
    order: np.ndarray


class ShownValues(NamedTuple):
    """State by slot, int64: expiry of the row in the answer; expiry and number of the duplicate
    that expires last. Times below every instant: no row.
    """

    exp: np.ndarray
    aside_exp: np.ndarray
    aside_order: np.ndarray


@kernel
def eliminate(
    arriving_rows: ArrivingValues, due: np.ndarray, clock: int, state: ShownValues
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Process one chunk.

    Args:
        due: slots whose shown row may have expired by ``clock``.

    Returns:
        The rows that enter the answer: slot, ts, seq, exp, order.
    """
    slot, ts, seq = arriving_rows.slot, arriving_rows.ts, arriving_rows.seq
    exp, order = arriving_rows.exp, arriving_rows.order
    shown_exp, aside_exp, aside_order = state.exp, state.aside_exp, state.aside_order
    none = np.int64(-(1 << 62))
    room = 2 * (slot.size + due.size)
    out = np.empty((5, room), np.int64)
    count = 0
    for i in range(slot.size + due.size):
        arriving = i < slot.size
        s = slot[i] if arriving else due[i - slot.size]
        now = ts[i] if arriving else clock
        if shown_exp[s] <= now and aside_exp[s] > shown_exp[s]:
            out[0, count] = s
            out[1, count] = shown_exp[s]
            out[2, count] = EXPIRY
            out[3, count] = aside_exp[s]
            out[4, count] = aside_order[s]
            count += 1
            shown_exp[s] = aside_exp[s]
            aside_exp[s] = none
        if not arriving:
            continue
        if shown_exp[s] <= now:
            shown_exp[s] = exp[i]
            aside_exp[s] = none
            out[0, count] = s
            out[1, count] = ts[i]
            out[2, count] = seq[i]
            out[3, count] = exp[i]
            out[4, count] = order[i]
            count += 1
        elif exp[i] > shown_exp[s] and exp[i] > aside_exp[s]:
            aside_exp[s] = exp[i]
            aside_order[s] = order[i]
    return (
        out[0, :count].copy(),
        out[1, :count].copy(),
        out[2, :count].copy(),
        out[3, :count].copy(),
        out[4, :count].copy(),
    )


@kernel
def recall(
    exp: np.ndarray, order: np.ndarray, slot: np.ndarray, due: np.ndarray, state: ShownValues
) -> None:
    """Set aside, for each slot of ``due``, the first of its rows that expire last.

    One scan of all rows (int64[n] each, in the order of arrival). A row that does not outlive the
    one that is shown is not set aside.
    """
    shown_exp, aside_exp, aside_order = state.exp, state.aside_exp, state.aside_order
    wanted = np.zeros(shown_exp.size, np.bool_)
    for i in range(due.size):
        wanted[due[i]] = True
        aside_exp[due[i]] = -(1 << 62)
    for i in range(exp.size):
        s = slot[i]
        if wanted[s] and exp[i] > shown_exp[s] and exp[i] > aside_exp[s]:
            aside_exp[s] = exp[i]
            aside_order[s] = order[i]
