"""A stream that an eddy joins: its rows, for all queries that read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from eddyline.kernels.prefixes import counts_of
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.eddy.edges import Equality, computed_keys, keys_of
from eddyline.runtime.eddy.flow import Members
from eddyline.runtime.failures import collecting, report
from eddyline.runtime.join_inputs.flow_windows import FlowWindow, Windows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.operators.stateless import Scan
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.predicates.lineage_failures import for_queries
from eddyline.runtime.stores.columns import Array

#: New rows of a chunk whose lineage is counted.
_COUNTED = 256


class EddyJoin:
    """The joins of queries with the same sources and join keys.

    Args:
        edges: between the numbers of the sources, with all equalities that follow.
        members: the queries.

    Attributes:
        mask: uint64[W], the queries.
        found: the results of the chunk.
        visits: their part of the rows that filters have evaluated.
    """

    def __init__(
        self, sources: tuple[EddySource, ...], edges: tuple[Equality, ...], members: Members
    ) -> None:
        self.sources = sources
        self.numbers = tuple(source.number for source in sources)
        self.edges = edges
        self.members = members
        self.mask: Array = members.lineage(())
        self.found: list[Joined] = []
        self.visits = 0.0

    def refresh(self) -> None:
        """Queries have been added or dropped."""
        self.mask = self.members.lineage(self.members.readable)


@dataclass(slots=True)
class Joined:
    """Rows of a virtual source on their way through an eddy.

    Attributes:
        lanes: int64[c, n]: ``ts`` and ``seq`` of the youngest row, the instant of all probes, and
            others.
        required: uint64[n, W], which queries require them.
        ids: by number of a source, the lane with the ids of its rows.
        keys: the lanes with keys that have been computed, by ``Step.probing``.
    """

    lanes: Array
    required: Array
    ids: dict[int, int]
    keys: dict[Hashable, int]

    def __len__(self) -> int:
        return len(self.required)

    def take(self, rows: Array) -> Joined:
        """Some of them."""
        return replace(self, lanes=self.lanes.take(rows, axis=1), required=self.required[rows])

    def of(self, number: int) -> Array:
        """int64[n], the ids of the rows of a source."""
        ids: Array = self.lanes[self.ids[number]]
        return ids


class EddySource:
    """The rows of a stream that some query of an eddy requires, by each key that a query has.

    Args:
        number: of the source in the eddy.
        window: as long as the longest window of the queries.

    Attributes:
        bank: the predicates of all queries. rows: those built, with their lineage.
        joins: those that read it.
        windows: which queries' windows hold rows of which age.
    """

    def __init__(self, number: int, scan: Scan, window: FlowWindow, bank: FilterBank) -> None:
        self.number = number
        self.scan = scan
        self.bank = bank
        self.window = window
        self.rows = LineageInput(scan.stem, window, {})
        self.joins: list[EddyJoin] = []
        self.windows: Windows
        self._mask: Array
        self._keys: Counter[Hashable] = Counter()
        self._computed: dict[Hashable, tuple[Evaluator, Array]] = {}
        self._lengths = np.zeros(64, np.int64)
        self._counts: dict[EddyJoin, float] = {}
        self._counted = 1.0

    def add(self, join: EddyJoin) -> None:
        """Let rows be probed by the keys of these queries."""
        self.joins.append(join)
        for name, columns in keys_of(self.number, join.edges).items():
            if not self._keys[name]:
                self.rows.add_key(name, columns)
            self._keys[name] += 1

    def remove(self, join: EddyJoin) -> None:
        """Undo ``add``."""
        self.joins.remove(join)
        self._counts.pop(join, None)
        for name in keys_of(self.number, join.edges):
            self._keys[name] -= 1
            if not self._keys[name]:
                self.rows.drop_key(name)

    def set_length(self, bit: int, length: int) -> None:
        """Set the window of a query."""
        if bit >= self._lengths.size:
            self._lengths = np.resize(self._lengths, 2 * bit)
        self._lengths[bit] = length

    def refresh(self, words: int) -> None:
        """Queries have been added or dropped, and have refreshed their joins."""
        readable = [join.members.readable for join in self.joins]
        bits = np.sort(np.concatenate(readable)) if readable else np.zeros(0, np.int64)
        self.windows = Windows(self._lengths, bits, words)
        self.window.fit(self.windows.lengths.tolist(), ())
        self._mask = np.zeros(words, np.uint64)
        self._computed = {}
        for join in self.joins:
            self._mask |= join.members.lineage(join.members.bits)
            for name, evaluate in computed_keys(self.number, join.edges).items():
                _, of = self._computed.get(name, (evaluate, np.uint64(0)))
                self._computed[name] = evaluate, of | join.mask

    def new_rows(self, batch: Batch) -> Joined:
        """Build the chunk's rows that some query requires, and make them visible."""
        kept, lineages = [], [np.zeros((0, self._mask.size), np.uint64)]
        for some, lineage in self.bank.blocks(batch, self._mask):
            kept.append(some)
            lineages.append(lineage.copy())
        rows = np.concatenate(kept) if kept else np.zeros(0, np.int64)
        required = np.concatenate(lineages)
        mine = batch if rows.size == len(batch) else batch.take(rows)
        self._report_keys(mine, required)
        self.rows.build(mine, required)
        self.rows.show(mine)
        return self._single(mine.ts, mine.seq, mine.ids[0], required)

    def _report_keys(self, batch: Batch, required: Array) -> None:
        """Report the rows whose join keys cannot be computed: they match nothing."""
        for evaluate, mask in self._computed.values():
            with collecting() as failures:
                evaluate(batch)
            for failure in failures:
                report(for_queries(failure, required & mask))

    def held_rows(self, mask: Array) -> Joined:
        """The rows built that queries in ``mask`` require."""
        positions, required = self.rows.required_by(mask)
        ts, seq = (self.rows.stem.lane_at(lane, positions) for lane in ("ts", "seq"))
        return self._single(ts, seq, self.rows.stem.ids(positions), required)

    def _single(self, ts: Array, seq: Array, ids: Array, required: Array) -> Joined:
        """Rows that are not joined with anything yet."""
        return Joined(np.stack((ts, seq, ids)), required, {self.number: 2}, {})

    def build_again(self) -> None:
        """Compute the lineage of all rows held, and index those that some query requires."""
        self.rows.build_all()
        held = self.rows.held()
        batch = self.rows.rows(self.rows.stem.ids(held))
        readable = np.zeros_like(self._mask)
        for join in self.joins:
            readable |= join.mask
        lineage = np.tile(readable, (held.size, 1))
        self.bank.narrow(batch, lineage)
        self.rows.put(lineage, batch)

    # -- statistics ----------------------------------------------------

    def count(self, required: Array) -> None:
        """Count which queries require new rows."""
        masks = np.array([join.mask for join in self.joins])
        counts = counts_of(required[:_COUNTED], masks)
        for join, count in zip(self.joins, counts.tolist(), strict=True):
            self._counts[join] = self._counts.get(join, 0.0) + count
        self._counted += min(len(required), _COUNTED)

    def share(self, join: EddyJoin) -> float:
        """Which part of its rows these queries require."""
        return max(self._counts.get(join, self._counted), 0.5) / self._counted

    def age(self) -> None:
        """Let what was counted weigh half."""
        self._counts = {join: count / 2 for join, count in self._counts.items()}
        self._counted = max(self._counted / 2, 1.0)

    def close(self) -> None:
        """Remove its lanes from the SteM."""
        self.rows.close()
