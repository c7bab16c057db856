"""A SteM as a flow sees it: the rows that some query wants, each with its lineage.

The rows themselves are in the SteM, shared with everybody. Here are their lineage, in a lane of the
SteM, and the indexes by join key, over the wanted rows only.

Source: Madden et al. 2002, section 2.3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import count

import numpy as np

from eddyline.kernels.lineage import any_wanted, meet, put_bit, wanted_by
from eddyline.runtime.batch import Batch, Evaluator, Stored
from eddyline.runtime.join_inputs.access import Access, HashAccess, ScanAccess
from eddyline.runtime.join_inputs.flow_windows import FlowRows, FlowWindow, Windows
from eddyline.runtime.join_inputs.window_bounds import Reach, TimeReach
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Probes
from eddyline.runtime.stores.keys import join_keys
from eddyline.runtime.stores.stem import Stem

_numbers = count()


class StemSide:
    """Lineage and indexes over one SteM.

    Args:
        keys: by name, what an index is made of: how to compute its columns. Of none: rows are
            compared with all.
    """

    def __init__(
        self,
        stem: Stem,
        window: FlowWindow | FlowRows,
        keys: dict[Hashable, tuple[Evaluator, ...]],
    ) -> None:
        self.stem = stem
        self.window = window
        self._keys = keys
        self._indexes = {
            name: HashIndex(stem) if columns else ScanAccess(stem) for name, columns in keys.items()
        }
        self._lane = f"lineage:{next(_numbers)}"
        self._words = 1
        self._rewound = False
        self._built = stem.next_id  # rows with ids below are
        stem.add_lane(self._lane, 0, derived=True)

    def build(self, batch: Batch, lineage: Array | None) -> None:
        """Take the chunk's wanted rows in. Nobody finds them before they are shown.

        Args:
            lineage: None: every query wants all of them, and nothing is noted.
        """
        self.catch_up()
        if lineage is not None:
            self._lineage()[self.stem.places(batch.ids[0])] = lineage

    def show(self, batch: Batch) -> None:
        """Let probes find these rows of the chunk, oldest first. Call once per chunk."""
        positions = self.stem.positions(batch.ids[0])
        for name, index in self._indexes.items():
            index.insert(*self.indexed(name, batch, positions))

    def show_late(self, batch: Batch, positions: Array) -> None:
        """Let probes find rows of earlier chunks; call it before those of this one are shown."""
        for name, index in self._indexes.items():
            assert isinstance(index, HashIndex), "rows with keys"
            index.link(*self.indexed(name, batch, positions))

    def show_only(self, batch: Batch, positions: Array) -> None:
        """Let probes find these rows, oldest first, and no others."""
        for name, index in self._indexes.items():
            assert isinstance(index, HashIndex), "rows with keys"
            index.fill(*self.indexed(name, batch, positions))

    def shown(self) -> list[Array]:
        """Positions of the rows that probes find, by each of the keys."""
        indexes = self._indexes.values()
        return [i.positions() for i in indexes if isinstance(i, HashIndex)]

    def key(self, name: Hashable) -> tuple[Evaluator, ...]:
        """How to compute the columns of a key."""
        return self._keys[name]

    def index_of(self, name: Hashable) -> HashIndex:
        """The rows that probes find by a key."""
        index = self._indexes[name]
        assert isinstance(index, HashIndex), "a key has columns"
        return index

    def catch_up(self) -> None:
        """All rows of the SteM count as built."""
        self._built = self.stem.next_id

    def indexed(self, name: Hashable, batch: Batch, positions: Array) -> tuple[Array, Array]:
        """Positions and keys of the rows that have such a key."""
        keys, usable = join_keys([k(batch) for k in self._keys[name]], len(batch))
        return (positions, keys) if usable is None else (positions[usable], keys[usable])

    @property
    def only_index(self) -> HashIndex | ScanAccess:
        """The index of a side that is joined with one other."""
        (index,) = self._indexes.values()
        return index

    @property
    def reach(self) -> Reach:
        """How far back windows reach."""
        return self.window if isinstance(self.window, FlowRows) else TimeReach(self.stem)

    def rows(self, ids: Array) -> Batch:
        """Rows as a batch, for expressions over their columns."""
        cells = tuple(Stored(0, i) for i in range(len(self.stem.schema)))
        return Batch(ids, ids, ids, np.ones(ids.size, np.int8), (ids,), (self.stem,), cells)

    @property
    def access(self) -> Access:
        """Likewise, slice by slice."""
        return _access(self.only_index)

    def keyed(self, batch: Batch) -> tuple[Array, Array]:
        """Numbers of the rows that can match at all, and their keys, likewise."""
        (name,) = self._keys
        return self.indexed(name, batch, np.arange(len(batch)))

    def probe(
        self, name: Hashable, probes: Probes, longest: Array | int, *, inclusive: bool
    ) -> tuple[Array, Array, Array]:
        """The rows that match, as far as the longest window holds them.

        Args:
            longest: of the windows of those who ask, where windows count rows (perhaps by probe).
            inclusive: whether a probe sees the row of its own event.

        Returns:
            int64[p] numbers of the probes, int64[p] positions, int64[p] how old the rows are.
        """
        index, window = self._indexes[name], self.window
        if isinstance(window, FlowWindow):
            return window.find(self.stem, index, probes, inclusive=inclusive)
        access, now = _access(index), self._rewound
        return window.find(access, probes, longest, inclusive=inclusive, as_of_now=now)

    def pieces(
        self, ts: Array, seq: Array, longest: Array | int, *, inclusive: bool
    ) -> Iterator[slice]:
        """Probes of a side without keys in pieces that make no more pairs than can be at hand.

        Args: as of ``probe``.
        """
        access = _access(self.only_index)
        cursor = access.begin(Probes(seq, ts, seq), inclusive=inclusive)
        return access.pieces(cursor, self.reach.oldest(ts, seq, longest, inclusive=inclusive))

    def meet(
        self, own: Array, number: Array, found: Array, age: Array, windows: Windows
    ) -> tuple[Array, Array]:
        """The pairs that some query wants.

        Args:
            own: uint64[n, W], lineage of the probes.

        Returns:
            int64[q], the pairs; uint64[q, W], their lineage.
        """
        places = found - self.stem.base
        return meet(own, number, self._lineage(), places, age, windows.lengths, windows.members)

    def widen(self, words: int) -> None:
        """Make room for more queries."""
        if words == self._words:
            return
        old = self._lineage()
        self.stem.remove_lane(self._lane)
        self.stem.add_lane(self._lane, 0, width=words, derived=True)
        kept = min(words, self._words)
        self._words = words
        self._lineage()[:, :kept] = old[:, :kept]

    def held(self) -> Array:
        """int64: positions of the rows that have been built."""
        waiting = self.stem.next_id - self._built
        return np.arange(self.stem.first, self.stem.end - waiting)

    def lineage_of(self, ids: Array) -> Array:
        """uint64[n, W]: who wants these rows, where rows have lineage."""
        lineage: Array = self._lineage()[self.stem.places(ids)]
        return lineage

    def wanted_by(self, mask: Array) -> tuple[Array, Array]:
        """The held rows that some of these queries (uint64[W]) want: positions and lineage."""
        rows, lineage = wanted_by(self._held_lineage(), mask)
        return rows + self.stem.first, lineage

    def rewind(self) -> None:
        """Let probes be made as of any instant: the indexed rows count as this chunk's.

        Windows that count rows hold those that they hold now, whatever the instant of the probe.
        """
        self._rewound = True
        for index in self._indexes.values():
            index.rewind()

    def admit(self) -> None:
        """The indexed rows have been there before this chunk."""
        self._rewound = False
        for index in self._indexes.values():
            index.admit()

    def mark(self, bit: int, wanted: Array, batch: Batch) -> None:
        """Say of all rows built (``batch``) whether a query wants them."""
        if put_bit(self._held_lineage(), bit, wanted):
            self.index_again(batch)

    def put(self, lineage: Array, batch: Batch) -> None:
        """Set the lineage of all rows built."""
        self._held_lineage()[:] = lineage
        self.index_again(batch)

    def index_again(self, batch: Batch) -> None:
        """Make the indexes anew over the rows built (``batch``) that somebody wants."""
        wanted = np.flatnonzero(any_wanted(self._held_lineage()))
        for name, index in self._indexes.items():
            positions = wanted + self.stem.first
            chosen, keys = self.indexed(name, batch.take(wanted), positions)
            indexed = np.zeros(len(self.stem), np.bool_)
            indexed[chosen - self.stem.first] = True
            index.restore({"indexed": indexed, "keys": keys})

    def close(self) -> None:
        """Give the lanes back to the SteM."""
        for index in self._indexes.values():
            index.close()
        self.stem.remove_lane(self._lane)

    def _lineage(self) -> Array:
        """uint64[capacity, W], by place."""
        return self.stem.lane(self._lane).view(np.uint64).reshape(-1, self._words)

    def _held_lineage(self) -> Array:
        """uint64[n, W] of the rows that have been built."""
        start = self.stem.first - self.stem.base
        return self._lineage()[start : start + self.held().size]


def _access(index: HashIndex | ScanAccess) -> Access:
    """The rows of an index, slice by slice."""
    return HashAccess(index) if isinstance(index, HashIndex) else index
