"""A standing query of an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import streams_read, tables_read
from eddyline.engine.execution.failure_counts import Trouble
from eddyline.engine.execution.latency import Latencies
from eddyline.engine.explain import busy
from eddyline.engine.locking import EngineLock, locked
from eddyline.engine.placement.placement import Placement
from eddyline.errors import StateError
from eddyline.physical.patterns import replaced_by, unbounded_scan
from eddyline.runtime.batch import Batch
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.output import (
    change_schema,
    concat_changes,
    to_changes,
    without_replaced,
)
from eddyline.types import BEGINNING, arrow_schema

if TYPE_CHECKING:
    from eddyline.engine.execution.shared_flow import Crowd, Seat


class Explained(Protocol):
    """Makes the text of EXPLAIN."""

    def __call__(self, emit: Emit, plan: Plan, *, analyze: bool = False) -> str:
        """See ``Planning.explained``."""


class Query:
    """One standing query; the engine makes it.

    Attributes:
        name: as given, or ``q1``, ``q2``, ...
        reads: the streams and tables that it reads.
        sql: the text of its SELECT.
        schema: Arrow schema of the select list.
        plan: the logical plan that runs. emit: how it reports.
        options: of the sink, as written in ``WITH``.
        sheds: rows of its streams may be dropped when all are too many. shedding: which share of
            them is kept, for ``stats``; shedding_lines: the same as text.
        replace_key: output columns by which a new row replaces the older one of its group; None
            where rows never replace each other (EMIT CHANGES, no GROUP BY, keys not selected).
        placement: how it runs; None: it does not.
        seen_before: rows that its streams had brought before it came.
        seconds_before: what it took while it ran in other ways. reordered: how many times its joins
            have got another order while it ran.
        seat: its place among the queries that share a flow; None if it runs as a tree of operators.
        trouble: its bad rows. set_aside: why it does not run any more; None: it runs.
    """

    def __init__(
        self,
        name: str,
        sql: str,
        plan: Plan,
        emit: Emit,
        options: Mapping[str, str],
        lock: EngineLock,
        answer: Callable[[Query], pa.Table],
        explained: Explained,
        *,
        sheds: bool = False,
    ) -> None:
        self.lock = lock
        self.name = name
        self.sql = sql
        self.plan = plan
        self.emit = emit
        self.options = dict(options)
        self.sheds = sheds
        self.reads: frozenset[str] = streams_read(plan) | tables_read(plan)
        self.shedding: Callable[[], dict[str, Any]] = dict
        self.shedding_lines: Callable[[], list[str]] = list
        self.schema: pa.Schema = arrow_schema(plan.schema)
        self.replace_key = replaced_by(plan) if emit.mode == "inserts" else None
        self._forgotten = unbounded_scan(plan) if emit.mode == "inserts" else None
        self._operator: Operator | None = None
        self._answer = answer
        self._explained = explained
        self._change_schema = change_schema(plan.schema)
        self.seat: Seat | Crowd | None = None
        self.placement: Placement | None = None
        self.seen_before = 0
        self.seconds_before = 0.0
        self.reordered = 0
        self._parts: list[pa.Table] = []
        self._rows_out = 0
        self._last = 0  # changes that the last chunk brought
        self._latencies = Latencies()  # of its own; others are its seat's
        self._since: int | None = None  # nothing is reported as of an earlier instant
        self._early: list[Batch] = []  # the answer before the first instant
        self.trouble = Trouble()
        self.set_aside: str | None = None
        self._bad: list[pa.Table] = []

    @property
    def operator(self) -> Operator:
        """The operator whose output this query reports, or a part of it."""
        assert self._operator is not None, "the engine says which when it adds the query"
        return self._operator

    @operator.setter
    def operator(self, operator: Operator) -> None:
        self._operator = operator

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
                f"query {self.name!r} is set aside ({self.set_aside}): drop it, and add it again "
                "when what it needs is mended"
            )
        if self._forgotten is not None:
            raise StateError(
                f"query {self.name!r} passes the rows of {self._forgotten} on and keeps none: "
                "collect its changes, or give the stream a window"
            )
        return self._answer(self)

    @locked
    def explain(self, *, analyze: bool = False) -> str:
        """The plan as a tree, with the update pattern of every edge; and where rates of its
        streams are known, what it is expected to emit, to keep and to take.

        Args:
            analyze: add what was measured of its inputs, and the operators that run it, with what
                they took and what went through each so far.
        """
        return self.described(analyze=analyze)

    def described(self, *, analyze: bool) -> str:
        """The text of ``explain``."""
        text = self._explained(self.emit, self.plan, analyze=analyze)
        text += "".join(f"\n{line}" for line in self.shedding_lines())
        if self.set_aside is not None:
            return f"{text}\nset aside: {self.set_aside}"
        if not analyze:
            return text
        lines = [f"{'operator':<12}{'rows in':>14}{'rows out':>14}{'rows kept':>14}"]
        gates = []
        operators = in_order([self.operator])
        for operator in operators:
            stats = operator.stats()
            del stats["seconds"]
            gates += stats.pop("feedback", [])
            stats.pop("mns_by_level", None)
            stats.pop("bloom_filters", None)
            name, *counts = stats.values()
            lines.append(f"{name:<12}" + "".join(f"{c:>14,}" for c in counts))
        lines += _feedback(gates)
        head = [text, *busy(operators), "", self._execution(), ""]
        return "\n".join([*head, *lines, *self._filters()])

    def _execution(self) -> str:
        if self.seat is None:
            return f"runs as a tree: {self.why}"
        others = self.seat.shared.flow.members - self.seat.members
        grouped = self.seat.grouped
        with_it = "" if grouped is None else f" ({grouped - 1:,} of them grouped with it)"
        return f"runs in an eddy, with {others:,} other queries{with_it}: {self.why}"

    def _filters(self) -> list[str]:
        """The grouped filters that it shares, as lines of text."""
        filters = () if self.seat is None else self.seat.shared.flow.filters
        if not filters:
            return []
        head = f"{'grouped filter':<26}{'predicates':>14}{'rows in':>14}{'rows out':>14}"
        return ["", head] + [
            f"{f.name[:25]:<26}{f.predicates:>14,}{f.visited:>14,}{f.returned:>14,}"
            for f in filters
        ]

    @locked
    def stats(self) -> dict[str, Any]:
        """Counters since the query was added: rows out, bad rows, rows kept by its last operator,
        and seconds from when rows could be processed to when their results were released; and
        ``set_aside``, why it does not run any more (None: it runs).
        """
        return self.counters()

    def counters(self) -> dict[str, Any]:
        """What ``stats`` returns."""
        return {
            "rows_out": self.rows_out,
            "bad": self.trouble.total,
            "rows_kept": 0 if self._operator is None else self._operator.kept(),
            "latency": self._all_latencies().summary(0),
            "set_aside": self.set_aside,
            **self.shedding(),
        }

    @property
    def rows_out(self) -> int:
        """Changes so far."""
        return self._rows_out + (0 if self.seat is None else self.seat.rows_out)

    def note_latency(self, seconds: float) -> None:
        """The changes collected last were released so long after their rows could be processed."""
        self._latencies.add(np.array([self._last]), seconds)

    def _all_latencies(self) -> Latencies:
        whole = Latencies()
        whole.add_all(self._latencies, np.zeros(1, np.int64))
        if self.seat is not None:
            whole.add_all(*self.seat.latencies)
        return whole

    def begin(self, since: int) -> None:
        """The first instant of the query: what is there already, rows of tables, enters now."""
        if self._since is not None:
            return
        self._since = since
        early, self._early = self._early, []
        for batch in early:
            self.collect(batch)

    def begin_anew(self) -> None:
        """Nothing has happened yet, as far as the query is concerned."""
        self._since, self._early = None, []

    def resume(self) -> None:
        """The query began before it was saved: what it said then is not said again."""
        self._since, self._early, self._parts = BEGINNING, [], []

    def collect(self, batch: Batch) -> bool:
        """Add one chunk's output to what is reported; returns whether there is any."""
        if self._since is None:
            self._early.append(batch)
            return False
        if self.replace_key is not None:
            batch = without_replaced(batch)
        if not len(batch):
            return False
        self._rows_out += len(batch)
        self._last = len(batch)
        if batch.ts[0] < self._since:
            batch = replace(batch, ts=np.maximum(batch.ts, self._since))
        self._parts.append(to_changes(batch, self._change_schema))
        return True

    def pending(self) -> pa.Table:
        """The changes of its own that were collected; those of a query with a seat are there."""
        return concat_changes(self._parts, self._change_schema)

    def take(self) -> pa.Table:
        """What ``pending`` returns; it counts as reported."""
        changes = self.pending()
        self.clear()
        return changes

    def add_bad(self, rows: pa.Table) -> None:
        """Rows that its expressions could not take."""
        self._bad.append(rows)

    def take_bad(self) -> pa.Table | None:
        """The bad rows since the last call; None: there are none."""
        bad, self._bad = self._bad, []
        return pa.concat_tables(bad) if bad else None

    def put_aside(self, cause: str) -> None:
        """It does not run any more, and its operators are gone; ``finish_seat`` came before."""
        self.seat = self._operator = None
        self._early = []
        self.set_aside = cause

    def stand_up(self) -> None:
        """Give up the seat, and take along what is still to be reported."""
        self.finish_seat()
        self.seat = None

    def finish_seat(self) -> None:
        """Take along what is still to be reported by the seat that it is about to give up."""
        assert self.seat is not None, "it has one"
        changes = self.seat.shape.changes().of(self.name)
        if changes.num_rows:
            self._parts.append(changes)
        self._rows_out += self.seat.rows_out
        self._latencies = self._all_latencies()

    def put(self, changes: pa.Table) -> None:
        """Let these changes be reported, after those that were collected before."""
        if changes.num_rows:
            self._parts.append(changes)
            self._rows_out += changes.num_rows

    def put_back(self, changes: pa.Table) -> None:
        """Let these changes be reported first."""
        self._parts.insert(0, changes)

    def clear(self) -> None:
        """They have been reported."""
        self._parts = []

    def __repr__(self) -> str:
        return f"Query({self.name!r}: {self.sql})"


def _feedback(gates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which rows wait until a consumer wants them, as lines of text."""
    if not gates:
        return []
    counters = ("asked", "refused", "resumed", "waiting", "waited_for")
    heads = ("asked", "refused", "resumed", "waiting", "for keys")
    lines = ["", f"{'feedback: rows of':<26}{'to join':<26}" + "".join(f"{h:>12}" for h in heads)]
    for gate in gates:
        names = f"{gate['rows_of'][:25]:<26}{gate['joined_with'][:25]:<26}"
        lines.append(names + "".join(f"{gate[c]:>12,}" for c in counters))
    return lines
