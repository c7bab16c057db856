"""What runs for the queries of an engine, as works for the overload controller."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias
from weakref import ref

from eddyline.algebra.plan import Join, Plan
from eddyline.engine.execution.shared_flow import Kind, Learning, SharedFlow
from eddyline.engine.execution.subscriptions import FlowSubscription
from eddyline.engine.placement.cpu_times import CpuTimes
from eddyline.engine.placement.feedback_trials import gives_feedback
from eddyline.engine.placement.placements import Placements
from eddyline.engine.placement.reoptimizer import ByCost, Reoptimizer
from eddyline.engine.query import Query
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.join_results import JoinResults
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import Work
from eddyline.runtime.eddy.eddy_flow import EddyFlow
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.feedback.join_counts import JoinCounts
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator
from eddyline.sharing.flow_work import FlowWork, SubscriptionWork
from eddyline.sharing.reordering import Orders

#: The queries of a flow by operator and kind; of a parameterized query, by the kinds of its
#: instances.
_ByKind: TypeAlias = dict[tuple[Operator, tuple[Kind, ...]], list[Query]]


@dataclass(frozen=True)
class JoinWork(Work):
    """A query that runs as a tree of joins whose order may change."""

    known: ByCost
    orders: Orders
    cheapest: Callable[[ByCost, Statistics], Orders]

    def reordered(self, statistics: Statistics) -> JoinWork | None:
        orders = self.cheapest(self.known, statistics)
        if orders == self.orders:
            return None
        return replace(self, plan=self.known.joins.plan(orders), orders=orders)


@dataclass(frozen=True)
class _Unit:
    """Works whose CPU time is measured together.

    Attributes:
        name: in checkpoints, by a query.
        key: does not keep operators; a tree has the same one in other orders of its joins.
        spent: CPU seconds so far.
    """

    name: str
    key: Hashable
    works: list[Work]
    spent: Callable[[], float]


class Workload:
    """What runs for the queries of an engine.

    Args:
        queries: those that run, by name.
        joined: rows and results of a join of a tree so far; None: it does not run.

    Attributes:
        results: of the joins of trees, against the estimate.
        times: CPU time of units, against the estimate.
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        placements: Placements,
        reoptimizer: Reoptimizer,
        joined: Callable[[Join], JoinCounts | None],
    ) -> None:
        self.results = JoinResults(lambda join: None if (n := joined(join)) is None else n.results)
        self.times = CpuTimes()
        self._queries = queries
        self._placements = placements
        self._reoptimizer = reoptimizer

    def works(self) -> list[Work]:
        """What runs, with what it is expected to need."""
        return [
            work if factor == 1.0 else replace(work, cpu=factor)
            for unit in self._units()
            for factor in (self.times.factor(unit.key),)
            for work in unit.works
        ]

    def _units(self) -> Iterator[_Unit]:
        trees: dict[Plan, list[Query]] = {}
        for query in self._queries.values():
            if query.flow is not None:
                continue
            known = self._reoptimizer.by_cost.get(query.name)
            if known is None:
                trees.setdefault(query.plan, []).append(query)
            else:
                orders, cheapest = known.orders, self._reoptimizer.cheapest
                work = JoinWork(query.plan, (query.name,), known, orders, cheapest)
                yield _tree(work, query)
        for plan, alike in trees.items():
            names = tuple(query.name for query in alike)
            yield _tree(Work(plan, names, count=len(names)), alike[0])
        yield from self._flow_units()

    def _flow_units(self) -> Iterator[_Unit]:
        flows: dict[Operator, list[tuple[Flow, Work]]] = {}
        names: dict[Operator, str] = {}
        for shared, members in _by_flow(self._queries.values()).items():
            some = next(iter(members.values()))[0]
            parts = {kind.part: kind.count for kind in shared.kinds.values()}
            flow = shared.flow
            work = FlowWork(some.plan, (), shared.signature, parts, flow.sharers, count=0)
            joining: Operator = flow.eddy if isinstance(flow, EddyFlow) else flow
            flows.setdefault(joining, []).append((flow, work))
            names.setdefault(joining, f"flow {some.name}")
            above: dict[Operator, list[Work]] = {}
            for operator, subscription in _subscriptions(members, shared.learning.factor):
                above.setdefault(operator, []).append(subscription)
            for operator, works in above.items():
                name = f"above {works[0].names[0]}"
                spent = partial(_seconds_above, operator, flow)
                yield _Unit(name, ("above", ref(operator)), works, spent)
        for joining, together in flows.items():
            operators = dict.fromkeys(o for flow, _ in together for o in in_order([flow]))
            spent = partial(_seconds_of, operators)
            works = [work for _, work in together]
            yield _Unit(names[joining], ("flow", ref(joining)), works, spent)

    @property
    def reordered(self) -> int:
        """How many times joins of a running query have got another order."""
        return self._placements.reordered

    def reorder(self, works: Iterable[Work]) -> None:
        """Let trees join in the order of these works, which come from :meth:`works`."""
        for work in works:
            assert isinstance(work, JoinWork), "other works have no order"
            why = "the best to shed load from"
            placement = self._reoptimizer.reordered(work.known, work.orders, why)
            self._placements.change(work.known.query, placement)

    def awaits_feedback(self) -> bool:
        """Whether the CPU time of a tree with feedback has not been measured yet."""
        return any(
            gives_feedback(query)
            for query in self._queries.values()
            if query.flow is None and not self.times.is_known(_tree_name(query))
        )

    # -- results, compared with the expected number --------------------

    def learn(
        self, statistics: Statistics, seconds: float, steady_us: float, prices: Prices | None
    ) -> bool:
        """Correct the expected number of results of flows, and of the joins of trees, by the number
        that they have had; and the expected CPU time by what they took.

        Args:
            statistics: of the rows of a period. seconds: its length.
            steady_us: for how long before it the same shares of rows had been kept.
            prices: by which CPU time is expected; None: it is not measured.

        Returns:
            Whether a correction has changed.
        """

        def expected(join: Plan, below: Mapping[Join, float]) -> float:
            return seconds * estimate(join, replace(statistics, corrections=below)).rate

        differs = self.results.look(self._trees().values(), expected, steady_us)
        statistics = replace(statistics, corrections={})
        for shared, members in _by_flow(self._queries.values()).items():
            rate = sum(work.handed_out(statistics) for _, work in _subscriptions(members))
            differs |= shared.learning.look(seconds * rate)
        if prices is not None:
            corrections = self.results.corrections
            differs |= self._time(replace(statistics, corrections=corrections), seconds, prices)
        return differs

    def _time(self, statistics: Statistics, seconds: float, prices: Prices) -> bool:
        """Compare the CPU time of all units with what is expected of them."""
        differs = False
        units = list(self._units())
        for unit in units:
            cores: dict[Hashable, float] = {}
            for work in unit.works:
                cores |= work.expected(statistics, prices)
            spent = unit.spent()
            differs |= self.times.look(unit.key, spent, seconds * sum(cores.values()))
        self.times.forget_others(unit.key for unit in units)
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
        times = {unit.name: self.times.saved(unit.key) for unit in self._units()}
        return {
            "flows": flows,
            "trees": {name: joins for name, joins in trees.items() if joins},
            "times": {name: known for name, known in times.items() if known is not None},
        }

    def restore_learnt(self, saved: Mapping[str, Any]) -> None:
        """Take over what ``learnt`` returned; the queries run."""
        for unit in self._units():
            if unit.name in saved["times"]:
                self.times.restore(unit.key, saved["times"][unit.name], unit.spent())
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
            kinds = subscription.operator, tuple(subscription.kinds)
            alike.setdefault(kinds, []).append(query)
    return found


