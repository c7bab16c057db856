"""How each query runs: as a tree of operators, or with a seat in the flow of its signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from eddyline.algebra.plan import Plan, StreamScan
from eddyline.errors import EddylineError
from eddyline.physical.flows import FlowPlanner, Sharing
from eddyline.physical.graph import Graph, in_order
from eddyline.physical.planner import Planner, StemOf
from eddyline.physical.strategy import Strategy
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.operators.base import Tick
from eddyline.session.accounts import brought_along, rows_seen
from eddyline.session.adaptive import (
    Steadiness,
    best_order,
    joins_below,
    until_changed,
    until_steady,
)
from eddyline.session.query import Query
from eddyline.session.shared import Seat, SharedFlow
from eddyline.sharing.signature import Part, Signature, taken_apart
from eddyline.sharing.trees import tree_of
from eddyline.types import BEGINNING

#: How a query runs: as a tree, in a flow, or as a tree of joins in this order.
Way = str | tuple[int, ...]


@dataclass
class Alone:
    """A query that has no other one to share a flow with.

    Attributes:
        order: of its joins, if it has become a tree. watched: the fan-outs of its joins.
    """

    query: Query
    signature: Signature
    part: Part
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
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        stem_of: StemOf,
        strategy: Strategy,
        sharing: Sharing,
    ) -> None:
        self.graph = Graph()
        self.flows: dict[object, SharedFlow] = {}
        self.trees: dict[str, Query] = {}
        self.clock = BEGINNING
        self.began: int | None = None
        self._queries = queries
        self._strategy = strategy
        self._sharing = sharing
        self._planner = Planner(self.graph, stem_of, strategy)
        self._flow_planner = FlowPlanner(self.graph, self._planner.source, stem_of, sharing)
        self._alone: dict[object, Alone] = {}  # by signature, those that could share

    # -- queries come and go -----------------------------------------------------------------------

    def start(self, query: Query, way: Way | None) -> None:
        """Run a query: in this way, or as the options say."""
        found, query.why = self._shareable(query)
        if found is None:
            self._plant(query)
            return
        signature, part = found
        key = self._key(signature, query.name)
        if isinstance(way, tuple):
            self._alone[key] = Alone(query, signature, part)
            self._become_tree(key, way)
        elif self._sharing.executor == "eddy" or self._is_taken(key):
            self._share(query, key, signature, part)
        else:
            self._start_alone(query, key, signature, part, seated=way == "eddy")

    def stop(self, query: Query) -> None:
        """Free what nobody else needs."""
        if query.seat is None:
            self.graph.give_up(query.operator)
            del self.trees[query.name]
        else:
            query.seat.leave(query.name)
            self.let_go(query.seat.shared)
            self._look_for_the_last(query.seat.shared)
        self._alone = {k: a for k, a in self._alone.items() if a.query is not query}

    def flow_for(self, query: Query, signature: Signature) -> SharedFlow:
        """The flow of a signature, with this query as one more reader."""
        key = self._key(signature, query.name)
        self._seat_who_is_alone(key)
        shared = self._flow(key, signature)
        query.operator = shared.flow
        query.seen_before = rows_seen(in_order([shared.flow]))
        return shared

    def _key(self, signature: Signature, name: str) -> object:
        """What queries have in common that share a flow."""
        return signature, None if self._sharing.sharing else name

    def _shareable(self, query: Query) -> tuple[tuple[Signature, Part] | None, str]:
        """What the query brings into a flow, if it can run in one, and why it runs as it does."""
        if self._sharing.executor == "tree":
            return None, "executor is 'tree'"
        if query.emit.mode != "inserts":
            return None, f"{query.emit} is made by operators of its own"
        if not self._strategy.shares:
            return None, "the state option or views ask for operators of its own"
        found = taken_apart(query.plan)
        return found, "it is no select-project-join query" if found is None else ""

    def _is_taken(self, key: object) -> bool:
        """Whether another query has this signature."""
        return key in self.flows or key in self._alone

    def _start_alone(
        self, query: Query, key: object, signature: Signature, part: Part, *, seated: bool
    ) -> None:
        """Run a query that has no other one to share with: ``executor = 'auto'``.

        Args:
            seated: it had a seat when it was saved.
        """
        if seated or len(signature.sources) > 2:
            query.why = _why_in_eddy(signature)
            query.seat = self._seat(query, key, signature, part)
            self.report_answer(query, query.seat)
        else:
            query.why = "no other query has its sources and join keys"
            self._plant(query)
        self._alone[key] = Alone(query, signature, part)

    def _look_for_the_last(self, shared: SharedFlow) -> None:
        """Note who is alone in a flow now."""
        if self._sharing.executor != "auto" or shared.flow.members != 1 or len(shared.shapes) != 1:
            return
        (shape,) = shared.shapes.values()
        if shape.crowd is not None:
            return
        (key,) = (k for k, flow in self.flows.items() if flow is shared)
        (name,) = shape.seats
        last = self._queries[name]
        found = taken_apart(last.plan)
        assert found is not None, "it has a seat"
        self._alone[key] = Alone(last, *found)
        last.why = _why_in_eddy(shared.signature)

    def let_go(self, shared: SharedFlow) -> None:
        """A flow has one reader less."""
        self.graph.give_up(shared.flow)
        if not shared.shapes:
            self.flows = {k: f for k, f in self.flows.items() if f is not shared}

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

    def _share(self, query: Query, key: object, signature: Signature, part: Part) -> None:
        """Give a query a seat in the flow of its signature."""
        self._seat_who_is_alone(key)
        query.why = "it shares the flow of its signature"
        query.seat = self._seat(query, key, signature, part)
        self.report_answer(query, query.seat)

    def _seat_who_is_alone(self, key: object) -> None:
        """A query comes to share the flow of a signature: so does who was alone with it."""
        if key in self._alone:
            self._become_eddy(key, "it shares the flow of its signature")
            del self._alone[key]

    def report_answer(self, query: Query, source: Answering) -> None:
        """Let a query that has just got its seat say what is in its answer already."""
        assert query.seat is not None, "it has just got one"
        if self.began is not None and query.seat.shared.flow.holds_rows():
            query.put(query.seat.shape.table(source.answer(self.clock)))

    def _seat(self, query: Query, key: object, signature: Signature, part: Part) -> Seat:
        shared = self._flow(key, signature)
        query.operator = shared.flow
        query.seen_before = rows_seen(in_order([shared.flow]))
        replaces = query.replace_key is not None
        try:
            return shared.add(query.name, part, query.change_schema, replaces=replaces)
        except EddylineError:
            self.let_go(shared)
            raise

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

    def run(self, tick: Tick) -> list[Query]:
        """One chunk through all operators; returns the queries that have changes of their own."""
        outputs = self.graph.run(tick)
        changed = [q for q in self.trees.values() if q.collect(outputs[q.operator])]
        for shared in self.flows.values():
            shared.collect()
        self.clock = tick.clock
        self.graph.settle(tick.clock)
        return changed + self._adapt()

    def _adapt(self) -> list[Query]:
        """Between two chunks: choose anew how queries run that are alone with their signatures.

        Returns:
            Those that have become trees: what they had to report with their flow is their own now.
        """
        planted = []
        for key, alone in self._alone.items():
            if len(alone.signature.sources) < 3:
                continue
            operators = in_order([alone.query.operator])
            if alone.order is None:
                flow = self.flows[key].flow
                if alone.watched.look(rows_seen(operators), flow.fan_outs):
                    self._become_tree(key, best_order(flow))
                    planted.append(alone.query)
            elif alone.watched.look(rows_seen(operators), joins_below(operators[-1])) is False:
                self._become_eddy(key, "the fan-outs of its joins have changed")
        return planted

    def _become_eddy(self, key: object, why: str) -> None:
        """Let a query that is alone with its signature run in a flow."""
        alone = self._alone[key]
        query, alone.order, alone.watched = alone.query, None, until_steady()
        query.why = why
        if query.seat is not None:
            return
        tree, account = query.operator, brought_along(query)
        query.seat = self._seat(query, key, alone.signature, alone.part)
        account.go_on(query)
        self.graph.give_up(tree)
        del self.trees[query.name]

    def _become_tree(self, key: object, order: tuple[int, ...]) -> None:
        """Let a query that is alone with its signature run as a tree that joins in this order."""
        alone = self._alone[key]
        query, alone.order, alone.watched = alone.query, order, until_changed()
        sources = [alone.signature.sources[i] for i in order]
        names = ", ".join(s.stream for s in sources if isinstance(s, StreamScan))
        query.why = f"its joins have steady fan-outs; order: {names}"
        plan = tree_of(alone.signature, alone.part, order)
        seat = query.seat
        if seat is None:
            self._plant(query, plan)
            return
        account = brought_along(query)
        query.stand_up()
        self._plant(query, plan, report=False)
        account.go_on(query)
        seat.leave(query.name)
        self.let_go(seat.shared)

    def ways(self) -> dict[str, Way]:
        """By name, how each query runs: what ``start`` takes to run it like that again."""
        orders: dict[str, Way] = {
            a.query.name: a.order for a in self._alone.values() if a.order is not None
        }
        ways: dict[str, Way] = {
            n: "tree" if q.seat is None else "eddy" for n, q in self._queries.items()
        }
        return {**ways, **orders}


def _why_in_eddy(signature: Signature) -> str:
    """Why a query that is alone runs in a flow."""
    if len(signature.sources) > 2:
        return "the fan-outs of its joins are not known to be steady"
    return "the queries that shared its flow are gone"
