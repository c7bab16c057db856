"""What runs for the queries of an engine, as works that are expected to need something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from eddyline.algebra.plan import Plan
from eddyline.optimizer.joins.trees import Tree
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import Work
from eddyline.session.query import Query
from eddyline.session.replanning import Ordered
from eddyline.session.shared import Kind, SharedFlow
from eddyline.sharing.flow_work import FlowWork, SeatWork


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
    queries: Iterable[Query],
    ordered: Mapping[str, Ordered],
    cheapest: Callable[[Ordered, Statistics], Tree],
) -> list[Work]:
    """What runs for these queries.

    Args:
        ordered: by name, those whose joins may have another order. cheapest: finds it.
    """
    trees: dict[Plan, list[str]] = {}
    seats: dict[SharedFlow, dict[tuple[Kind, ...], list[Query]]] = {}
    works: list[Work] = []
    for query in queries:
        if query.seat is not None:
            alike = seats.setdefault(query.seat.shared, {})
            alike.setdefault(tuple(query.seat.kinds), []).append(query)
        elif query.name in ordered:
            found = ordered[query.name]
            works.append(OrderedWork(query.plan, (query.name,), found, found.tree, cheapest))
        else:
            trees.setdefault(query.plan, []).append(query.name)
    works += [Work(plan, tuple(names), count=len(names)) for plan, names in trees.items()]
    for shared, members in seats.items():
        works += _of_flow(shared, members)
    return works


def _of_flow(shared: SharedFlow, members: Mapping[tuple[Kind, ...], list[Query]]) -> Iterator[Work]:
    """A flow, and the queries that have seats in it."""
    some = next(iter(members.values()))[0]
    parts = {kind.part: kind.count for kind in shared.kinds.values()}
    yield FlowWork(some.plan, (), shared.signature, parts, count=0)
    for kinds, queries in members.items():
        names = tuple(query.name for query in queries)
        yield SeatWork(queries[0].plan, names, count=len(kinds) * len(queries))
