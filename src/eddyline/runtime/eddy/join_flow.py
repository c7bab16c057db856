"""Queries over the join of several sources: one eddy.

The rows of a chunk that some query requires are built into their source's input, and probe those of
the other sources, one after the other, in the order of the routing policy::

      rows ──▶ filter bank ──▶ build ──▶ probe ──▶ probe ──▶ residual predicates ──▶ recipients
               (lineage &=)            (lineage &= that of the rows found, of windows, and of
                                        predicates over the sources joined: ``between_stems.py``)

Two constraints make every result come out once (section 2.3 of the paper): all rows of the chunk
are built before any of them probes, and a probe finds only rows that came before its own. So a
result is made by the youngest of its rows, and no intermediate results are kept.

Where no query has a predicate and windows are nested, rows need no lineage (``result_forms.py``).

Where windows count rows, a new row evicts others first: one of each window of N rows for every N
that a query has. Those are routed like new rows, but as of just before the new row, for the queries
with that N: their results are retracted (``rows_groups.py``).

For consumers that read results as they come, a join of two sources queues its rows and joins them
by a schedule (``window_join/scheduled_join.py``); not where windows count the rows of partitions,
which are not bounded by positions.

Source: Madden et al. 2002, section 2; Hammad et al. 2003.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.deferral import Deferral
from eddyline.runtime.eddy.edges import JoinGraph, computed_keys
from eddyline.runtime.eddy.flow import Flow, Member
from eddyline.runtime.eddy.gates import Gates
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.eddy.result_forms import (
    FlowParts,
    LevelForm,
    LineageForm,
    Required,
    ResultForm,
)
from eddyline.runtime.eddy.routing import Routing, in_order
from eddyline.runtime.eddy.theta import Theta
from eddyline.runtime.failures import collecting, report
from eddyline.runtime.join_inputs.flow_partitions import FlowPartitionRows
from eddyline.runtime.join_inputs.flow_windows import FlowRows, Levels, Windows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.predicates.lineage_failures import for_queries
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.joined_work import JoinedWork
from eddyline.runtime.window_join.rows_groups import RowsGroups
from eddyline.runtime.window_join.scheduled_join import ScheduledJoin
from eddyline.runtime.window_join.schedules import Schedule

Selections: TypeAlias = Literal["push", "pull", "auto"]


class JoinFlow(Flow):
    """Joins its sources for all queries.

    Args:
        inputs: per source, its visible rows.
        graph: which sources are joined on which keys.
        gates: which rows become visible; None: all.
        schedule: of a join of two sources that is ``paced``.
        selections: whether predicates are applied below the join ("push"), above it ("pull"), or
            expensive ones above it where that costs less ("auto").
    """

    def __init__(
        self,
        sources: Sequence[Operator],
        inputs: Sequence[LineageInput],
        graph: JoinGraph,
        new_policy: Callable[[], Policy],
        *,
        gates: Gates | None = None,
        schedule: Schedule | None = None,
        selections: Selections = "push",
    ) -> None:
        super().__init__(sources, [rows.window for rows in inputs], new_policy)
        self._rows = tuple(inputs)
        self._gates = gates
        keyless = len(inputs) == 2 and not graph.edges
        condition = Theta(inputs, graph.theta, self._residual) if keyless else None
        self._routing = Routing(inputs, graph.edges, new_policy, condition)
        verify = None
        if condition is not None:
            verify = condition.results
        elif len(inputs) == 2 and not self._routing.is_exact:
            verify = self._routing.have_same_keys
        self._parts = FlowParts(
            self._rows,
            self._members,
            self._banks,
            self._residual,
            self._routing,
            selections == "pull",
            verify,
            keyless,
            Deferral(self._rows, self._banks) if selections == "auto" else None,
        )
        self._computed_keys = [computed_keys(n, graph.edges) for n in range(len(inputs))]
        self._computes_keys = any(self._computed_keys)
        self._defers = False  # whether some predicate may wait for the join
        by_position = not any(isinstance(w, FlowPartitionRows) for w in self._stem_windows)
        self._schedule = schedule if len(inputs) == 2 and by_position else None
        self._scheduled: ScheduledJoin | None = None  # None: it has not been paced yet
        self._overdue: list[tuple[Batch, Array]] = []  # results released when windows changed
        no_queries = self._members.lineage(())
        self._form: ResultForm = LineageForm(self._parts, self._members.windows(), no_queries, None)

    # -- queries -------------------------------------------------------

    def admit(self, member: Member) -> int:
        if member.attributes:
            self._give_lineage()
        bit = super().admit(member)
        for rows in self._rows:
            rows.widen(self._members.words)
        if self._scheduled is not None:
            self._scheduled.admit(bit)
        if isinstance(self._form, LineageForm):
            for rows, selects in zip(self._rows, member.predicates, strict=True):
                rows.mark(bit, None if self._parts.pull_up else selects)
        self._judge_again()
        return bit

    def retire(self, bit: int) -> None:
        self._give_lineage()
        super().retire(bit)

    def _give_lineage(self) -> None:
        """Prepare for a query that does not get all results."""
        if isinstance(self._form, LevelForm):
            self._refresh()
            self._form = self._with_lineage(self._form.windows, self._form.groups)

    def dismiss(self, bit: int) -> None:
        super().dismiss(bit)
        others = np.arange(self._members.width) != bit
        self._overdue = [(_of_queries(batch, others), came) for batch, came in self._overdue]

    def _refresh(self) -> ResultForm:
        """The form of results that fits the queries."""
        if not self._changed:
            return self._form
        bits = self._members.bits
        windows, mask = self._members.windows(), self._members.lineage(bits)
        self._fit_windows()
        if self._parts.deferral is not None:
            self._defers = any(bank.computed for bank in self._banks)
            self._parts.deferral.is_active &= self._defers
        self._form.windows, self._form.mask = windows, mask  # queued rows may be joined by it yet
        selective, levels = self._members.are_selective, None
        if bits.size and (not selective or self._scheduled is not None):
            levels = Levels.of(self._members.lengths, bits, self._members.words)
        nested = levels is not None and levels.nested and not selective
        self._fit_schedule(levels, has_lineage=not nested)
        groups = None
        counted = [isinstance(rows.window, FlowRows) for rows in self._rows]
        if any(counted):
            shown = levels if nested else None
            groups = RowsGroups.of(counted, windows, self._members.lengths, bits, shown)
            if self._scheduled is not None:
                self._scheduled.group(groups)
        if levels is not None and nested:
            self._form = LevelForm(self._parts, windows, mask, groups, levels)
        else:
            self._form = self._with_lineage(windows, groups)
        return self._form

    def _with_lineage(self, windows: Sequence[Windows], groups: RowsGroups | None) -> LineageForm:
        """A form with lineage. Rows that had none so far are required by every query."""
        mask = self._form.mask
        if isinstance(self._form, LevelForm):
            self._finish()
            for rows in self._rows:
                held = rows.held()
                lineage = np.tile(mask, (held.size, 1))
                rows.put(lineage, rows.rows(rows.stem.ids(held)))
            self._judge_again()
        return LineageForm(self._parts, windows, mask, groups)

    def _judge_again(self) -> None:
        if self._gates is not None:
            self._gates.invalidate()

    # -- rows ----------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        scheduled = self._is_scheduled()
        form = self._refresh()
        new = [form.new_rows(n, batch) for n, batch in enumerate(batches)]
        if self._computes_keys:
            self._report_keys(new, form)
        for rows, (batch, required) in zip(self._rows, new, strict=True):
            rows.build(batch, form.lineage(required))
            if self._gates is None:
                rows.show(batch)
        if self._gates is not None:
            new = self._gates.let_in(new, self.clock)
        if scheduled is not None:
            scheduled.arrive(batches, new, self.arrived, tick.following)
            return form.with_recipients(in_order([], 2, new[0][1][:0]))
        evicted = [c for n, batch in enumerate(batches) for c in form.evicted(n, batch)]
        started = time.thread_time()
        whole = form.join(new, evicted)
        seconds = time.thread_time() - started
        out = form.with_recipients(whole)
        if self._parts.deferral is not None and self._defers:
            came = [len(batch) for batch, _ in new]
            self._parts.deferral.decide(came, whole, seconds, form.windows, tick.clock)
        return out

    def _report_keys(self, new: Sequence[Required], form: ResultForm) -> None:
        """Report the rows whose join keys cannot be computed: they match nothing."""
        for computed, (batch, required) in zip(self._computed_keys, new, strict=True):
            if not computed:
                continue
            with collecting() as failures:
                for evaluate in computed.values():
                    evaluate(batch)
            for failure in failures:
                report(for_queries(failure, form.lineage(required)))

    def _results(self, clock: int, bits: Sequence[int]) -> Batch:
        form, mask = self._refresh(), self._members.lineage(bits)
        if self._gates is not None:
            self._gates.revalidate(self.clock)
        for rows in self._rows:
            rows.rewind()
        held = [form.held_rows(n, mask) for n in range(len(self._rows))]
        batch = form.with_recipients(form.join(held))
        for rows in self._rows:
            rows.admit()
        chosen = np.zeros(self._members.width, np.bool_)
        chosen[list(bits)] = True
        return _of_queries(batch, chosen)

    @property
    def fan_outs(self) -> dict[tuple[frozenset[int], int], tuple[int, int]]:
        counts = dict(self._routing.fan_outs)
        for number, other, rows in () if self._gates is None else self._gates.missed():
            came, went = counts.get((frozenset((number,)), other), (0, 0))
            counts[frozenset((number,)), other] = came + rows, went
        return counts

    # -- the scheduled join --------------------------------------------

    def _is_scheduled(self) -> ScheduledJoin | None:
        """The scheduled join, if rows are to be queued."""
        if self._schedule is None or not self.paced or not self._members:
            return None
        if self._scheduled is None:
            self._scheduled = ScheduledJoin(
                self._rows, self._schedule, self._meet, self._parts.verify
            )
            for bit in self._members.bits.tolist():
                self._scheduled.admit(bit)
            self._changed = True  # the windows of the scheduled join
        return self._scheduled

    def _meet(
        self, target: int, own: Array, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        """See ``LineageInput.meet``."""
        return self._rows[target].meet(own, number, found, age, self._form.windows[target])

    def _fit_schedule(self, levels: Levels | None, *, has_lineage: bool) -> None:
        """Change the windows of the scheduled join, after all queued rows if it must be."""
        if self._scheduled is None:
            return
        if levels is None:
            self._scheduled.clear()
            return
        if not self._scheduled.can_continue_with(levels, has_lineage=has_lineage):
            self._finish()
        self._scheduled.fit(levels, has_lineage=has_lineage)

    @property
    def waiting(self) -> bool:
        return self._scheduled is not None and (self._scheduled.waiting or bool(self._overdue))

    @property
    def queued_rows(self) -> int:
        return 0 if self._scheduled is None else self._scheduled.queued_rows

    @property
    def scheduled_work(self) -> JoinedWork:
        return JoinedWork() if self._scheduled is None else self._scheduled.work

    @property
    def wants_rows(self) -> bool:
        return self._scheduled is None or self._scheduled.wants_rows

    def step(self) -> list[tuple[Batch, Array]]:
        self._refresh()
        out, self._overdue = self._overdue, []
        return out if out or not self.waiting else self._served()

    def _finish(self) -> None:
        """Join all queued rows, before their recipients change."""
        while self._scheduled is not None and self._scheduled.waiting:
            self._overdue += self._served()

    def _served(self) -> list[tuple[Batch, Array]]:
        assert self._scheduled is not None, "rows are queued"
        began, form = time.thread_time(), self._form
        steps = self._scheduled.step(joins_classes=self.joins_classes)
        out = [(form.released(s.results, s.recipients), s.arrived) for s in steps]
        self.rows_out += sum(len(batch) for batch, _ in out)
        self.seconds += time.thread_time() - began
        return out

    # -- the rest of an operator ---------------------------------------

    @property
    def suspensions(self) -> tuple[int, int]:
        return (0, 0) if self._gates is None else self._gates.suspensions

    def stats(self) -> dict[str, Any]:
        gates = [] if self._gates is None else self._gates.stats()
        return {**super().stats(), "feedback": gates}

    def close(self) -> None:
        if self._gates is not None:
            self._gates.close()
        for rows in self._rows:
            rows.close()

    def restore(self, state: State) -> None:
        """Lineage and indexes follow from the rows in the SteMs, which have been restored."""
        self._refresh()
        mask = self._members.lineage(self._members.readable)
        for rows, bank in zip(self._rows, self._banks, strict=True):
            rows.build_all()
            held = rows.held()
            batch = rows.rows(rows.stem.ids(held))
            lineage = np.tile(mask, (held.size, 1))
            if not self._parts.pull_up:
                bank.narrow(batch, lineage)
            rows.put(lineage, batch)
        self._judge_again()


def _of_queries(batch: Batch, chosen: Array) -> Batch:
    """The results of the queries where bool ``chosen``, by bit."""
    assert batch.recipients is not None, "set by the flow"
    return batch.sent_to(batch.recipients.of_queries(chosen[: batch.recipients.width]))
