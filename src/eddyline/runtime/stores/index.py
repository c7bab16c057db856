"""Hash indexes over row stores: which rows of a store have a key, newest first.

An index may hold only some of a store's rows (those that pass a filter). It is built by the chunk:
``insert`` puts the chunk's new rows in, and any number of joins may then probe it *as of* each
probe's own instant (see ``eddyline.kernels.chain_probes``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.kernels import chain_probes, chains
from eddyline.runtime.state import Rows, State
from eddyline.runtime.state import rows as saved_rows
from eddyline.runtime.stores.buckets import Buckets
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.rowstore import RowStore

_NO_LANE = np.zeros(0, np.int64)
_NO_ROWS = np.zeros(0, np.int64)
#: Maximum steps per row of the store while rows are linked one by one; then chains are rebuilt.
_STEPS_PER_ROW = 4


@dataclass(frozen=True, slots=True)
class Liveness:
    """Which rows of a store are alive at an instant, for one consumer.

    A row expires at ``lane + lifespan``; with ``fifo`` rows expire in the order of their positions.
    ``death``, if any, names the two lanes with the instant at which a row was deleted.
    """

    lane: str
    lifespan: int
    fifo: bool
    death: tuple[str, str] | None = None


class Probes(NamedTuple):
    """Keys to find, in the (ts, seq) order of the changes that probe."""

    key: Array
    ts: Array
    seq: Array


class _Owner:
    """Identifies an index as long as its rows have been indexed in the order of their ids."""


class HashIndex:
    """Chains of positions by key over one store.

    Args:
        store: where the rows are.
        scanned: use one chain for all keys, so that every probe looks at every row: the nested
            loops of the papers, to compare with.
    """

    def __init__(self, store: RowStore, *, scanned: bool = False) -> None:
        self._store = store
        self._scanned = scanned
        self._nodes = f"nodes:{store.new_name()}"
        store.add_lane(self._nodes, chains.NOT_INDEXED, width=2, derived=True)
        self._buckets = Buckets(1 if scanned else 64)
        self._generation = store.generation
        self._end = store.end  # at the last call of _fit
        self._new = _NO_ROWS
        self.version = 0  # grows when the chains are rebuilt
        self._owner = _Owner()  # another one if other rows than the chunk's have been indexed
        self._newest_id = -1
        self._run: range | None = range(0)  # positions of all rows; None: these are unknown

    def insert(self, positions: Array, keys: Array) -> None:
        """Index this chunk's new rows, oldest first. Call once per chunk, even with no rows."""
        store = self._store
        self._fit()
        self._new = positions
        if positions.size:
            first, last = (int(i) for i in store.ids(positions[[0, -1]]))
            if first <= self._newest_id:
                self._owner = _Owner()
            self._newest_id = max(self._newest_id, last)
            self._extend_run(positions)
            nodes = store.lane(self._nodes)
            chains.insert(*self._buckets.table, nodes, store.base, positions, keys)

    def _extend_run(self, positions: Array) -> None:
        """Rows at these positions, ascending, have been indexed."""
        run = self._run
        if run is None:
            return
        if run.stop <= self._store.first:  # all of them have been dropped
            run = range(0)
        first, last = int(positions[0]), int(positions[-1])
        if (run and first != run.stop) or last - first != positions.size - 1:
            self._run = None
        else:
            self._run = range(run.start if run else first, last + 1)

    def link(self, positions: Array, keys: Array) -> None:
        """Index rows that came earlier, in any order, so that probes of any instant see them."""
        self._fit()
        self._new, self._owner = _NO_ROWS, _Owner()
        self._run = None
        nodes, base = self._store.lane(self._nodes), self._store.base
        most = _STEPS_PER_ROW * (len(self._store) + positions.size)
        done = chains.link(*self._buckets.table, nodes, base, positions, keys, most)
        if done < positions.size:  # long chains: rebuilding them costs no more
            rest = positions[done:] - base
            nodes[rest, chains.KEY], nodes[rest, chains.LINK] = keys[done:], chains.NOTHING
            self._rebuild()

    def take_out(self, keys: Array) -> Array:
        """The positions of all rows with these keys, which leave the index."""
        self._fit()
        self._run = None
        store = self._store
        nodes = store.lane(self._nodes)
        return chains.take_out(*self._buckets.table, nodes, store.base, store.first, keys)

    def positions(self) -> Array:
        """The positions of all rows in the index, ascending."""
        links = self._store.held(self._nodes)[:, chains.LINK]
        return np.flatnonzero(links != chains.NOT_INDEXED) + self._store.first

    def take_all(self) -> Array:
        """The positions of all rows in the index, ascending, which leave it."""
        positions = self.positions()
        self.fill(_NO_ROWS, _NO_ROWS)
        return positions

    def any_alive(self, keys: Array, ts: Array, liveness: Liveness) -> Array:
        """bool[n]: whether a row with the key, of whatever instant, expires after ``ts``."""
        return chain_probes.any_alive(*self._walk(liveness), keys, ts)

    def all_alive(self, keys: Array, ts: Array, liveness: Liveness) -> tuple[Array, Array]:
        """Numbers of the keys, ascending, and positions of the rows that ``any_alive`` is about."""
        return chain_probes.all_alive(*self._walk(liveness), keys, ts)

    def look(self, keys: Array) -> Array:
        """int64[n], cursors for ``look_on``."""
        return chain_probes.first_of(*self._buckets.table, keys)

    def look_on(
        self, keys: Array, ts: Array, liveness: Liveness, cursor: Array, stop: int, most: int
    ) -> tuple[Array, Array]:
        """``all_alive`` in parts: at most ``most`` rows per key, newest first, none before the
        position ``stop``; moves ``cursor``, which is negative when there are no more.
        """
        *_, nodes, base, first, expiry, lifespan, fifo = self._walk(liveness)
        stop = max(stop, first)
        return chain_probes.more_alive(
            nodes, base, expiry, lifespan, fifo, keys, ts, cursor, stop, most
        )

    def _walk(
        self, liveness: Liveness
    ) -> tuple[Array, int, int | None, Array, int, int, Array, int, bool]:
        """The chains, and which of their rows are alive: arguments of kernels."""
        store, expiry = self._store, self._store.lane(liveness.lane)
        nodes, ends = store.lane(self._nodes), (liveness.lifespan, liveness.fifo)
        return (*self._buckets.table, nodes, store.base, store.first, expiry, *ends)

    def keys_at(self, positions: Array) -> tuple[Array, Array]:
        """Keys of rows, and bool[n]: which of the rows are in the index."""
        nodes = self._store.lane_at(self._nodes, positions)
        return nodes[:, chains.KEY], nodes[:, chains.LINK] != chains.NOT_INDEXED

    def nodes_at(self, positions: Array) -> tuple[Array, Array]:
        """What kernels read of rows: the index's nodes by place, and int64[n] the rows' places."""
        store = self._store
        return store.lane(self._nodes), positions - store.base

    def sizes(self) -> tuple[int, int]:
        """How many of the store's rows are in the index, and how many keys they have."""
        nodes = self._store.held(self._nodes)
        keys = nodes[nodes[:, chains.LINK] != chains.NOT_INDEXED, chains.KEY]
        return keys.size, unique(keys).size

    def rewind(self) -> None:
        """Let the next probes see all rows only as of when they came."""
        nodes = self._store.held(self._nodes)
        self._new = np.flatnonzero(nodes[:, chains.LINK] != chains.NOT_INDEXED) + self._store.first
        self._rebuild()  # without the rows that have been dropped

    def admit(self) -> None:
        """Let probes of any instant see the rows inserted last: they have always been there."""
        self._new = _NO_ROWS

    def probe(self, probes: Probes, liveness: Liveness, *, inclusive: bool) -> tuple[Array, Array]:
        """Numbers of probes and positions of the rows that match them, in probe order."""
        store = self._store
        death_ts = death_seq = _NO_LANE
        if liveness.death is not None:
            death_ts, death_seq = (store.lane(n) for n in liveness.death)
        return chain_probes.probe(
            *self._buckets.table,
            store.lane(self._nodes),
            store.base,
            store.first,
            store.end,
            self._new,
            store.lane("ts"),
            store.lane("seq"),
            store.lane(liveness.lane),
            liveness.lifespan,
            liveness.fifo,
            death_ts,
            death_seq,
            inclusive,
            probes.key,
            probes.ts,
            probes.seq,
        )

    def begin(self, probes: Probes, *, inclusive: bool) -> Array:
        """int64[n], cursors for ``follow``: where a walk begins, as of each probe's instant."""
        store = self._store
        return chain_probes.newest(
            *self._buckets.table,
            store.lane(self._nodes),
            store.base,
            self._new,
            store.lane("ts"),
            store.lane("seq"),
            inclusive,
            probes.key,
            probes.ts,
            probes.seq,
        )

    def begin_below(self, key: Array, position: Array) -> Array:
        """int64[n], cursors for ``follow`` at the newest rows below positions."""
        cursor: Array = position - 1
        self.find_again(key, cursor)
        return cursor

    def pieces(self, cursor: Array, stop: Array) -> Iterator[slice]:
        """See ``Access``: few rows have the same key."""
        yield slice(0, cursor.size)

    def follow(self, slice_: int, key: Array, cursor: Array, stop: Array) -> tuple[Array, Array]:
        """Walk on from ``cursor`` (changed in place) down to the positions ``stop``.

        Args:
            slice_: see ``Access``; all slices are in the same chains (Hammad et al. 2003, 3.4).

        Returns:
            Numbers of probes and positions of the rows that match them: in probe order, newest
            first.
        """
        store = self._store
        return chain_probes.follow(
            store.lane(self._nodes),
            store.base,
            cursor,
            stop,
            _NO_LANE,
            0,
            True,
            _NO_LANE,
            _NO_LANE,
            False,
            key,
            key,
            key,
        )

    def find_again(self, key: Array, cursor: Array) -> None:
        """Correct cursors of another ``version``, in place."""
        store = self._store
        nodes = store.lane(self._nodes)
        chain_probes.find_again(*self._buckets.table, nodes, store.base, store.first, key, cursor)

    def bury(
        self,
        dead: Probes,
        ids: Array,
        before: Array,
        block: str,
        death: tuple[str, str],
    ) -> Array:
        """Write into the ``death`` lanes when rows were deleted.

        Args:
            dead: keys and instants of the negative tuples.
            ids: int64[n, k], what identifies their rows in the store's ``block``.
            before: the rows came before these positions.

        Returns:
            The positions of the deleted rows.
        """
        store = self._store
        return chains.bury(
            *self._buckets.table,
            store.lane(self._nodes),
            store.base,
            store.first,
            store.lane(block),
            store.lane(death[0]),
            store.lane(death[1]),
            dead.key,
            ids,
            dead.ts,
            dead.seq,
            before,
        )

    def forget(self, dropped: Array) -> None:
        """Remove rows (bool[len(store)] ``dropped``) from the index; they stay in the store."""
        self._run = None
        self._store.held(self._nodes)[dropped, chains.LINK] = chains.NOT_INDEXED
        self._rebuild()

    def close(self) -> None:
        """Remove its lanes from the store."""
        self._store.remove_lane(self._nodes)

    def state(self) -> State:
        """The keys of the rows that are indexed, by row id.

        This looks at each row of the store only if it is not known that all of them are indexed.
        """
        store, nodes = self._store, self._store.held(self._nodes)
        positions: Array | range
        if self._run is None or self._generation != store.generation:
            positions = self.positions()
        else:
            positions = range(max(self._run.start, store.first), max(self._run.stop, store.first))
        numbers: Array | range = range(0)
        if len(positions):
            first, last = (int(i) for i in store.ids(np.array([positions[0], positions[-1]])))
            numbers = range(first, last + 1)
            if len(numbers) != len(positions):
                numbers = store.ids(np.asarray(positions))
        oldest = store.first

        def part(start: int, end: int) -> pa.RecordBatch:
            wanted = positions[start:end]
            if isinstance(wanted, range):
                wanted = np.arange(wanted.start, wanted.stop)
            return pa.RecordBatch.from_arrays(
                [pa.array(nodes[wanted - oldest, chains.KEY])], ["key"]
            )

        return {"keys": Rows(numbers, part, self._owner)}

    def restore(self, state: State) -> None:
        """Index these rows and no others; the store has been restored."""
        rows = saved_rows(state, "keys")
        keys = [np.asarray(batch.column(0).to_numpy()) for _, batch in rows.batches()]
        positions = self._store.positions(np.asarray(rows.numbers, np.int64))
        self.fill(positions, np.concatenate(keys) if keys else _NO_ROWS)
        rows.claim(self._owner)

    def fill(self, positions: Array, keys: Array) -> None:
        """Index these rows, oldest first, and no others; probes of any instant see them."""
        self.version += 1
        self._owner, self._newest_id = _Owner(), -1
        self._buckets.clear()
        self._store.held(self._nodes).fill(chains.NOT_INDEXED)
        self._fit()
        self._run = range(0)
        self.insert(positions, keys)
        self._new = _NO_ROWS

    def _fit(self) -> None:
        """Keep about one bucket per row, and follow the store when it renumbers positions."""
        store, buckets = self._store, self._buckets
        rows, new = len(store), store.end - self._end
        self._end = store.end
        if buckets.least <= rows <= buckets.most and self._generation == store.generation:
            return
        if self._generation != store.generation or not (self._scanned or buckets.fit(rows)):
            self._rebuild()
        elif not self._scanned:
            nodes = store.lane(self._nodes)
            self.version += buckets.split(rows, new, nodes, store.base, store.first)

    def _rebuild(self) -> None:
        """Rebuild the chains, of the rows that are in the index."""
        store = self._store
        if self._scanned:
            self._buckets.clear()
        else:
            self._buckets.renew_for(len(store))
        if self._generation != store.generation:
            self._generation, self._run = store.generation, None
        self.version += 1
        nodes = store.lane(self._nodes)
        chains.reinsert_all(*self._buckets.table, nodes, store.base, store.first, store.end)
