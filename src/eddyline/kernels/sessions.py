"""Sessions by key: each row extends the session of its key, or begins another one.

State arrays are indexed by session or by key, and changed in place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.copies import put
from eddyline.kernels.options import kernel

#: No session, no group.
NONE = -1


class SessionArrays(NamedTuple):
    """Int64 arrays by session.

    Attributes:
        key: the number of its key.
        start: the instant of its first row. end: the gap behind the instant of its last row.
        number: how many sessions began before it.
        rows: how many of its rows are in groups.
        groups: its newest group.
    """

    key: np.ndarray
    start: np.ndarray
    end: np.ndarray
    number: np.ndarray
    rows: np.ndarray
    groups: np.ndarray


@kernel
def assign(
    key: np.ndarray,
    ts: np.ndarray,
    gap: int,
    current: np.ndarray,
    sessions: SessionArrays,
    free: np.ndarray,
    free_count: int,
    end: int,
    first: int,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """The session of each row, in the order of ``ts``. A row that comes as late as the gap allows
    extends its session.

    The caller has made sure that there is room for as many new sessions as rows.

    Args:
        key: int64[n], the number of each row's key. ts: int64[n].
        current: int64, by key: its newest session, or NONE.
        free, free_count, end: the numbers of sessions that are free, as in ``slots.py``.
        first: how many sessions there have been.

    Returns:
        int64[n] sessions; int64[m] those that began; and ``free_count`` and ``end`` now.
    """
    keys, starts, ends, numbers, rows, groups = sessions
    out = np.empty(key.size, np.int64)
    opened = np.empty(key.size, np.int64)
    count = 0
    for i in range(key.size):
        k = key[i]
        s = current[k]
        if s == NONE or ts[i] > ends[s]:
            if free_count:
                free_count -= 1
                s = free[free_count]
            else:
                s = end
                end += 1
            current[k] = s
            keys[s] = k
            starts[s] = ts[i]
            numbers[s] = first + count
            rows[s] = 0
            groups[s] = NONE
            opened[count] = s
            count += 1
        ends[s] = ts[i] + gap
        out[i] = s
    return out, opened[:count].copy(), free_count, end


@kernel
def count_rows(session: np.ndarray, rows: np.ndarray) -> None:
    """Add the rows in sessions, int64[n], to ``rows`` by session."""
    for i in range(session.size):
        rows[session[i]] += 1


@kernel
def link(
    group: np.ndarray,
    session: np.ndarray,
    is_linked: np.ndarray,
    before: np.ndarray,
    newest: np.ndarray,
) -> None:
    """Add the groups of rows to the lists of their sessions, unless they are there.

    ``is_linked`` and ``before``, the next older group of the session, are by group.
    """
    for i in range(group.size):
        g = group[i]
        if not is_linked[g]:
            is_linked[g] = True
            before[g] = newest[session[i]]
            newest[session[i]] = g


@kernel
def groups_of(
    session: np.ndarray, newest: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The groups of sessions -> int64[m] places in ``session``, int64[m] groups: by place, the
    oldest first.
    """
    count = 0
    for i in range(session.size):
        g = newest[session[i]]
        while g != NONE:
            count += 1
            g = before[g]
    place = np.empty(count, np.int64)
    group = np.empty(count, np.int64)
    count = 0
    for i in range(session.size):
        first = count
        g = newest[session[i]]
        while g != NONE:
            place[count] = i
            group[count] = g
            count += 1
            g = before[g]
        put(group[first:count][::-1].copy(), group, first)
    return place, group
