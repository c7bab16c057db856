"""The operators of all queries: trees, and flows in which queries have seats.

Which placement a query has is decided elsewhere (``engine/placement/placements.py``).
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from eddyline.algebra.plan import Join, Plan
from eddyline.engine.execution.grouped_subscriptions import GroupedSeat, add_grouped
from eddyline.engine.execution.shared_flow import Crowd, Seat, SharedFlow
from eddyline.engine.ingest.watermarks import StreamGroup, StreamGroups
from eddyline.engine.placement.placement import FlowPlacement, Placement, TreePlacement
from eddyline.engine.query import Query
from eddyline.engine.query_metrics import brought_along, rows_seen
from eddyline.errors import EddylineError
from eddyline.physical.flows import FlowPlanner, Sharing
from eddyline.physical.node_planner import StemOf
from eddyline.physical.state_forms import planner
from eddyline.physical.strategy import Strategy
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.failures import Failure, collecting
from eddyline.runtime.graph import Graph, in_order
from eddyline.runtime.operators.base import Operator, Tick


class Answering(Protocol):
    """Whoever knows what is in an answer."""

    def answer(self, clock: int) -> Fanout:
        """The results that are in the answer at ``clock``."""


@dataclass(slots=True)
class Outcome:
    """What a chunk meant for the queries.

    Attributes:
        changed: those that have changes of their own.
        failures: by name, rows that a query could not take.
        broken: by name, the error that an operator of a query raised.
    """

    changed: list[Query]
    failures: dict[str, list[Failure]]
    broken: dict[str, Exception]

    def add(self, failures: Iterable[tuple[str, Failure]]) -> None:
        """Rows that queries could not take."""
        for name, failure in failures:
            self.failures.setdefault(name, []).append(failure)


class Execution:
    """The operators of all queries.

    Equal sub-plans of trees run once. What a flow knows follows from the rows in the SteMs and from
    who its queries are, so a query can change from its tree to a flow, and back, between two
    chunks.

    Attributes:
        graph: the operators. flows: by key. trees: by name, the queries that run as trees.
    """

    def __init__(
        self, stem_of: StemOf, strategy: Strategy, sharing: Sharing, groups: StreamGroups
    ) -> None:
        self.graph = Graph()
        self.flows: dict[Hashable, SharedFlow] = {}
        self.trees: dict[str, Query] = {}
        self._groups = groups
        self._planner = planner(self.graph, stem_of, strategy)
        self._flow_planner = FlowPlanner(
            self.graph, self._planner, stem_of, sharing, strategy.feedback
        )

    # -- placements --------------------------------------------------------------------------------

    def move(self, query: Query, placement: Placement | None) -> None:
        """Start a query, stop it (None), or run it in another way from now on: between two chunks.

        A query that is started reports what is in its answer already. One that is moved reports
        nothing again, and keeps its counters.

        Raises:
            EddylineError: it cannot run like that; nothing has changed.
        """
        before = query.placement
        if _same_operators(before, placement):
            query.placement = placement
            return
        starts, seat = before is None, query.seat
        operator = None if starts else query.operator
        account = None if starts or placement is None else brought_along(query)
        match placement:
            case TreePlacement():
                if seat is not None:
                    query.stand_up()
                self._plant(query, placement.plan, report=starts)
            case FlowPlacement():
                query.seat = self._seat(query, placement)
                if isinstance(query.seat, GroupedSeat):
                    placement = replace(placement, number=query.seat.number)
                if starts:
                    self.report_answer(query, query.seat)
        if account is not None:
            account.go_on(query)
        if operator is not None:
            self._release(query, operator, seat, placement)
        query.placement = placement

    def _release(
        self,
        query: Query,
        operator: Operator,
        seat: Seat | Crowd | None,
        placement: Placement | None,
    ) -> None:
        """Free the operators that a query ran in before it got a placement."""
        if seat is not None:
            seat.leave(query.name)
            self._let_go(seat.shared, operator)
            return
        self.graph.give_up(operator)
        if not isinstance(placement, TreePlacement):
            del self.trees[query.name]

    def report_answer(self, query: Query, source: Answering) -> None:
        """Report what is in the answer of a query in a flow already."""
        assert query.seat is not None, "it has just got one"
        group = self.group_of(query)
        if group.began is not None and query.seat.shared.flow.holds_rows():
            query.put(query.seat.shape.table(source.answer(group.clock)))

    def read_flow(self, query: Query, placement: FlowPlacement) -> SharedFlow:
        """The flow of a parameterized query, which reads it from now on."""
        shared = self._flow(query, placement)
        query.operator, query.placement = shared.flow, placement
        query.seen_before = rows_seen(in_order([shared.flow]))
        return shared

    def _let_go(self, shared: SharedFlow, operator: Operator) -> None:
        """A flow has one reader less, of this operator's results."""
        self.graph.give_up(operator)
        if not shared.shapes:
            self.flows = {k: f for k, f in self.flows.items() if f is not shared}

    # -- operators ---------------------------------------------------------------------------------

    def groups(self, grouping: Plan) -> bool:
        """Whether a tree has an operator of this GROUP BY or DISTINCT."""
        return self._planner.runs(grouping)

    def joined(self, join: Join) -> tuple[int, int] | None:
        """Rows that a join of a tree has joined so far, and results; None: it does not run."""
        operator = self._planner.join(join)
        return None if operator is None else (operator.joined, operator.rows_out)

    def _plant(self, query: Query, plan: Plan, *, report: bool) -> None:
        known = set(self.graph)
        try:
            operator = self._planner.query(plan, query.emit)
        except EddylineError:
            self.graph.sweep()
            raise
        self.graph.use(operator)
        query.operator = operator
        self.trees[query.name] = query
        group = self.group_of(query)
        if group.began is not None:
            query.begin(group.began)
        primed = self.graph.prime(known, group.clock)
        if report:
            query.collect(primed[operator] if operator in primed else operator.live(group.clock))
        self.graph.settle(group.clock, self.operators_of(group))
        query.seen_before = rows_seen(in_order([operator]))

    def _seat(self, query: Query, placement: FlowPlacement) -> Seat:
        shared = self._flow(query, placement)
        try:
            if placement.part.above is not None:
                return self._grouped(query, shared, placement, placement.part.above)
            query.operator = shared.flow
            query.seen_before = rows_seen(in_order([shared.flow]))
            replaces = query.replace_key is not None
            key, part = placement.table, placement.part
            return shared.add(query.name, key, part, query.change_schema, replaces=replaces)
        except EddylineError:
            self.graph.sweep()
            self._let_go(shared, shared.flow)
            raise

    def _grouped(
        self, query: Query, shared: SharedFlow, placement: FlowPlacement, above: Plan
    ) -> Seat:
        """A seat at the operators that group for all."""
        operator = self._flow_planner.per_query(shared.flow, placement.part.outputs, above)
        seat = add_grouped(
            shared,
            query.name,
            placement,
            query.change_schema,
            operator,
            replaces=query.replace_key is not None,
        )
        self.graph.use(operator)
        self.graph.give_up(shared.flow)  # it is read through the operator
        group = self.group_of(query)
        if group.began is not None:
            tree = in_order([query.operator]) if query.name in self.trees else []
            seat.bring_up(tree, group.clock)
        query.operator = operator
        query.seen_before = rows_seen(in_order([operator]))
        return seat

    def _flow(self, query: Query, placement: FlowPlacement) -> SharedFlow:
        """The flow of a placement, with one more reader."""
        key, signature = placement.flow, placement.signature
        if key not in self.flows:
            known = set(self.graph)
            try:
                flow = self._flow_planner.flow(signature, key)
            except EddylineError:
                self.graph.sweep()
                raise
            group = self.group_of(query)
            self.graph.prime(known, group.clock)
            self.graph.settle(group.clock, self.operators_of(group))
            self.flows[key] = SharedFlow(signature, flow)
        self.graph.use(self.flows[key].flow)
        return self.flows[key]

    # -- rows --------------------------------------------------------------------------------------

    def group_of(self, query: Query) -> StreamGroup:
        """The group by whose clock a query goes."""
        return self._groups.of(query.reads)

    def operators_of(self, group: StreamGroup) -> dict[Operator, None]:
        """The operators of a group's queries, inputs first."""
        return self.graph.without(self._groups.apart(group))

    def run(
        self, tick: Tick, group: StreamGroup, *, arrived: float, paced: bool = False
    ) -> Outcome:
        """One chunk of a group's rows through the operators of its queries.

        Args:
            arrived: when its rows could be processed (``time.perf_counter``).
            paced: let rows wait for their turn, where windows of one join differ; see ``serve``.
        """
        operators = self.operators_of(group)
        flows = [shared for shared in self.flows.values() if shared.flow in operators]
        for shared in flows:
            shared.pace(paced=paced, arrived=arrived)
        ran = self.graph.run(tick, operators)
        outcome = Outcome([], {}, {})
        for query in self.trees.values():
            if query.operator in ran.out and query.collect(ran.out[query.operator]):
                outcome.changed.append(query)
        seconds = time.perf_counter() - arrived
        for query in outcome.changed:
            query.note_latency(seconds)
        for operator, failure in ran.failures:
            outcome.add(self._failed(operator, failure))
        for shared in flows:
            with collecting() as failures:
                shared.collect(arrived)
            for failure in failures:
                outcome.add(shared.failed(failure))
        for operator, error in ran.broken.items():
            outcome.broken |= dict.fromkeys(self._readers({operator}), error)
        group.clock = tick.clock
        self.graph.settle(tick.clock, operators, ran.broken)
        return outcome

    def _failed(self, operator: Operator, failure: Failure) -> Iterator[tuple[str, Failure]]:
        """By query, the rows that failed for it in an operator."""
        flow = operator.flow if isinstance(operator, PerQuery) else operator
        shared = next((s for s in self.flows.values() if s.flow is flow), None)
        if shared is not None:
            return shared.failed(failure)
        return ((name, failure) for name in self._readers({operator}))

    def _readers(self, operators: set[Operator]) -> set[str]:
        """The queries that read what comes from some operators."""
        above = self.graph.above(operators)
        trees = {name for name, query in self.trees.items() if query.operator in above}
        flows = (s.names for s in self.flows.values() if s.flow in above)
        return trees.union(*flows)

    def elapsed_us(self, query: Query) -> int:
        """Microseconds of event time so far."""
        group = self.group_of(query)
        return 0 if group.began is None else group.clock - group.began

    @property
    def waiting(self) -> bool:
        """Whether rows wait for their turn."""
        return any(shared.flow.waiting for shared in self.flows.values())

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be served before all those that wait."""
        return all(shared.flow.wants_rows for shared in self.flows.values())

    def serve(self) -> Outcome:
        """Serve some of the rows that wait, in every flow."""
        outcome = Outcome([], {}, {})
        for shared in self.flows.values():
            if shared.flow.waiting:
                with collecting() as failures:
                    shared.serve()
                for failure in failures:
                    outcome.add(shared.failed(failure))
        return outcome


def _same_operators(before: Placement | None, placement: Placement | None) -> bool:
    """Whether two placements differ in their reasons only."""
    if not (isinstance(before, FlowPlacement) and isinstance(placement, FlowPlacement)):
        return False
    return (before.flow, before.table) == (placement.flow, placement.table)
