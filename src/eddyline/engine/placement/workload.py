"""What runs for the queries of an engine, as works for the overload controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from eddyline.algebra.plan import Plan
from eddyline.engine.execution.shared_flow import Kind, Learning, SharedFlow
from eddyline.engine.execution.subscriptions import FlowSubscription
from eddyline.engine.placement.placements import Placements
from eddyline.engine.placement.reoptimizer import ByCost, Reoptimizer
from eddyline.engine.query import Query
from eddyline.optimizer.joins.trees import Tree
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import Work
from eddyline.sharing.flow_work import FlowWork, SubscriptionWork

#: The queries of a flow by kind; of a parameterized query, by the kinds of its instances.
_ByKind: TypeAlias = dict[tuple[Kind, ...], list[Query]]


@dataclass(frozen=True)
class JoinWork(Work):
    """A query that runs as a tree of joins whose order may change."""

    known: ByCost
    order: Tree
    cheapest: Callable[[ByCost, Statistics], Tree]

    def reordered(self, statistics: Statistics) -> JoinWork | None:
        order = self.cheapest(self.known, statistics)
        if order == self.order:
            return None
        return replace(self, plan=self.known.joins.plan(order), order=order)


class Workload:
    """What runs for the queries of an engine.

    Args:
        queries: those that run, by name.
    """

    def __init__(
        self, queries: Mapping[str, Query], placements: Placements, reoptimizer: Reoptimizer
    ) -> None:
        self._queries = queries
        self._placements = placements
        self._reoptimizer = reoptimizer

    def works(self) -> list[Work]:
        """What runs, with what it is expected to need."""
        queries = self._queries.values()
        works: list[Work] = []
        trees: dict[Plan, list[str]] = {}
        for query in queries:
            if query.flow is not None:
                continue
            known = self._reoptimizer.by_cost.get(query.name)
            if known is None:
                trees.setdefault(query.plan, []).append(query.name)
            else:
                cheapest = self._reoptimizer.cheapest
                works.append(JoinWork(query.plan, (query.name,), known, known.order, cheapest))
        works += [Work(plan, tuple(names), count=len(names)) for plan, names in trees.items()]
        for shared, members in _by_flow(queries).items():
            some = next(iter(members.values()))[0]
            parts = {kind.part: kind.count for kind in shared.kinds.values()}
            readers = shared.flow.sharers
            works.append(FlowWork(some.plan, (), shared.signature, parts, readers, count=0))
            works += _subscriptions(members, shared.learning.factor)
        return works

    @property
    def reordered(self) -> int:
        """How many times joins of a running query have got another order."""
        return self._placements.reordered

    def reorder(self, works: Iterable[Work]) -> None:
        """Let trees join in the order of these works, which come from :meth:`works`."""
        for work in works:
            assert isinstance(work, JoinWork), "other works have no order"
            why = "the best to shed load from"
            placement = self._reoptimizer.reordered(work.known, work.order, why)
            self._placements.change(work.known.query, placement)

    # -- results of flows, compared with the expected number ---------------------------------------

    def learn(self, statistics: Statistics, seconds: float) -> bool:
        """Correct the expected number of results of flows by the number that they have had.

        Args:
            statistics: of the rows of a period. seconds: its length.

        Returns:
            Whether a correction has changed.
        """
        differs = False
        for shared, members in _by_flow(self._queries.values()).items():
            rate = sum(work.handed_out(statistics) for work in _subscriptions(members))
            differs |= shared.learning.look(seconds * rate)
        return differs

    def learnt(self) -> dict[str, tuple[float, int]]:
        """For JSON: the correction of each flow, by the name of one of its queries."""
        names = {q.flow: q.name for q in self._queries.values() if q.flow is not None}
        return {
            name: (flow.learning.factor, flow.learning.handed_out - flow.learning.before)
            for flow, name in names.items()
        }

    def restore_learnt(self, saved: Mapping[str, tuple[float, int]]) -> None:
        """Take over what ``learnt`` returned; the queries run."""
        for name, (factor, handed_out) in saved.items():
            shared = self._queries[name].flow
            assert shared is not None, "it has the placement of the checkpoint"
            shared.learning = Learning(factor, handed_out)


def _by_flow(queries: Iterable[Query]) -> dict[SharedFlow, _ByKind]:
    """The queries that run in flows, by kind."""
    found: dict[SharedFlow, _ByKind] = {}
    for query in queries:
        subscription = query.subscription
        if isinstance(subscription, FlowSubscription):
            alike = found.setdefault(subscription.shared, {})
            alike.setdefault(tuple(subscription.kinds), []).append(query)
    return found


def _subscriptions(members: _ByKind, factor: float = 1.0) -> Iterator[SubscriptionWork]:
    for kinds, queries in members.items():
        names = tuple(query.name for query in queries)
        yield SubscriptionWork(queries[0].plan, names, factor, count=len(kinds) * len(queries))
