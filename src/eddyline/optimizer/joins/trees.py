"""Trees of binary joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from eddyline.optimizer.joins.query import Mask, members

#: The number of a source, or two trees that are joined.
Tree: TypeAlias = "int | tuple[Tree, Tree]"


def mask(tree: Tree) -> Mask:
    """The sources of a tree."""
    return 1 << tree if isinstance(tree, int) else mask(tree[0]) | mask(tree[1])


def leaves(tree: Tree) -> list[int]:
    """The sources of a tree, from left to right."""
    return [tree] if isinstance(tree, int) else leaves(tree[0]) + leaves(tree[1])


def subtrees(tree: Tree) -> Iterator[Tree]:
    """The tree's parts, inputs before what joins them; the tree itself comes last."""
    if not isinstance(tree, int):
        yield from subtrees(tree[0])
        yield from subtrees(tree[1])
    yield tree


def left_deep(order: Iterable[int]) -> Tree:
    """Sources joined one after the other.

    >>> left_deep([2, 0, 1])
    ((2, 0), 1)
    """
    first, *others = order
    tree: Tree = first
    for source in others:
        tree = tree, source
    return tree


def show(tree: Tree, names: Sequence[str]) -> str:
    """The tree for people.

    >>> show(((2, 0), 1), "ABC")
    '(C ⋈ A) ⋈ B'
    """
    if isinstance(tree, int):
        return names[tree]
    sides = (show(t, names) if isinstance(t, int) else f"({show(t, names)})" for t in tree)
    return " ⋈ ".join(sides)


def all_left_deep(neighbours: Sequence[Mask]) -> Iterator[Tree]:
    """Every left-deep tree, where no key ties a source to those before it only if none is tied.

    The first two sources stand in one order only: joins are symmetric.

    Args:
        neighbours: for each source, which others are tied to it.
    """
    everything = (1 << len(neighbours)) - 1

    def grown(order: tuple[int, ...], joined: Mask) -> Iterator[Tree]:
        if joined == everything:
            yield left_deep(order)
        for source in members(_next(joined, everything & ~joined, neighbours)):
            if len(order) != 1 or source > order[0] or not _may_begin(source, order[0], neighbours):
                yield from grown((*order, source), joined | 1 << source)

    for first in range(len(neighbours)):
        yield from grown((first,), 1 << first)


def _may_begin(first: int, second: int, neighbours: Sequence[Mask]) -> bool:
    """Whether ``second`` may be joined with ``first`` first."""
    others = (1 << len(neighbours)) - 1 & ~(1 << first)
    return bool(_next(1 << first, others, neighbours) >> second & 1)


def _next(joined: Mask, waiting: Mask, neighbours: Sequence[Mask]) -> Mask:
    """Which sources may be joined next."""
    return around(joined, neighbours) & waiting or waiting


def all_bushy(neighbours: Sequence[Mask]) -> Iterator[Tree]:
    """Every tree, up to the order of the two sides of a join.

    Cross products stand only above sets of sources that keys tie to no other one.
    """
    everything = (1 << len(neighbours)) - 1

    def trees(sources: Mask) -> Iterator[Tree]:
        if sources.bit_count() == 1:
            yield sources.bit_length() - 1
        for left, right in _splits(sources, neighbours):
            rights = list(trees(right))
            for tree in trees(left):
                yield from ((tree, other) for other in rights)

    yield from trees(everything)


def _splits(sources: Mask, neighbours: Sequence[Mask]) -> Iterator[tuple[Mask, Mask]]:
    """Two tied and connected halves; of unconnected sources any two sets of whole components."""
    lowest = sources & -sources
    parts = components(sources, neighbours)
    half = (sources - 1) & sources
    while half:
        other = sources & ~half
        if half & lowest:
            if len(parts) > 1:
                fits = all(part & half in (0, part) for part in parts)
            else:
                fits = all(len(components(side, neighbours)) == 1 for side in (half, other))
            if fits:
                yield half, other
        half = (half - 1) & sources


def around(sources: Mask, neighbours: Sequence[Mask]) -> Mask:
    """The sources that are tied to some."""
    found = 0
    for source in members(sources):
        found |= neighbours[source]
    return found & ~sources


def components(sources: Mask, neighbours: Sequence[Mask]) -> list[Mask]:
    """The sources, parted into sets that nothing ties to each other.

    >>> components(0b111, [0b010, 0b001, 0])
    [3, 4]
    """
    found = []
    while sources:
        part, more = 0, sources & -sources
        while more:
            part |= more
            more = around(part, neighbours) & sources
        found.append(part)
        sources &= ~part
    return found


def clique(sources: int) -> list[Mask]:
    """Neighbours where all are tied to all: what makes enumeration include cross products."""
    return [((1 << sources) - 1) & ~(1 << source) for source in range(sources)]
