"""How the recipients of results are known: by the lineage of rows, or by windows alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from eddyline.kernels.lineage import any_wanted, meet_levels
from eddyline.kernels.merge import merged_levels
from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.eddy.between_stems import BetweenSteMs
from eddyline.runtime.eddy.deferral import Deferral
from eddyline.runtime.eddy.flow import Members
from eddyline.runtime.eddy.routing import Composites, Routing, in_order, singletons
from eddyline.runtime.join_inputs.flow_windows import FlowRows, Levels, Windows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.recipients import NestedRecipients, recipients_of
from eddyline.runtime.stores.columns import Array, any_of, filled
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.window_join.evictions import MOST_WORDS
from eddyline.runtime.window_join.output_buffer import Verify
from eddyline.runtime.window_join.rows_groups import RowsGroups
from eddyline.types import FOREVER

#: Rows of a source, and per row which queries require it: as of ``Composites.required``.
Required: TypeAlias = tuple[Batch, Array]


@dataclass(frozen=True)
class FlowParts:
    """The parts of a flow with several sources.

    Attributes:
        inputs: per source, its visible rows.
        members: the queries. banks: their predicates per source. residual: over all sources.
        pull_up: whether all predicates are applied above the join.
        verify: which pairs of two sources are results; None: all pairs with equal keys.
        keyless: whether the sources are joined on no key.
        deferral: decides which predicates are applied above the join; None: none of them.
    """

    inputs: tuple[LineageInput, ...]
    members: Members
    banks: Sequence[FilterBank]
    residual: FilterBank
    routing: Routing
    pull_up: bool
    verify: Verify | None
    keyless: bool
    deferral: Deferral | None


class ResultForm(ABC):
    """Selects the rows and pairs that some query requires, and finds the recipients of results.

    Args:
        windows: per source, the queries' windows.
        mask: uint64[W], all queries.
        groups: the queries by their ROWS windows; None: no windows count rows.
    """

    def __init__(
        self,
        parts: FlowParts,
        windows: Sequence[Windows],
        mask: Array,
        groups: RowsGroups | None,
    ) -> None:
        self.parts = parts
        self.windows = windows
        self.mask = mask
        self.groups = groups
        self._stems = tuple(rows.stem for rows in parts.inputs)
        self._cells = tuple(
            Stored(s, i) for s, stem in enumerate(self._stems) for i in range(len(stem.schema))
        )

    # -- rows ----------------------------------------------------------

    @abstractmethod
    def new_rows(self, source: int, batch: Batch) -> Required:
        """The new rows of a source that some query requires."""

    @abstractmethod
    def lineage(self, required: Array) -> Array | None:
        """uint64[n, W], the lineage of rows; None: rows have none."""

    def held_rows(self, source: int, mask: Array) -> Required:
        """The rows built of a source that queries in ``mask`` require.

        Where windows count rows: those that are in windows now.
        """
        rows = self.parts.inputs[source]
        positions, required = self._built(rows, mask)
        if isinstance(rows.window, FlowRows):
            kept, required = self._within(source, required, rows.window.ages(positions))
            positions = positions[kept]
        batch = rows.rows(rows.stem.ids(positions))
        ts, seq = (rows.stem.lane_at(lane, positions) for lane in ("ts", "seq"))
        return replace(batch, ts=ts, seq=seq), required

    @abstractmethod
    def _built(self, rows: LineageInput, mask: Array) -> tuple[Array, Array]:
        """Positions of the rows built that queries in ``mask`` require, and which do."""

    @abstractmethod
    def _within(self, source: int, required: Array, age: Array) -> tuple[Array, Array]:
        """Numbers of the rows that are in some query's window at their age, and in whose."""

    def evicted(self, source: int, batch: Batch) -> Iterator[Composites]:
        """The rows that new rows of a source evict from windows."""
        rows, groups = self.parts.inputs[source], self.groups
        if not isinstance(rows.window, FlowRows) or groups is None or not self.parts.members:
            return
        mine = groups.of_source(source)
        counts = groups.counts[mine]
        at_once = max(MOST_WORDS // (counts.size * self.parts.members.words), 1)
        for start in range(0, len(batch), at_once):
            by, group, out = rows.window.evicted(batch.ids[0][start : start + at_once], counts)
            some, required = self._evicted(rows, out, group + mine.start, groups)
            by, group, out = by[some] + start, group[some] + mine.start, out[some]
            ids, instants = rows.stem.ids(out), rows.stem.lane_at("ts", out)
            ts, seq = batch.ts[by], batch.seq[by] - 1
            yield Composites(ts, seq, {source: ids}, {source: instants}, required, group)

    @abstractmethod
    def _evicted(
        self, rows: LineageInput, out: Array, group: Array, groups: RowsGroups
    ) -> tuple[Array | slice, Array]:
        """Of rows at positions, which leave the windows of groups: which are required, and by which
        queries.
        """

    # -- pairs: see PairSelection --------------------------------------

    @abstractmethod
    def meet(
        self, target: int, probing: Composites, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        """See ``PairSelection``."""

    def narrowed(self, target: int, joined: Composites) -> Composites:
        """See ``PairSelection``."""
        return joined

    def longest(self, target: int, probing: Composites) -> Array | int:
        if probing.group is None or self.groups is None:
            lengths = self.windows[target].lengths
            return int(lengths[-1]) if lengths.size else 0
        longest: Array = self.groups.longest[target][probing.group]
        return longest

    # -- results -------------------------------------------------------

    def join(self, new: Sequence[Required], evicted: Sequence[Composites] = ()) -> Composites:
        """The results of rows that have been built, and of evicted rows."""
        composites = (singletons(n, batch, required) for n, (batch, required) in enumerate(new))
        routed = self.parts.routing.routed
        found = [c for some in (*evicted, *composites) for c in routed(some, self)]
        return in_order(found, len(new), new[0][1][:0])

    @abstractmethod
    def with_recipients(self, whole: Composites) -> Batch:
        """Results with their recipients."""

    @abstractmethod
    def released(self, whole: Composites, queries: Array) -> Batch:
        """Results of a scheduled join for some queries (bool[bits])."""

    def _present(self, queries: Array) -> Array:
        """bool[width]: the queries that have not been dropped."""
        present = np.unpackbits(self.mask.view(np.uint8), bitorder="little").astype(np.bool_)
        chosen = np.zeros(self.parts.members.width, np.bool_)
        chosen[: queries.size] = queries[: chosen.size]
        return present & chosen

    def _batch(self, whole: Composites) -> Batch:
        exp = filled(len(whole), FOREVER)
        ids = tuple(whole.ids[s] for s in range(len(self._stems)))
        return Batch(whole.ts, whole.seq, exp, whole.sign, ids, self._stems, self._cells)

    def _instants(self, whole: Composites) -> list[tuple[Array, Array]]:
        """Per source with windows by time, the timestamps of results' rows, and these windows."""
        lengths = self.parts.members.lengths
        return [
            (whole.instants[n], lengths[n])
            for n, rows in enumerate(self.parts.inputs)
            if not isinstance(rows.window, FlowRows)
        ]


class LineageForm(ResultForm):
    """The recipients of a result are the queries in its lineage: a bit per query that requires it.

    Source: Madden et al. 2002, section 2.3.
    """

    def new_rows(self, source: int, batch: Batch) -> Required:
        bank = self.parts.banks[source]
        if self.parts.pull_up or (not bank.has_predicates and any_of(self.mask)):
            return batch, np.tile(self.mask, (batch.ts.size, 1))
        kept, lineages = [], []
        for some, lineage in bank.blocks(batch, self.mask):
            kept.append(some)
            lineages.append(lineage.copy())
        if not kept:
            none = batch.take(np.zeros(0, np.int64))
            return none, np.zeros((0, self.parts.members.words), np.uint64)
        rows = np.concatenate(kept)
        mine = batch if rows.size == len(batch) else batch.take(rows)
        return mine, np.concatenate(lineages)

    def lineage(self, required: Array) -> Array | None:
        return required

    def _built(self, rows: LineageInput, mask: Array) -> tuple[Array, Array]:
        return rows.required_by(mask)

    def _within(self, source: int, required: Array, age: Array) -> tuple[Array, Array]:
        windows = self.windows[source]
        inside = required & windows.members[np.searchsorted(windows.lengths, age, "right")]
        kept = np.flatnonzero(any_wanted(inside))
        return kept, inside[kept]

    def _evicted(
        self, rows: LineageInput, out: Array, group: Array, groups: RowsGroups
    ) -> tuple[Array | slice, Array]:
        required = rows.lineage_at(out) & groups.queries[group]
        some = np.flatnonzero(any_wanted(required))
        return some, required[some]

    def meet(
        self, target: int, probing: Composites, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        return self.meet_rows(target, probing.required, number, found, age)

    def meet_rows(
        self, target: int, own: Array, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        """See ``LineageInput.meet``."""
        return self.parts.inputs[target].meet(own, number, found, age, self.windows[target])

    def narrowed(self, target: int, joined: Composites) -> Composites:
        return self._between.narrowed(target, joined)

    @cached_property
    def _between(self) -> BetweenSteMs:
        return BetweenSteMs(self.parts.residual, self._stems, self._cells)

    def with_recipients(self, whole: Composites) -> Batch:
        batch, width = self._batch(whole), self.parts.members.width
        blocks = self._selected(batch, whole)
        return batch.sent_to(recipients_of(batch.exp, blocks, width, self._instants(whole)))

    def _selected(self, batch: Batch, whole: Composites) -> Iterator[tuple[Array, Array]]:
        """The lineage of results after the predicates that are applied above the join."""
        lineage = whole.required
        if self.parts.pull_up:
            for source, bank in enumerate(self.parts.banks):
                bank.narrow(self.parts.inputs[source].rows(whole.ids[source]), lineage)
        if self.parts.deferral is not None and self.parts.deferral.is_active:
            self.parts.deferral.apply(whole, lineage)
        if not self.parts.keyless:  # else they have been applied with the join condition
            self.parts.residual.narrow(batch, lineage)
        yield np.arange(len(batch)), lineage

    def released(self, whole: Composites, queries: Array) -> Batch:
        mine = np.packbits(self._present(queries), bitorder="little").view(np.uint64)
        required = np.zeros((len(whole), mine.size), np.uint64)
        required[:, : whole.required.shape[1]] = whole.required
        return self.with_recipients(replace(whole, required=required & mine))


class LevelForm(ResultForm):
    """Queries without predicates and with nested windows: rows need no lineage.

    The age of a result is its *level*: the smallest window that contains it. Its recipients are the
    queries with this window and all with larger ones.

    Source: Hammad et al. 2003, section 2.2.

    Args:
        levels: the queries' windows.
    """

    def __init__(
        self,
        parts: FlowParts,
        windows: Sequence[Windows],
        mask: Array,
        groups: RowsGroups | None,
        levels: Levels,
    ) -> None:
        super().__init__(parts, windows, mask, groups)
        self.levels = levels
        self._reach = levels.reach(parts.members.width)  # by bit, the query's level
        self._probes_once = len(parts.inputs) == 2 and not parts.keyless and groups is None

    def new_rows(self, source: int, batch: Batch) -> Required:
        return batch, np.zeros(len(batch), np.int64)

    def lineage(self, required: Array) -> Array | None:
        return None

    def _built(self, rows: LineageInput, mask: Array) -> tuple[Array, Array]:
        positions = rows.held()
        return positions, np.zeros(positions.size, np.int64)

    def _within(self, source: int, required: Array, age: Array) -> tuple[Array, Array]:
        return meet_levels(required, np.arange(age.size), age, self.levels.bounds[source])

    def _evicted(
        self, rows: LineageInput, out: Array, group: Array, groups: RowsGroups
    ) -> tuple[Array | slice, Array]:
        return slice(None), groups.first[group]

    def meet(
        self, target: int, probing: Composites, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        kept, level = meet_levels(probing.required, number, age, self.levels.bounds[target])
        if probing.group is not None and self.groups is not None:
            some = level < self.groups.last[probing.group[number[kept]]]
            kept, level = kept[some], level[some]
        return kept, level

    def join(self, new: Sequence[Required], evicted: Sequence[Composites] = ()) -> Composites:
        if not self._probes_once:
            return super().join(new, evicted)
        ts, seq, ids, instants, level = merged_levels(
            *self._matches(0, new[0][0]), *self._matches(1, new[1][0])
        )
        whole = Composites(ts, seq, dict(enumerate(ids)), dict(enumerate(instants)), level)
        if self.parts.verify is None or not len(whole):
            return whole
        return whole.take(self.parts.verify(whole.candidates(), None)[0])

    def _matches(self, source: int, batch: Batch) -> tuple[Any, ...]:
        """New rows of one source and their matches of the other, as ``merged_levels`` takes it."""
        own, other = self.parts.inputs[source], self.parts.inputs[1 - source]
        chosen, key = own.keyed(batch)
        if chosen.size < len(batch):
            batch = batch.take(chosen)
        probes = Probes(key, batch.ts, batch.seq)
        number, found = other.only.find(probes, inclusive=1 - source < source)
        return (
            batch.ts,
            batch.seq,
            batch.ids[0],
            number,
            other.stem.ids(found),
            other.stem.lane_at("ts", found),
            self.levels.bounds[1 - source],
            *self.levels.hints[1 - source],
        )

    def with_recipients(self, whole: Composites) -> Batch:
        return self._nested(whole, whole.required, self._reach)

    def released(self, whole: Composites, queries: Array) -> Batch:
        level = self.levels.of_results(whole.ts, list(whole.instants.values()))
        if whole.group is not None and self.groups is not None:
            firsts = np.append(self.groups.first, 0)  # -1 is for all levels
            np.maximum(level, firsts[whole.group], out=level)
        present = self._present(queries)
        reach = np.full(present.size, -1, np.int64)
        reach[: self._reach.size] = self._reach
        return self._nested(whole, level, np.where(present, reach, -1))

    def _nested(self, whole: Composites, level: Array, reach: Array) -> Batch:
        """Results with the queries whose windows contain them."""
        until = None
        if whole.group is not None:
            assert self.groups is not None, "rows were evicted from their windows"
            lasts = np.append(self.groups.last, len(self.levels))  # -1 is for all levels
            until = lasts[whole.group]
        batch, instants = self._batch(whole), self._instants(whole)
        return batch.sent_to(NestedRecipients(batch.exp, level, reach, instants, until))
