"""Values of groups in order under arbitrary deletion: a treap of distinct values per group.

A *node* is one distinct (group, value) pair and counts its occurrences; it is in its group's tree
while that count is not 0. Priorities are hashes of node numbers (Seidel and Aragon 1996), so
insertion, removal and selection are O(log n) expected. Each node knows how many occurrences its
subtree has, for percentiles, and the most that one node of it has, for MODE.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.heaps import NO_NODE, Values, precedes
from eddyline.kernels.options import bare, bare_inlined, kernel
from eddyline.kernels.treaps import (
    LEFT,
    MOST,
    RIGHT,
    TOTAL,
    attach,
    first,
    following,
    of_rank,
    remove,
    update_above,
)

#: What is picked: two values around a fraction of the rows; the first value that a fraction of the
#: rows does not exceed; the most frequent value; the value of the row of a number, from 1 on.
BETWEEN, AT, MODE, NTH = range(4)


@bare
def _insert(
    s: int,
    v: int,
    values: Values,
    occurrences: np.ndarray,
    links: np.ndarray,
    root: np.ndarray,
) -> None:
    c = root[s]
    p = NO_NODE
    side = LEFT
    while c != NO_NODE:
        p = c
        side = LEFT if precedes(v, p, False, values) else RIGHT
        c = links[p, side]
    attach(s, v, p, side, occurrences, links, root)


@bare_inlined
def _change(
    s: int,
    v: int,
    by: int,
    values: Values,
    occurrences: np.ndarray,
    links: np.ndarray,
    root: np.ndarray,
) -> None:
    """Let a value occur more or less often."""
    before = occurrences[v]
    occurrences[v] = before + by
    if before == 0 and by != 0:
        _insert(s, v, values, occurrences, links, root)
    elif before != 0 and before + by == 0:
        remove(s, v, occurrences, links, root)
    elif before != 0:
        update_above(v, occurrences, links)


@bare_inlined
def _shrink(
    s: int,
    keep: int,
    descending: bool,
    values: Values,
    occurrences: np.ndarray,
    links: np.ndarray,
    root: np.ndarray,
) -> None:
    """Let a group have its first rows, or its last ones, only; ``keep`` is 0 for all."""
    while keep > 0 and root[s] != NO_NODE and links[root[s], TOTAL] > keep:
        total = links[root[s], TOTAL]
        v = of_rank(root[s], 0 if descending else total - 1, occurrences, links)
        by = -min(occurrences[v], total - keep)
        _change(s, v, by, values, occurrences, links, root)


@kernel
def _most_frequent(v: int, last: bool, occurrences: np.ndarray, links: np.ndarray) -> int:
    """Of the nodes below a root with the most occurrences the first, or the last."""
    most = links[v, MOST]
    near = RIGHT if last else LEFT
    while True:
        c = links[v, near]
        if c != NO_NODE and links[c, MOST] == most:
            v = c
        elif occurrences[v] == most:
            return v
        else:
            v = links[v, 1 - near]


@kernel
def _pick(
    v: int,
    what: int,
    fractions: np.ndarray,
    descending: bool,
    occurrences: np.ndarray,
    links: np.ndarray,
    out: np.ndarray,
) -> int:
    """Write the nodes picked below a root to int64[k, 2] and return the number of rows; NO_NODE
    where there are too few.
    """
    if v == NO_NODE:
        out[:] = NO_NODE
        return 0
    rows = links[v, TOTAL]
    for k in range(fractions.size):
        if what == MODE:
            out[k, 0] = _most_frequent(v, descending, occurrences, links)
            out[k, 1] = out[k, 0]
            continue
        if what == NTH and fractions[k] > rows:
            out[k] = NO_NODE
            continue
        if what == NTH:
            low = int(fractions[k]) - 1
            high = low
        elif what == BETWEEN:
            place = (rows - 1) * fractions[k]
            low = int(np.floor(place))
            high = int(np.ceil(place))
        else:
            low = max(int(np.ceil(rows * fractions[k])) - 1, 0)
            high = low
        if descending:
            low = rows - 1 - low
            high = rows - 1 - high
        out[k, 0] = of_rank(v, low, occurrences, links)
        out[k, 1] = out[k, 0] if high == low else of_rank(v, high, occurrences, links)
    return rows


@kernel
def picks(
    slots: np.ndarray,
    what: int,
    fractions: np.ndarray,
    descending: bool,
    occurrences: np.ndarray,
    links: np.ndarray,
    root: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """What is picked of groups: nodes int64[n, k, 2], and the numbers of rows int64[n].

    Args:
        fractions: float64[k], of the rows, from 0 to 1; for NTH the numbers of rows; one of any
            value for MODE.
        descending: whether values are in descending order.
    """
    out = np.empty((slots.size, fractions.size, 2), np.int64)
    rows = np.empty(slots.size, np.int64)
    for i in range(slots.size):
        rows[i] = _pick(root[slots[i]], what, fractions, descending, occurrences, links, out[i])
    return out, rows


@kernel
def run_picks(
    rows: SignedRows,
    node: np.ndarray,
    weight: np.ndarray,
    what: int,
    fractions: np.ndarray,
    descending: bool,
    keep: int,
    occurrences: np.ndarray,
    order_key: np.ndarray,
    row: np.ndarray,
    base: int,
    offsets: np.ndarray,
    origin: int,
    data: np.ndarray,
    links: np.ndarray,
    root: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """As ``picks``, at the emissions.

    Args:
        node: int64[n], the (group, value) pair of each row, NO_NODE for a NULL.
        weight: int64[n], how often a row has its value; empty: once.
        keep: how many rows of a group are kept, the first ones, or with ``descending`` the last
            ones, where none leaves; 0: all.
        occurrences: by node. order_key, row, base, offsets, origin, data: see ``Values``.
        links: by node. root: by group.
    """
    values = Values(order_key, row, base, offsets, origin, data)
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    out = np.empty((m, fractions.size, 2), np.int64)
    count = np.empty(m, np.int64)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        v = node[i]
        if v != NO_NODE:
            by = int(sign[i]) * (weight[i] if weight.size else 1)
            _change(s, v, by, values, occurrences, links, root)
            _shrink(s, keep, descending, values, occurrences, links, root)
        if emit[i]:
            count[j] = _pick(root[s], what, fractions, descending, occurrences, links, out[j])
            j += 1
    return out, count


@kernel
def _listed(
    v: int,
    once: bool,
    occurrences: np.ndarray,
    links: np.ndarray,
    out: np.ndarray,
    end: int,
) -> tuple[np.ndarray, int]:
    """Append the nodes below a root in order, each as often as it occurs, or once."""
    if v == NO_NODE:
        return out, end
    most = end + links[v, TOTAL]
    if most > out.size:
        larger = np.empty(max(2 * out.size, most), np.int64)
        larger[:end] = out[:end]
        out = larger
    v = first(v, links)
    while v != NO_NODE:
        for _ in range(1 if once else occurrences[v]):
            out[end] = v
            end += 1
        v = following(v, links)
    return out, end


@kernel
def lists(
    slots: np.ndarray,
    once: bool,
    occurrences: np.ndarray,
    links: np.ndarray,
    root: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The nodes of groups in order: those of all groups, and int64[n] where those of each end."""
    out = np.empty(16, np.int64)
    ends = np.empty(slots.size, np.int64)
    end = 0
    for i in range(slots.size):
        out, end = _listed(root[slots[i]], once, occurrences, links, out, end)
        ends[i] = end
    return out[:end], ends


