"""A query of an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import streams_read, tables_read
from eddyline.engine.analyze import analyzed
from eddyline.engine.execution.bad_rows import FailureCounts
from eddyline.engine.execution.shared_flow import SharedFlow
from eddyline.engine.execution.subscriptions import Subscription
from eddyline.engine.locking import EngineLock, locked
from eddyline.engine.placement.placement import Placement
from eddyline.engine.query_metrics import QueryMetrics
from eddyline.errors import StateError
from eddyline.physical.patterns import replaced_by, unbounded_scan
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.output import change_schema
from eddyline.types import arrow_schema


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
        plan: the logical plan that runs. emit: the form of its output.
        options: of the sink, as written in ``WITH``.
        sheds: whether rows of its streams may be dropped under overload.
        bound: the plan of the statement, before it was optimized.
        in_parts: the plan that runs makes partial groups, which are merged elsewhere.
    """

    name: str
    sql: str
    plan: Plan
    emit: Emit
    options: Mapping[str, str]
    sheds: bool
    bound: Plan
    in_parts: bool = False


class Query:
    """One continuous query; the engine makes it.

    Attributes:
        name, sql, plan, emit, options, sheds, bound, in_parts: as in ``QuerySpec``.
        reads: the streams and tables that it reads.
        schema: Arrow schema of the select list.
        shedding: which share of the rows of its streams is kept, for ``stats``; shedding_lines: the
            same as text.
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
    ) -> None:
        plan, emit = spec.plan, spec.emit
        self.lock = lock
        self.name = spec.name
        self.sql = spec.sql
        self.plan = plan
        self.emit = emit
        self.options = dict(spec.options)
        self.sheds = spec.sheds
        self.bound = spec.bound
        self.in_parts = spec.in_parts
        self.reads: frozenset[str] = streams_read(plan) | tables_read(plan)
        self.shedding: Callable[[], dict[str, Any]] = dict
        self.shedding_lines: Callable[[], list[str]] = list
        self.schema: pa.Schema = arrow_schema(plan.schema)
        self.replace_key = replaced_by(plan) if emit.adds_only else None
        self._forgotten = unbounded_scan(plan) if emit.adds_only else None
        self._answer = answer
        self._explained = explained
        self._change_schema = change_schema(plan.schema)
        self.subscription: Subscription | None = None
        self.placement: Placement | None = None
        self.reordered = 0
        self.seen_before = 0
        self.metrics = QueryMetrics()
        self.failures = FailureCounts()
        self.set_aside: str | None = None
        self._bad: list[pa.Table] = []

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
    def flow(self) -> SharedFlow | None:
        """The flow that the query shares; None: it runs as a tree of operators."""
        return None if self.subscription is None else self.subscription.shared

    @property
    def why(self) -> str:
        """The reason for its placement."""
        return "" if self.placement is None else self.placement.why

    @property
    def change_schema(self) -> pa.Schema:
        """Arrow schema of the changes."""
        return self._change_schema

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
        lines = [self._explained(self.emit, self.plan, analyze=analyze), *self.shedding_lines()]
        if self.set_aside is not None:
            lines.append(f"set aside: {self.set_aside}")
        elif analyze:
            lines += analyzed(self.running, self.why)
        return "\n".join(lines)

    @locked
    def stats(self) -> dict[str, Any]:
        """Counters since the query was added: rows out, bad rows, rows kept by its last operator,
        and seconds from when rows could be processed to when their results were released; and
        ``set_aside``, why it does not run any more (None: it runs).
        """
        return self.counters()

    def counters(self) -> dict[str, Any]:
        """The result of ``stats``."""
        counted = self.counted
        return {
            "rows_out": int(counted.rows_out[0]),
            "bad": self.failures.total,
            "rows_kept": 0 if self.subscription is None else self.operator.kept(),
            "latency": counted.latency(0),
            "set_aside": self.set_aside,
            **self.shedding(),
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
        self._bad.append(rows)

    def take_bad(self) -> pa.Table | None:
        """The bad rows since the last call; None: there are none."""
        bad, self._bad = self._bad, []
        return pa.concat_tables(bad) if bad else None

    def __repr__(self) -> str:
        return f"Query({self.name!r}: {self.sql})"
