"""The standing queries of an engine: who there is, and what they have to report."""

from __future__ import annotations

import logging
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import Plan, Updates
from eddyline.algebra.reads import streams_read
from eddyline.engine.execution.bad_rows import bad_rows
from eddyline.engine.execution.execution import Execution, Outcome
from eddyline.engine.execution.parameterized import Rules
from eddyline.engine.execution.result_tables import RuleRows, SharedChanges
from eddyline.engine.execution.shared_flow import Crowd, Seat
from eddyline.engine.ingest.watermarks import StreamGroup, StreamGroups
from eddyline.engine.locking import EngineLock
from eddyline.engine.placement.placements import Placements
from eddyline.engine.placement.reoptimizer import Reoptimizer
from eddyline.engine.placement.workload import Workload
from eddyline.engine.planning import Planning
from eddyline.engine.query import Query
from eddyline.engine.query_metrics import accounts_of
from eddyline.errors import EddylineError, UnsupportedError
from eddyline.physical.flows import Sharing
from eddyline.physical.node_planner import StemOf
from eddyline.physical.strategy import Strategy
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.output import to_rows
from eddyline.runtime.stores.stem import Stem
from eddyline.sharing.signature import decompose
from eddyline.sql.catalog import Names

_log: Final = logging.getLogger(__name__)