@kernel
def run_lists(
    rows: SignedRows,
    node: np.ndarray,
    weight: np.ndarray,
    once: bool,
    occurrences: np.ndarray,
    order_key: np.ndarray,
    row: np.ndarray,
    base: int,
    offsets: np.ndarray,
    origin: int,
    data: np.ndarray,
    links: np.ndarray,
    root: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """As ``lists``, at the emissions; arguments as of ``run_picks``."""
    values = Values(order_key, row, base, offsets, origin, data)
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    out = np.empty(16, np.int64)
    ends = np.empty(emit.sum(), np.int64)
    end = 0
    j = 0
    for i in range(slot.size):
        s = slot[i]
        v = node[i]
        if v != NO_NODE:
            by = int(sign[i]) * (weight[i] if weight.size else 1)
            _change(s, v, by, values, occurrences, links, root)
        if emit[i]:
            out, end = _listed(root[s], once, occurrences, links, out, end)
            ends[j] = end
            j += 1
    return out[:end], ends


@kernel
def lists_differ(nodes: np.ndarray, ends: np.ndarray, old: np.ndarray, first: int) -> np.ndarray:
    """bool[m]: whether list ``first + i`` has other nodes than list ``old[i]``."""
    out = np.empty(old.size, np.bool_)
    for i in range(old.size):
        a = ends[first + i - 1] if first + i > 0 else 0
        b = ends[old[i] - 1] if old[i] > 0 else 0
        size = ends[first + i] - a
        out[i] = size != ends[old[i]] - b
        for k in range(size):
            if out[i]:
                break
            out[i] = nodes[a + k] != nodes[b + k]
    return out
