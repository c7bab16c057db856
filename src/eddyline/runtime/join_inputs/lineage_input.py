"""A join input shared by queries: the rows of a stream that some query requires, and their lineage.

The rows are in the SteM of the stream, which all flows and trees share. The number of the lineage
is in a lane of the SteM; the visible rows are in a ``JoinInput`` for each join key.

Source: Madden et al. 2002, section 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from functools import reduce

import numpy as np

from eddyline.kernels.lineage import any_wanted, meet
from eddyline.kernels.prefixes import joined
from eddyline.runtime.batch import Batch, Evaluator, Predicate, Stored
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.key_index import KeySet
from eddyline.runtime.join_inputs.access import ScanIndex
from eddyline.runtime.join_inputs.flow_windows import (
    FlowRows,
    FlowWindow,
    TimeBounds,
    WindowBounds,
    Windows,
)
from eddyline.runtime.join_inputs.join_input import JoinInput, StemRows
from eddyline.runtime.join_inputs.lineage_sets import EMPTY, LineageSets
from eddyline.runtime.stores.columns import Array, filled
from eddyline.runtime.stores.index import HashIndex, Liveness, Probes
from eddyline.runtime.stores.rowstore import Lane
from eddyline.runtime.stores.stem import Stem
from eddyline.types import FOREVER

_NO_ROWS = np.zeros(0, np.int64)


class LineageInput:
    """The rows of one stream that probes of a flow can see, by each of their join keys.

    A row is *built* when it has its lineage, and *visible* when it is in the indexes.

    Args:
        window: as long as the longest window of the queries.
        keys: by name, how to compute the columns of a join key. Without columns: rows are compared
            with all rows (nested loops).

    Attributes:
        gate: before it rows are suspended, which are built but not visible; None: all are visible.
        arriving: int64[n], positions of the chunk's rows while they are built but not yet visible.
    """

    has_begun = True

    def __init__(
        self,
        stem: Stem,
        window: FlowWindow | FlowRows,
        keys: dict[Hashable, tuple[Evaluator, ...]],
    ) -> None:
        self.stem = stem
        self.window = window
        self._keys = keys
        self._cells = tuple(Stored(0, i) for i in range(len(stem.schema)))
        self._stored = StemRows(stem, window)
        self._by_key = {
            name: JoinInput(self._stored, columns, index=None if columns else ScanIndex(stem))
            for name, columns in keys.items()
        }
        self._lane = f"lineage:{stem.new_name()}"
        self._sets = LineageSets()
        self._rewound = False
        self._built = stem.next_id  # rows with ids below are built
        stem.add_lane(self._lane, EMPTY, derived=True)
        self.gate: Gate | None = None
        self.arriving: Array = _NO_ROWS

    # -- visible rows --------------------------------------------------

    def by_key(self, name: Hashable) -> JoinInput:
        """The visible rows by one of the keys."""
        return self._by_key[name]

    def key(self, name: Hashable) -> tuple[Evaluator, ...]:
        """How to compute the columns of a key."""
        return self._keys[name]

    def add_key(self, name: Hashable, columns: tuple[Evaluator, ...]) -> None:
        """Let the visible rows be probed by another key. There is no gate."""
        self._keys[name] = columns
        self._by_key[name] = rows = JoinInput(self._stored, columns)
        required = self._required_places()
        batch = self.rows(self.stem.ids(required + self.stem.first))
        rows.index.fill(*_indexed(rows, batch, required + self.stem.first))

    def drop_key(self, name: Hashable) -> None:
        """Undo ``add_key``."""
        del self._keys[name]
        self._by_key.pop(name).close()

    @property
    def only(self) -> JoinInput:
        """The visible rows of an input that is joined with one other."""
        (rows,) = self._by_key.values()
        return rows

    def keyed(self, batch: Batch) -> tuple[Array, Array]:
        """Numbers of the rows that can match at all, and their keys, as ``only`` has them."""
        return _indexed(self.only, batch, np.arange(len(batch)))

    def show(self, batch: Batch) -> None:
        """Make these rows of the chunk visible, oldest first. Call once per chunk."""
        positions = self.stem.positions(batch.ids[0])
        for rows in self._by_key.values():
            rows.index.insert(*_indexed(rows, batch, positions))

    def show_late(self, batch: Batch, positions: Array) -> None:
        """Make rows of earlier chunks visible; call it before those of this one."""
        for rows in self._by_key.values():
            rows.hashed.link(*_indexed(rows, batch, positions))

    def show_only(self, batch: Batch, positions: Array) -> None:
        """Make these rows visible, oldest first, and no others."""
        for rows in self._by_key.values():
            rows.index.fill(*_indexed(rows, batch, positions))

    def probe(
        self, rows: JoinInput, probes: Probes, longest: Array | int, *, inclusive: bool
    ) -> tuple[Array, Array, Array]:
        """The visible rows that match, in the longest window.

        Args:
            rows: as ``by_key`` returns them.
            longest: the longest window of the queries that probe, where windows count rows (or
                int64[n], by probe).
            inclusive: whether a probe sees the row of its own event.

        Returns:
            int64[p] numbers of the probes, int64[p] positions, int64[p] ages of the rows.
        """
        window = self.window
        if isinstance(window, FlowRows):
            now = self._rewound
            return window.find(rows.index, probes, longest, inclusive=inclusive, as_of_now=now)
        number, found = rows.find(probes, inclusive=inclusive)
        return number, found, probes.ts.take(number) - self.stem.lane_at("ts", found)

    def pieces(
        self, ts: Array, seq: Array, longest: Array | int, *, inclusive: bool
    ) -> Iterator[slice]:
        """Probes of an input without keys in pieces with a bounded number of pairs.

        Args: as of ``probe``.
        """
        index = self.only.index
        cursor = index.begin(Probes(seq, ts, seq), inclusive=inclusive)
        return index.pieces(cursor, self.bounds.oldest(ts, seq, longest, inclusive=inclusive))

    @property
    def bounds(self) -> WindowBounds:
        """The bounds of windows over the rows."""
        return self.window if isinstance(self.window, FlowRows) else TimeBounds(self.stem)

    def rewind(self) -> None:
        """Let probes be made as of any instant: the visible rows count as this chunk's.

        Windows that count rows hold those that they hold now, whatever the instant of the probe.
        """
        self._rewound = True
        for rows in self._by_key.values():
            rows.index.rewind()

    def admit(self) -> None:
        """Undo ``rewind``: the visible rows are of earlier chunks."""
        self._rewound = False
        for rows in self._by_key.values():
            rows.index.admit()

    # -- lineage -------------------------------------------------------

    def build(self, batch: Batch, lineage: Array | None) -> None:
        """Take in the chunk's rows that some query requires; they are not visible yet.

        Args:
            lineage: None: every query requires all rows, and rows have no lineage.
        """
        self.build_all()
        if lineage is not None:
            self._numbers()[self.stem.places(batch.ids[0])] = self._sets.numbers(lineage)
            self._sets.forget(self.stem.held(self._lane))

    def build_all(self) -> None:
        """All rows of the SteM count as built."""
        self._built = self.stem.next_id

    def meet(
        self, own: Array, number: Array, found: Array, age: Array, windows: Windows
    ) -> tuple[Array, Array]:
        """The pairs that some query requires.

        Args:
            own: uint64[n, W], lineage of the probes. number, found, age: as ``probe`` returns them.

        Returns:
            int64[q], the pairs; uint64[q, W], their lineage.
        """
        stored = self.stem.lane_at(self._lane, found)
        return meet(own, number, self._sets.array, stored, age, windows.lengths, windows.members)

    def joined(
        self, lanes: Array, probes: tuple[Array, Array], pairs: tuple[Array, Array], within: Windows
    ) -> tuple[Array, Array]:
        """Joined rows with the rows found that some query requires, which has them in its window.

        Args:
            lanes: int64[c, n]; the first is the instant. probes: int64[k], the rows that probe;
                uint64[k, W], their lineage. pairs: int64[p] each, as ``probe`` returns them.

        Returns:
            int64[c + 1, q]: the lanes, and the ids of the rows found; uint64[q, W], lineage.
        """
        stem = self.stem
        stored = stem.lane("ts"), self._sets.array, stem.lane(self._lane)
        windows = within.lengths, within.members
        out, lineage = joined(lanes, *probes, *pairs, stem.base, *stored, *windows)
        out[-1] = stem.ids(out[-1])
        return out, lineage

    def widen(self, words: int) -> None:
        """Make room for more queries."""
        self._sets.widen(words)

    def held(self) -> Array:
        """int64: positions of the rows that have been built."""
        unbuilt = self.stem.next_id - self._built
        return np.arange(self.stem.first, self.stem.end - unbuilt)

    def lineage_at(self, positions: Array) -> Array:
        """uint64[n, W]: the lineage of rows, where rows have lineage."""
        lineage: Array = self._sets.array[self.stem.lane_at(self._lane, positions)]
        return lineage

    def required_by(self, mask: Array) -> tuple[Array, Array]:
        """The rows built that some of these queries (uint64[W]) require: positions and lineage."""
        rows, lineage = self._sets.required_by(self._held_numbers(), mask)
        return rows + self.stem.first, lineage

    def mark(self, bit: int, selects: Callable[[], Predicate] | None) -> None:
        """Set which of all rows built a query requires; ``selects`` makes its predicate."""
        if not len(self.stem):
            return
        batch = self.rows(self.stem.ids(self.held()))
        required = filled(len(batch), 1, np.bool_) if selects is None else selects()(batch)
        numbers = self._held_numbers()
        is_first = bool((required & (numbers == EMPTY)).any())
        numbers[:] = self._sets.with_bit(numbers, bit, required)
        if is_first:
            self._index_again(batch)

    def put(self, lineage: Array, batch: Batch) -> None:
        """Set the lineage of all rows built (``batch``)."""
        self._held_numbers()[:] = self._sets.numbers(lineage)
        self._index_again(batch)

    def _index_again(self, batch: Batch) -> None:
        """Make just those of the rows built (``batch``) visible that some query requires."""
        required = self._required_places()
        self.show_only(batch.take(required), required + self.stem.first)

    def _required_places(self) -> Array:
        """int64: which of the rows built some query requires."""
        return np.flatnonzero(any_wanted(self._sets.array)[self._held_numbers()])

    def _numbers(self) -> Array:
        """int64[capacity], by place, the numbers of lineages."""
        return self.stem.lane(self._lane)

    def _held_numbers(self) -> Array:
        """int64[n] of the rows that have been built."""
        return self.stem.held(self._lane)[: self.held().size]

    # -- all rows, for match probes ------------------------------------

    def rows(self, ids: Array) -> Batch:
        """Rows as a batch, for expressions over their columns."""
        sign = filled(ids.size, 1, np.int8)
        return Batch(ids, ids, ids, sign, (ids,), (self.stem,), self._cells)

    @property
    def liveness(self) -> Liveness:
        return self.window.liveness

    def all(self) -> Array:
        """Positions of all rows, visible, suspended or arriving.

        They stay as long as the SteM has them, since a query with a longer window may be added.
        """
        suspended = [] if self.gate is None else [self.gate.suspended()]
        return reduce(np.union1d, [self.arriving, *suspended, self.visible()])

    def visible(self) -> Array:
        """Positions of the visible rows."""
        return reduce(np.union1d, [rows.hashed.positions() for rows in self._by_key.values()])

    def rows_at(self, positions: Array) -> Batch:
        """Rows as a batch with their instants; they never expire."""
        ts, seq = (self.stem.lane_at(lane, positions) for lane in ("ts", "seq"))
        exp = filled(positions.size, FOREVER)
        return replace(self.rows(self.stem.ids(positions)), ts=ts, seq=seq, exp=exp)

    def new_index(self) -> HashIndex:
        return HashIndex(self.stem)

    def new_lane(self, fill: int) -> Lane:
        return Lane(self.stem, fill)

    def forget(self, known: KeySet) -> None:
        known.close()

    def close(self) -> None:
        """Remove its lanes from the SteM."""
        for rows in self._by_key.values():
            rows.close()
        self.stem.remove_lane(self._lane)


def _indexed(rows: JoinInput, batch: Batch, positions: Array) -> tuple[Array, Array]:
    """Positions and keys of the rows that can match at all."""
    keys, usable = rows.keys(batch)
    return (positions, keys) if usable is None else (positions[usable], keys[usable])
