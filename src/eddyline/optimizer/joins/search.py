"""The cheapest tree by dynamic programming over sets of sources.

Few sources are joined in every way: the best plan may join what no condition ties (Ayad and
Naughton 2004, Example 1, plan (c)). Of more sources the sets are connected ones.

The costs of a sub-tree do not depend on what is joined with it later, so the best tree of a set is
made of best trees (the principle of optimality of System R).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import islice
from typing import Final

from eddyline.optimizer.joins.costing import Costing
from eddyline.optimizer.joins.flows import Flow, joined, source_flows
from eddyline.optimizer.joins.query import JoinQuery, Mask, members
from eddyline.optimizer.joins.trees import Tree, clique, components

#: Above this number of joins, trees are grown greedily: a clique of 11 sources has 86,526, about
#: half a second. Counted and not timed, so that each run finds the same tree.
MOST_PAIRS: Final = 100_000
#: Up to this number of sources cross products are looked at everywhere: 301 joins, some ms.
MOST_IN_PRODUCTS: Final = 6
#: A tree with more cross products than need be costs at most this share of the best other tree:
#: with keys on several sources, joins cost more than they are priced at.
_WITH_PRODUCTS: Final = 0.8


@dataclass(frozen=True, slots=True)
class Candidate:
    """The best tree of some sources that has been found.

    Attributes:
        cost: seconds per second of its joins.
    """

    sources: Mask
    tree: Tree
    flow: Flow[float]
    cost: float


def cheapest(
    query: JoinQuery,
    costing: Costing,
    *,
    among: Mask | None = None,
    most_pairs: int = MOST_PAIRS,
) -> Tree:
    """The tree whose joins cost least, bushy or not.

    Tables are joined with what reads a stream, never with each other first.

    Args:
        among: sources to join, some of which are streams; by default all.
        most_pairs: for more joins than this to be looked at, the tree is grown greedily.
    """
    atoms = [Candidate(1 << i, i, flow, 0.0) for i, flow in enumerate(source_flows(query))]
    search = _Search(query, costing, most_pairs)
    among = query.everything if among is None else among
    parts = list(_tied_parts(search, atoms, among))
    best = search.best(parts, clique(len(parts)))
    if len(parts) < among.bit_count() <= MOST_IN_PRODUCTS:
        free = search.best([atoms[i] for i in members(among)], clique(among.bit_count()))
        if free.cost < _WITH_PRODUCTS * best.cost:
            best = free
    return best.tree


def _tied_parts(search: _Search, atoms: Sequence[Candidate], joined: Mask) -> Iterator[Candidate]:
    """The best trees of sources that edges tie together; tables without a stream one by one."""
    neighbours = [tied & joined for tied in search.query.neighbours()]
    for part in components(joined, neighbours):
        mine = [atoms[i] for i in members(part)]
        if part & search.query.streams:
            yield search.best(mine, _within(part, neighbours))
        else:
            yield from mine


def _within(part: Mask, neighbours: Sequence[Mask]) -> list[Mask]:
    """The join graph of a connected part of the sources, which are renumbered."""
    sources = members(part)
    return [
        sum(1 << at for at, other in enumerate(sources) if neighbours[source] >> other & 1)
        for source in sources
    ]


@dataclass(frozen=True)
class _Search:
    query: JoinQuery
    costing: Costing
    most_pairs: int

    def best(self, atoms: Sequence[Candidate], neighbours: Sequence[Mask]) -> Candidate:
        """The cheapest tree of all atoms, whose join graph is connected."""
        if not are_at_most(self.most_pairs, tuple(neighbours)):
            return self._greedy(atoms, neighbours)
        best = {1 << place: atom for place, atom in enumerate(atoms)}
        for left, right in connected_pairs(neighbours):
            if left in best and right in best and self._may_join(best[left], best[right]):
                found = self._join(best[left], best[right], best.get(left | right))
                best[left | right] = found
        return best[(1 << len(atoms)) - 1]

    def _may_join(self, left: Candidate, right: Candidate) -> bool:
        """Whether one of them reads a stream, or there is none to be read."""
        streams = self.query.streams
        return bool((left.sources | right.sources) & streams) or not streams

    def _join(self, left: Candidate, right: Candidate, known: Candidate | None) -> Candidate:
        """The join of two candidates, or ``known`` if that is as cheap."""
        tie = self.query.tie(left.sources, right.sources)
        cost = left.cost + right.cost + self.costing.join(left.flow, right.flow, tie)
        if known is not None and known.cost <= cost:
            return known
        flow = joined(left.flow, right.flow, tie.share) if known is None else known.flow
        return Candidate(left.sources | right.sources, (left.tree, right.tree), flow, cost)

    def _greedy(self, atoms: Sequence[Candidate], neighbours: Sequence[Mask]) -> Candidate:
        """Join next whatever costs least, until all is joined."""
        grown = {1 << place: atom for place, atom in enumerate(atoms)}
        near = {1 << place: tied for place, tied in enumerate(neighbours)}
        while len(grown) > 1:
            a, b = min(
                (
                    (a, b)
                    for a in grown
                    for b in grown
                    if a < b and near[a] & b and self._may_join(grown[a], grown[b])
                ),
                key=lambda pair: self._join(grown[pair[0]], grown[pair[1]], None).cost,
            )
            grown[a | b] = self._join(grown.pop(a), grown.pop(b), None)
            near[a | b] = (near.pop(a) | near.pop(b)) & ~(a | b)
        return next(iter(grown.values()))


@lru_cache(maxsize=256)
def are_at_most(most: int, neighbours: tuple[Mask, ...]) -> bool:
    """Whether there are at most ``most`` :func:`connected_pairs`; cached, since graphs recur."""
    if fewest_pairs(neighbours) > most:
        return False
    return sum(1 for _ in islice(connected_pairs(neighbours), most + 1)) <= most


def fewest_pairs(neighbours: Sequence[Mask]) -> int:
    """A lower bound of the number of :func:`connected_pairs`, without enumerating them.

    A node with d neighbours is connected with any set of them, and each other one is a pair of
    that: d * 2**(d - 1) in all, which is all there are for a star.
    """
    degrees = (mask.bit_count() for mask in neighbours)
    return max((d << (d - 1) for d in degrees if d), default=0)


def connected_pairs(neighbours: Sequence[Mask]) -> Iterator[tuple[Mask, Mask]]:
    """Every two disjoint, connected sets of nodes with an edge between them, once.

    Pairs whose union is one half of another pair precede it. This is DPccp (Moerkotte and
    Neumann, Analysis of Two Existing and One New Dynamic Programming Algorithm, VLDB 2006): it
    visits no others, so chains of 30 are as easy as cliques of 10.

    >>> list(connected_pairs([0b010, 0b101, 0b010]))
    [(2, 4), (1, 2), (1, 6), (3, 4)]
    """
    for node in reversed(range(len(neighbours))):
        for left in _connected_sets(neighbours, 1 << node, _upto(node)):
            lowest = left & -left
            barred = (lowest - 1) | lowest | left
            nearby = reduce(int.__or__, (neighbours[i] for i in members(left))) & ~barred
            for other in reversed(members(nearby)):
                not_twice = barred | (_upto(other) & nearby)
                for right in _connected_sets(neighbours, 1 << other, not_twice):
                    yield left, right


def _connected_sets(neighbours: Sequence[Mask], nodes: Mask, barred: Mask) -> Iterator[Mask]:
    """The set, and every connected set that it grows into without the barred nodes."""
    yield nodes
    yield from _grown(neighbours, nodes, barred)


def _grown(neighbours: Sequence[Mask], nodes: Mask, barred: Mask) -> Iterator[Mask]:
    nearby = reduce(int.__or__, (neighbours[i] for i in members(nodes))) & ~(barred | nodes)
    if not nearby:
        return
    added = nearby & -nearby
    while added:  # every non-empty subset, small ones before those that contain them
        yield nodes | added
        added = (added - nearby) & nearby
    added = nearby & -nearby
    while added:
        yield from _grown(neighbours, nodes | added, barred | nearby)
        added = (added - nearby) & nearby


def _upto(node: int) -> Mask:
    return (2 << node) - 1
