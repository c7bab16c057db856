"""What happens to groups in the order of time, and the changes of their rows in the order of the
changelog.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import kernel


class Leaving(NamedTuple):
    """Rows that expire, in order.

    Attributes:
        ts: int64[d], when. slot: int64[d], the group.
    """

    ts: np.ndarray
    slot: np.ndarray


class Entering(NamedTuple):
    """Changes that come, in order.

    Attributes:
        ts, seq: int64[n], as of a batch. slot: int64[n], the group. sign: int8[n].
    """

    ts: np.ndarray
    seq: np.ndarray
    slot: np.ndarray
    sign: np.ndarray


class Happened(NamedTuple):
    """Both in the order of time: first what expires at an instant.

    Attributes:
        ts, seq, slot: int64[d + n]. sign: int8[d + n].
        to_leaving, to_entering: int64[d], int64[n]: the places of both.
    """

    ts: np.ndarray
    seq: np.ndarray
    slot: np.ndarray
    sign: np.ndarray
    to_leaving: np.ndarray
    to_entering: np.ndarray


@kernel
def by_time(
    leaving: Leaving, entering: Entering, expiry: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As of ``Happened``; ``expiry``: the ``seq`` of what expires, less than that of other rows."""
    gone, gone_slot = leaving
    ts, seq, slot, sign = entering
    d, n = gone.size, ts.size
    times, seqs = np.empty(d + n, np.int64), np.empty(d + n, np.int64)
    slots, signs = np.empty(d + n, np.int64), np.empty(d + n, np.int8)
    to_leaving, to_entering = np.empty(d, np.int64), np.empty(n, np.int64)
    i = j = 0
    for k in range(d + n):
        if j == n or (i < d and gone[i] <= ts[j]):
            times[k], seqs[k], slots[k], signs[k] = gone[i], expiry, gone_slot[i], -1
            to_leaving[i] = k
            i += 1
        else:
            times[k], seqs[k], slots[k], signs[k] = ts[j], seq[j], slot[j], sign[j]
            to_entering[j] = k
            j += 1
    return times, seqs, slots, signs, to_leaving, to_entering


class Emissions(NamedTuple):
    """Groups that are reported, in order.

    Attributes:
        slot: int64[m], the group. ts, seq: int64[m], when, as of a batch.
        comes, leaves: bool[m], whether it has a new row, and whether the row before is taken back.
    """

    slot: np.ndarray
    ts: np.ndarray
    seq: np.ndarray
    comes: np.ndarray
    leaves: np.ndarray


class Ordered(NamedTuple):
    """K changes.

    Attributes:
        slot, ts, seq: int64[k]. sign: int8[k].
        emission: int64[k], the number of the emission that a change is of.
    """

    slot: np.ndarray
    ts: np.ndarray
    seq: np.ndarray
    sign: np.ndarray
    emission: np.ndarray


@kernel
def in_order(
    emissions: Emissions,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The changes of emissions, as of ``Ordered``: of each the '-', then the '+'.

    What is there is a matter of chance, so there are no branches: both are written, and what is not
    there is written over.
    """
    slot, ts, seq, comes, leaves = emissions
    count = comes.sum() + leaves.sum()
    slots, emission = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    times, seqs = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    sign = np.empty(count + 1, np.int8)
    k = 0
    for i in range(slot.size):
        slots[k], times[k], seqs[k], emission[k], sign[k] = slot[i], ts[i], seq[i], i, -1
        k += leaves[i]
        slots[k], times[k], seqs[k], emission[k], sign[k] = slot[i], ts[i], seq[i], i, 1
        k += comes[i]
    return slots[:count], times[:count], seqs[:count], sign[:count], emission[:count]


@kernel
def values_of(emissions: Emissions, new: np.ndarray, old: np.ndarray, count: int) -> np.ndarray:
    """int64[count], the values of the changes, in the same order; int64[m] by emission: now and
    before.
    """
    comes, leaves = emissions.comes, emissions.leaves
    out = np.empty(count + 1, np.int64)
    k = 0
    for i in range(comes.size):
        out[k] = old[i]
        k += leaves[i]
        out[k] = new[i]
        k += comes[i]
    return out[:count]
