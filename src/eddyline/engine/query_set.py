"""The queries of an engine: those that run, those that are set aside, and their changes."""

from __future__ import annotations

import logging
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import Plan
from eddyline.engine.changes import KnownQueries
from eddyline.engine.execution.bad_rows import bad_rows
from eddyline.engine.execution.execution import Execution
from eddyline.engine.execution.parameterized import (
    ParameterizedGroups,
    ParameterizedSubscription,
)
from eddyline.engine.ingest.tables import ParameterTable
from eddyline.engine.ingest.watermarks import StreamGroup, StreamGroups
from eddyline.engine.listeners import Listeners
from eddyline.engine.locking import EngineLock
from eddyline.engine.placement.placements import Placements
from eddyline.engine.placement.reoptimizer import Reoptimizer
from eddyline.engine.placement.workload import Workload
from eddyline.engine.planning import Planning
from eddyline.engine.query import Query, QuerySpec
from eddyline.engine.query_stats import stats_of
from eddyline.errors import UnsupportedError
from eddyline.physical.flows import Sharing
from eddyline.physical.node_planner import StemOf
from eddyline.physical.strategy import Strategy
from eddyline.runtime.graph import Ran, in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.state import State, array
from eddyline.sharing.instances import Instances, decompose_instances
from eddyline.sharing.signature import Part, Signature, decompose
from eddyline.sql.catalog import Names

_log: Final = logging.getLogger(__name__)


