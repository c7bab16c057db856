"""MIN and MAX by group under arbitrary deletion: a pairing heap of distinct values per group.

A *node* is one distinct (group, value) pair and counts its occurrences; it is in its group's heap
while that count is positive. Insertion is O(1), removal O(log n) amortised (Fredman et al. 1986).
Values are compared by int64 order keys and, where these tie, by bytes (strings).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.options import bare, bare_inlined, kernel

NO_NODE = -1


class Values(NamedTuple):
    """The values of nodes.

    Attributes:
        order_key: int64, by node.
        row, base, offsets, origin, data: their texts, see ``KeyTexts``; no offsets for values that
            order keys distinguish.
    """

    order_key: np.ndarray
    row: np.ndarray
    base: int
    offsets: np.ndarray
    origin: int
    data: np.ndarray


class Heap(NamedTuple):
    """The links of nodes, int64 by node, where ``previous`` is the left sibling or parent; and the
    roots of groups.
    """

    child: np.ndarray
    sibling: np.ndarray
    previous: np.ndarray
    root: np.ndarray


@bare
def precedes(a: int, b: int, largest: bool, values: Values) -> bool:
    """Whether node a belongs above node b."""
    order_key = values.order_key
    if order_key[a] != order_key[b]:
        return (order_key[a] > order_key[b]) == largest
    if values.offsets.size == 0:
        return False
    row, base, offsets, origin, data = values[1:]
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
    values: Values,
    heap: Heap,
    reported: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """MIN or MAX -> new and old nodes at the emissions, -1 for NULL.

    Args:
        node: int64[n], the (group, value) pair of each row, -1 for a NULL value.
        occurrences: by node. reported: by group.
    """
    slot, sign, emit, root = rows.slot, rows.sign, rows.emit, heap.root
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
                root[s] = _inserted(root[s], v, largest, values, heap)
            elif occurrences[v] == 0:
                root[s] = _removed(root[s], v, largest, values, heap)
        if emit[i]:
            old[j] = reported[s]
            new[j] = root[s]
            reported[s] = root[s]
            j += 1
    return new, old


@bare_inlined
def _inserted(root: int, v: int, largest: bool, values: Values, heap: Heap) -> int:
    """The root of a heap with one more node."""
    heap.child[v] = NO_NODE
    heap.sibling[v] = NO_NODE
    heap.previous[v] = NO_NODE
    return v if root == NO_NODE else _meld(root, v, largest, values, heap)


@bare_inlined
def _removed(root: int, v: int, largest: bool, values: Values, heap: Heap) -> int:
    """The root of a heap without a node."""
    rest = _merge_children(v, largest, values, heap)
    if root == v:
        return rest
    _cut(v, heap)
    return root if rest == NO_NODE else _meld(root, rest, largest, values, heap)


@bare
def _meld(a: int, b: int, largest: bool, values: Values, heap: Heap) -> int:
    """One heap out of two roots: the lesser root becomes the first child of the other."""
    if precedes(b, a, largest, values):
        a, b = b, a
    child, sibling, previous = heap.child, heap.sibling, heap.previous
    sibling[b] = child[a]
    if child[a] != NO_NODE:
        previous[child[a]] = b
    previous[b] = a
    child[a] = b
    sibling[a] = NO_NODE
    previous[a] = NO_NODE
    return a


@bare_inlined
def _cut(v: int, heap: Heap) -> None:
    """Take a non-root node out of its sibling list."""
    child, sibling, previous = heap.child, heap.sibling, heap.previous
    p = previous[v]
    if child[p] == v:
        child[p] = sibling[v]
    else:
        sibling[p] = sibling[v]
    if sibling[v] != NO_NODE:
        previous[sibling[v]] = p


@bare
def _merge_children(v: int, largest: bool, values: Values, heap: Heap) -> int:
    """The standard two passes: meld in pairs left to right, then all from right to left."""
    child, sibling, previous = heap.child, heap.sibling, heap.previous
    pairs = NO_NODE  # a stack of melded pairs, linked through ``sibling``
    a = child[v]
    child[v] = NO_NODE
    while a != NO_NODE:
        b = sibling[a]
        if b == NO_NODE:
            previous[a] = NO_NODE
            sibling[a] = pairs
            pairs = a
            break
        rest = sibling[b]
        sibling[a] = NO_NODE
        sibling[b] = NO_NODE
        merged = _meld(a, b, largest, values, heap)
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
        out = _meld(out, pairs, largest, values, heap)
        pairs = rest
    return out
