"""How the recipients of results are known: by the lineage of rows, or by windows alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.eddy.composites import Composites, in_order, singletons
from eddyline.runtime.eddy.deferral import Deferral
from eddyline.runtime.eddy.members import Members
from eddyline.runtime.eddy.routing import Routing
from eddyline.runtime.join_inputs.flow_windows import FlowRows, Windows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.stores.columns import Array
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

    # -- rows --------------------------------------------------------------------------------------

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
            by, group, ids = rows.window.evicted(batch.ids[0][start : start + at_once], counts)
            some, required = self._evicted(rows, ids, group + mine.start, groups)
            by, group, ids = by[some] + start, group[some] + mine.start, ids[some]
            instants = rows.stem.lane_at("ts", rows.stem.positions(ids))
            ts, seq = batch.ts[by], batch.seq[by] - 1
            yield Composites(ts, seq, {source: ids}, {source: instants}, required, group)

    @abstractmethod
    def _evicted(
        self, rows: LineageInput, ids: Array, group: Array, groups: RowsGroups
    ) -> tuple[Array | slice, Array]:
        """Of rows that leave the windows of groups: which are required, and by which queries."""

    # -- pairs: see PairSelection ------------------------------------------------------------------

    @abstractmethod
    def meet(
        self, target: int, probing: Composites, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        """See ``PairSelection``."""

    def longest(self, target: int, probing: Composites) -> Array | int:
        if probing.group is None or self.groups is None:
            lengths = self.windows[target].lengths
            return int(lengths[-1]) if lengths.size else 0
        longest: Array = self.groups.longest[target][probing.group]
        return longest

    # -- results -----------------------------------------------------------------------------------

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
        exp = np.full(len(whole), FOREVER, np.int64)
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