class QuerySet:
    """Queries by name.

    Args:
        lock: of the engine.
        planning: the text of EXPLAIN, and by what joins get another order.
        rows_in: how many rows have come of some streams.

    Attributes:
        queries: those that run, by name. execution: their operators. placements: how they run.
        aside: those that are set aside, by name. on_set_aside: called with each.
        workload: what they need.
        set_aside_after: number of bad rows without a result after which a query is set aside;
            None: never.
    """

    def __init__(
        self,
        lock: EngineLock,
        stem_of: StemOf,
        strategy: Strategy,
        sharing: Sharing,
        planning: Planning,
        rows_in: Callable[[Iterable[str]], int],
        groups: StreamGroups,
    ) -> None:
        self.queries: Names[Query] = Names()
        self.execution = Execution(stem_of, strategy, sharing, groups)
        self._reoptimizer = Reoptimizer(self.execution, planning)
        self.placements = Placements(
            self.queries, self.execution, self._reoptimizer, strategy, sharing
        )
        self.workload = Workload(self.queries, self.placements, self._reoptimizer)
        self._explained = planning.explained
        self.aside: Names[Query] = Names()
        self.on_set_aside: Callable[[Query], None] = _nothing
        self._lock = lock
        self._rows_in = rows_in
        self.set_aside_after: int | None = None
        self._groups = groups
        self._rules: dict[str, Rules] = {}
        self._with_bad: dict[str, Query] = {}  # those that have bad rows to report
        self._to_report: dict[str, Query] = {}  # those that may have changes of their own

    # -- queries come and go -----------------------------------------------------------------------

    def add(
        self,
        name: str,
        sql: str,
        plan: Plan,
        emit: Emit,
        options: Mapping[str, str],
        *,
        sheds: bool = False,
        placement: Mapping[str, Any] | None = None,
        aside: str | None = None,
    ) -> Query:
        """Add a query: it is answered from now on, over what the windows still hold.

        Args:
            sheds: whether rows may be dropped.
            placement: record of the placement that it had; None: the best one is chosen.
            aside: why it was set aside before it was saved; None: it was not.
        """
        query = self._new(name, sql, plan, emit, options, sheds=sheds)
        if aside is not None:
            self._put_aside(query, aside)
            return query
        if placement is None:
            self.placements.start(query)
        else:
            self.placements.restore(query, placement)
        self._groups.add_reader(query.reads)
        self.queries[name] = query
        self._to_report[name] = query
        return query

    def _new(
        self,
        name: str,
        sql: str,
        plan: Plan,
        emit: Emit,
        options: Mapping[str, str],
        *,
        sheds: bool,
    ) -> Query:
        answer, explained = self.answer, self._explained
        return Query(name, sql, plan, emit, options, self._lock, answer, explained, sheds=sheds)

    def drop(self, name: str) -> None:
        """Remove a query, and free what nobody else needs."""
        query = (self.aside if name in self.aside else self.queries).pop(name)
        self._to_report.pop(query.name, None)
        self._with_bad.pop(query.name, None)
        if query.set_aside is not None:
            return
        self._groups.drop_reader(query.reads)
        if query.name in self._rules:
            self._rules.pop(query.name).close()
        self.placements.stop(query)

    def set_aside(self, name: str, cause: str) -> None:
        """Let a query run no more. It keeps its name, and what it has to report is reported."""
        query = self.queries[name]
        if query.seat is not None:
            query.finish_seat()
        bad = self._with_bad.get(query.name)
        self.drop(query.name)
        self._put_aside(query, cause)
        if bad is not None:
            self._with_bad[query.name] = bad

    def _put_aside(self, query: Query, cause: str) -> None:
        query.put_aside(cause)
        self.aside[query.name] = query
        self._to_report[query.name] = query
        self.on_set_aside(query)

    def add_for_each(
        self,
        name: str,
        sql: str,
        plan: Plan,
        emit: Emit,
        options: Mapping[str, str],
        table: Stem,
        updates: Updates,
        *,
        sheds: bool = False,
    ) -> Query:
        """Add a query that stands once for each row of a table; its plan has Parameters.

        Raises:
            UnsupportedError: the queries cannot share a flow.
        """
        found = decompose(plan) if emit.mode == "inserts" else None
        if found is None or any(map(has_parameters, found[0].sources)):
            raise UnsupportedError(
                "FOR EACH ROW OF runs queries that filter, join (on keys, or two streams on any "
                "condition) and project, with EMIT INSERTS; let parameters stand in predicates "
                "above GROUP BY and other operators: "
                "SELECT ... FROM (SELECT ... GROUP BY ...) WHERE n > rules.n"
            )
        if updates == "non-retroactive" and plan.takes_back:
            raise UnsupportedError(
                f"table {table.name!r} is non-retroactive, and FOR EACH ROW OF it would have to "
                "know which rules a row that is taken back was for: declare the table WITH "
                "(updates = 'retroactive'), or read streams through RANGE windows, without GROUP BY"
            )
        query = self._new(name, sql, plan, emit, options, sheds=sheds)
        query.replace_key = None  # rows of one rule do not replace those of another
        query.reads |= {table.name}
        self._start_for_each(query, table, updates)
        self._groups.add_reader(query.reads)
        self.queries[name] = query
        self._to_report[name] = query
        return query

    def _start_for_each(self, query: Query, table: Stem, updates: Updates) -> None:
        found = decompose(query.plan)
        assert found is not None, "it is such a query"
        signature, part = found
        shared = self.placements.start_parameterized(query, signature, part)
        crowd = shared.add_crowd(
            query.name,
            part,
            query.change_schema,
            RuleRows(table),
            retroactive=updates == "retroactive",
        )
        query.seat = crowd
        rules = self._rules[query.name] = Rules(crowd, part, table, updates)
        try:
            rules.sync()
        except EddylineError:
            self._rules.pop(query.name).close()
            self.placements.stop(query)
            raise
        self.execution.report_answer(query, rules)

    def restart(self, group: StreamGroup, between: Callable[[], None]) -> None:
        """Let the queries of a group begin again, from windows that are empty.

        Args:
            between: called when none of them runs.
        """
        queries = self.of(group)
        rules = {q.name: self._rules.pop(q.name) for q in queries if q.name in self._rules}
        for query in queries:
            if query.name in rules:
                rules[query.name].close()
            self._halt(query)
        between()
        for query in queries:
            if query.name in rules:
                was = rules[query.name]
                self._start_for_each(query, was.table, was.updates)
            else:
                self.placements.start(query)
            self._to_report[query.name] = query

    def _halt(self, query: Query) -> None:
        """Let a query run no more; what it has still to report is its own."""
        seat = query.seat
        if seat is not None:
            query.stand_up()
            query.seat = seat
        self.placements.stop(query)
        query.seat = None
        query.begin_anew()

    def follow(self, clock: int) -> None:
        """Let rules follow what the chunk changed in their tables."""
        for rules in self._rules.values():
            rules.follow(clock)

    def sync(self) -> None:
        """Let rules stand for what their tables hold: these have been restored."""
        for rules in self._rules.values():
            rules.sync()

    # -- rows --------------------------------------------------------------------------------------

    def begin(self, group: StreamGroup, instant: int) -> None:
        """The first instant at which anything happens in a group."""
        for query in self.of(group):
            query.begin(instant)
            self._to_report[query.name] = query

    def resume(self, group: StreamGroup) -> None:
        """Something has happened in a group already, and was reported."""
        for query in self.of(group):
            query.resume()

    def of(self, group: StreamGroup) -> list[Query]:
        """The queries that go by a group's clock."""
        return [q for q in self.queries.values() if self.execution.group_of(q) is group]

    def run(self, tick: Tick, group: StreamGroup, *, arrived: float, paced: bool = False) -> None:
        """One chunk through the operators of a group; see ``Execution.run``."""
        self._take_in(self.execution.run(tick, group, arrived=arrived, paced=paced))

    def serve(self) -> None:
        """Serve some of the rows that wait for their turn."""
        self._take_in(self.execution.serve())

    def _take_in(self, outcome: Outcome) -> None:
        for query in outcome.changed:
            self._to_report[query.name] = query
        for name, failures in outcome.failures.items():
            self._note_bad(self.queries[name], bad_rows(failures))
        for name, error in outcome.broken.items():
            _log.error("query %r failed and is set aside", name, exc_info=error)
            self.set_aside(name, f"{type(error).__name__}: {error}")

    def _note_bad(self, query: Query, rows: pa.Table) -> None:
        """Rows that a query could not take; if nothing else comes of it, it is set aside."""
        if not rows.num_rows:
            return
        query.add_bad(rows)
        self._with_bad[query.name] = query
        seen = self._rows_in(streams_read(query.plan))
        query.trouble.add(rows.num_rows, query.rows_out, seen)
        if query.trouble.is_lasting(self.set_aside_after, seen):
            reason = rows["_reason"][rows.num_rows - 1]
            failed = f"{query.trouble.in_a_row:,} bad rows and no result; the last: {reason}"
            self.set_aside(query.name, failed)

    def adapt(self) -> None:
        """After a chunk: carry out what the re-optimizer proposes."""
        if self._reoptimizer.by_cost or self._reoptimizer.by_fan_outs:
            for query in self.placements.adapt():
                self._to_report[query.name] = query

    def finish(self) -> None:
        """Serve all rows that wait for their turn."""
        while self.execution.waiting:
            self.serve()

    def take(self) -> tuple[dict[str, pa.Table], list[SharedChanges]]:
        """What queries have to report: of their own, and with their flows."""
        own, shared = self.pending()
        for query in self._to_report.values():
            query.clear()
        self._to_report = {}
        for flow in self.execution.flows.values():
            flow.clear()
        return own, shared

    def everyone(self) -> Mapping[str, Query]:
        """All queries by name as they are now, those that are set aside among them."""
        if not self.aside:
            return self.queries.listed()
        return {**self.queries.listed(), **self.aside.listed()}

    @property
    def known(self) -> Mapping[str, Query]:
        """All queries by name, those that are set aside among them; it follows what changes."""
        return ChainMap(self.aside, self.queries)

    def troubles(self) -> dict[str, list[int]]:
        """For JSON: the bad rows of queries that had some."""
        everyone = self.everyone().items()
        return {name: q.trouble.saved() for name, q in everyone if q.trouble.total}

    def take_bad(self) -> dict[str, pa.Table]:
        """By query, the rows since the last call that it could not take."""
        having, self._with_bad = self._with_bad, {}
        found = {name: query.take_bad() for name, query in having.items()}
        return {name: rows for name, rows in found.items() if rows is not None}

    def pending(self) -> tuple[dict[str, pa.Table], list[SharedChanges]]:
        """What ``take`` would return, left in place."""
        own = {name: query.pending() for name, query in self._to_report.items()}
        shared = [
            s.changes()
            for f in self.execution.flows.values()
            for s in f.shapes.values()
            if s.pending
        ]
        return {n: t for n, t in own.items() if t.num_rows}, shared

    def put_back(self, name: str, changes: pa.Table) -> None:
        """Let ``take`` return these changes of a query first."""
        query = self.everyone()[name]
        query.put_back(changes)
        self._to_report[query.name] = query

    # -- looking inside ----------------------------------------------------------------------------

    def answer(self, query: Query) -> pa.Table:
        """The rows of a query's answer now."""
        if query.seat is None:
            clock = self.execution.group_of(query).clock
            return to_rows(query.operator.live(clock), query.schema)
        return query.seat.shape.rows(self._fanout(query, query.seat), query.schema)

    def _fanout(self, query: Query, seat: Seat | Crowd) -> Fanout:
        """What is in the answer of a query with a seat."""
        clock = self.execution.group_of(query).clock
        return self._rules.get(query.name, seat).answer(clock)

    def operators(self) -> list[Operator]:
        """All operators, inputs first."""
        return in_order(q.operator for q in self.queries.values())

    def to_save(self) -> list[Operator]:
        """Those through which rows go, in the same order for the same queries. What the others
        know follows from the rows.
        """
        return in_order((q.operator for q in self.queries.values()), asked=False)

    def stats(self) -> dict[str, dict[str, Any]]:
        """What each query has cost; see ``engine/query_metrics.py``."""
        aside = {name: query.counters() for name, query in self.aside.items()}
        return accounts_of(self.queries.values()) | aside


def _nothing(query: Query) -> None:
    """No part of the engine has to know."""
