"""MIN and MAX by group under arbitrary deletion: a pairing heap of distinct values per group.

A *node* is one distinct (group, value) pair and counts its occurrences; it is in its group's heap
while that count is positive. Insertion is O(1), removal O(log n) amortised (Fredman et al. 1986).
Values are compared by int64 order keys and, where these tie, by bytes (strings).
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.options import bare, kernel

NO_NODE = -1


@bare
def precedes(
    a: int,
    b: int,
    largest: bool,
    order_key: np.ndarray,
    row: np.ndarray,
    base: int,
    offsets: np.ndarray,
    origin: int,
    data: np.ndarray,
) -> bool:
    """Whether node a belongs above node b."""
    if order_key[a] != order_key[b]:
        return (order_key[a] > order_key[b]) == largest
    if offsets.size == 0:
        return False
    i = offsets[row[a] - base] - origin
    j = offsets[row[b] - base] - origin
    end_i = offsets[row[a] - base + 1] - origin
    end_j = offsets[row[b] - base + 1] - origin
    while i < end_i and j < end_j:
        if data[i] != data[j]:
            return (data[i] > data[j]) == largest
        i += 1
        j += 1
    return (i < end_i) if largest else (j < end_j)


@kernel
def run_extreme(
    rows: SignedRows,
    node: np.ndarray,
    largest: bool,
    occurrences: np.ndarray,
    order_key: np.ndarray,
    row: np.ndarray,
    base: int,
    offsets: np.ndarray,
    origin: int,
    data: np.ndarray,
    child: np.ndarray,
    sibling: np.ndarray,
    previous: np.ndarray,
    root: np.ndarray,
    reported: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """MIN or MAX -> new and old nodes at the emissions, -1 for NULL.

    Args:
        node: int64[n], the (group, value) pair of each row, -1 for a NULL value.
        occurrences, order_key: by node.
        row, base, offsets, origin, data: the nodes' texts, see ``KeyTexts``; no offsets for values
            that order keys distinguish.
        child, sibling, previous: the heaps, by node; ``previous`` is the left sibling or parent.
        root, reported: by group.

    The state is not grouped into tuples or records: measured, helper functions that take them are
    7 to 12 times slower, by counting references.
    """
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
                child[v] = NO_NODE
                sibling[v] = NO_NODE
                previous[v] = NO_NODE
                if root[s] == NO_NODE:
                    root[s] = v
                else:
                    root[s] = _meld(
                        root[s],
                        v,
                        largest,
                        order_key,
                        row,
                        base,
                        offsets,
                        origin,
                        data,
                        child,
                        sibling,
                        previous,
                    )
            elif occurrences[v] == 0:
                rest = _merge_children(
                    v,
                    largest,
                    order_key,
                    row,
                    base,
                    offsets,
                    origin,
                    data,
                    child,
                    sibling,
                    previous,
                )
                if root[s] == v:
                    root[s] = rest
                else:
                    _cut(v, child, sibling, previous)
                    if rest != NO_NODE:
                        root[s] = _meld(
                            root[s],
                            rest,
                            largest,
                            order_key,
                            row,
                            base,
                            offsets,
                            origin,
                            data,
                            child,
                            sibling,
                            previous,
                        )
        if emit[i]:
            old[j] = reported[s]
            new[j] = root[s]
            reported[s] = root[s]
            j += 1
    return new, old


@kernel
def _meld(
    a: int,
    b: int,
    largest: bool,
    order_key: np.ndarray,
    row: np.ndarray,
    base: int,
    offsets: np.ndarray,
    origin: int,
    data: np.ndarray,
    child: np.ndarray,
    sibling: np.ndarray,
    previous: np.ndarray,
) -> int:
    """One heap out of two roots: the lesser root becomes the first child of the other."""
    if precedes(b, a, largest, order_key, row, base, offsets, origin, data):
        a, b = b, a
    sibling[b] = child[a]
    if child[a] != NO_NODE:
        previous[child[a]] = b
    previous[b] = a
    child[a] = b
    sibling[a] = NO_NODE
    previous[a] = NO_NODE
    return a


@kernel
def _cut(v: int, child: np.ndarray, sibling: np.ndarray, previous: np.ndarray) -> None:
    """Take a non-root node out of its sibling list."""
    p = previous[v]
    if child[p] == v:
        child[p] = sibling[v]
    else:
        sibling[p] = sibling[v]
    if sibling[v] != NO_NODE:
        previous[sibling[v]] = p


@kernel
def _merge_children(
    v: int,
    largest: bool,
    order_key: np.ndarray,
    row: np.ndarray,
    base: int,
    offsets: np.ndarray,
    origin: int,
    data: np.ndarray,
    child: np.ndarray,
    sibling: np.ndarray,
    previous: np.ndarray,
) -> int:
    """The standard two passes: meld in pairs left to right, then all from right to left."""
    pairs = NO_NODE  # a stack of melded pairs, linked through ``sibling``
    a = child[v]
    child[v] = NO_NODE
    while a != NO_NODE:
        b = sibling[a]
        if b == NO_NODE:
            sibling[a] = NO_NODE
            previous[a] = NO_NODE
            sibling[a] = pairs
            pairs = a
            break
        rest = sibling[b]
        sibling[a] = NO_NODE
        sibling[b] = NO_NODE
        merged = _meld(
            a, b, largest, order_key, row, base, offsets, origin, data, child, sibling, previous
        )
        sibling[merged] = pairs
        pairs = merged
        a = rest
    if pairs == NO_NODE:
        return NO_NODE
    out = pairs
    pairs = sibling[out]
    sibling[out] = NO_NODE
    previous[out] = NO_NODE
    while pairs != NO_NODE:
        rest = sibling[pairs]
        sibling[pairs] = NO_NODE
        out = _meld(
            out,
            pairs,
            largest,
            order_key,
            row,
            base,
            offsets,
            origin,
            data,
            child,
            sibling,
            previous,
        )
        pairs = rest
    return out
