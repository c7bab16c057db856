"""Row stores: rows appended in order of time, with lanes, payload columns and hash indexes.

A row's *position* counts up from the first row ever; its *place* in the buffers is
``position - base``. Rows leave at the front (``drop_before``) or, where they die in another order
than they came, by compaction (``keep``), which renumbers the rest. *Row ids* are what others may
hold on to: they equal positions until the first compaction and stay stable across it.

Cost: appending and dropping take time per row, whatever the store holds. An empty store begins at
the front of its buffers again; when they are full their pages are moved, not their rows
(``buffers.py``). Compaction copies the rows that it keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from eddyline.kernels.row_ids import NO_ROWS, directory_of, places_of
from eddyline.runtime.state import Rows, State, array, nested
from eddyline.runtime.state import rows as saved_rows
from eddyline.runtime.stores.buffers import Buffer, roomy
from eddyline.runtime.stores.columns import Array, Column
from eddyline.runtime.stores.nested_columns import StructColumn, make_column
from eddyline.types import Schema

_SMALLEST = 64


class RowStore:
    """Columns by position.

    Args:
        schema: the payload columns (Arrow), may be empty.
        lanes: names of further int64 columns that the engine itself uses, among them ``ts`` and
            ``seq``, by which the rows are ordered. Their values never change.
    """

    def __init__(self, schema: Schema, lanes: Sequence[str]) -> None:
        self.schema = schema
        self._capacity = _SMALLEST
        self._start = 0  # place of the first row
        self._end = 0  # place behind the last row
        self.base = 0  # position of place 0
        self._columns: list[Column] = [make_column(f.type, _SMALLEST) for f in schema]
        self._lanes = {n: Buffer(_SMALLEST, np.int64) for n in lanes}
        self._fill: dict[str, int] = {}
        self._derived: set[str] = set()
        self._constant = set(lanes)
        self._ids: Buffer | None = None  # by place; None: ids are positions
        self._directory = NO_ROWS  # of the ids
        self.next_id = 0
        self.generation = 0  # grows when positions are renumbered
        self._names = 0

    @property
    def first(self) -> int:
        """Position of the oldest row."""
        return self.base + self._start

    @property
    def end(self) -> int:
        """Position behind the newest row."""
        return self.base + self._end

    def __len__(self) -> int:
        return self._end - self._start

    @property
    def used_bytes(self) -> int:
        """What its rows take, without the room for others and the buckets of indexes."""
        lanes = sum(lane.array[:1].nbytes for lane in self._lanes.values())
        if self._ids is not None:
            lanes += self._ids.array.itemsize
        columns = sum(column.used_bytes(self._start, self._end) for column in self._columns)
        return len(self) * lanes + columns

    @property
    def lane_names(self) -> frozenset[str]:
        """The names of all lanes."""
        return frozenset(self._lanes)

    def lane(self, name: str) -> Array:
        """A whole lane, by place; only places [first - base, end - base) mean something."""
        return self._lanes[name].array

    def lane_at(self, name: str, positions: Array) -> Array:
        """Values of a lane at positions."""
        places = positions - self.base if self.base else positions
        out: Array = self._lanes[name].array.take(places, axis=0)
        return out

    def held(self, name: str) -> Array:
        """A view of the lane over the rows in the store, oldest first."""
        return self._lanes[name].array[self._start : self._end]

    def new_name(self) -> str:
        """A name for an index or a lane that no other has."""
        self._names += 1
        return str(self._names)

    def add_lane(self, name: str, fill: int, *, width: int = 1, derived: bool = False) -> None:
        """Add a lane that is ``fill`` for the rows in the store and for those to come.

        A lane may have several int64 per row. A derived one, an index, is not saved: its owner
        rebuilds it.
        """
        shape = () if width == 1 else (width,)
        self._lanes[name] = Buffer(self._capacity, np.int64, shape, scattered=derived)
        self.held(name)[:] = fill
        self._fill[name] = fill
        if derived:
            self._derived.add(name)

    def add_block(self, name: str, width: int) -> None:
        """Add ``width`` int64 per row, side by side; ``append`` takes them as int64[n, width]."""
        self._lanes[name] = Buffer(self._capacity, np.int64, (width,))
        self._constant.add(name)

    def remove_lane(self, name: str) -> None:
        """Remove a lane that was added."""
        del self._lanes[name], self._fill[name]
        self._derived.discard(name)

    def append(
        self,
        count: int,
        lanes: Mapping[str, Array | int],
        columns: Sequence[pa.Array] | None = (),
    ) -> range:
        """Append rows; returns their positions. Lanes added with a fill may be left out.

        Args:
            columns: None: their values are not written.
        """
        if self._start == self._end:  # begin at the front again
            self.base, self._start, self._end = self.end, 0, 0
            self._directory = NO_ROWS._replace(rest=self.next_id)
        if self._end + count > self._capacity:
            self._make_room(count)
        place = self._end
        for name, lane in self._lanes.items():
            lane.array[place : place + count] = lanes[name] if name in lanes else self._fill[name]
        if columns is not None:
            for column, arrived in zip(self._columns, columns, strict=True):
                column.write(place, arrived)
        if self._ids is not None:
            self._ids.array[place : place + count] = np.arange(self.next_id, self.next_id + count)
        self.next_id += count
        self._end += count
        return range(self.base + place, self.base + self._end)

    def ids(self, positions: Array) -> Array:
        """Stable row ids of positions."""
        if self._ids is None:
            return positions
        out: Array = self._ids.array.take(positions - self.base)
        return out

    def positions(self, ids: Array) -> Array:
        """Positions of row ids that are still in the store."""
        return ids if self._ids is None else self.places(ids) + self.base

    def places(self, ids: Array) -> Array:
        """The places of rows that are still in the store in its buffers."""
        if self._ids is None:
            return ids - self.base
        return places_of(ids, self._ids.array, *self._directory)

    def gather(self, column: int, ids: Array) -> pa.Array:
        """Payload values of rows, by id."""
        return self._columns[column].gather(self.places(ids))

    def part(self, column: int, ids: Array, names: Sequence[str]) -> pa.Array:
        """As :meth:`gather`, of the field of a structure at a path of names only."""
        structures = self._columns[column]
        assert isinstance(structures, StructColumn), "only structures have fields"
        return structures.part(self.places(ids), names)

    def column(self, number: int) -> Column:
        """A payload column, for kernels that work by place."""
        return self._columns[number]

    def drop_before(self, position: int) -> None:
        """Forget the rows before ``position``."""
        self._start = min(max(position - self.base, self._start), self._end)

    def keep(self, alive: Array) -> None:
        """Forget all rows but those where bool[len(self)] ``alive``; renumbers positions."""
        if self._ids is None:
            self._ids = Buffer(self._capacity, np.int64)
            self._ids.array[: self._end] = np.arange(self.base, self.end)
        end = self.end
        places = np.flatnonzero(alive) + self._start
        capacity = min(self._capacity, roomy(places.size, self._capacity))
        for buffer in self._buffers():
            buffer.take(places, capacity)
        self._capacity, self._start, self._end = capacity, 0, places.size
        self.base = end  # new positions are larger than all old ones
        self._directory = directory_of(self._ids.array[: self._end], self.next_id)
        self.generation += 1

    def _make_room(self, count: int) -> None:
        """Make room for ``count`` more rows, in place of those that have been dropped."""
        first, live = self.first, len(self)
        capacity = roomy(live + count, self._capacity)
        for buffer in self._buffers():
            buffer.shift(self._start, self._end, capacity)
        self._directory = self._directory._replace(moved=self._directory.moved + self._start)
        self._capacity, self._start, self._end = capacity, 0, live
        self.base = first

    def _buffers(self) -> Iterator[Buffer | Column]:
        yield from self._columns
        yield from self._lanes.values()
        if self._ids is not None:
            yield self._ids

    def state(self) -> State:
        """Everything in the store: rows as they were appended, and the lanes that may change."""
        saved = self._lanes.keys() - self._derived - self._constant
        out: dict[str, State | Array | Rows] = {
            "counters": np.array([self.first, self.next_id], np.int64),
            "lanes": {name: self.held(name) for name in sorted(saved)},
            "rows": Rows(self._held_ids(), self._part, self),
        }
        if self._ids is not None:
            out["renumbered"] = np.ones(1, np.bool_)
        return out

    def _held_ids(self) -> Array | range:
        """The ids of all rows."""
        if self._ids is None:
            return range(self.first, self.end)
        return self._ids.array[self._start : self._end]

    def _part(self, start: int, end: int) -> pa.RecordBatch:
        """The rows in [start, end), counted from the oldest, until the store changes: constant
        lanes, then columns.
        """
        lanes = [_as_arrow(self.held(name)[start:end]) for name in sorted(self._constant)]
        places = (self._start + start, self._start + end)
        columns = [*lanes, *(column.view(*places) for column in self._columns)]
        return pa.RecordBatch.from_arrays(columns, [str(i) for i in range(len(columns))])

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned; the lanes must be the same."""
        rows = saved_rows(state, "rows")
        used = len(rows)
        self._capacity = roomy(used, _SMALLEST)
        self._columns = [make_column(f.type, self._capacity) for f in self.schema]
        self._start, self._end = 0, used
        for name, lane in self._lanes.items():
            shape, scattered = lane.array.shape[1:], name in self._derived
            self._lanes[name] = Buffer(self._capacity, np.int64, shape, scattered=scattered)
            self.held(name)[:] = self._fill.get(name, 0)
        self.base, self.next_id = (int(v) for v in array(state, "counters"))
        constant = sorted(self._constant)
        for place, batch in rows.batches():
            for name, values in zip(constant, batch.columns, strict=False):
                held = self.held(name)
                held[place : place + batch.num_rows] = _as_lane(values, held.shape[1:])
            for column, values in zip(self._columns, batch.columns[len(constant) :], strict=True):
                column.write(place, values)
        for name in self._lanes.keys() - self._derived - self._constant:
            self.held(name)[:] = array(nested(state, "lanes"), name)
        self._ids = None
        if "renumbered" in state:
            self._ids = Buffer(self._capacity, np.int64)
            self._ids.array[:used] = rows.numbers
            self._directory = directory_of(self._ids.array[:used], self.next_id)
        self.generation += 1
        rows.claim(self)