def _subscriptions(
    members: _ByKind, factor: float = 1.0
) -> Iterator[tuple[Operator, SubscriptionWork]]:
    """The works of the queries of a flow, each with the operator that they read."""
    for (operator, kinds), queries in members.items():
        names = tuple(query.name for query in queries)
        count = len(kinds) * len(queries)
        yield operator, SubscriptionWork(queries[0].plan, names, factor, count=count)


def _tree(work: Work, query: Query) -> _Unit:
    """The unit of a query that runs as a tree, and of those with the same operators."""

    def spent() -> float:
        operators = in_order([query.operator])
        return _seconds_of(operators) + sum(o.delivering_seconds for o in operators)

    name = _tree_name(query)
    return _Unit(name, name, [work], spent)


def _tree_name(query: Query) -> str:
    """The key of the unit of a tree, if the query is the first with these operators."""
    return f"tree {query.name}"


def _seconds_of(operators: Iterable[Operator]) -> float:
    """CPU seconds of operators."""
    return sum(o.cpu_seconds for o in operators)


def _seconds_above(operator: Operator, flow: Flow) -> float:
    """CPU seconds of what is above a flow; where nothing is, of delivering its output."""
    own = 0.0 if operator is flow else operator.cpu_seconds
    return own + operator.delivering_seconds
