"""The operators of all queries: trees, and flows that queries share.

The placement of each query is decided by ``engine/placement/placements.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

import numpy as np

from eddyline.algebra.plan import Join, Plan
from eddyline.engine.execution.groupings import Grouping
from eddyline.engine.execution.parameterized import ParameterizedGroups, ParameterizedSubscription
from eddyline.engine.execution.result_tables import Pending, TreeTable
from eddyline.engine.execution.shared_flow import Pace, SharedFlow
from eddyline.engine.execution.subscriptions import (
    FlowSubscription,
    GroupedSubscription,
    Subscription,
    TreeSubscription,
    rows_seen,
    seconds_unshared,
    subscription_in,
)
from eddyline.engine.ingest.tables import ParameterTable
from eddyline.engine.ingest.watermarks import StreamGroup, StreamGroups
from eddyline.engine.placement.placement import FlowPlacement, Placement, TreePlacement
from eddyline.engine.query import Query
from eddyline.errors import EddylineError
from eddyline.physical.clauses import constants_of
from eddyline.physical.flows import EddyNumber, FlowPlanner, Sharing
from eddyline.physical.node_planner import StemOf
from eddyline.physical.state_forms import planner
from eddyline.physical.strategy import Strategy
from eddyline.runtime.eddy.eddy import Eddy
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.failures import Failure, collecting
from eddyline.runtime.feedback.join_counts import JoinCounts
from eddyline.runtime.graph import Chain, Graph, Ran, in_order
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.window_join.joined_work import JoinedWork
from eddyline.sharing.existence import common_rights
from eddyline.sharing.instances import Instances
from eddyline.sharing.signature import Part


class Execution:
    """The operators of all queries.

    Equal sub-plans of trees run once. The state of a flow follows from the rows in the SteMs and
    from its queries, so a query can change from a tree to a flow, and back, between two chunks.

    Attributes:
        scheduled_work: that of ``serve`` so far.
        graph: the operators. flows: by key. pending: result tables with changes to be fetched.
    """

    def __init__(
        self, stem_of: StemOf, strategy: Strategy, sharing: Sharing, groups: StreamGroups
    ) -> None:
        self.graph = Graph()
        self.flows: dict[Hashable, SharedFlow] = {}
        self.pending = Pending()
        self.scheduled_work = JoinedWork()
        self._groups = groups
        self._chains: dict[StreamGroup, Chain] = {}
        self._chained = (0, 0)  # the versions of the operators and of the groups that they are of
        self._stem_of = stem_of
        self.plan_by(strategy, sharing)

    def plan_by(self, strategy: Strategy, sharing: Sharing) -> None:
        """Build the operators of queries to come like this; there is no operator yet."""
        self._planner = planner(self.graph, self._stem_of, strategy)
        self._flow_planner = FlowPlanner(
            self.graph, self._planner, self._stem_of, sharing, strategy
        )

    # -- placements ----------------------------------------------------

    def move(self, query: Query, placement: Placement | None) -> None:
        """Start a query, stop it (None), or run it in another way from now on: between two chunks.

        A query that is started reports what is already in its answer. One that is moved reports
        nothing again, and keeps its counts and pending changes, as one that is stopped.

        Raises:
            EddylineError: it cannot run like that; nothing has changed.
        """
        before = query.placement
        if not (isinstance(before, FlowPlacement) and before.runs_as(placement)):
            match placement:
                case TreePlacement():
                    if placement.all_changes is None and query.emit.is_periodic:
                        all_changes = self._planner.reads_all_changes(placement.plan)
                        placement = replace(placement, all_changes=all_changes)
                    self._subscribe(query, self._new_tree(query, placement, report=before is None))
                case FlowPlacement():
                    subscription = self._join_flow(query, placement)
                    if isinstance(subscription, GroupedSubscription):
                        placement = replace(placement, number=subscription.number)
                    self._subscribe(query, subscription)
                    if before is None:
                        self._report_answer(query, subscription)
                case None:
                    self._leave(query, query.running)
                    query.subscription = None
        query.placement = placement

    def add_parameterized(
        self,
        query: Query,
        placement: FlowPlacement,
        table: ParameterTable,
        instances: Instances | None,
        *,
        restored: bool,
    ) -> None:
        """Run a new query in a flow, with one instance per row of a table.

        Args:
            instances: how they run above the flow; None: they do not.
            restored: whether those above a flow are added later, from a checkpoint.
        """
        shared, part = self._flow(query, placement), placement.part
        schema, group = query.change_schema, self.group_of(query)
        subscription: ParameterizedSubscription
        if instances is None:
            kept = self._planner.materialises(lambda: query.plan)
            of = query.name, shared, part, schema, table
            subscription = ParameterizedSubscription(*of, kept=kept)
        else:  # rows of one instance do not replace those of another
            width = len(placement.signature.schema)
            operator = self._flow_planner.per_query(shared.flow, part, width, replaces=False)
            subscription = ParameterizedGroups(
                *(query.name, shared, instances, operator, schema, table),
                lambda: group.began is not None,
            )
            self.graph.add_end(operator, subscription.table)
            self.graph.use(operator)
            self.graph.release(shared.flow)  # it is read through the operator
            if group.began is not None:
                operator.clock = group.clock
        self._subscribe(query, subscription)
        query.placement = placement
        if restored and instances is not None:
            return
        try:
            subscription.sync(self.group_of(query).clock)
        except EddylineError:
            self.move(query, None)
            raise
        self._report_answer(query, subscription)

    def _subscribe(self, query: Query, subscription: Subscription) -> None:
        """Set the subscription of a query, and end the one before."""
        before, query.subscription = query.subscription, subscription
        seen = rows_seen(subscription.operator)
        if before is None:
            query.seen_before = seen
            return
        query.seen_before += seen - rows_seen(before.operator)
        query.metrics.add_work(np.array([seconds_unshared(before)]), np.zeros(1))
        self._leave(query, before)

    def _report_answer(self, query: Query, subscription: FlowSubscription) -> None:
        """Report what is already in the answer of a new query."""
        group = self.group_of(query)
        there = group.began is not None and subscription.shared.flow.holds_rows()
        if there and not query.emit.is_periodic:
            changes = subscription.table.table(subscription.answer(group.clock))
            self.pending.put(query.name, changes)
            query.metrics.add_results(np.array([changes.num_rows]))

    def _leave(self, query: Query, subscription: Subscription) -> None:
        """End a subscription; the query keeps its counts and pending changes."""
        subscription.add_metrics(query.metrics)
        if not isinstance(subscription, FlowSubscription):
            self.graph.remove_end(subscription.operator, subscription.table)
            self.graph.release(subscription.operator)
            return
        table = subscription.table
        if table.owner is None:
            self.pending.put(query.name, table.of(query.name))
        subscription.leave(query.name)
        if isinstance(table, Grouping) and not table.numbers:
            self.graph.remove_end(table.operator, table)
        self._release(subscription.shared, subscription.operator)

    def _release(self, shared: SharedFlow, operator: Operator) -> None:
        """Count one reader less of a flow, through this operator."""
        self.graph.release(operator)
        if not shared.tables:
            self.flows = {k: f for k, f in self.flows.items() if f is not shared}

    # -- operators -----------------------------------------------------

    def eddy(self, number: EddyNumber) -> Eddy:
        """The eddy that flows share."""
        eddy = self.graph.find(number)
        assert isinstance(eddy, Eddy), "it has queries"
        return eddy

    def groups(self, grouping: Plan) -> bool:
        """Whether a tree has an operator of this GROUP BY or DISTINCT."""
        return self._planner.runs(grouping)

    def shares_inputs(self, plan: Plan) -> bool:
        """Whether other queries have operators of what feedback would be relayed through."""
        return self._planner.shares_inputs(plan)

    def joined(self, join: Join) -> JoinCounts | None:
        """Rows of a join of a tree so far, and results; None: it does not run."""
        operator = self._planner.join(join)
        return None if operator is None else operator.counts

    def _new_tree(
        self, query: Query, placement: TreePlacement, *, report: bool
    ) -> TreeSubscription:
        known, of_all = set(self.graph), placement.all_changes
        try:
            operator = self._planner.query(placement.plan, query.emit, all_changes=of_all)
        except EddylineError:
            self.graph.sweep()
            raise
        self.graph.use(operator)
        table = TreeTable(query.name, query.change_schema, self.pending, replaces=query.replaces)
        self.graph.add_end(operator, table)
        group = self.group_of(query)
        if group.began is not None:
            table.begin(group.began)
        primed = self.graph.prime(known, group.clock)
        if report and operator in primed:
            table.collect(primed[operator], None)
        elif report and not query.emit.is_periodic:
            table.collect(operator.live(group.clock), None)
        self.graph.settle(group.clock, self.chain_of(group))
        return TreeSubscription(operator, table)

    def _join_flow(self, query: Query, placement: FlowPlacement) -> FlowSubscription:
        kept = self._planner.materialises(lambda: query.plan)
        shared, key = self._flow(query, placement), (placement.table, kept)
        try:
            if placement.is_numbered:
                return self._join_grouping(query, shared, placement)
            bit = shared.admit(query.name, key, placement.part, placement.kind)
        except EddylineError:
            self.graph.sweep()
            self._release(shared, shared.flow)
            raise
        of = key, query.change_schema, placement.part
        table = shared.table(*of, replaces=query.replaces, kept=kept)
        table.subscribe(query.name, bit)
        return subscription_in(shared, table, key, bit, self.group_of(query).clock)

    def _join_grouping(
        self, query: Query, shared: SharedFlow, placement: FlowPlacement
    ) -> GroupedSubscription:
        part, key = placement.part, placement.table
        self._prepare(query, part)
        operator = self._flow_planner.per_query(shared.flow, part, len(shared.signature.schema))
        bit = shared.admit(query.name, key, part, placement.kind)
        is_new = key not in shared.groupings
        grouping = shared.grouping(key, query.change_schema, operator, replaces=query.replaces)
        grouping.subscribe(query.name, bit)
        constants = constants_of(part)
        number = placement.number
        subscription = GroupedSubscription(shared, grouping, key, bit, number, constants)
        if is_new:
            self.graph.add_end(operator, grouping)
        self.graph.use(operator)
        self.graph.release(shared.flow)  # it is read through the operator
        group = self.group_of(query)
        if group.began is not None:
            tree = [] if query.subscription is None else in_order([query.operator])
            subscription.bring_up(tree, group.clock)
        return subscription

    def _prepare(self, query: Query, part: Part) -> None:
        """Start what the rows above a flow are matched with, where it does not run yet."""
        assert part.above is not None, "it is numbered"
        new = [p for p in common_rights(part.above) if not self._planner.runs_source(p)]
        if new:
            known, clock = set(self.graph), self.group_of(query).clock
            for plan in new:
                self._planner.source(plan)
            self.graph.prime(known, clock)
            self.graph.settle(clock, self.chain_of(self.group_of(query)))

    def _flow(self, query: Query, placement: FlowPlacement) -> SharedFlow:
        """The flow of a placement, with one more reader."""
        key, signature = placement.flow, placement.signature
        if key not in self.flows:
            known = set(self.graph)
            try:
                flow = self._flow_planner.flow(signature, key, placement.eddy)
            except EddylineError:
                self.graph.sweep()
                raise
            group = self.group_of(query)
            self.graph.prime(known, group.clock)
            self.graph.settle(group.clock, self.chain_of(group))
            self.flows[key] = SharedFlow(signature, flow, self.pending)
            self.graph.add_end(flow, self.flows[key])
        self.graph.use(self.flows[key].flow)
        return self.flows[key]

    # -- rows ----------------------------------------------------------

    def group_of(self, query: Query) -> StreamGroup:
        """The group of streams whose clock a query follows."""
        return self._groups.of(query.reads)

    def chain_of(self, group: StreamGroup) -> Chain:
        """The operators of a group's queries; decided when operators or groups change."""
        versions = self.graph.version, self._groups.version
        if versions != self._chained:
            self._chains, self._chained = {}, versions
        if group not in self._chains:
            others = (g.members for g in self._groups.all if g is not group)
            self._chains[group] = self.graph.chain(frozenset().union(*others))
        return self._chains[group]

    def begin(self, group: StreamGroup, instant: int) -> None:
        """Set the first instant of a group of streams."""
        for ends in self.chain_of(group).ends:
            for end in ends:
                end.begin(instant)

    def run(self, tick: Tick, group: StreamGroup, *, arrived: float, pace: Pace = "at once") -> Ran:
        """Run one chunk of a group's rows through the operators of its queries.

        Args:
            arrived: when its rows could be processed (``time.perf_counter``).
            pace: whether to queue rows where windows of one join differ; see ``serve``.
        """
        chain = self.chain_of(group)
        for shared in self.flows.values():
            if shared.flow in chain.operators:
                shared.pace(pace, arrived)
        ran = self.graph.run(tick, chain, arrived=arrived)
        group.clock = tick.clock
        self.graph.settle(tick.clock, chain, ran.broken)
        return ran

    def failures(self, ran: Ran) -> dict[str, list[Failure]]:
        """By query, the rows that failed for it in a chunk."""
        by_query: dict[str, list[Failure]] = {}
        for operator, failure in ran.failures:
            for name, of_query in self._failed(operator, failure):
                by_query.setdefault(name, []).append(of_query)
        return by_query

    def broken(self, ran: Ran) -> dict[str, Exception]:
        """By query, the error that one of its operators raised in a chunk."""
        return {n: e for o, e in ran.broken.items() for n in self.graph.readers([o])}

    def _failed(self, operator: Operator, failure: Failure) -> Iterator[tuple[str, Failure]]:
        if isinstance(operator, Eddy):
            flows = (s for s in self.flows.values() if operator in s.flow.inputs)
            return (item for shared in flows for item in shared.failed(failure))
        flow = operator.flow if isinstance(operator, PerQuery) else operator
        shared = next((s for s in self.flows.values() if s.flow is flow), None)
        if shared is not None:
            return shared.failed(failure)
        return ((name, failure) for name in self.graph.readers([operator]))

    def elapsed_us(self, query: Query) -> int:
        """Microseconds of event time so far."""
        group = self.group_of(query)
        return 0 if group.began is None else group.clock - group.began

    @property
    def waiting(self) -> bool:
        """Whether there are queued rows."""
        return any(shared.flow.waiting for shared in self.flows.values())

    def waiting_rows(self, group: StreamGroup) -> int:
        """Number of rows of a group that are queued in joins."""
        waiting = [shared.flow for shared in self.flows.values() if shared.flow.waiting]
        operators = self.chain_of(group).operators if waiting else {}
        return sum(flow.queued_rows for flow in waiting if flow in operators)

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be processed before all queued rows."""
        return all(shared.flow.wants_rows for shared in self.flows.values())

    def serve(self) -> Ran:
        """Process some of the queued rows, in every flow."""
        ran = Ran()
        for shared in self.flows.values():
            if shared.flow.waiting:
                before = shared.flow.scheduled_work
                with collecting() as failures:
                    shared.serve()
                ran.failures += [(shared.flow, failure) for failure in failures]
                self.scheduled_work = self.scheduled_work.plus(shared.flow.scheduled_work - before)
        return ran
