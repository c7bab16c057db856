"""Treaps: nodes of groups in order, which may come and go at any place.

Priorities are hashes of node numbers (Seidel and Aragon 1996), so insertion, removal and selection
are O(log n) expected. A node stands for a number of rows, its *occurrences*, and knows how many its
subtree has, and the most that one node of it has.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.hashing import mix
from eddyline.kernels.heaps import NO_NODE
from eddyline.kernels.options import bare

#: Columns of ``links``, int64[nodes, LINKS].
LEFT, RIGHT, PARENT, TOTAL, MOST = range(5)
LINKS = 5


@bare
def update(v: int, occurrences: np.ndarray, links: np.ndarray) -> None:
    """Compute a node's sums from those of its children."""
    total = occurrences[v]
    most = occurrences[v]
    for side in range(2):
        c = links[v, side]
        if c != NO_NODE:
            total += links[c, TOTAL]
            most = max(most, links[c, MOST])
    links[v, TOTAL] = total
    links[v, MOST] = most


@bare
def update_above(v: int, occurrences: np.ndarray, links: np.ndarray) -> None:
    """The sums of a node and of those above it."""
    while v != NO_NODE:
        update(v, occurrences, links)
        v = links[v, PARENT]


@bare
def replace(s: int, old: int, new: int, links: np.ndarray, root: np.ndarray) -> None:
    """Let the parent of ``old``, or the group, have ``new`` as child."""
    p = links[old, PARENT]
    if p == NO_NODE:
        root[s] = new
    elif links[p, LEFT] == old:
        links[p, LEFT] = new
    else:
        links[p, RIGHT] = new
    if new != NO_NODE:
        links[new, PARENT] = p


@bare
def rotate_up(s: int, v: int, occurrences: np.ndarray, links: np.ndarray, root: np.ndarray) -> None:
    """Exchange a node with its parent."""
    p = links[v, PARENT]
    side = LEFT if links[p, LEFT] == v else RIGHT
    inner = links[v, 1 - side]
    replace(s, p, v, links, root)
    links[p, side] = inner
    if inner != NO_NODE:
        links[inner, PARENT] = p
    links[v, 1 - side] = p
    links[p, PARENT] = v
    update(p, occurrences, links)
    update(v, occurrences, links)


@bare
def attach(
    s: int,
    v: int,
    parent: int,
    side: int,
    occurrences: np.ndarray,
    links: np.ndarray,
    root: np.ndarray,
) -> None:
    """Put a node at a free place: the side of a parent, or the root if there is none."""
    links[v, LEFT] = NO_NODE
    links[v, RIGHT] = NO_NODE
    links[v, PARENT] = parent
    update(v, occurrences, links)
    if parent == NO_NODE:
        root[s] = v
        return
    links[parent, side] = v
    while links[v, PARENT] != NO_NODE and mix(v) > mix(links[v, PARENT]):
        rotate_up(s, v, occurrences, links, root)
    update_above(links[v, PARENT], occurrences, links)


@bare
def remove(s: int, v: int, occurrences: np.ndarray, links: np.ndarray, root: np.ndarray) -> None:
    """Take a node out."""
    while True:
        left = links[v, LEFT]
        right = links[v, RIGHT]
        if left == NO_NODE or right == NO_NODE:
            break
        rotate_up(s, left if mix(left) > mix(right) else right, occurrences, links, root)
    above = links[v, PARENT]
    replace(s, v, right if left == NO_NODE else left, links, root)
    update_above(above, occurrences, links)


@bare
def of_rank(v: int, rank: int, occurrences: np.ndarray, links: np.ndarray) -> int:
    """The node with the row of a number, from 0, in the order of values below a root."""
    while True:
        left = links[v, LEFT]
        before = links[left, TOTAL] if left != NO_NODE else 0
        if rank < before:
            v = left
        elif rank < before + occurrences[v]:
            return v
        else:
            rank -= before + occurrences[v]
            v = links[v, RIGHT]


@bare
def first(v: int, links: np.ndarray) -> int:
    """The first node below one."""
    while links[v, LEFT] != NO_NODE:
        v = links[v, LEFT]
    return v


@bare
def following(v: int, links: np.ndarray) -> int:
    """The node behind one in the order of values."""
    if links[v, RIGHT] != NO_NODE:
        return first(links[v, RIGHT], links)
    p = links[v, PARENT]
    while p != NO_NODE and links[p, RIGHT] == v:
        v = p
        p = links[v, PARENT]
    return p


@bare
def preceding(v: int, links: np.ndarray) -> int:
    """The node before one in order, NO_NODE before the first."""
    c = links[v, LEFT]
    if c != NO_NODE:
        while links[c, RIGHT] != NO_NODE:
            c = links[c, RIGHT]
        return c
    p = links[v, PARENT]
    while p != NO_NODE and links[p, LEFT] == v:
        v = p
        p = links[v, PARENT]
    return p


@bare
def rank_of(v: int, occurrences: np.ndarray, links: np.ndarray) -> int:
    """How many rows the nodes before one have."""
    left = links[v, LEFT]
    rank = links[left, TOTAL] if left != NO_NODE else 0
    p = links[v, PARENT]
    while p != NO_NODE:
        if links[p, RIGHT] == v:
            rank += occurrences[p]
            left = links[p, LEFT]
            if left != NO_NODE:
                rank += links[left, TOTAL]
        v = p
        p = links[v, PARENT]
    return rank
