"""The standing queries of an engine, and the operators that run them: each its own, or shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan, Updates
from eddyline.errors import EddylineError, UnsupportedError
from eddyline.physical.flows import FlowPlanner, Sharing
from eddyline.physical.graph import Graph, in_order
from eddyline.physical.planner import Planner, StemOf
from eddyline.physical.strategy import Strategy
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.output import to_rows
from eddyline.runtime.stem import Stem
from eddyline.session.query import Query
from eddyline.session.rules import Rules
from eddyline.session.shapes import RuleRows, SharedChanges
from eddyline.session.shared import Seat, SharedFlow
from eddyline.sharing.signature import Part, Signature, taken_apart
from eddyline.sql.catalog import Names
from eddyline.types import BEGINNING


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
        self._alone: dict[object, tuple[Query, Part]] = {}  # those of them that could share
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
        shared: bool | None = None,
    ) -> Query:
        """Add a query: it is answered from now on, over what the windows still hold.

        Args:
            shared: whether it has a seat in a flow; None: as the options say.
        """
        query = Query(name, sql, plan, emit, options, self.answer)
        found = self._shareable(plan, emit) if shared is not False else None
        if found is None:
            self._plant(query)
        else:
            signature, part = found
            key = (signature, None if self._sharing.sharing else name)
            if shared or self._is_shared(key):
                self._share(query, key, signature, part)
            else:
                self._plant(query)
                self._alone[key] = (query, part)
        self.queries[name] = query
        self._to_report[name] = query
        return query

    def drop(self, name: str) -> None:
        """Remove a query, and free what nobody else needs."""
        query = self.queries.pop(name)
        self._to_report.pop(query.name, None)
        if query.seat is None:
            self.graph.give_up(query.operator)
            del self._trees[query.name]
            self._alone = {k: v for k, v in self._alone.items() if v[0] is not query}
            return
        shared = query.seat.shared
        query.seat.leave(query.name)
        if query.name in self._rules:
            self._rules.pop(query.name).close()
        self.graph.give_up(shared.flow)
        if not shared.shapes:
            self._flows = {k: f for k, f in self._flows.items() if f is not shared}

    def _shareable(self, plan: Plan, emit: Emit) -> tuple[Signature, Part] | None:
        if self._sharing.executor == "tree" or emit.mode != "inserts" or not self._strategy.shares:
            return None
        return taken_apart(plan)

    def _is_shared(self, key: object) -> bool:
        if self._sharing.executor == "eddy" or key in self._flows:
            return True
        return key in self._alone

    def _plant(self, query: Query) -> None:
        """Let a query run as a tree."""
        known = set(self.graph)
        try:
            operator = self._planner.query(query.plan, query.emit)
        except EddylineError:
            self.graph.sweep()
            raise
        self.graph.use(operator)
        query.operator = operator
        self._trees[query.name] = query
        if self._began is not None:
            query.begin(self._began)
        primed = self.graph.prime(known, self.clock)
        query.collect(primed[operator] if operator in primed else operator.live(self.clock))
        self.graph.settle(self.clock)

    def _share(self, query: Query, key: object, signature: Signature, part: Part) -> None:
        """Give a query a seat in the flow of its signature, and who was alone there another."""
        if key in self._alone:
            other, its_part = self._alone.pop(key)
            tree = other.operator
            other.seat = self._seat(other, key, signature, its_part)
            self.graph.give_up(tree)
            del self._trees[other.name]
        query.seat = self._seat(query, key, signature, part)
        self._report_answer(query)

    def _report_answer(self, query: Query) -> None:
        """Let a query that has just got its seat say what is in its answer already."""
        assert query.seat is not None, "it has just got one"
        if self._began is not None and query.seat.shared.flow.holds_rows():
            query.seat.shape.collect(query.seat.answer(self.clock))

    def _seat(self, query: Query, key: object, signature: Signature, part: Part) -> Seat:
        shared = self._flow(key, signature)
        query.operator = shared.flow
        replaces = query.replace_key is not None
        return shared.add(query.name, part, query.change_schema, replaces=replaces)

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
        shared = self._flow((signature, None if self._sharing.sharing else name), signature)
        query.operator = shared.flow
        replaces = query.replace_key is not None
        crowd = shared.add_crowd(
            name, part, query.change_schema, RuleRows(table), replaces=replaces
        )
        query.seat = crowd
        self._rules[name] = Rules(crowd, part, table, updates)
        self._rules[name].sync()
        self.queries[name] = query
        self._report_answer(query)
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
        rules = self._rules.get(query.name)
        fanout = (query.seat if rules is None else rules).answer(self.clock)
        return query.seat.shape.rows(fanout, query.schema)

    def operators(self) -> list[Operator]:
        """All operators, inputs first: in the same order for the same queries."""
        return in_order(q.operator for q in self.queries.values())

    def seated(self) -> list[str]:
        """The names of the queries that share flows."""
        return [name for name, q in self.queries.items() if q.seat is not None]

    def stats(self) -> dict[str, dict[str, Any]]:
        """Counters by query."""
        return {name: q.stats() for name, q in self.queries.items()}
