"""One eddy for queries over any of its streams.

Each stream has one bank of filters, one lineage per stored row, and one index per join key, for all
queries that read it. Rows pass the virtual sources that ``prefixes.py`` plans for them; at each
they are results of the queries that read just these streams, and go on for the others. A flow for
the queries of each signature takes its results (``eddy_flow.py``)::

      A ──▶ bank ──▶ build ──▶ A ──▶ AB ──┬──▶ ABC       flows of AB, ABC, ABD
      B ──▶ ...                           └──▶ ABD

As in a flow (``join_flow.py``), all rows of the chunk are built before any of them probes, and a
probe finds only rows that came before its own.

Source: Madden et al. 2002, sections 2.2 and 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

import numpy as np

from eddyline.kernels.prefixes import probing, required_of
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.eddy_source import EddyJoin, EddySource, Joined
from eddyline.runtime.eddy.flow import Bits, Member
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.eddy.prefixes import Branch, Prefix, Routes, Step
from eddyline.runtime.join_inputs.flow_windows import FlowWindow
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.stateless import Scan
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array, all_of, validity_of
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.keys import join_keys, same_values

#: Rows of all sources after which ways are planned again; twice as many each time, up to the last.
_PERIOD_ROWS: Final = 16_384
_LONGEST_PERIOD: Final = 64 * _PERIOD_ROWS
#: The cost of a step without rows, in rows that probe.
_STEP_ROWS: Final = 500
#: Most pairs that are found per row, and per result besides, if an eddy does not join in vain.
_MOST_PER_ROW: Final = 16
_MOST_PER_RESULT: Final = 4

_NO_ROWS: Final = np.zeros(0, np.int64)
_NOTHING: Final = Batch(_NO_ROWS, _NO_ROWS, _NO_ROWS, np.zeros(0, np.int8), (), (), ())


class Eddy(Operator):
    """Joins streams for queries over any of them.

    Attributes:
        bits: of the lineage of all queries.
        joins_in_vain: whether rows found many others that gave no results, of late.
    """

    def __init__(self) -> None:
        super().__init__(())
        self.bits = Bits()
        self._sources: dict[Scan, EddySource] = {}
        self._numbered: dict[int, EddySource] = {}
        self._made = 0  # sources so far
        self._key_names: dict[Hashable, int] = {}
        self._joins: list[EddyJoin] = []
        self._changed = True  # queries have been added or dropped
        self._routes: dict[EddySource, Prefix] = {}
        self._chunks = 0
        self._planned = 0  # rows in, when ways were planned
        self._period = _PERIOD_ROWS
        self._judged = 0  # rows in, when it was judged whether it joins in vain
        self._pairs = self._results = 0  # found since then
        self.joins_in_vain = False
        self._fan_outs: dict[tuple[int, Hashable], tuple[float, float]] = {}

    # -- queries -------------------------------------------------------

    def source(
        self, scan: Scan, window: FlowWindow, new_policy: Callable[[], Policy]
    ) -> EddySource:
        """The source of this scan; made, if there is none.

        Args:
            window: of the scan. new_policy: makes the routing policy of its filters.
        """
        if scan not in self._sources:
            source = EddySource(self._made, scan, window, FilterBank(new_policy()))
            source.rows.widen(self.bits.words)
            self._sources[scan] = self._numbered[source.number] = source
            self._made += 1
        return self._sources[scan]

    def name_of(self, key: Hashable) -> int:
        """The name of a join key: equal keys have the same one."""
        return self._key_names.setdefault(key, len(self._key_names))

    def add(self, join: EddyJoin) -> None:
        """Let queries with these sources and join keys be added."""
        self._joins.append(join)
        for source in join.sources:
            source.add(join)
        self._changed = True

    def remove(self, join: EddyJoin) -> list[Scan]:
        """Undo ``add``; returns the scans that no query needs any more."""
        self._joins.remove(join)
        self._changed = True
        unused = []
        for source in join.sources:
            source.remove(join)
            if not source.joins:
                source.close()
                del self._sources[source.scan], self._numbered[source.number]
                unused.append(source.scan)
        return unused

    def admit(self, join: EddyJoin, bit: int, member: Member) -> None:
        """Mark the rows held that a query requires; it has been added to its join."""
        for source in self._sources.values():
            source.rows.widen(self.bits.words)
        for source, length, selects in zip(
            join.sources, member.windows, member.predicates, strict=True
        ):
            source.set_length(bit, length)
            source.rows.mark(bit, selects)
        self._changed = True

    def change(self) -> None:
        """Queries have been dropped."""
        self._changed = True

    @property
    def members(self) -> int:
        """Number of queries."""
        return sum(len(join.members) for join in self._joins)

    def _refresh(self) -> None:
        """Fit windows, lineage and ways to the queries; plan ways again from time to time."""
        if self._changed:
            for join in self._joins:
                join.refresh()
            for source in self._sources.values():
                source.refresh(self.bits.words)
            self._changed, self._period = False, _PERIOD_ROWS
        elif self.rows_in - self._planned < self._period:
            return
        else:
            self._period = min(2 * self._period, _LONGEST_PERIOD)
        self._planned = self.rows_in
        self._learn()
        routes = Routes(self)
        self._routes = {s: routes.of(s.number, s.joins) for s in self._sources.values()}

    # -- rows ----------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self._refresh()
        self._chunks += 1
        for join in self._joins:
            join.found = []  # there are some if the last chunk failed
        visits = sum(source.bank.visits for source in self._sources.values())
        sources = [self._sources[scan] for scan in self._scans]
        new = [s.new_rows(batch) for s, batch in zip(sources, batches, strict=True)]
        for source, rows in zip(sources, new, strict=True):
            source.count(rows.required)
            self._route(self._routes[source], rows)
        self._results += sum(len(rows) for join in self._joins for rows in join.found)
        visits = sum(source.bank.visits for source in self._sources.values()) - visits
        share = visits / max(self.members, 1)
        for join in self._joins:
            join.visits += share * len(join.members)
        return _NOTHING

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        """Rows that are there are marked when queries are added."""
        return _NOTHING

    def answer(self, join: EddyJoin, mask: Array) -> None:
        """Find the results of the rows held for some queries of a join (uint64[W] ``mask``)."""
        self._refresh()
        for source in join.sources:
            source.rows.rewind()
        routes = Routes(self)
        for source in join.sources:
            self._route(routes.of(source.number, [join]), source.held_rows(mask))
        for source in join.sources:
            source.rows.admit()

    @property
    def _scans(self) -> list[Scan]:
        return [scan for scan in self.inputs if isinstance(scan, Scan)]

    def _route(self, prefix: Prefix, rows: Joined) -> None:
        waiting = [(prefix, rows)]
        while waiting:
            prefix, rows = waiting.pop()
            if not len(rows):
                continue
            is_last = len(prefix.complete) == 1 and not prefix.branches
            for join in prefix.complete:
                if not is_last:
                    lanes, required = required_of(rows.lanes, rows.required, join.mask)
                    join.found.append(Joined(lanes, required, rows.ids, {}))
                else:
                    join.found.append(rows)
            waiting += [(branch.to, self._probed(rows, branch)) for branch in prefix.branches]

    def _probed(self, rows: Joined, branch: Branch) -> Joined:
        """What is joined with rows in a step."""
        step, source = branch.step, self._numbered[branch.step.source]
        if step.probing not in rows.keys:
            rows = self._with_keys(rows, step)
        key = rows.keys[step.probing]
        some, own, *probes = probing(rows.lanes, key, rows.required, branch.mask)
        pairs = source.rows.by_key(step.name).find(Probes(*probes), inclusive=False)
        branch.visited += some.size
        branch.found += pairs[0].size
        lanes, required = source.rows.joined(rows.lanes, (some, own), pairs, source.windows)
        out = Joined(lanes, required, {**rows.ids, source.number: len(rows.lanes)}, rows.keys)
        return self._verified(out, step) if step.unproved and len(out) else out

    def _with_keys(self, rows: Joined, step: Step) -> Joined:
        """The rows that can match at all, with the keys that a step probes."""
        ends = step.ends[: step.count]
        columns = [theirs.evaluate(self._batch(other, rows)) for other, theirs, _ in ends]
        keys, usable = join_keys(columns, len(rows))
        if usable is not None and not all_of(usable):
            rows, keys = rows.take(np.flatnonzero(usable)), keys[usable]
        rows.keys = {**rows.keys, step.probing: len(rows.lanes)}  # for other steps, too
        rows.lanes = np.concatenate((rows.lanes, keys[None]))
        return rows

    def _verified(self, rows: Joined, step: Step) -> Joined:
        """Without rows whose keys differ where a probe does not tell."""
        mine = self._batch(step.source, rows)
        theirs = [key.evaluate(self._batch(other, rows)) for other, key, _ in step.unproved]
        same = same_values(theirs, [own.evaluate(mine) for _, _, own in step.unproved])
        for column in theirs:  # NULL joins nothing
            known = validity_of(column)
            same = same if known is None else same & known
        if all_of(same):
            return rows
        return rows.take(np.flatnonzero(same))

    def _batch(self, number: int, rows: Joined) -> Batch:
        """The rows of one source, for expressions over its columns."""
        return self._numbered[number].rows.rows(rows.of(number))

    # -- statistics ----------------------------------------------------

    def _learn(self) -> None:
        """Take over what was counted since ways were planned."""
        self._fan_outs = {
            (source, name): (came / 2, went / 2)
            for (source, name), (came, went) in self._fan_outs.items()
            if source in self._numbered
        }
        for prefix in self._routes.values():
            self._learn_from(prefix)
        for source in self._sources.values():
            source.age()
        rows = self.rows_in - self._judged
        if rows >= _PERIOD_ROWS:
            self.joins_in_vain = (
                self._pairs > _MOST_PER_ROW * rows + _MOST_PER_RESULT * self._results
            )
            self._judged, self._pairs, self._results = self.rows_in, 0, 0

    def _learn_from(self, prefix: Prefix) -> None:
        for branch in prefix.branches:
            at = branch.step.source, branch.step.name
            came, went = self._fan_outs.get(at, (0.0, 0.0))
            self._fan_outs[at] = came + branch.visited, went + branch.found
            self._pairs += branch.found
            self._learn_from(branch.to)

    def fan_out(self, step: Step) -> float:
        """Rows found by one that probes; see ``Estimates``."""
        came, went = self._fan_outs.get((step.source, step.name), (0.0, 0.0))
        return (went + 1.0) / (came + 1.0)

    @property
    def step(self) -> float:
        """The cost of a step without rows, per row of a source; see ``Estimates``."""
        return _STEP_ROWS * self._chunks * len(self._sources) / max(self.rows_in, 1)

    def share(self, source: int, join: EddyJoin) -> float:
        """Which part of the rows held of a source some of these queries require."""
        return self._numbered[source].share(join)

    # -- the rest of an operator ---------------------------------------

    def live(self, clock: int) -> Batch:
        return _NOTHING

    def restore(self, state: State) -> None:
        """Lineage and indexes follow from the rows in the SteMs, which have been restored."""
        self._refresh()
        for source in self._sources.values():
            source.build_again()

    def close(self) -> None:
        """Its sources have been closed with the last flow that takes results."""