class QuerySet:
    """Queries by name.

    Args:
        lock: of the engine.
        planning: the text of EXPLAIN, and the statistics by which joins are reordered.
        rows_in: number of rows of some streams so far.

    Attributes:
        queries: those that run, by name. execution: their operators. placements: how they run.
        aside: those that are set aside, by name. on_set_aside: called with each.
        all: both. listeners: of their changes. with_bad: those with bad rows to be fetched.
        workload: their expected cost. parameterized: those with an instance per row of a table.
        reoptimizer: proposes other placements.
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
        self.reoptimizer = Reoptimizer(self.execution, planning)
        self.placements = Placements(
            self.queries, self.execution, self.reoptimizer, strategy, sharing
        )
        self.workload = Workload(
            self.queries, self.placements, self.reoptimizer, self.execution.joined
        )
        self._explained = planning.explained
        self.aside: Names[Query] = Names()
        self.on_set_aside: Callable[[Query], None] = _nothing
        self._answer = self.answer  # one object for all queries
        self._lock = lock
        self._rows_in = rows_in
        self.set_aside_after: int | None = None
        self._groups = groups
        self.parameterized: dict[str, ParameterizedSubscription] = {}
        self.with_bad: dict[str, Query] = {}
        self.all = KnownQueries()
        self.listeners = Listeners()

    def plan_by(self, strategy: Strategy, sharing: Sharing) -> None:
        """Plan the queries to come like this; there is none yet."""
        self.execution.plan_by(strategy, sharing)
        self.placements.plan_by(strategy, sharing)

    # -- queries are added and dropped ---------------------------------

    def add(
        self,
        spec: QuerySpec,
        *,
        placement: Mapping[str, Any] | None = None,
        aside: str | None = None,
    ) -> Query:
        """Add a query: it is answered from now on, over the rows in its windows.

        Args:
            placement: record of its placement, from a checkpoint; None: the best one is chosen.
            aside: why it had been set aside, by the checkpoint; None: it had not.
        """
        query = self._new(spec)
        if aside is not None:
            self._put_aside(query, aside)
            return query
        if placement is None:
            self.placements.start(query)
        else:
            self.placements.restore(query, placement)
        self._list(query)
        return query

    def _list(self, query: Query) -> None:
        self._groups.add_reader(query.reads)
        self.queries[query.name] = query
        self.all.put(query)

    def _new(self, spec: QuerySpec) -> Query:
        return Query(spec, self._lock, self._answer, self._explained, self.listeners)

    def drop(self, name: str) -> None:
        """Remove a query with its changes."""
        query = self.aside.pop(name) if name in self.aside else self._remove(name)
        self.with_bad.pop(query.name, None)
        self.all.drop(query.name)
        self.listeners.close(query.name)
        self.execution.pending.discard(query.name)

    def set_aside(self, name: str, cause: str) -> None:
        """Stop a query. It keeps its name, and its changes can be fetched."""
        self._put_aside(self._remove(name), cause)

    def _remove(self, name: str) -> Query:
        query = self.queries.pop(name)
        self._groups.drop_reader(query.reads)
        self.parameterized.pop(query.name, None)
        self.placements.stop(query)
        return query

    def _put_aside(self, query: Query, cause: str) -> None:
        query.set_aside = cause
        self.aside[query.name] = query
        self.all.put(query)
        self.on_set_aside(query)

    def add_for_each(
        self, spec: QuerySpec, table: ParameterTable, *, restored: bool = False
    ) -> Query:
        """Add a query with an instance for each row of a table; its plan has Parameters.

        Args:
            restored: whether ``sync`` follows, with what a checkpoint has of it.

        Raises:
            UnsupportedError: the queries cannot share a flow.
        """
        plan = spec.plans.plan
        found = _instances(plan, spec.emit)
        if found is None:
            raise UnsupportedError(
                "FOR EACH ROW OF runs queries that filter, join (on keys, or two streams on any "
                "condition), group and project, with EMIT INSERTS, CHANGES or SNAPSHOT; let "
                "parameters stand in WHERE, in the select list, in the groups of a SELECT over "
                "streams, in their windows, or in predicates above other operators: "
                "SELECT ... FROM (SELECT ... GROUP BY ...) WHERE n > rules.n"
            )
        if isinstance(found, Instances) and table.updates == "non-retroactive":
            raise UnsupportedError(
                f"table {table.name!r} is non-retroactive, and groups have no time at which a rule "
                "applies to them: declare the table WITH (updates = 'retroactive')"
            )
        if table.updates == "non-retroactive" and plan.takes_back:
            raise UnsupportedError(
                f"table {table.name!r} is non-retroactive, and FOR EACH ROW OF it would have to "
                "know which rules a row that is taken back was for: declare the table WITH "
                "(updates = 'retroactive'), or read streams through RANGE windows, without GROUP BY"
            )
        query = self._new(spec)
        query.replace_key = None  # rows of one rule do not replace those of another
        query.reads |= {table.name}
        self._start_for_each(query, table, restored=restored)
        self._list(query)
        return query

    def _start_for_each(
        self, query: Query, table: ParameterTable, *, restored: bool = False
    ) -> None:
        found = _instances(query.plan, query.emit)
        assert found is not None, "it is such a query"
        self.placements.start_parameterized(query, found, table, restored=restored)
        assert isinstance(query.subscription, ParameterizedSubscription), "just added"
        self.parameterized[query.name] = query.subscription

    def restart(self, group: StreamGroup, between: Callable[[], None]) -> None:
        """Start the queries of a group again, with empty windows.

        Args:
            between: called when none of them runs.
        """
        queries = self.of(group)
        instances = {q.name: self.parameterized.pop(q.name, None) for q in queries}
        for query in queries:
            self.placements.stop(query)
        between()
        for query in queries:
            before = instances[query.name]
            if before is None:
                self.placements.start(query)
            else:
                self._start_for_each(query, before.parameters)

    def follow(self, clock: int) -> None:
        """Apply the chunk's changes of tables to the instances of parameterized queries."""
        for subscription in self.parameterized.values():
            if subscription.shared.flow.waiting and subscription.changes_at(clock):
                self.finish()  # queued rows have results for the instances before the change
            subscription.follow(clock)

    def sync(self, instances: State) -> None:
        """Have instances for the rows of tables, which have been restored.

        Args:
            instances: what ``instances`` returned.
        """
        for name, subscription in self.parameterized.items():
            clock = self.execution.group_of(self.queries[name]).clock
            if isinstance(subscription, ParameterizedGroups):
                rows, numbers = array(instances, name).tolist()
                subscription.restore(clock, dict(zip(rows, numbers, strict=True)))
            else:
                subscription.sync(clock)

    def instances(self) -> State:
        """For a checkpoint: the rows and the numbers of instances, int64[2, n] by query."""
        found: dict[str, Any] = {}
        for name, subscription in self.parameterized.items():
            if isinstance(subscription, ParameterizedGroups):
                pairs = sorted(subscription.saved().items())
                found[name] = np.array(pairs, np.int64).reshape(-1, 2).T
        return found

    # -- rows ----------------------------------------------------------

    def resume(self, group: StreamGroup) -> None:
        """Continue a group of streams from a checkpoint: its first changes have been reported."""
        for query in self.of(group):
            self.execution.pending.discard(query.name)
            query.running.table.resume()

    def of(self, group: StreamGroup) -> list[Query]:
        """The queries that follow a group's clock."""
        return [q for q in self.queries.values() if self.execution.group_of(q) is group]

    def serve(self) -> None:
        """Process some of the queued rows."""
        self.take_in(self.execution.serve())

    def take_in(self, ran: Ran) -> None:
        """Keep the bad rows of a chunk, and set queries aside whose operators raised an error."""
        if ran.failures:
            for name, failures in self.execution.failures(ran).items():
                self._note_bad(self.queries[name], bad_rows(failures))
        if ran.broken:
            for name, error in self.execution.broken(ran).items():
                if name in self.queries:
                    _log.error("query %r failed and is set aside", name, exc_info=error)
                    self.set_aside(name, f"{type(error).__name__}: {error}")

    def _note_bad(self, query: Query, rows: pa.Table) -> None:
        """Keep bad rows of a query, and set it aside if it has had no results for too long."""
        if not rows.num_rows:
            return
        query.add_bad(rows)
        self.with_bad[query.name] = query
        seen = self._rows_in(query.streams)
        query.failures.add(rows.num_rows, query.rows_out, seen)
        if query.failures.is_lasting(self.set_aside_after, seen):
            reason = rows["_reason"][rows.num_rows - 1]
            failed = f"{query.failures.in_a_row:,} bad rows and no result; the last: {reason}"
            self.set_aside(query.name, failed)

    def finish(self) -> None:
        """Process all queued rows."""
        while self.execution.waiting:
            self.serve()

    @property
    def known(self) -> Mapping[str, Query]:
        """All queries by name, with those that are set aside; a live view."""
        return ChainMap(self.aside, self.queries)

    def troubles(self) -> dict[str, list[int]]:
        """For JSON: the bad rows of queries that had some."""
        known = self.all.now().items()
        return {name: q.failures.saved() for name, q in known if q.failures.total}

    def take_bad(self) -> dict[str, pa.Table]:
        """By query, its bad rows since the last call."""
        having, self.with_bad = self.with_bad, {}
        found = {name: query.take_bad() for name, query in having.items()}
        return {name: rows for name, rows in found.items() if rows is not None}

    def put_back(self, name: str, changes: pa.Table) -> None:
        """Return these changes of a query from ``take`` first."""
        self.execution.pending.put(self.all.now()[name].name, changes, first=True)

    # -- looking inside ------------------------------------------------

    def answer(self, query: Query) -> pa.Table:
        """The rows of a query's answer now."""
        results = query.running.answer(self.execution.group_of(query).clock)
        return query.running.table.rows(results, query.schema)

    def operators(self) -> list[Operator]:
        """All operators, inputs first."""
        return in_order(q.operator for q in self.queries.values())

    def holders(self) -> list[object]:
        """What holds the state of queries: all operators, and answers that are kept beside them."""
        flows = self.execution.flows.values()
        return [*self.operators(), *(view for shared in flows for view in shared.views)]

    def to_save(self) -> list[Operator]:
        """Those through which rows go, in the same order for the same queries. The state of the
        others follows from the rows.
        """
        return in_order((q.operator for q in self.queries.values()), probed=False)

    def stats(self) -> dict[str, dict[str, Any]]:
        """The cost of each query; see ``engine/query_stats.py``."""
        aside = {name: query.counters() for name, query in self.aside.items()}
        return stats_of(self.queries.values()) | aside


def _nothing(query: Query) -> None:
    """No call."""


def _instances(plan: Plan, emit: Emit) -> tuple[Signature, Part] | Instances | None:
    """The flow of a parameterized query, and what runs above it; None: its instances cannot share
    one.
    """
    found = decompose(plan) if emit.mode == "inserts" else None
    if found is not None and not any(map(has_parameters, found[0].sources)):
        return found
    return decompose_instances(plan, emit) if emit.mode != "final" else None