def _as_arrow(lane: Array) -> pa.Array:
    """A lane as an Arrow array, without a copy if it is one number per row."""
    if lane.ndim == 1:
        return pa.array(lane)
    width = pa.binary(8 * lane.shape[1])
    return pa.Array.from_buffers(width, len(lane), [None, pa.py_buffer(np.ascontiguousarray(lane))])


def _as_lane(values: pa.Array, shape: tuple[int, ...]) -> Array:
    """The inverse of ``_as_arrow``; int64[n, *shape]."""
    if not shape:
        return np.asarray(values.to_numpy())
    numbers = np.frombuffer(values.buffers()[1], np.int64)
    start = values.offset * shape[0]
    return numbers[start : start + len(values) * shape[0]].reshape(-1, *shape)


class Lane:
    """An int64 for each row of a store, at first ``fill``; its owner saves it."""

    def __init__(self, store: RowStore, fill: int) -> None:
        self._store = store
        self._name = f"lane:{store.new_name()}"
        store.add_lane(self._name, fill, derived=True)

    def at(self, positions: Array) -> Array:
        """int64[n]: the numbers of rows."""
        return self._store.lane_at(self._name, positions)

    def held(self) -> tuple[Array, Array]:
        """Positions and numbers of all rows of the store."""
        return np.arange(self._store.first, self._store.end), self._store.held(self._name)

    def put(self, positions: Array, numbers: Array) -> None:
        """Set the numbers of rows."""
        self._store.lane(self._name)[positions - self._store.base] = numbers

    def close(self) -> None:
        """Remove the lane from the store."""
        self._store.remove_lane(self._name)

    def state(self) -> Array:
        """The numbers of all rows."""
        return self._store.held(self._name)

    def restore(self, numbers: Array) -> None:
        """Take over what ``state`` returned; the rows have been restored."""
        self._store.held(self._name)[:] = numbers
