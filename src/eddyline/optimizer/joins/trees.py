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
    """The tree's parts, inputs before the joins above them; the tree itself is last."""
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
