"""What runs for the queries of an engine, as works that are expected to need something."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from eddyline.algebra.plan import Plan
from eddyline.optimizer.joins.trees import Tree
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import Work
from eddyline.session.query import Query
from eddyline.session.replanning import Ordered
from eddyline.session.shared import Kind, SharedFlow
from eddyline.sharing.flow_work import FlowWork, SeatWork

#: The queries of a flow by kind, or by the kinds of what they stand for.
_ByKind: TypeAlias = dict[tuple[Kind, ...], list[Query]]


@dataclass(frozen=True)
class OrderedWork(Work):
    """A query that runs as a tree of joins, in an order that may change."""

    ordered: Ordered
    tree: Tree
    cheapest: Callable[[Ordered, Statistics], Tree]

    def reordered(self, statistics: Statistics) -> OrderedWork | None:
        tree = self.cheapest(self.ordered, statistics)
        if tree == self.tree:
            return None
        return replace(self, plan=self.ordered.joins.plan(tree), tree=tree)


def works_of(
    queries: Collection[Query],
    ordered: Mapping[str, Ordered],
    cheapest: Callable[[Ordered, Statistics], Tree],
) -> list[Work]:
    """What runs for these queries.

    Args:
        ordered: by name, those whose joins may have another order. cheapest: finds it.
    """
    works: list[Work] = []
    trees: dict[Plan, list[str]] = {}
    for query in queries:
        if query.seat is not None:
            continue
        if query.name in ordered:
            found = ordered[query.name]
            works.append(OrderedWork(query.plan, (query.name,), found, found.tree, cheapest))
        else:
            trees.setdefault(query.plan, []).append(query.name)
    works += [Work(plan, tuple(names), count=len(names)) for plan, names in trees.items()]
    for shared, members in _by_flow(queries).items():
        some = next(iter(members.values()))[0]
        parts = {kind.part: kind.count for kind in shared.kinds.values()}
        works.append(FlowWork(some.plan, (), shared.signature, parts, count=0))
        works += _of_seats(members, shared.learning.factor)
    return works


def learn(queries: Iterable[Query], statistics: Statistics, seconds: float) -> bool:
    """Compare what flows have handed out with what is expected of them, and reckon with it.

    Args:
        statistics: of the rows that came. seconds: for so long they did.

    Returns:
        Whether it makes a difference.
    """
    differs = False
    for shared, members in _by_flow(queries).items():
        rate = sum(work.handed_out(statistics) for work in _of_seats(members))
        differs |= shared.learning.look(seconds * rate)
    return differs


def _by_flow(queries: Iterable[Query]) -> dict[SharedFlow, _ByKind]:
    """The queries that have seats in flows."""
    found: dict[SharedFlow, _ByKind] = {}
    for query in queries:
        if query.seat is not None:
            alike = found.setdefault(query.seat.shared, {})
            alike.setdefault(tuple(query.seat.kinds), []).append(query)
    return found


def _of_seats(members: _ByKind, factor: float = 1.0) -> Iterator[SeatWork]:
    for kinds, queries in members.items():
        names = tuple(query.name for query in queries)
        yield SeatWork(queries[0].plan, names, factor, count=len(kinds) * len(queries))
