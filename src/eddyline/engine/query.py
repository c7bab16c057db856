"""A query of an engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import Plan
from eddyline.engine.analyze import analyzed
from eddyline.engine.completion import QUERY, offers
from eddyline.engine.execution.bad_rows import FailureCounts
from eddyline.engine.execution.shared_flow import SharedFlow
from eddyline.engine.execution.subscriptions import Subscription
from eddyline.engine.listeners import Callback, Change, Listener, Listeners
from eddyline.engine.locking import EngineLock, locked
from eddyline.engine.pictures import plan_svg, table_html
from eddyline.engine.placement.placement import Placement
from eddyline.engine.query_metrics import QueryMetrics
from eddyline.engine.query_plans import OwnPlans, Plans
from eddyline.errors import StateError
from eddyline.runtime.operators.base import Operator


class Explained(Protocol):
    """Makes the text of EXPLAIN."""

    def __call__(self, emit: Emit, plan: Plan, *, analyze: bool = False) -> str:
        """See ``Planning.explained``."""


@dataclass(frozen=True)
class QuerySpec:
    """A query as its statement defines it.

    Attributes:
        name: as given, or ``q1``, ``q2``, ...
        sql: the text of its SELECT.
        plans: its logical plans. emit: the form of its output.
        options: of the sink, as written in ``WITH``.
        sheds: whether rows of its streams may be dropped under overload. utilities: by stream, over
            its columns: those of the lowest values first.
        in_parts: the plan that runs makes partial groups, which are merged elsewhere.
    """

    name: str
    sql: str
    plans: Plans
    emit: Emit
    options: Mapping[str, str]
    sheds: bool
    in_parts: bool = False
    utilities: Mapping[str, Expr] = field(default_factory=dict)


@offers(QUERY)
class Query:
    """One continuous query; the engine makes it.

    Attributes:
        name, sql, plans, emit, options, sheds, utilities, in_parts: as in ``QuerySpec``.
        streams: that it reads. reads: the streams and tables that it reads.
        schema, change_schema: Arrow schemas of the select list and of the changes.
        shedding: which share of the rows of a query's streams is kept, for ``stats``; lines: what
            EXPLAIN says below the plan.
        replace_key: output columns by which a new row replaces the older one of its group; None
            where rows never replace each other (EMIT CHANGES, no GROUP BY, keys not selected).
        placement: how it runs; None: it does not. reordered: number of times the order of its joins
            has changed while it ran.
        seen_before: rows that its operators had read before it was added. metrics: its counts from
            earlier placements.
        subscription: its operator and result table; None: it does not run.
        failures: number of its bad rows. set_aside: why it does not run any more; None: it runs.
    """

    def __init__(
        self,
        spec: QuerySpec,
        lock: EngineLock,
        answer: Callable[[Query], pa.Table],
        explained: Explained,
        listeners: Listeners,
    ) -> None:
        self.lock = lock
        self.name = spec.name
        self.sql = spec.sql
        self.plans = spec.plans
        self.emit = spec.emit
        self.options = dict(spec.options)
        self.sheds = spec.sheds
        self.utilities = spec.utilities
        self.in_parts = spec.in_parts
        facts = spec.plans.facts
        self.streams = facts.streams
        self.reads: frozenset[str] = facts.streams | facts.tables
        self.shedding: Callable[[Query], dict[str, Any]] = _not_shed
        self.lines: Callable[[Query], list[str]] = _no_lines
        self.schema = facts.schema
        self.replace_key = facts.replace_key
        self._forgotten = facts.forgotten
        self._answer = answer
        self._explained = explained
        self._listeners = listeners
        self.change_schema = facts.change_schema
        self.subscription: Subscription | None = None
        self.placement: Placement | None = None
        self.reordered = 0
        self.seen_before = 0
        self.set_aside: str | None = None
        self._bad: tuple[pa.Table, ...] = ()

    @cached_property
    def metrics(self) -> QueryMetrics:
        return QueryMetrics()

    @cached_property
    def no_changes(self) -> pa.Table:
        """The table of no changes, which takes Arrow longer to make than one with rows."""
        return self.change_schema.empty_table()

    @cached_property
    def failures(self) -> FailureCounts:
        return FailureCounts()

    @property
    def plan(self) -> Plan:
        """The logical plan that runs."""
        return self.plans.plan

    @plan.setter
    def plan(self, plan: Plan) -> None:
        self.plans = OwnPlans(plan, self.plans.bound, self.emit)

    @property
    def bound(self) -> Plan:
        """The plan of the statement, before it was optimized."""
        return self.plans.bound

    @property
    def running(self) -> Subscription:
        """The subscription of a query that runs."""
        assert self.subscription is not None, "it runs"
        return self.subscription

    @property
    def operator(self) -> Operator:
        """The operator with the results of this query, perhaps among those of others."""
        return self.running.operator

    @property
    def replaces(self) -> bool:
        """Whether a new row may replace the older one of its group."""
        return self.replace_key is not None

    @property
    def flow(self) -> SharedFlow | None:
        """The flow that the query shares; None: it runs as a tree of operators."""
        return None if self.subscription is None else self.subscription.shared

    @property
    def why(self) -> str:
        """The reason for its placement."""
        return "" if self.placement is None else self.placement.why

    @property
    def keeps_answer(self) -> bool:
        """Whether ``snapshot`` can tell the answer: not where rows of an unbounded stream pass."""
        return self._forgotten is None

    @locked
    def snapshot(self) -> pa.Table:
        """Q(now): the rows of the answer at the engine's clock, as a bag.

        Raises:
            StateError: the answer is all that has ever passed, which the engine does not keep.
        """
        if self.set_aside is not None:
            raise StateError(
                f"query {self.name!r} is set aside ({self.set_aside}): drop it, fix the cause, and "
                "add it again"
            )
        self.require_answer()
        return self._answer(self)

    def require_answer(self) -> None:
        """Check that ``snapshot`` can tell the answer.

        Raises:
            StateError: it is all that has ever passed.
        """
        if self._forgotten is not None:
            raise StateError(
                f"query {self.name!r} passes the rows of {self._forgotten} on and keeps none: "
                "collect its changes, or give the stream a window"
            )

    def subscribe(self, callback: Callback | None = None, *, tables: bool = False) -> Listener:
        """Get the changes of the query with each call of the engine that causes some, which returns
        them as well.

        Args:
            callback: called with each :class:`Change`, after the engine's work and in the thread of
                its caller; it may call the engine. None: iterate over what is returned.
            tables: call it with an Arrow table of the changes of one call instead.

        >>> import eddyline
        >>> engine = eddyline.Engine()
        >>> _ = engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
        >>> query = engine.query("SELECT x FROM s [RANGE 10 SECONDS] WHERE x > 1")
        >>> listener = query.subscribe(lambda change: print(change.op, change.row))
        >>> _ = engine.push("s", {"ts": "2026-01-01", "x": 2})
        + {'x': 2}
        """
        listener = Listener(self.name, self._listeners, callback, tables=tables)
        self._listeners.add(listener)
        return listener

    async def __aiter__(self) -> AsyncIterator[Change]:
        """The changes from now on, until the query is dropped."""
        with self.subscribe() as changes:
            async for change in changes:
                yield change

    @locked
    def explain(self, *, analyze: bool = False) -> str:
        """The plan as a tree, with the update pattern of every edge; and where rates of its
        streams are known, its expected output, state and computing time.

        Args:
            analyze: add what was measured of its inputs, and the operators that run it, with their
                computing time and number of rows so far.
        """
        return self.described(analyze=analyze)

    def described(self, *, analyze: bool) -> str:
        """The text of ``explain``."""
        lines = [self._explained(self.emit, self.plan, analyze=analyze), *self.lines(self)]
        if self.set_aside is not None:
            lines.append(f"set aside: {self.set_aside}")
        elif analyze:
            lines += analyzed(self.running, self.why)
        return "\n".join(lines)

    @locked
    def stats(self) -> dict[str, Any]:
        """Counters since the query was added: rows out, bad rows, rows kept by its last operator,
        and seconds from when rows could be processed to when their results were released;
        ``rows_suspended`` before joins until they have matches, and how often one was released, in
        the joins that it reads; and ``set_aside``, why it does not run any more (None: it runs).
        """
        return self.counters()

    def counters(self) -> dict[str, Any]:
        """The result of ``stats``."""
        counted, suspended, released = self.counted, 0, 0
        if self.subscription is not None:
            suspended, released = self.subscription.suspensions
        return {
            "rows_out": int(counted.rows_out[0]),
            "bad": self.failures.total,
            "rows_kept": 0 if self.subscription is None else self.subscription.kept,
            "rows_suspended": suspended,
            "rows_released": released,
            "latency": counted.latency(0),
            "set_aside": self.set_aside,
            **self.shedding(self),
        }

    @property
    def counted(self) -> QueryMetrics:
        """All counts so far, as those of query 0."""
        total = QueryMetrics()
        total.add(self.metrics, np.zeros(1, np.int64))
        if self.subscription is not None:
            self.subscription.add_metrics(total)
        return total

    @property
    def rows_out(self) -> int:
        """Changes so far."""
        return int(self.counted.rows_out[0])

    def add_bad(self, rows: pa.Table) -> None:
        """Keep rows for which its expressions have no value."""
        self._bad = (*self._bad, rows)

    def take_bad(self) -> pa.Table | None:
        """The bad rows since the last call; None: there are none."""
        bad, self._bad = self._bad, ()
        return pa.concat_tables(bad) if bad else None

    def _repr_html_(self) -> str:
        """For notebooks: the text, the plan as a graph, and the answer now."""
        state = f"set aside: {self.set_aside}" if self.set_aside else f"{self.rows_out:,} changes"
        parts = [f"<b>{escape(self.name)}</b> ({escape(state)})<pre>{escape(self.sql)}</pre>"]
        parts.append(plan_svg(self.plan))
        if self.keeps_answer and not self.set_aside:
            parts.append(table_html(self.snapshot(), "the answer now"))
        return "".join(parts)

    def __repr__(self) -> str:
        return f"Query({self.name!r}: {self.sql})"


def _not_shed(query: Query) -> dict[str, Any]:
    """It is not known to the drop boxes."""
    return {}


def _no_lines(query: Query) -> list[str]:
    """Nothing."""
    return []
