"""How each query runs: as a tree of operators, or with a seat in the flow of its signature."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eddyline.algebra.plan import Plan, StreamScan
from eddyline.errors import EddylineError
from eddyline.optimizer.joins.trees import Tree
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import Work
from eddyline.physical.flows import FlowPlanner, Sharing
from eddyline.physical.graph import Graph, in_order
from eddyline.physical.planner import Planner, StemOf
from eddyline.physical.strategy import Strategy
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.session.accounts import brought_along, rows_seen
from eddyline.session.adaptive import (
    Steadiness,
    best_order,
    joins_below,
    until_changed,
    until_steady,
)
from eddyline.session.groupings import add_grouped
from eddyline.session.query import Query
from eddyline.session.replanning import Ordered, Replanner
from eddyline.session.shared import Learning, Seat, SharedFlow, shape_of
from eddyline.session.ways import InOrder, Way, way_of
from eddyline.session.workload import OrderedWork, learn, works_of
from eddyline.sharing.grouping import grouped_apart, lowest_grouping
from eddyline.sharing.reordering import joins_in, joins_of
from eddyline.sharing.signature import Part, Signature, taken_apart
from eddyline.sharing.trees import tree_of
from eddyline.types import BEGINNING


@dataclass(frozen=True)
class Place:
    """Where a query can run with others.

    Attributes:
        flow: what queries have in common that run in one flow.
        shape: what those have in common that are grouped together; None if it does not group.
    """

    flow: object
    shape: object
    signature: Signature
    part: Part

    @property
    def key(self) -> object:
        """What queries have in common that share all that can be shared there."""
        return self.flow if self.shape is None else (self.flow, self.shape)


@dataclass
class Alone:
    """A query that has no other one to share a flow with.

    Attributes:
        order: of its joins, if it has become a tree. watched: the fan-outs of its joins.
    """

    query: Query
    place: Place
    order: tuple[int, ...] | None = None
    watched: Steadiness = field(default_factory=until_steady)


class Answering(Protocol):
    """Whoever knows what is in an answer."""

    def answer(self, clock: int) -> Fanout:
        """The results that are in the answer at ``clock``."""


class Execution:
    """The operators of all queries.

    Equal sub-plans of trees run once. What a flow knows follows from the rows in the SteMs and from
    who its queries are, so a query can change from its tree to a flow, and back, between two
    chunks.

    Args:
        queries: all that stand, by name.

    Attributes:
        graph: the operators. flows: by signature. trees: by name, the queries that run as trees.
        clock: the instant up to which everything is processed.
        began: the first instant at which anything happened.
        reordered: how often a tree of joins has got another order.
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        stem_of: StemOf,
        strategy: Strategy,
        sharing: Sharing,
        replanner: Replanner,
    ) -> None:
        self.graph = Graph()
        self.flows: dict[object, SharedFlow] = {}
        self.trees: dict[str, Query] = {}
        self.clock = BEGINNING
        self.began: int | None = None
        self.reordered = 0
        self._queries = queries
        self._strategy = strategy
        self._sharing = sharing
        self._planner = Planner(self.graph, stem_of, strategy)
        self._flow_planner = FlowPlanner(
            self.graph, self._planner, stem_of, sharing, strategy.feedback
        )
        self._alone: dict[object, Alone] = {}  # by signature, those that could share
        self._replanner = replanner
        self._ordered: dict[str, Ordered] = {}  # by name, those whose joins may be reordered

    # -- queries come and go -----------------------------------------------------------------------

    def start(self, query: Query, way: Way | None) -> None:
        """Run a query: in this way, or as the options say."""
        places, query.why = self._places(query)
        if way == "eddy":
            places = [p for p in places if p.shape is None]
        is_tree = way == "tree" or isinstance(way, InOrder)
        taken = next((p for p in places if not is_tree and self._is_taken(query, p)), None)
        if not places or (way == "tree" and self._never_alone_as_tree(query, places[0])):
            self._plant_as_planned(query, way)
        elif isinstance(way, tuple):
            self._alone[places[0].key] = Alone(query, places[0])
            self._become_tree(places[0].key, way)
        elif isinstance(way, int):
            self._share(query, places[-1], way)
        elif taken is not None:
            self._share(query, taken)
        elif self._sharing.executor == "eddy":
            self._share(query, _widest(places))
        else:
            self._start_alone(query, places, way)

    def stop(self, query: Query) -> None:
        """Free what nobody else needs."""
        self._ordered.pop(query.name, None)
        if query.seat is None:
            self.graph.give_up(query.operator)
            del self.trees[query.name]
        else:
            query.seat.leave(query.name)
            self.let_go(query.seat.shared, query.operator)
            self._look_for_the_last(query.seat.shared)
        self._is_not_alone(query)

    def flow_for(self, query: Query, signature: Signature) -> SharedFlow:
        """The flow of a signature, with this query as one more reader."""
        key = self._flow_key(signature, query.name)
        self._seat_who_is_alone(key)
        shared = self._flow(key, signature)
        query.operator = shared.flow
        query.seen_before = rows_seen(in_order([shared.flow]))
        return shared

    def _flow_key(self, signature: Signature, name: str) -> object:
        """What queries have in common that share a flow."""
        return signature, None if self._sharing.sharing else name

    def _places(self, query: Query) -> tuple[list[Place], str]:
        """Where the query can run with others, those first where it shares most; and why it runs as
        it does if there are none.
        """
        if self._sharing.executor == "tree":
            return [], "executor is 'tree'"
        if query.emit.mode != "inserts":
            return [], f"{query.emit} is made by operators of its own"
        if not self._strategy.shares:
            return [], "the state option or views ask for operators of its own"
        grouped = not self._strategy.explicit_above_negation(query.plan)
        found = [taken_apart(query.plan), grouped_apart(query.plan) if grouped else None]
        places = [self._place(query, *f) for f in found if f is not None]
        why = "" if places else "it is no select-project-join query, grouped or not"
        return places, why

    def _place(self, query: Query, signature: Signature, part: Part) -> Place:
        flow = self._flow_key(signature, query.name)
        shape = None
        if part.above is not None:
            shape = shape_of(part, replaces=query.replace_key is not None)
        return Place(flow, shape, signature, part)

    def _is_taken(self, query: Query, place: Place) -> bool:
        """Whether there is another query in this place, or one alone that would share it."""
        if self._runs_already(query, place):
            return False
        if place.key in self._alone or place.flow not in self.flows:
            return place.key in self._alone
        return place.shape is None or place.shape in self.flows[place.flow].groupings

    def _runs_already(self, query: Query, place: Place) -> bool:
        """Whether a tree groups the same rows, so that the query can read the same groups."""
        grouping = lowest_grouping(query.plan)
        return place.shape is not None and grouping is not None and self._planner.runs(grouping)

    def _start_alone(self, query: Query, places: Sequence[Place], way: Way | None) -> None:
        """Run a query that has no other one to share with: ``executor = 'auto'``.

        Args:
            way: how it ran when it was saved.
        """
        first = places[0]
        if first.shape is None and (way == "eddy" or self._order_is_a_guess(query, first)):
            query.why = _why_in_eddy(first.signature)
            query.seat = self._seat(query, first)
            self.report_answer(query, query.seat)
            places = [first]
        else:
            query.why = "no other query has its sources and join keys"
            if first.shape is not None:
                query.why += ", and groups as it does"
            if self._runs_already(query, places[-1]):
                query.why = "it reads the groups of a query that groups the same rows"
            self._plant_as_planned(query, way)
        self._alone = {p.key: Alone(query, p) for p in places} | self._alone

    def _never_alone_as_tree(self, query: Query, place: Place) -> bool:
        """Whether a query of this place is a tree only if saved when such queries did not share."""
        begins_in_eddy = place.shape is None and self._order_is_a_guess(query, place)
        return begins_in_eddy or self._sharing.executor == "eddy"

    def _order_is_a_guess(self, query: Query, place: Place) -> bool:
        """Whether a query joins several streams in an order that nothing speaks for."""
        if len(place.signature.sources) < 3:
            return False
        joins = joins_of(query.plan)
        return joins is None or not joins.graph.is_known(self._strategy.statistics)

    def _is_not_alone(self, query: Query) -> None:
        self._alone = {k: a for k, a in self._alone.items() if a.query is not query}

    def _look_for_the_last(self, shared: SharedFlow) -> None:
        """Note who is alone in a flow now."""
        if self._sharing.executor != "auto" or shared.flow.members != 1 or len(shared.shapes) != 1:
            return
        (shape,) = shared.shapes.values()
        if shape.crowd is not None:
            return
        (name,) = shape.seats
        last = self._queries[name]
        last.why = _why_in_eddy(shared.signature)
        if not shared.groupings:
            place = self._places(last)[0][0]
            self._alone[place.key] = Alone(last, place)

    def let_go(self, shared: SharedFlow, operator: Operator) -> None:
        """A flow has one reader less, of this operator's results."""
        self.graph.give_up(operator)
        if not shared.shapes:
            self.flows = {k: f for k, f in self.flows.items() if f is not shared}

    def _plant_as_planned(self, query: Query, way: Way | None = None) -> None:
        """Let a query run as a tree, whose joins may be reordered later; ``way``: or have been."""
        joins = joins_of(query.plan)
        if joins is not None and query.emit.mode != "snapshot":
            way = way if isinstance(way, InOrder) else InOrder(joins.tree)
            self._ordered[query.name] = Ordered.saved(query, joins, way)
            query.plan = joins.plan(way.tree)
        self._plant(query)

    def _plant(self, query: Query, plan: Plan | None = None, *, report: bool = True) -> None:
        """Let a query run as a tree: of another plan, if one is given."""
        known = set(self.graph)
        try:
            operator = self._planner.query(plan or query.plan, query.emit)
        except EddylineError:
            self.graph.sweep()
            raise
        self.graph.use(operator)
        query.operator = operator
        self.trees[query.name] = query
        if self.began is not None:
            query.begin(self.began)
        primed = self.graph.prime(known, self.clock)
        if report:
            query.collect(primed[operator] if operator in primed else operator.live(self.clock))
        self.graph.settle(self.clock)
        query.seen_before = rows_seen(in_order([operator]))

    def _share(self, query: Query, place: Place, number: int | None = None) -> None:
        """Give a query a seat in a flow; ``number``: that it had when it was saved."""
        if number is None:  # otherwise it is known who has a seat
            self._seat_who_is_alone(place.key)
        query.why = "it shares the flow of its signature"
        query.seat = self._seat(query, place, number)
        self.report_answer(query, query.seat)

    def _seat_who_is_alone(self, key: object) -> None:
        """A query comes to share the flow of a signature: so does who was alone with it."""
        if key in self._alone:
            query = self._alone[key].query
            self._become_eddy(key, "it shares the flow of its signature")
            self._is_not_alone(query)

    def report_answer(self, query: Query, source: Answering) -> None:
        """Let a query that has just got its seat say what is in its answer already."""
        assert query.seat is not None, "it has just got one"
        if self.began is not None and query.seat.shared.flow.holds_rows():
            query.put(query.seat.shape.table(source.answer(self.clock)))

    def _seat(self, query: Query, place: Place, number: int | None = None) -> Seat:
        shared = self._flow(place.flow, place.signature)
        try:
            if place.part.above is not None:
                return self._grouped(query, shared, place.part, place.part.above, number)
            query.operator = shared.flow
            query.seen_before = rows_seen(in_order([shared.flow]))
            replaces = query.replace_key is not None
            return shared.add(query.name, place.part, query.change_schema, replaces=replaces)
        except EddylineError:
            self.graph.sweep()
            self.let_go(shared, shared.flow)
            raise

    def _grouped(
        self, query: Query, shared: SharedFlow, part: Part, above: Plan, number: int | None
    ) -> Seat:
        """A seat at the operators that group for all."""
        operator = self._flow_planner.per_query(shared.flow, part.outputs, above)
        seat = add_grouped(
            shared,
            query.name,
            part,
            query.change_schema,
            operator,
            replaces=query.replace_key is not None,
            number=number,
        )
        self.graph.use(operator)
        self.graph.give_up(shared.flow)  # it is read through the operator
        if self.began is not None:
            tree = in_order([query.operator]) if query.name in self.trees else []
            seat.bring_up(tree, self.clock)
        query.operator = operator
        query.seen_before = rows_seen(in_order([operator]))
        return seat

    def _flow(self, key: object, signature: Signature) -> SharedFlow:
        """The flow of a signature, with one more reader."""
        if key not in self.flows:
            known = set(self.graph)
            try:
                flow = self._flow_planner.flow(signature, key)
            except EddylineError:
                self.graph.sweep()
                raise
            self.graph.prime(known, self.clock)
            self.graph.settle(self.clock)
            self.flows[key] = SharedFlow(signature, flow)
        self.graph.use(self.flows[key].flow)
        return self.flows[key]

    # -- rows --------------------------------------------------------------------------------------

    def run(self, tick: Tick, *, arrived: float, paced: bool = False) -> list[Query]:
        """One chunk through all operators; returns the queries that have changes of their own.

        Args:
            arrived: when its rows could be processed (``time.perf_counter``).
            paced: let rows wait for their turn, where windows of one join differ; see ``serve``.
        """
        for shared in self.flows.values():
            shared.pace(paced=paced, arrived=arrived)
        outputs = self.graph.run(tick)
        changed = [q for q in self.trees.values() if q.collect(outputs[q.operator])]
        seconds = time.perf_counter() - arrived
        for query in changed:
            query.note_latency(seconds)
        for shared in self.flows.values():
            shared.collect(arrived)
        self.clock = tick.clock
        self.graph.settle(tick.clock)
        return changed

    @property
    def waiting(self) -> bool:
        """Whether rows wait for their turn."""
        return any(shared.flow.waiting for shared in self.flows.values())

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be served before all those that wait."""
        return all(shared.flow.wants_rows for shared in self.flows.values())

    def serve(self) -> None:
        """Serve some of the rows that wait, in every flow."""
        for shared in self.flows.values():
            if shared.flow.waiting:
                shared.serve()

    def adapt(self) -> list[Query]:
        """Between two chunks, choose anew how queries run: those that are alone with their
        signatures, and trees whose joins are cheaper in another order.

        Returns:
            Those that have become trees: what they had to report with their flow is their own now.
        """
        planted = []
        for key, alone in self._alone.items():
            if alone.place.shape is not None or len(alone.place.signature.sources) < 3:
                continue
            operators = in_order([alone.query.operator])
            if alone.query.name in self._ordered:
                continue
            if alone.order is None:
                flow = self.flows[key].flow
                if alone.watched.look(rows_seen(operators), flow.fan_outs):
                    self._become_tree(key, best_order(flow))
                    planted.append(alone.query)
            elif alone.watched.look(rows_seen(operators), joins_below(operators[-1])) is False:
                self._become_eddy(key, "the fan-outs of its joins have changed")
        for ordered in self._replanner.due(self._ordered):
            self._reorder(ordered)
        return planted

    def _reorder(self, ordered: Ordered) -> None:
        """Let a tree join in a better order, if there is one."""
        ordered.look(self._joined(ordered))
        better = self._replanner.better(ordered, self._elapsed)
        if better is not None:
            share = f"{better.share:.0%} of what its joins cost in the order before"
            self._plant_anew(ordered, better.tree, f"expected to take {share}")

    @property
    def _elapsed(self) -> int:
        """Microseconds of event time so far."""
        return 0 if self.began is None else self.clock - self.began

    def works(self) -> list[Work]:
        """What runs, to be reckoned with."""

        def cheapest(ordered: Ordered, statistics: Statistics) -> Tree:
            return self._replanner.cheapest(ordered, statistics, self._elapsed)

        return works_of(self._queries.values(), self._ordered, cheapest)

    def learn(self, statistics: Statistics, seconds: float) -> bool:
        """So much time has passed, with rows like these: whether works need more or less than was
        expected.
        """
        return learn(self._queries.values(), statistics, seconds)

    def learnt(self) -> dict[str, tuple[float, int]]:
        """What has been learnt of flows, by one query of each, to be saved."""
        names = {q.seat.shared: q.name for q in self._queries.values() if q.seat is not None}
        return {
            name: (flow.learning.factor, flow.learning.handed_out - flow.learning.before)
            for flow, name in names.items()
        }

    def restore_learnt(self, saved: Mapping[str, tuple[float, int]]) -> None:
        """Take over what ``learnt`` returned; the queries are there already."""
        for name, (factor, handed_out) in saved.items():
            seat = self._queries[name].seat
            assert seat is not None, "queries run as they did"
            seat.shared.learning = Learning(factor, handed_out)

    def reorder(self, works: Iterable[Work]) -> None:
        """Let trees join as these works have it, of those that :meth:`works` told."""
        for work in works:
            assert isinstance(work, OrderedWork), "other works have no order"
            self._plant_anew(work.ordered, work.tree, "the best to shed load from")

    def _joined(self, ordered: Ordered) -> dict[Tree, tuple[int, int]]:
        """Rows that the joins of a tree have joined so far, and results."""
        counts = {}
        for tree, join in joins_in(ordered.query.plan, ordered.tree).items():
            operator = self._planner.join(join)
            if operator is not None:
                counts[tree] = operator.joined, operator.rows_out
        return counts

    def _plant_anew(self, ordered: Ordered, tree: Tree, why: str) -> None:
        """Let a query that runs as a tree join in another order from now on."""
        query, before = ordered.query, ordered.query.operator
        account = brought_along(query)
        ordered.tree, query.plan = tree, ordered.joins.plan(tree)
        ordered.counts.clear()
        query.reordered += 1
        self.reordered += 1
        self._plant(query, report=False)
        account.go_on(query)
        self.graph.give_up(before)
        query.why = f"joins {ordered.order}, {why}"

    def _become_eddy(self, key: object, why: str) -> None:
        """Let a query that is alone with its signature run in a flow."""
        alone = self._alone[key]
        query, alone.order, alone.watched = alone.query, None, until_steady()
        query.why = why
        if query.seat is not None:
            return
        self._ordered.pop(query.name, None)
        tree, account = query.operator, brought_along(query)
        query.seat = self._seat(query, alone.place)
        account.go_on(query)
        self.graph.give_up(tree)
        del self.trees[query.name]

    def _become_tree(self, key: object, order: tuple[int, ...]) -> None:
        """Let a query that is alone with its signature run as a tree that joins in this order."""
        alone = self._alone[key]
        query, alone.order, alone.watched = alone.query, order, until_changed()
        signature, part = alone.place.signature, alone.place.part
        sources = [signature.sources[i] for i in order]
        names = ", ".join(s.stream for s in sources if isinstance(s, StreamScan))
        query.why = f"its joins have steady fan-outs; order: {names}"
        plan = tree_of(signature, part, order)
        seat = query.seat
        if seat is None:
            self._plant(query, plan)
            return
        account = brought_along(query)
        query.stand_up()
        self._plant(query, plan, report=False)
        account.go_on(query)
        seat.leave(query.name)
        self.let_go(seat.shared, seat.shared.flow)

    def ways(self) -> dict[str, Way]:
        """By name, how each query runs: what ``start`` takes to run it like that again."""
        orders: dict[str, Way] = {
            a.query.name: a.order for a in self._alone.values() if a.order is not None
        }
        ways = {n: way_of(q) for n, q in self._queries.items()}
        reordered: dict[str, Way] = {n: o.way(self._joined(o)) for n, o in self._ordered.items()}
        return {**ways, **orders, **reordered}


def _widest(places: Sequence[Place]) -> Place:
    """The place that most other queries are likely to share: of those that group, there are more
    with conditions of their own on rows than on groups.
    """
    filtered = (p for p in places if p.part.residual or any(p.part.filters))
    return next((p for p in filtered if p.shape is not None), places[0])


def _why_in_eddy(signature: Signature) -> str:
    """Why a query that is alone runs in a flow."""
    if len(signature.sources) > 2:
        return "the fan-outs of its joins are not known to be steady"
    return "the queries that shared its flow are gone"
