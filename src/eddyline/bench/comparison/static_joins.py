"""Join trees and costs of the static-optimization paper's own figures.

Source: Ayad and Naughton, SIGMOD 2004, section 3 and Example 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eddyline.optimizer.joins.flows import Flow
from eddyline.optimizer.joins.posynomial import Number
from eddyline.optimizer.joins.query import JoinQuery, Mask, Source, Term, Tie, members
from eddyline.optimizer.joins.trees import Tree, around, components, left_deep


@dataclass(frozen=True)
class PerTuple:
    """Every input row of a join costs the same; results cost nothing (section 3, Example 1).

    Attributes:
        join_s: seconds per input row.
    """

    join_s: float

    def intake_s(self, source: Source) -> float:
        return 0.0

    def join(self, left: Flow[Number], right: Flow[Number], tie: Tie) -> Number:
        return (left.load + right.load) * self.join_s


def join_query(sources: Sequence[Source], edges: Mapping[tuple[str, str], float]) -> JoinQuery:
    """A query whose edges are equalities of two sources, given by name.

    Args:
        edges: the selectivity of each.

    Raises:
        ValueError: an edge names no source, or what :class:`JoinQuery` refuses.
    """
    numbers = {source.name: number for number, source in enumerate(sources)}
    terms = []
    for pair, selectivity in edges.items():
        unknown = [name for name in pair if name not in numbers]
        if unknown:
            raise ValueError(f"no source {unknown[0]!r}; there are {', '.join(numbers)}")
        terms.append(Term.edge(numbers[pair[0]], numbers[pair[1]], selectivity))
    return JoinQuery(tuple(sources), tuple(terms))


def all_left_deep(neighbours: Sequence[Mask]) -> Iterator[Tree]:
    """Every left-deep tree; a cross product only where no remaining source has an edge.

    The first two sources appear in one order only: joins are symmetric.

    Args:
        neighbours: by source, the sources that share an edge with it.
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

    Cross products join whole components of the join graph only.
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
    """Connected halves; of unconnected sources any two sets of whole components."""
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
