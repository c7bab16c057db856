"""A flow: one eddy with all the queries that have its sources and join keys in common.

A chunk's rows of a source go through that source's grouped filters, which take bits out of their
lineage; a row that no query wants any more stops. The others are built into the SteM's side, and
probe those of the other sources, one after the other, in the order that the routing policy says::

      rows ──▶ filter bank ──▶ build ──▶ probe ──▶ probe ──▶ residual predicates ──▶ recipients
               (lineage &=)            (lineage &= that of the rows found, and of windows)

Where no query has a predicate and windows are nested, the lineage of a result follows from its age:
rows have none, and a result has the first *level* that wants it (``levels.py``).

Two constraints make every result come out once (section 2.3 of the paper): all rows of the chunk
are built before any of them probes, and a probe finds only rows that came before its own. So a
result is made by the youngest of its rows, and no intermediate results are kept.

Where windows count rows, a row that comes pushes others out first: one of each window of N rows for
every N that a query has. Those are routed like rows that come, but as of just before the new row,
for the queries with that N: what they are joined to is taken back (``rows_groups.py``).

Source: Madden et al. 2002, section 2.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eddyline.kernels.lineage import any_wanted, meet_levels
from eddyline.runtime.batch import Batch, Predicate, Stored
from eddyline.runtime.eddy.composites import Composites, in_order, singletons
from eddyline.runtime.eddy.edges import Equality, computed_keys
from eddyline.runtime.eddy.gates import Gates
from eddyline.runtime.eddy.members import Member, Members
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.eddy.routing import QueryWindows, Routing
from eddyline.runtime.eddy.theta import Theta
from eddyline.runtime.failures import collecting, report
from eddyline.runtime.join_inputs.flow_windows import FlowRows, FlowWindow, Windows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.scan import Scan
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.predicates.grouped_filter import GroupedFilter
from eddyline.runtime.predicates.lineage_failures import for_queries
from eddyline.runtime.recipients import NestedRecipients, recipients_of
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.evictions import MOST_WORDS
from eddyline.runtime.window_join.leveled_join import leveled_join
from eddyline.runtime.window_join.levels import Levels
from eddyline.runtime.window_join.output_buffer import Verify
from eddyline.runtime.window_join.paced_join import PacedJoin
from eddyline.runtime.window_join.rows_groups import RowsGroups
from eddyline.runtime.window_join.schedules import Schedule
from eddyline.types import FOREVER


class Flow(Operator):
    """Runs select-project-join queries together. Its batches list the recipients of each result.

    Args:
        sources: one operator per source.
        windows: the sources' windows, if rows live as long as each query's own windows say; none if
            they live until their ``exp``. Only those of joined sources may count rows.
        sides: one SteM side per source if there are several; none for a single source.
        edges: the join graph; two sources may have none.
        new_policy: makes a routing policy.
        gates: which rows the sides show; None: all.
        theta: says which rows of two sources without edges are joined; None: all.
        schedule: of a join of two sources: whose results come first, if it is ``paced``.
        rows_per_step: at most so many of its rows are served at a time.
        pull_up: whether predicates are applied above the join instead of below it.

    Attributes:
        paced: whether rows are queued, and results come with ``step`` instead of ``process``.
        arrived: when the chunk's rows came; seconds of any clock.
    """

    def __init__(
        self,
        sources: Sequence[Operator],
        windows: Sequence[FlowWindow | FlowRows],
        sides: Sequence[LineageInput],
        edges: Sequence[Equality],
        new_policy: Callable[[], Policy],
        *,
        gates: Gates | None = None,
        theta: Predicate | None = None,
        schedule: Schedule | None = None,
        rows_per_step: int = 4_096,
        pull_up: bool = False,
    ) -> None:
        super().__init__(sources)
        self._sides = tuple(sides)
        self._gates = gates
        self._stem_windows = tuple(windows)
        self._counted = [isinstance(w, FlowRows) for w in windows]
        self._pull_up = pull_up
        self._banks = [FilterBank(new_policy()) for _ in sources]
        self._residual = FilterBank(new_policy())
        keyless = len(sides) == 2 and not edges
        self._theta = Theta(sides, theta, self._residual) if keyless else None
        self._routing = Routing(sides, edges, new_policy, self._theta)
        self._computed_keys = [computed_keys(n, edges) for n in range(len(sides))]
        self._members = Members(len(sources))
        self._windows: list[Windows] | None = None  # None: to be worked out anew
        self._wanted = np.zeros(1, np.uint64)
        self._levels: Levels | None = None  # None: rows have lineage
        self._groups: RowsGroups | None = None  # None: no windows count rows
        self._reach = np.full(64, -1, np.int64)  # by bit, its level
        self.paced = False
        self.arrived = 0.0
        self._pacing: PacedJoin | None = None
        self._overdue: list[tuple[Batch, Array]] = []  # results released when windows changed
        self._verify: Verify | None = None  # of two sources: says which pairs are results
        if len(sides) == 2:
            if self._theta is not None:
                self._verify = self._theta.results
            elif not self._routing.is_exact:
                self._verify = self._routing.have_same_keys
            if schedule is not None:
                verify = self._verify
                self._pacing = PacedJoin(sides, schedule, rows_per_step, self._meet, verify)

    # -- queries come and go -----------------------------------------------------------------------

    def admit(self, member: Member) -> int:
        """Add a query; returns its bit. From now on it gets what the new rows bring about."""
        if member.is_selective and self._levels is not None:
            self._refresh()
            self._give_lineage()
        bit = self._members.add(member)
        for side in self._sides:
            side.widen(self._members.words)
        for bank, clauses in zip(self._banks, member.filters, strict=True):
            bank.add(bit, clauses)
        self._residual.add(bit, member.residual)
        for window, length in zip(self._stem_windows, member.windows, strict=False):
            window.extend(length)
        self._windows = None
        if self._pacing is not None:
            self._pacing.admit(bit)
        for number, side in enumerate(self._sides):
            if len(side.stem) and self._levels is None:
                self._mark(number, side, bit, member.wants[number])
        self._doubt()
        return bit

    def dismiss(self, bit: int) -> None:
        """Drop a query. Its bit is given out again after ``recycle``."""
        self._members.remove(bit)
        for bank in (*self._banks, self._residual):
            bank.remove(bit)
        self._windows = None
        others = np.arange(self._members.width) != bit
        self._overdue = [(_of_queries(batch, others), came) for batch, came in self._overdue]

    def hold(self, windows: tuple[int, ...]) -> None:
        """Keep rows for queries with such windows, also while there are none."""
        self._members.held_for[windows] += 1
        self._windows = None

    def let_go(self, windows: tuple[int, ...]) -> None:
        """Undo ``hold``."""
        self._members.held_for -= Counter([windows])
        self._windows = None

    def recycle(self) -> None:
        """Nobody holds results of dismissed queries any more."""
        if not self.waiting:
            self._members.recycle()

    def predicates_of(self, bit: int) -> int:
        """How many attributes a query has predicates on."""
        member = self._members[bit]
        return sum(map(len, member.filters)) + len(member.residual)

    @property
    def filters(self) -> list[GroupedFilter]:
        """All grouped filters, source by source, then those over joined rows."""
        return [f for bank in (*self._banks, self._residual) for f in bank.filters]

    @property
    def visits(self) -> int:
        """How often a filter has looked at a row."""
        return sum(bank.visits for bank in (*self._banks, self._residual))

    @property
    def fan_outs(self) -> dict[tuple[frozenset[int], int], tuple[int, int]]:
        """By sources joined and source probed: how many rows probed, and how many came back."""
        counts = dict(self._routing.fan_outs)
        for number, other, rows in () if self._gates is None else self._gates.missed():
            came, went = counts.get((frozenset((number,)), other), (0, 0))
            counts[frozenset((number,)), other] = came + rows, went
        return counts

    def are_tied(self, one: int, other: int) -> bool:
        """Whether two sources share a key."""
        return self._routing.are_tied(one, other)

    def holds_rows(self) -> bool:
        """Whether there are rows that a query which comes now could be about."""
        return any(not isinstance(s, Scan) or len(s.stem) for s in self.inputs)

    @property
    def members(self) -> int:
        """Number of queries."""
        return len(self._members)

    @property
    def width(self) -> int:
        """All bits of queries are less than this."""
        return self._members.width

    def _refresh(self) -> list[Windows]:
        """Work out what follows from who is there."""
        if self._windows is None:
            bits = self._members.bits
            self._wanted = self._members.lineage(bits)
            self._windows = self._members.windows()
            for number, window in enumerate(self._stem_windows):
                held = [lengths[number] for lengths in self._members.held_for]
                window.fit(self._windows[number].lengths.tolist(), held)
            self._choose_form(bits)
            if any(self._counted):
                self._groups = RowsGroups.of(
                    self._counted, self._windows, self._members.lengths, bits, self._levels
                )
                if self._pacing is not None:
                    self._pacing.group(self._groups)
        return self._windows

    def _choose_form(self, bits: Sequence[int]) -> None:
        """Decide whether rows have lineage, or results have levels."""
        if not self._sides or not bits:
            self._give_lineage()
            if self._pacing is not None:
                self._pacing.clear()
            return
        levels = Levels.of(self._members.lengths, bits, self._members.words)
        has_lineage = self._members.are_selective or not levels.nested
        if self._pacing is not None:
            if not self._pacing.can_continue_with(levels, has_lineage=has_lineage):
                self._finish()
            self._pacing.fit(levels, has_lineage=has_lineage)
        if has_lineage:
            self._give_lineage()
        else:
            self._levels = levels
            self._reach = levels.reach(self._members.width)

    def _give_lineage(self) -> None:
        """Note for all rows held what has been true of them so far: every query wants them."""
        if self._levels is None:
            return
        self._finish()
        self._levels = None
        for number, side in enumerate(self._sides):
            held = side.held()
            lineage = np.tile(self._wanted, (held.size, 1))
            side.put(lineage, self._routing.rows_of(number, side.stem.ids(held)))
        self._doubt()

    def _doubt(self) -> None:
        if self._gates is not None:
            self._gates.doubt()

    def _mark(
        self, number: int, side: LineageInput, bit: int, wants: Callable[[], Predicate] | None
    ) -> None:
        held = side.held()
        rows = self._routing.rows_of(number, side.stem.ids(held))
        every = np.ones(held.size, np.bool_)
        wanted = every if wants is None or self._pull_up else wants()(rows)
        side.mark(bit, wanted, rows)

    # -- rows --------------------------------------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self._refresh()
        if not self._sides:
            return self._of_one_source(batches[0], self._wanted)
        new = [self._wanted_rows(n, batch) for n, batch in enumerate(batches)]
        self._report_keys(new)
        for side, (batch, wanted) in zip(self._sides, new, strict=True):
            side.build(batch, None if self._levels is not None else wanted)
            if self._gates is None:
                side.show(batch)
        if self._gates is not None:
            new = self._gates.let_in(new, self.clock)
        if self._pacing is not None and self.paced and self._members:
            self._pacing.arrive(batches, new, self.arrived)
            return self._with_recipients(in_order([], 2, new[0][1][:0]))
        leaving = [c for n, batch in enumerate(batches) for c in self._pushed_out(n, batch)]
        return self._joined(new, leaving)

    def _report_keys(self, new: Sequence[tuple[Batch, Array]]) -> None:
        """Report the rows whose join keys cannot be computed: they match nothing."""
        for computed, (batch, wanted) in zip(self._computed_keys, new, strict=True):
            with collecting() as failures:
                for evaluate in computed:
                    evaluate(batch)
            for failure in failures:
                report(for_queries(failure, None if self._levels is not None else wanted))

    @property
    def waiting(self) -> bool:
        """Whether there is something left for ``step``."""
        return self._pacing is not None and (self._pacing.waiting or bool(self._overdue))

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be served before those that wait."""
        return self._pacing is None or self._pacing.wants_rows

    def step(self) -> list[tuple[Batch, Array]]:
        """Process some of the queued rows.

        Returns:
            Results, and per result when its rows came (float64[n], as of ``arrived``).
        """
        self._refresh()
        out, self._overdue = self._overdue, []
        return out if out or not self.waiting else self._served()

    def _finish(self) -> None:
        """Serve all rows that wait: who they are for is about to change."""
        while self._pacing is not None and self._pacing.waiting:
            self._overdue += self._served()

    def _served(self) -> list[tuple[Batch, Array]]:
        assert self._pacing is not None, "rows wait"
        began = time.thread_time()
        out = [(self._released(s.results, s.recipients), s.arrived) for s in self._pacing.step()]
        self.rows_out += sum(len(batch) for batch, _ in out)
        self.seconds += time.thread_time() - began
        return out

    def _released(self, whole: Composites, getting: Array) -> Batch:
        """Results for these queries (bool[bits])."""
        bits = self._members.width
        present = np.unpackbits(self._wanted.view(np.uint8), bitorder="little").astype(np.bool_)
        getting = present & np.pad(getting, (0, max(bits - getting.size, 0)))[:bits]
        if self._levels is not None:
            level = self._levels.of_results(whole.ts, list(whole.instants.values()))
            if whole.group is not None and self._groups is not None:
                firsts = np.append(self._groups.first, 0)  # -1 is for all levels
                np.maximum(level, firsts[whole.group], out=level)
            return self._nested(whole, level, np.where(getting, self._reach, -1))
        mine = np.packbits(getting, bitorder="little").view(np.uint64)
        wanted = np.zeros((len(whole), self._members.words), np.uint64)
        wanted[:, : whole.wanted.shape[1]] = whole.wanted
        return self._with_recipients(replace(whole, wanted=wanted & mine))

    def _nested(self, whole: Composites, level: Array, reach: Array) -> Batch:
        """Results with the queries whose windows contain them."""
        until = None
        if whole.group is not None:
            assert self._levels is not None and self._groups is not None, "somebody has the windows"
            lasts = np.append(self._groups.last, len(self._levels))  # -1 is for all levels
            until = lasts[whole.group]
        batch = self._composite_batch(whole)
        instants = self._instants(whole)
        return batch.sent_to(NestedRecipients(batch.exp, level, reach, instants, until))

    def _with_recipients(self, whole: Composites) -> Batch:
        """Results with the queries in their lineage, or whose windows contain them."""
        if self._levels is not None:
            return self._nested(whole, whole.wanted, self._reach)
        batch = self._composite_batch(whole)
        blocks, width = self._left(batch, whole), self._members.width
        return batch.sent_to(recipients_of(batch.exp, blocks, width, self._instants(whole)))

    def _instants(self, whole: Composites) -> list[tuple[Array, Array]]:
        """Per source with windows by time, when the rows of results came, and these windows."""
        return [
            (whole.instants[n], us)
            for n, (us, counted) in enumerate(
                zip(self._members.lengths, self._counted, strict=True)
            )
            if not counted
        ]

    def _meet(
        self, target: int, own: Array, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        return self._sides[target].meet(own, number, found, age, self._refresh()[target])

    def answer(self, clock: int, bits: Sequence[int]) -> Batch:
        """The results that are in the answers of some queries at ``clock``, with these queries."""
        self._refresh()
        mask = self._members.lineage(bits)
        if not self._sides:
            return _alive(self._of_one_source(self.inputs[0].live(clock), mask), clock)
        if self._gates is not None:
            self._gates.settle_doubts(self.clock)
        for side in self._sides:
            side.rewind()
        batch = self._joined([self._held_rows(n, side, mask) for n, side in enumerate(self._sides)])
        for side in self._sides:
            side.admit()
        chosen = np.zeros(self._members.width, np.bool_)
        chosen[list(bits)] = True
        return _alive(_of_queries(batch, chosen), clock)

    def _held_rows(self, number: int, side: LineageInput, mask: Array) -> tuple[Batch, Array]:
        """The rows held of a source that queries in ``mask`` want, and who wants them.

        Where windows count rows: those that are in windows now.
        """
        stem, window = side.stem, side.window
        if self._levels is not None:
            positions = side.held()
            wanted = np.zeros(positions.size, np.int64)
        else:
            positions, wanted = side.required_by(mask)
        if isinstance(window, FlowRows):
            kept, wanted = self._within(number, wanted, window.ages(positions))
            positions = positions[kept]
        batch = self._routing.rows_of(number, stem.ids(positions))
        timed = replace(batch, ts=stem.lane_at("ts", positions), seq=stem.lane_at("seq", positions))
        return timed, wanted

    def _within(self, number: int, wanted: Array, age: Array) -> tuple[Array, Array]:
        """The rows of a source that are young enough for some query's window, and for whose."""
        if self._levels is not None:
            every = np.arange(age.size)
            return meet_levels(wanted, every, age, self._levels.bounds[number])
        windows = self._refresh()[number]
        inside = wanted & windows.members[np.searchsorted(windows.lengths, age, "right")]
        kept = np.flatnonzero(any_wanted(inside))
        return kept, inside[kept]

    def _pushed_out(self, number: int, batch: Batch) -> Iterator[Composites]:
        """The rows that new rows of a source push out of windows, and who had them there."""
        window, groups = self._stem_windows[number], self._groups
        if not isinstance(window, FlowRows) or groups is None or not self._members:
            return
        side, mine = self._sides[number], groups.of_source(number)
        counts = groups.counts[mine]
        rows = max(MOST_WORDS // (counts.size * self._members.words), 1)
        for start in range(0, len(batch), rows):
            by, group, ids = window.evicted(batch.ids[0][start : start + rows], counts)
            by, group = by + start, group + mine.start
            if self._levels is not None:
                wanted = groups.first[group]
            else:
                wanted = side.lineage_of(ids) & groups.queries[group]
                some = np.flatnonzero(any_wanted(wanted))
                by, group, ids, wanted = by[some], group[some], ids[some], wanted[some]
            instants = side.stem.lane_at("ts", side.stem.positions(ids))
            yield Composites(
                batch.ts[by], batch.seq[by] - 1, {number: ids}, {number: instants}, wanted, group
            )

    def _of_one_source(self, batch: Batch, wanted: Array) -> Batch:
        """Rows of a single source, with the queries whose predicates they satisfy."""
        instants = [(batch.ts, self._members.lengths[0])] if self._stem_windows else []
        blocks = self._banks[0].blocks(batch, wanted)
        return batch.sent_to(recipients_of(batch.exp, blocks, self._members.width, instants))

    def _joined(
        self, new: Sequence[tuple[Batch, Array]], leaving: Sequence[Composites] = ()
    ) -> Batch:
        """The results of rows of the sources, which have been built, with their recipients.

        Args:
            leaving: rows evicted from windows.
        """
        levels, has_keys = self._levels, self._theta is None
        if levels is not None and len(self._sides) == 2 and has_keys and not any(self._counted):
            whole = leveled_join(self._sides, levels, [b for b, _ in new], self._verify)
        else:
            wants = QueryWindows(self._refresh(), self._levels, self._groups)
            coming = (singletons(n, batch, wanted) for n, (batch, wanted) in enumerate(new))
            found = [c for some in (*leaving, *coming) for c in self._routing.routed(some, wants)]
            whole = in_order(found, len(self._sides), new[0][1][:0])
        return self._with_recipients(whole)

    def _wanted_rows(self, number: int, batch: Batch) -> tuple[Batch, Array]:
        """The new rows of a source that some query wants, and who."""
        if self._levels is not None:
            return batch, np.zeros(len(batch), np.int64)
        if self._pull_up:
            return batch, np.tile(self._wanted, (len(batch), 1))
        kept, lineages = [], []
        for first, lineage in self._banks[number].blocks(batch, self._wanted):
            some = np.flatnonzero(any_wanted(lineage))
            kept.append(some + first)
            lineages.append(lineage[some])
        if not kept:
            return batch, np.zeros((len(batch), self._members.words), np.uint64)
        rows = np.concatenate(kept)
        mine = batch if rows.size == len(batch) else batch.take(rows)
        return mine, np.concatenate(lineages)

    def _left(self, batch: Batch, whole: Composites) -> Iterator[tuple[int, Array]]:
        """The composites' lineage after what is applied to them as a whole."""
        lineage = whole.wanted
        if self._pull_up:
            for number, bank in enumerate(self._banks):
                bank.narrow(self._routing.rows_of(number, whole.ids[number]), lineage)
        if self._theta is None:  # it has asked already
            self._residual.narrow(batch, lineage)
        yield 0, lineage

    def _composite_batch(self, whole: Composites) -> Batch:
        n = len(whole)
        cells = tuple(
            Stored(s, i) for s, side in enumerate(self._sides) for i in range(len(side.stem.schema))
        )
        return Batch(
            whole.ts,
            whole.seq,
            np.full(n, FOREVER, np.int64),
            np.ones(n, np.int8) if whole.group is None else _signs(whole.group),
            tuple(whole.ids[s] for s in range(len(self._sides))),
            tuple(side.stem for side in self._sides),
            cells,
        )

    # -- the rest of an operator -------------------------------------------------------------------

    def live(self, clock: int) -> Batch:
        return self.answer(clock, self._members.bits)

    def stats(self) -> dict[str, Any]:
        gates = [] if self._gates is None else self._gates.stats()
        return {**super().stats(), "feedback": gates}

    def close(self) -> None:
        if self._gates is not None:
            self._gates.close()
        for side in self._sides:
            side.close()

    def restore(self, state: State) -> None:
        """Lineage and indexes follow from the rows in the SteMs, which have been restored."""
        self._refresh()
        for number, side in enumerate(self._sides):
            side.build_all()
            held = side.held()
            batch = self._routing.rows_of(number, side.stem.ids(held))
            lineage = np.tile(self._wanted, (held.size, 1))
            if not self._pull_up:
                self._banks[number].narrow(batch, lineage)
            side.put(lineage, batch)
        self._doubt()


def _of_queries(batch: Batch, chosen: Array) -> Batch:
    """The results of the queries where bool ``chosen``, by bit."""
    assert batch.recipients is not None, "set by the flow"
    return batch.sent_to(batch.recipients.of_queries(chosen[: batch.recipients.width]))


def _alive(batch: Batch, clock: int) -> Batch:
    """The results that have not left their query's answer at ``clock``."""
    assert batch.recipients is not None, "set by the flow"
    return batch.sent_to(batch.recipients.only(batch.recipients.exp > clock))


def _signs(group: Array) -> Array:
    """int8[n]: -1 where a row was pushed out of the windows of a group."""
    return np.where(group < 0, 1, -1).astype(np.int8)
