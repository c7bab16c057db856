"""What runs for the queries of an engine, as works for the overload controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from eddyline.algebra.plan import Join, Plan
from eddyline.engine.execution.shared_flow import Kind, Learning, SharedFlow
from eddyline.engine.execution.subscriptions import FlowSubscription
from eddyline.engine.placement.placements import Placements
from eddyline.engine.placement.reoptimizer import ByCost, Reoptimizer
from eddyline.engine.query import Query
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.join_results import JoinResults
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
        joined: pairs and results that a join of a tree has had; None: it does not run.

    Attributes:
        results: of the joins of trees, against the estimate.
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        placements: Placements,
        reoptimizer: Reoptimizer,
        joined: Callable[[Join], tuple[int, int] | None],
    ) -> None:
        self.results = JoinResults(lambda join: (joined(join) or (0, None))[1])
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

    # -- results, compared with the expected number ------------------------------------------------

    def learn(self, statistics: Statistics, seconds: float, steady_us: float) -> bool:
        """Correct the expected number of results of flows, and of the joins of trees, by the number
        that they have had.

        Args:
            statistics: of the rows of a period. seconds: its length.
            steady_us: for how long before it the same shares of rows had been kept.

        Returns:
            Whether a correction has changed.
        """

        def expected(join: Plan, below: Mapping[Join, float]) -> float:
            return seconds * estimate(join, replace(statistics, corrections=below)).rate

        differs = self.results.look(self._trees().values(), expected, steady_us)
        statistics = replace(statistics, corrections={})
        for shared, members in _by_flow(self._queries.values()).items():
            rate = sum(work.handed_out(statistics) for work in _subscriptions(members))
            differs |= shared.learning.look(seconds * rate)
        return differs

    def since(self) -> int | None:
        """The first instant of rows that an operator has processed; None: there are none."""
        known = (q.operator.since for q in self._queries.values() if q.subscription is not None)
        return min((instant for instant in known if instant is not None), default=None)

    def _trees(self) -> dict[str, Plan]:
        """The plans of queries that run as trees."""
        return {n: q.plan for n, q in self._queries.items() if q.flow is None}

    def learnt(self) -> dict[str, Any]:
        """For JSON: the correction of each flow, by the name of one of its queries; and those of
        the joins of queries that run as trees.
        """
        names = {q.flow: q.name for q in self._queries.values() if q.flow is not None}
        flows = {
            name: (flow.learning.factor, flow.learning.handed_out - flow.learning.before)
            for flow, name in names.items()
        }
        trees = {name: self.results.saved(plan) for name, plan in self._trees().items()}
        return {"flows": flows, "trees": {name: joins for name, joins in trees.items() if joins}}

    def restore_learnt(self, saved: Mapping[str, Any]) -> None:
        """Take over what ``learnt`` returned; the queries run."""
        for name, (factor, handed_out) in saved["flows"].items():
            shared = self._queries[name].flow
            assert shared is not None, "it has the placement of the checkpoint"
            shared.learning = Learning(factor, handed_out)
        for name, joins in saved["trees"].items():
            self.results.restore(self._queries[name].plan, joins)


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
