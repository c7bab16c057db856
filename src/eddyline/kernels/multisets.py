"""Values of groups in order under arbitrary deletion: a treap of distinct values per group.

A *node* is one distinct (group, value) pair and counts its occurrences; it is in its group's tree
while that count is not 0. Priorities are hashes of node numbers (Seidel and Aragon 1996), so
insertion, removal and selection are O(log n) expected. Each node knows how many occurrences its
subtree has, for percentiles, and the most that one node of it has, for MODE.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.copies import grown
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


class Trees(NamedTuple):
    """The trees of all groups.

    Attributes:
        values, occurrences: by node. links: by node, see ``treaps.py``. root: by group.
    """

    values: Values
    occurrences: np.ndarray
    links: np.ndarray
    root: np.ndarray


class Choice(NamedTuple):
    """What is picked of a group.

    Attributes:
        what: BETWEEN, AT, MODE or NTH.
        fractions: float64[k], of the rows, from 0 to 1; for NTH the numbers of rows; one of any
            value for MODE.
        descending: whether values are in descending order.
        keep: how many rows of a group are kept, the first ones, or with ``descending`` the last
            ones, where none leaves; 0: all.
    """

    what: int
    fractions: np.ndarray
    descending: bool
    keep: int


@bare
def _insert(s: int, v: int, trees: Trees) -> None:
    occurrences, links, root = trees.occurrences, trees.links, trees.root
    c = root[s]
    p = NO_NODE
    side = LEFT
    while c != NO_NODE:
        p = c
        side = LEFT if precedes(v, p, False, trees.values) else RIGHT
        c = links[p, side]
    attach(s, v, p, side, occurrences, links, root)


@bare_inlined
def _change(s: int, v: int, by: int, trees: Trees) -> None:
    """Let a value occur more or less often."""
    occurrences, links = trees.occurrences, trees.links
    before = occurrences[v]
    occurrences[v] = before + by
    if before == 0 and by != 0:
        _insert(s, v, trees)
    elif before != 0 and before + by == 0:
        remove(s, v, occurrences, links, trees.root)
    elif before != 0:
        update_above(v, occurrences, links)


@bare_inlined
def _shrink(s: int, choice: Choice, trees: Trees) -> None:
    """Let a group have the rows only that are kept of it."""
    occurrences, links, root = trees.occurrences, trees.links, trees.root
    while choice.keep > 0 and root[s] != NO_NODE and links[root[s], TOTAL] > choice.keep:
        total = links[root[s], TOTAL]
        v = of_rank(root[s], 0 if choice.descending else total - 1, occurrences, links)
        _change(s, v, -min(occurrences[v], total - choice.keep), trees)


@bare
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


@bare
def _pick(
    v: int, choice: Choice, occurrences: np.ndarray, links: np.ndarray, out: np.ndarray, at: int
) -> int:
    """Write the nodes picked below a root to ``out[at]``, NO_NODE where there are too few; returns
    the number of rows.
    """
    rows = 0 if v == NO_NODE else links[v, TOTAL]
    for k in range(choice.fractions.size):
        if v == NO_NODE or (choice.what == NTH and choice.fractions[k] > rows):
            low = high = NO_NODE
        elif choice.what == MODE:
            low = high = _most_frequent(v, choice.descending, occurrences, links)
        else:
            low, high = _places(rows, choice.what, choice.fractions[k])
            if choice.descending:
                low, high = rows - 1 - low, rows - 1 - high
            is_one = low == high
            low = of_rank(v, low, occurrences, links)
            high = low if is_one else of_rank(v, high, occurrences, links)
        out[at, k, 0], out[at, k, 1] = low, high
    return rows


@bare_inlined
def _places(rows: int, what: int, fraction: float) -> tuple[int, int]:
    """The places, in ascending order, of what is picked of some rows."""
    if what == BETWEEN:
        place = (rows - 1) * fraction
        return int(np.floor(place)), int(np.ceil(place))
    low = int(fraction) - 1 if what == NTH else max(int(np.ceil(rows * fraction)) - 1, 0)
    return low, low


@kernel
def picks(slots: np.ndarray, choice: Choice, trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """What is picked of groups: nodes int64[n, k, 2], and the numbers of rows int64[n]."""
    out = np.empty((slots.size, choice.fractions.size, 2), np.int64)
    rows = np.empty(slots.size, np.int64)
    occurrences, links, root = trees.occurrences, trees.links, trees.root
    for i in range(slots.size):
        rows[i] = _pick(root[slots[i]], choice, occurrences, links, out, i)
    return out, rows


@kernel
def run_picks(
    rows: SignedRows, node: np.ndarray, weight: np.ndarray, choice: Choice, trees: Trees
) -> tuple[np.ndarray, np.ndarray]:
    """As ``picks``, at the emissions.

    Args:
        node: int64[n], the (group, value) pair of each row, NO_NODE for a NULL.
        weight: int64[n], how often a row has its value; empty: once.
    """
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    occurrences, links, root = trees.occurrences, trees.links, trees.root
    m = emit.sum()
    out = np.empty((m, choice.fractions.size, 2), np.int64)
    count = np.empty(m, np.int64)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        v = node[i]
        if v != NO_NODE:
            by = int(sign[i]) * (weight[i] if weight.size else 1)
            _change(s, v, by, trees)
            _shrink(s, choice, trees)
        if emit[i]:
            count[j] = _pick(root[s], choice, occurrences, links, out, j)
            j += 1
    return out, count


@kernel
def _longer(out: np.ndarray, end: int, more: int) -> np.ndarray:
    """Room for ``more`` items behind the first ``end``."""
    return grown(out, end, max(2 * out.size, end + more))


@bare
def _list(
    v: int, once: bool, occurrences: np.ndarray, links: np.ndarray, out: np.ndarray, end: int
) -> int:
    """Write the nodes below a root in order, each as often as it occurs, or once."""
    v = first(v, links)
    while v != NO_NODE:
        for _ in range(1 if once else occurrences[v]):
            out[end] = v
            end += 1
        v = following(v, links)
    return end


@kernel
def lists(slots: np.ndarray, once: bool, trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """The nodes of groups in order: those of all groups, and int64[n] where those of each end."""
    occurrences, links, root = trees.occurrences, trees.links, trees.root
    out = np.empty(16, np.int64)
    ends = np.empty(slots.size, np.int64)
    end = 0
    for i in range(slots.size):
        v = root[slots[i]]
        if v != NO_NODE:
            if end + links[v, TOTAL] > out.size:
                out = _longer(out, end, links[v, TOTAL])
            end = _list(v, once, occurrences, links, out, end)
        ends[i] = end
    return out[:end], ends


@kernel
def run_lists(
    rows: SignedRows, node: np.ndarray, weight: np.ndarray, once: bool, trees: Trees
) -> tuple[np.ndarray, np.ndarray]:
    """As ``lists``, at the emissions; arguments as of ``run_picks``."""
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    occurrences, links, root = trees.occurrences, trees.links, trees.root
    out = np.empty(16, np.int64)
    ends = np.empty(emit.sum(), np.int64)
    end = 0
    j = 0
    for i in range(slot.size):
        s = slot[i]
        v = node[i]
        if v != NO_NODE:
            by = int(sign[i]) * (weight[i] if weight.size else 1)
            _change(s, v, by, trees)
        if emit[i]:
            v = root[s]
            if v != NO_NODE:
                if end + links[v, TOTAL] > out.size:
                    out = _longer(out, end, links[v, TOTAL])
                end = _list(v, once, occurrences, links, out, end)
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
