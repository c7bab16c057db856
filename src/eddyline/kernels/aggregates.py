"""Sliding aggregates by group: each kernel runs one aggregate over a sequence of signed rows.

All take :class:`SignedRows` and return, for each *emission*, the value of the group and the value
that was reported before, for the caller to retract or compare. State arrays are indexed by slot and
changed in place. Sums, counts and extremes are *screened*, if asked to: only what readers ask for
is an emission.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.options import inlined, kernel


class SignedRows(NamedTuple):
    """Rows that enter and leave groups, in order.

    Attributes:
        slot: int64[n], the group. sign: int8[n], +1 enters, -1 leaves.
        emit: bool[n], the last row of its group and event: the value of the group is reported.
        screened: whether kernels that can do so report only values that are asked for, or replace
            one that is. They take ``emit`` back for other rows.
        low, high: values up to ``low`` and from ``high`` on are asked for; NULL is not.
    """

    slot: np.ndarray
    sign: np.ndarray
    emit: np.ndarray
    screened: bool = False
    low: float = 0.0
    high: float = 0.0


@inlined
def is_asked_for(value: Any, low: Any, high: Any) -> Any:
    """Whether readers ask for a value that is not NULL."""
    return value >= high or value <= low or value != value


@kernel
def last_of_event(
    ts: np.ndarray, seq: np.ndarray, slot: np.ndarray, seen: np.ndarray
) -> np.ndarray:
    """bool[n]: whether a row is the last one of its group within its event.

    An event is one instant of expiry, or one arriving row with all rows that it evicts: equal ts
    and equal ``seq >> 1``. ``seen`` is int64 scratch by slot; its content is 0.
    """
    n = slot.size
    out = np.empty(n, np.bool_)
    event = 0
    for i in range(n - 1, -1, -1):
        if i == n - 1 or ts[i] != ts[i + 1] or seq[i] >> 1 != seq[i + 1] >> 1:
            event += 1
        out[i] = seen[slot[i]] != event
        seen[slot[i]] = event
    for i in range(n):
        seen[slot[i]] = 0
    return out


@kernel
def left_empty(
    slot: np.ndarray, sign: np.ndarray, count: np.ndarray, seen: np.ndarray
) -> np.ndarray:
    """int64[m], the slots that rows (int64[n], int8[n]) have left and that have none any more,
    without repetition.

    Args:
        count: int64 by slot, how many rows it has. seen: as of ``last_of_event``.
    """
    out = np.empty(slot.size, np.int64)
    m = 0
    for i in range(slot.size):
        s = slot[i]
        if sign[i] < 0 and count[s] == 0 and seen[s] == 0:
            seen[s] = 1
            out[m] = s
            m += 1
    for i in range(m):
        seen[out[i]] = 0
    return out[:m].copy()


@kernel
def run_count(
    rows: SignedRows,
    valid: np.ndarray,
    count: np.ndarray,
    reported: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """COUNT(x) (``valid`` empty: COUNT(*)) -> new int64[m], old int64[m]."""
    slot, sign, emit, screened, low, high = rows
    m = emit.sum()
    new = np.empty(m, np.int64)
    old = np.empty(m, np.int64)
    everything = valid.size == 0
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if everything or valid[i]:
            count[s] += sign[i]
        if screened and emit[i]:
            now = is_asked_for(float(count[s]), low, high)
            emit[i] = now or is_asked_for(float(reported[s]), low, high)
        if emit[i]:
            old[j] = reported[s]
            new[j] = count[s]
            reported[s] = count[s]
            j += 1
    return new[:j], old[:j]


#: Kinds of sums of ``run_sum_int``: no value; an int64; one beyond int64.
NOTHING, FITS, OVERFLOW = 0, 1, 2


@kernel
def run_sum_int(
    rows: SignedRows,
    valid: np.ndarray,
    value: np.ndarray,
    count: np.ndarray,
    total: np.ndarray,
    reported: np.ndarray,
    reported_kind: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """SUM of int64 -> new, new_kind, old, old_kind; kinds are NOTHING, FITS and OVERFLOW.

    ``total`` is int64[slots, 2]: the sum modulo 2^64, in [-2^63, 2^63), and its multiple of 2^64.
    """
    slot, sign, emit, screened, low, high = rows
    m = emit.sum()
    new = np.empty(m, np.int64)
    new_kind = np.empty(m, np.int8)
    old = np.empty(m, np.int64)
    old_kind = np.empty(m, np.int8)
    everything = valid.size == 0
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if everything or valid[i]:
            count[s] += sign[i]
            before = total[s, 0]
            after = before + value[i] if sign[i] > 0 else before - value[i]
            total[s, 0] = after
            if sign[i] > 0 and (before ^ after) & (value[i] ^ after) < 0:
                total[s, 1] += 1 if value[i] > 0 else -1
            elif sign[i] < 0 and (before ^ value[i]) & (before ^ after) < 0:
                total[s, 1] += -1 if value[i] > 0 else 1
        if screened and emit[i]:
            now = count[s] > 0 and (total[s, 1] != 0 or is_asked_for(float(total[s, 0]), low, high))
            emit[i] = now or (
                reported_kind[s] != NOTHING and is_asked_for(float(reported[s]), low, high)
            )
        if emit[i]:
            old[j] = reported[s]
            old_kind[j] = reported_kind[s]
            new[j] = total[s, 0]
            new_kind[j] = NOTHING
            if count[s] > 0:
                new_kind[j] = FITS if total[s, 1] == 0 else OVERFLOW
            reported[s] = new[j]
            reported_kind[s] = new_kind[j]
            j += 1
    return new[:j], new_kind[:j], old[:j], old_kind[:j]


@kernel
def run_count_distinct(
    rows: SignedRows,
    node: np.ndarray,
    occurrences: np.ndarray,
    count: np.ndarray,
    reported: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """COUNT(DISTINCT x) -> new, old. ``node`` numbers the (group, value) pairs, -1 for NULL."""
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    new = np.empty(m, np.int64)
    old = np.empty(m, np.int64)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        v = node[i]
        if v >= 0:
            before = occurrences[v]
            occurrences[v] = before + sign[i]
            if before == 0:
                count[s] += 1
            elif occurrences[v] == 0:
                count[s] -= 1
        if emit[i]:
            old[j] = reported[s]
            new[j] = count[s]
            reported[s] = count[s]
            j += 1
    return new, old


@kernel
def first_and_last(sign: np.ndarray, node: np.ndarray, occurrences: np.ndarray) -> np.ndarray:
    """bool[n]: whether a row is the first one with its value, or the last one that leaves.

    ``node`` numbers the (group, value) pairs, -1 for NULL; ``occurrences`` counts their rows.
    """
    out = np.zeros(node.size, np.bool_)
    for i in range(node.size):
        v = node[i]
        if v >= 0:
            before = occurrences[v]
            occurrences[v] = before + sign[i]
            out[i] = before == 0 or occurrences[v] == 0
    return out
