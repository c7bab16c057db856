"""Segments: rows that never change, written once and referred to by later checkpoints.

Each store of such rows (a SteM, an intermediate result, the keys of an index) is a list of segments
in the order of the rows' numbers. A save writes the rows that have come since the last one::

    first save    [0 .......... 900)
    second save   [0 .......... 900) [900 .... 1500)
    third save                       [900 .... 1500) [1500 .. 1800)    rows below 950 have expired

A segment is dropped when none of its rows is left; small ones are merged with the rows that follow,
and one with few rows left is written again, so the segments of a store hold at most about twice its
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary
from weakref import ref as weakref

import numpy as np
import pyarrow as pa

from eddyline.errors import StateError
from eddyline.runtime.state import MOST_ROWS, Array, Rows

#: Segments with more rows are not merged.
MERGED_ROWS: Final = 1 << 14
_END_BYTES: Final = 64  # of an IPC stream, with padding
_NUMBER: Final = "_number"  # a column with the numbers of rows, unless these are consecutive


@dataclass(frozen=True)
class Segment:
    """Rows of one store.

    Attributes:
        name: number of the segment. first, last: smallest and largest number of its rows.
    """

    name: int
    first: int
    last: int
    rows: int


class Segments:
    """The segments of an engine's stores, over successive saves.

    Args:
        write: stores a new segment (Arrow IPC stream) by its name.

    Attributes:
        next_name: names from here on are free.
    """

    def __init__(self, write: Callable[[int, pa.Buffer], None]) -> None:
        self._write = write
        self.next_name = 1
        self._of: WeakKeyDictionary[object, list[Segment]] = WeakKeyDictionary()

    def save(self, rows: Rows) -> tuple[dict[str, Any], Array | None]:
        """Write what has not been written of a store.

        Returns:
            Its description (JSON) for :class:`SavedRows`; the differences between successive
            numbers of its rows, None if they are consecutive.
        """
        numbers = rows.numbers
        kept, start = self._kept(rows)
        for at, batch in rows.batches(start):
            kept.append(self._segment(numbers[at : at + batch.num_rows], batch))
        self._of[rows.owner] = kept
        fields = [[s.name, s.first, s.last, s.rows] for s in kept]
        first = int(numbers[0]) if len(numbers) else 0
        description = {"first": first, "rows": len(numbers), "segments": fields}
        return description, None if isinstance(numbers, range) else _differences(numbers)

    def adopt(self, owner: object, segments: list[Segment]) -> None:
        """Take over the segments that a store has been restored from."""
        self._of[owner] = segments

    def new_name(self) -> int:
        """A name that no segment has."""
        self.next_name += 1
        return self.next_name - 1

    def saved(self) -> list[tuple[weakref[object], list[Segment]]]:
        """What :meth:`go_back` needs to return to the last save."""
        return [(weakref(owner), segments) for owner, segments in self._of.items()]

    def go_back(self, saved: Iterable[tuple[weakref[object], list[Segment]]]) -> None:
        """Forget the segments written after ``saved``."""
        self._of.clear()
        for reference, segments in saved:
            if (owner := reference()) is not None:
                self._of[owner] = segments

    def names(self) -> set[int]:
        """The segments of all stores at their last saves."""
        return {segment.name for segments in self._of.values() for segment in segments}

    def _kept(self, rows: Rows) -> tuple[list[Segment], int]:
        """The segments to keep, and the place of the first row behind them."""
        numbers = rows.numbers
        kept, last = [], -1
        for segment in self._of.get(rows.owner, ()):
            start, end = _places(numbers, segment)
            last = end
            if isinstance(numbers, range) or 2 * (end - start) >= segment.rows:
                kept += [segment] if start < end else []
            else:
                for at in range(start, end, MOST_ROWS):
                    until = min(at + MOST_ROWS, end)
                    kept.append(self._segment(numbers[at:until], rows.part(at, until)))
        end = max(last, 0)
        while kept and kept[-1].rows <= min(len(numbers) - end, MERGED_ROWS):
            end = _places(numbers, kept.pop())[0]
        return kept, end

    def _segment(self, numbers: Array | range, batch: pa.RecordBatch) -> Segment:
        """Write a new segment."""
        first, last = int(numbers[0]), int(numbers[-1])
        if last - first != batch.num_rows - 1:
            batch = batch.append_column(_NUMBER, pa.array(np.asarray(numbers)))
        segment = Segment(self.new_name(), first, last, batch.num_rows)
        self._write(segment.name, _stream(batch))
        return segment


def _stream(batch: pa.RecordBatch) -> pa.Buffer:
    """An Arrow IPC stream, in memory that does not grow meanwhile."""
    size = batch.schema.serialize().size + pa.ipc.get_record_batch_size(batch) + _END_BYTES
    buffer = pa.allocate_buffer(size)
    sink = pa.FixedSizeBufferWriter(buffer)
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return buffer.slice(0, sink.tell())


class SavedRows:
    """Reads the rows of a store from its segments.

    Args:
        description, differences: as ``Segments.save`` returned them.
        read: the content of a segment by name; raises StateError if it is missing.
        segments: gets the segments of the restored store.
    """

    def __init__(
        self,
        description: Mapping[str, Any],
        differences: Array | None,
        read: Callable[[int], pa.Buffer | bytes],
        segments: Segments | None,
    ) -> None:
        first, count = description["first"], description["rows"]
        self._numbers: Array | range = range(first, first + count)
        if differences is not None:
            self._numbers = first + np.cumsum(differences, dtype=np.int64)
        self._list = [Segment(*fields) for fields in description["segments"]]
        self._read = read
        self._segments = segments

    def rows(self) -> Rows:
        """The rows; segments are read one by one, in order."""
        pieces = self._pieces()
        rest: list[pa.RecordBatch] = []

        def part(start: int, end: int) -> pa.RecordBatch:
            while sum(batch.num_rows for batch in rest) < end - start:
                rest.append(next(pieces))
            table = pa.Table.from_batches(rest)
            rest[:] = table.slice(end - start).to_batches()
            return table.slice(0, end - start).combine_chunks().to_batches()[0]

        return Rows(self._numbers, part, None, self._claim)

    def _claim(self, owner: object) -> None:
        if self._segments is not None:
            self._segments.adopt(owner, self._list)

    def _pieces(self) -> Iterator[pa.RecordBatch]:
        """The rows of each segment that are still there."""
        for segment in self._list:
            start, end = _places(self._numbers, segment)
            batch = _content(segment, self._read(segment.name))
            if _NUMBER in batch.schema.names:
                stored = np.asarray(batch.column(_NUMBER).to_numpy())
                batch = batch.drop_columns([_NUMBER])
            else:
                stored = np.arange(segment.first, segment.last + 1)
            if end - start == segment.rows:
                yield batch
            elif start < end:
                wanted = np.asarray(self._numbers[start:end], np.int64)
                yield batch.take(pa.array(np.searchsorted(stored, wanted)))


def _content(segment: Segment, content: pa.Buffer | bytes) -> pa.RecordBatch:
    try:
        batch = pa.ipc.open_stream(content).read_next_batch()
    except (pa.ArrowInvalid, OSError, StopIteration) as error:
        raise StateError(f"segment {segment.name} of saved rows is damaged: {error}") from None
    if batch.num_rows != segment.rows:
        raise StateError(
            f"segment {segment.name} of saved rows has {batch.num_rows} of {segment.rows} rows"
        )
    return batch


def _places(numbers: Array | range, segment: Segment) -> tuple[int, int]:
    """The places in ``numbers`` of those within a segment: [start, end)."""
    ends = (segment.first, segment.last + 1)
    if isinstance(numbers, range):
        start, end = (min(max(n - numbers.start, 0), len(numbers)) for n in ends)
        return start, end
    start, end = (int(place) for place in np.searchsorted(numbers, ends))
    return start, end


def _differences(numbers: Array) -> Array:
    """Differences of successive numbers, 0 for the first, in the smallest unsigned type."""
    differences = np.diff(numbers, prepend=numbers[:1])
    return differences.astype(np.min_scalar_type(int(differences.max(initial=0))))
