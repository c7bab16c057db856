"""The standing queries of an engine, and the operators that run them: each its own, or shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan, Updates
from eddyline.errors import EddylineError, UnsupportedError
from eddyline.physical.flows import FlowPlanner, Sharing
from eddyline.physical.graph import Graph, in_order
from eddyline.physical.planner import Planner, StemOf
from eddyline.physical.strategy import Strategy
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.output import to_rows
from eddyline.runtime.stem import Stem
from eddyline.session.accounts import accounts_of, brought_along, rows_seen
from eddyline.session.adaptive import (
    Steadiness,
    best_order,
    joins_below,
    until_changed,
    until_steady,
)
from eddyline.session.query import Query
from eddyline.session.rules import Rules
from eddyline.session.shapes import RuleRows, SharedChanges
from eddyline.session.shared import Crowd, Seat, SharedFlow
from eddyline.sharing.signature import Part, Signature, taken_apart
from eddyline.sharing.trees import tree_of
from eddyline.sql.catalog import Names
from eddyline.types import BEGINNING

#: How a query runs: as a tree, in a flow, or as a tree of joins in this order.
Execution = str | tuple[int, ...]


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


class QuerySet:
    """Queries by name.

    A query runs as a tree of operators, of which equal sub-plans are shared, or has a seat in the
    flow of its signature. What a flow knows follows from the rows in the SteMs, so a query can
    change from its tree to a flow between two chunks.

    Attributes:
        graph: the operators. queries: by name.
        clock: the instant up to which everything is processed.
    """

    def __init__(self, stem_of: StemOf, strategy: Strategy, sharing: Sharing) -> None:
        self.graph = Graph()
        self.queries: Names[Query] = Names()
        self.clock = BEGINNING
        self._strategy = strategy
        self._sharing = sharing
        self._planner = Planner(self.graph, stem_of, strategy)
        self._flow_planner = FlowPlanner(self.graph, self._planner.source, stem_of, sharing)
        self._flows: dict[object, SharedFlow] = {}
        self._trees: dict[str, Query] = {}  # the queries that run as trees
        self._alone: dict[object, Alone] = {}  # by signature, those that could share
        self._rules: dict[str, Rules] = {}
        self._to_report: dict[str, Query] = {}  # those that may have changes of their own
        self._began: int | None = None

    # -- queries come and go -----------------------------------------------------------------------

    def add(
        self,
        name: str,
        sql: str,
        plan: Plan,
        emit: Emit,
        options: Mapping[str, str],
        *,
        executor: Execution | None = None,
    ) -> Query:
        """Add a query: it is answered from now on, over what the windows still hold.

        Args:
            executor: how it runs; None: as the options say.
        """
        query = Query(name, sql, plan, emit, options, self.answer)
        found, query.why = self._shareable(plan, emit)
        if found is None:
            self._plant(query)
        else:
            signature, part = found
            key = (signature, None if self._sharing.sharing else name)
            if isinstance(executor, tuple):
                self._alone[key] = Alone(query, signature, part)
                self._become_tree(key, executor)
            elif self._sharing.executor == "eddy" or self._is_taken(key):
                self._share(query, key, signature, part)
            else:
                self._add_alone(query, key, signature, part, seated=executor == "eddy")
        self.queries[name] = query
        self._to_report[name] = query
        return query

    def _add_alone(
        self, query: Query, key: object, signature: Signature, part: Part, *, seated: bool
    ) -> None:
        """Add a query that has no other one to share with: ``executor = 'auto'``.

        Args:
            seated: it had a seat when it was saved.
        """
        if seated or len(signature.sources) > 2:
            query.why = _why_in_eddy(signature)
            query.seat = self._seat(query, key, signature, part)
            self._report_answer(query)
        else:
            query.why = "no other query has its sources and join keys"
            self._plant(query)
        self._alone[key] = Alone(query, signature, part)

    def drop(self, name: str) -> None:
        """Remove a query, and free what nobody else needs."""
        query = self.queries.pop(name)
        self._to_report.pop(query.name, None)
        if query.seat is None:
            self.graph.give_up(query.operator)
            del self._trees[query.name]
        else:
            self._leave(query, query.seat)
            self._look_for_the_last(query.seat.shared)
        self._alone = {k: a for k, a in self._alone.items() if a.query is not query}

    def _look_for_the_last(self, shared: SharedFlow) -> None:
        """Note who is alone in a flow now."""
        if self._sharing.executor != "auto" or shared.flow.members != 1 or len(shared.shapes) != 1:
            return
        (shape,) = shared.shapes.values()
        if shape.crowd is not None:
            return
        (key,) = (k for k, flow in self._flows.items() if flow is shared)
        (name,) = shape.seats
        last = self.queries[name]
        found = taken_apart(last.plan)
        assert found is not None, "it has a seat"
        self._alone[key] = Alone(last, *found)
        last.why = _why_in_eddy(shared.signature)

    def _leave(self, query: Query, seat: Seat | Crowd) -> None:
        seat.leave(query.name)
        if query.name in self._rules:
            self._rules.pop(query.name).close()
        self._let_go(seat.shared)

    def _let_go(self, shared: SharedFlow) -> None:
        """A flow has one reader less."""
        self.graph.give_up(shared.flow)
        if not shared.shapes:
            self._flows = {k: f for k, f in self._flows.items() if f is not shared}

    def _shareable(self, plan: Plan, emit: Emit) -> tuple[tuple[Signature, Part] | None, str]:
        """What the query brings into a flow, if it can run in one, and why it runs as it does."""
        if self._sharing.executor == "tree":
            return None, "executor is 'tree'"
        if emit.mode != "inserts":
            return None, f"{emit} is made by operators of its own"
        if not self._strategy.shares:
            return None, "the state option or views ask for operators of its own"
        found = taken_apart(plan)
        return found, "it is no select-project-join query" if found is None else ""

    def _is_taken(self, key: object) -> bool:
        """Whether another query has this signature."""
        return key in self._flows or key in self._alone

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
        self._trees[query.name] = query
        if self._began is not None:
            query.begin(self._began)
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
        self._report_answer(query)

    def _seat_who_is_alone(self, key: object) -> None:
        """A query comes to share the flow of a signature: so does who was alone with it."""
        if key in self._alone:
            self._become_eddy(key, "it shares the flow of its signature")
            del self._alone[key]

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
        del self._trees[query.name]

    def _become_tree(self, key: object, order: tuple[int, ...]) -> None:
        """Let a query that is alone with its signature run as a tree that joins in this order."""
        alone = self._alone[key]
        query, alone.order, alone.watched = alone.query, order, until_changed()
        names = [f"{s.label}" for s in (alone.signature.sources[i] for i in order)]
        query.why = f"its joins have steady fan-outs; order: {', '.join(names)}"
        plan = tree_of(alone.signature, alone.part, order)
        seat = query.seat
        if seat is None:
            self._plant(query, plan)
            return
        account = brought_along(query)
        query.stand_up()
        self._plant(query, plan, report=False)
        account.go_on(query)
        self._to_report[query.name] = query
        self._leave(query, seat)

    def _adapt(self) -> None:
        """Between two chunks: choose anew how queries run that are alone with their signatures."""
        for key, alone in self._alone.items():
            if len(alone.signature.sources) < 3:
                continue
            operators = in_order([alone.query.operator])
            if alone.order is None:
                flow = self._flows[key].flow
                if alone.watched.look(rows_seen(operators), flow.fan_outs):
                    self._become_tree(key, best_order(flow))
            elif alone.watched.look(rows_seen(operators), joins_below(operators[-1])) is False:
                self._become_eddy(key, "the fan-outs of its joins have changed")

    def _report_answer(self, query: Query) -> None:
        """Let a query that has just got its seat say what is in its answer already."""
        assert query.seat is not None, "it has just got one"
        if self._began is not None and query.seat.shared.flow.holds_rows():
            query.put(query.seat.shape.table(self._fanout(query, query.seat)))

    def _seat(self, query: Query, key: object, signature: Signature, part: Part) -> Seat:
        shared = self._flow(key, signature)
        query.operator = shared.flow
        query.seen_before = rows_seen(in_order([shared.flow]))
        replaces = query.replace_key is not None
        try:
            return shared.add(query.name, part, query.change_schema, replaces=replaces)
        except EddylineError:
            self._let_go(shared)
            raise

    def _flow(self, key: object, signature: Signature) -> SharedFlow:
        """The flow of a signature, with one more reader."""
        if key not in self._flows:
            known = set(self.graph)
            try:
                flow = self._flow_planner.flow(signature, key)
            except EddylineError:
                self.graph.sweep()
                raise
            self.graph.prime(known, self.clock)
            self.graph.settle(self.clock)
            self._flows[key] = SharedFlow(signature, flow)
        self.graph.use(self._flows[key].flow)
        return self._flows[key]

    def add_for_each(
        self,
        name: str,
        sql: str,
        plan: Plan,
        emit: Emit,
        options: Mapping[str, str],
        table: Stem,
        updates: Updates,
    ) -> Query:
        """Add a query that stands once for each row of a table; its plan has Parameters.

        Raises:
            UnsupportedError: the queries cannot share a flow.
        """
        found = taken_apart(plan) if emit.mode == "inserts" else None
        if found is None:
            raise UnsupportedError(
                "FOR EACH ROW OF runs queries that filter, join on keys and project, with EMIT "
                "INSERTS; let parameters stand in predicates above GROUP BY and other operators: "
                "SELECT ... FROM (SELECT ... GROUP BY ...) WHERE n > rules.n"
            )
        signature, part = found
        query = Query(name, sql, plan, emit, options, self.answer)
        key = (signature, None if self._sharing.sharing else name)
        self._seat_who_is_alone(key)
        shared = self._flow(key, signature)
        query.operator, query.why = shared.flow, "its rows share the flow of their signature"
        query.seen_before = rows_seen(in_order([shared.flow]))
        replaces = query.replace_key is not None
        crowd = shared.add_crowd(
            name,
            part,
            query.change_schema,
            RuleRows(table),
            replaces=replaces,
            retroactive=updates == "retroactive",
        )
        query.seat = crowd
        self._rules[name] = Rules(crowd, part, table, updates)
        try:
            self._rules[name].sync()
        except EddylineError:
            self._leave(query, crowd)
            raise
        self._report_answer(query)
        self.queries[name] = query
        self._to_report[name] = query
        return query

    def follow(self, clock: int) -> None:
        """Let rules follow what the chunk changed in their tables."""
        for rules in self._rules.values():
            rules.follow(clock)

    def sync(self) -> None:
        """Let rules stand for what their tables hold: these have been restored."""
        for rules in self._rules.values():
            rules.sync()

    # -- rows --------------------------------------------------------------------------------------

    def begin(self, instant: int) -> None:
        """The first instant at which anything happens."""
        self._began = instant
        for query in self.queries.values():
            query.begin(instant)
        self._to_report.update(self.queries)

    def resume(self, instant: int | None) -> None:
        """Anything has happened since ``instant`` already, and was reported."""
        self._began = instant
        if instant is not None:
            for query in self.queries.values():
                query.resume()

    def run(self, tick: Tick) -> None:
        """One chunk through all operators."""
        outputs = self.graph.run(tick)
        for name, query in self._trees.items():
            if query.collect(outputs[query.operator]):
                self._to_report[name] = query
        for shared in self._flows.values():
            shared.collect()
        self.clock = tick.clock
        self.graph.settle(tick.clock)
        self._adapt()

    def take(self) -> tuple[dict[str, pa.Table], list[SharedChanges]]:
        """What queries have to report: of their own, and with their flows."""
        own, shared = self.pending()
        for query in self._to_report.values():
            query.clear()
        self._to_report = {}
        for flow in self._flows.values():
            flow.clear()
        return own, shared

    def pending(self) -> tuple[dict[str, pa.Table], list[SharedChanges]]:
        """What ``take`` would return, left in place."""
        own = {name: query.pending() for name, query in self._to_report.items()}
        shared = [s.changes() for f in self._flows.values() for s in f.shapes.values() if s.pending]
        return {n: t for n, t in own.items() if t.num_rows}, shared

    def put_back(self, name: str, changes: pa.Table) -> None:
        """Let ``take`` return these changes of a query first."""
        query = self.queries[name]
        query.put_back(changes)
        self._to_report[query.name] = query

    # -- looking inside ----------------------------------------------------------------------------

    def answer(self, query: Query) -> pa.Table:
        """The rows of a query's answer now."""
        if query.seat is None:
            return to_rows(query.operator.live(self.clock), query.schema)
        return query.seat.shape.rows(self._fanout(query, query.seat), query.schema)

    def _fanout(self, query: Query, seat: Seat | Crowd) -> Fanout:
        """What is in the answer of a query with a seat."""
        return self._rules.get(query.name, seat).answer(self.clock)

    def operators(self) -> list[Operator]:
        """All operators, inputs first: in the same order for the same queries."""
        return in_order(q.operator for q in self.queries.values())

    def executions(self) -> dict[str, Execution]:
        """How each query runs, so that it can be added again to run like this."""
        orders = {a.query.name: a.order for a in self._alone.values() if a.order is not None}
        ways = {n: "tree" if q.seat is None else "eddy" for n, q in self.queries.items()}
        return {**ways, **orders}

    def stats(self) -> dict[str, dict[str, Any]]:
        """What each query has cost; see ``session/accounts.py``."""
        return accounts_of(self.queries.values())


def _why_in_eddy(signature: Signature) -> str:
    """Why a query that is alone runs in a flow."""
    if len(signature.sources) > 2:
        return "the fan-outs of its joins are not known to be steady"
    return "the queries that shared its flow are gone"
