"""RunningOver: values of each row and those before it in its partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from eddyline.kernels.frames_apart import Apart
from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, Stored, empty_like, usable_rows
from eddyline.runtime.failures import Failure, report
from eddyline.runtime.frame_rows import (
    EarlierApart,
    EarlierGroups,
    EarlierInPartition,
    EarlierInTime,
    FrameRows,
)
from eddyline.runtime.frames import AggregatesOfFrame, Entering, no_values
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.earlier_rows import EarlierRows, KnownRows, NthRows, RowsByPlace
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.later_rows import LaterRows
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.types import BEGINNING, FOREVER, Schema

_LANES: Final = ["ts", "seq"]
Kind = Literal["earlier", "nth", "known"]


@dataclass(frozen=True, slots=True)
class PlaceForm:
    """Values of rows by their place.

    Attributes:
        kind: what keeps these rows: the last ones, those of given numbers, or the first and the
            last with a value.
        known: whether only rows with a value count, in the one column that is read.
        values: the column among those computed of rows, the place (``RowsByPlace``), and the place
            of the value.
    """

    kind: Kind
    known: bool
    values: tuple[tuple[int, int, int], ...]

    def rows(self, types: Sequence[pa.DataType]) -> RowsByPlace:
        """What keeps the rows; types: of all columns computed of rows."""
        read = [(column, place) for column, place, _ in self.values]
        if self.kind == "known":
            return KnownRows(read, types)
        kept = EarlierRows if self.kind == "earlier" else NthRows
        return kept(read, types, known=self.known)


@dataclass(frozen=True, slots=True)
class FrameForm:
    """Aggregates over the same frame.

    Attributes:
        unit, preceding, until: as in ``algebra.nodes.running_over.Frame``.
        exclude: as of ``kernels.frames_apart``; 0: nothing.
        early_us: how much later than rows come they are current ones, if some enter before; else 0.
        aggregates: their states. arguments: their columns among those computed of rows; None:
            whole rows. outputs: the places of their values.
    """

    unit: str
    preceding: int | None
    until: int
    exclude: int
    early_us: int
    aggregates: tuple[Aggregate, ...]
    arguments: tuple[int | None, ...]
    outputs: tuple[int, ...]

    def rows(self, types: Sequence[pa.DataType]) -> Entering:
        """The rows in the frames of all partitions; types: of all columns computed of rows."""
        own = [None if a is None else types[a] for a in self.arguments]
        if self.unit != "range":
            exclude = self.exclude if self.unit == "groups" else 0
            return Entering(self._last_rows(own), exclude=exclude)
        dtypes = [d for a in self.aggregates for d in a.dtypes]
        length = None if self.preceding is None else self.preceding - self.until
        frame = EarlierInTime(length, dtypes)
        if not (self.until or self.early_us):
            return Entering(frame, exclude=self.exclude)
        later = LaterRows(self.early_us + self.until, [t for t in own if t is not None])
        return Entering(frame, later, self.early_us > 0, self.exclude)

    def _last_rows(self, types: Sequence[pa.DataType | None]) -> FrameRows:
        dtypes = [d for a in self.aggregates for d in a.dtypes]
        groups, most = self.unit == "groups", self.preceding
        if self.until or (self.exclude and not groups):
            begin = -1 if most is None else most
            bounds = Apart(groups, begin, self.until, self.exclude)
            nothing = no_values(self.aggregates, np.zeros(1, np.int64), types)
            return EarlierApart(bounds, dtypes, nothing)
        if groups:
            assert most is not None, "all rows are a RANGE"
            return EarlierGroups(most + 1, dtypes)
        return EarlierInPartition(None if most is None else most + 1, dtypes)

    @property
    def empties(self) -> bool:
        """Whether time alone takes all rows out of it."""
        return self.unit == "range" and self.preceding is not None


@dataclass(frozen=True, slots=True)
class RunningForm:
    """What is computed of rows.

    Attributes:
        schema: of the rows. waits_us: how long they wait for others.
        keys, key_types: of the partition. arguments, types: columns computed of rows.
        frames: aggregates. by_place: values of rows by their place.
        names: (name, number) of columns, for reports.
    """

    schema: Schema
    waits_us: int
    keys: tuple[Evaluator, ...]
    key_types: tuple[pa.DataType, ...]
    arguments: tuple[Evaluator, ...]
    types: tuple[pa.DataType, ...]
    frames: tuple[FrameForm, ...]
    by_place: tuple[PlaceForm, ...]
    names: tuple[tuple[str, int], ...]

    @property
    def empties(self) -> bool:
        """Whether time alone takes all rows out of what is kept."""
        return all(f.empties for f in self.frames) and not self.by_place

    @property
    def longest(self) -> int:
        """The frame, among those that time empties, that rows leave last."""
        return max(range(len(self.frames)), key=lambda i: self.frames[i].preceding or 0)


class RunningOver(Operator):
    """Adds values to rows when they come, or when time has passed, if those of the same time count.

    A row of which a key, an argument or a value cannot be computed is reported, and not emitted.
    """

    def __init__(self, source: Operator, form: RunningForm) -> None:
        super().__init__((source,))
        self._form = form
        self._waiting = RowStore(form.schema, _LANES) if form.waits_us else None
        self._shown = 0  # waiting rows before this one have been emitted
        self._partitions = KeyTable(form.key_types)
        self._frames = [AggregatesOfFrame(f.aggregates, f.rows(form.types)) for f in form.frames]
        self._by_place = [(p.rows(form.types), [o for *_, o in p.values]) for p in form.by_place]

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        assert batch.only_inserts(), "a '-' for a row that never leaves"
        evaluators, width = [*self._form.keys, *self._form.arguments], len(self._form.keys)
        if any(f.early_us for f in self._form.frames):
            batch, computed = usable_rows(batch, evaluators)
            self._expect(batch, computed[:width], computed[width:])
        rows, computed = usable_rows(self._due(batch, tick.clock), evaluators)
        partition = self._partitions.slots(computed[:width], len(rows))
        values, failed = self._values(rows, partition, computed[width:], tick.clock)
        if self._form.empties:
            self._partitions.release(self._frames[self._form.longest].emptied)
        never = np.full(len(rows), FOREVER, np.int64)
        return replace(rows, exp=never, cells=(*rows.cells, *values)).where(~failed)

    def _expect(self, rows: Batch, keys: Sequence[pa.Array], arguments: Sequence[pa.Array]) -> None:
        """Keep what frames need of rows before they are current ones."""
        partition = self._partitions.slots(keys, len(rows))
        for form, frame in zip(self._form.frames, self._frames, strict=True):
            if form.early_us:
                taken = [None if a is None else arguments[a] for a in form.arguments]
                frame.expect(rows.ts, partition, taken)

    def _due(self, batch: Batch, clock: int) -> Batch:
        """The rows that get their values now."""
        rows = self._waiting
        if rows is None:
            return batch
        rows.append(len(batch), {"ts": batch.ts, "seq": batch.seq}, batch.columns())
        ts = rows.held("ts")
        waits = self._form.waits_us  # more rows of the clock's time may come
        n = int(np.searchsorted(ts, clock - waits, "right"))
        self._shown = rows.first + n
        return _stored(rows, ts[:n] + waits)

    def _values(
        self, rows: Batch, partition: Array, arguments: Sequence[pa.Array], clock: int
    ) -> tuple[list[pa.Array], Array]:
        """The values of rows, and bool[n] for which of them there are none."""
        end = self._partitions.end
        values: dict[int, pa.Array] = {}
        failed = np.zeros(len(rows), np.bool_)
        for by_place, outputs in self._by_place:
            columns = [arguments[c] for c in by_place.needs]
            values |= zip(outputs, by_place.columns(partition, columns, end), strict=True)
        for form, frame in zip(self._form.frames, self._frames, strict=True):
            taken = [None if a is None else arguments[a] for a in form.arguments]
            for place, result in zip(
                form.outputs, frame.run(rows.ts, partition, end, taken, clock), strict=True
            ):
                values[place] = result.values
                if result.failed is not None:
                    self._report(rows, result.failed & ~failed, result.reason)
                    failed |= result.failed
        return [values[place] for place in range(len(values))], failed

    def _report(self, rows: Batch, failed: Array, reason: str) -> None:
        places = np.flatnonzero(failed)
        reasons = pa.array([reason], pa.string()).take(pa.array(np.zeros(places.size, np.int64)))
        report(Failure(rows, places, reasons, self._form.names))

    def settle(self, clock: int) -> None:
        if self._waiting is not None:
            self._waiting.drop_before(self._shown)

    def live(self, clock: int) -> Batch:
        """None: rows are emitted and not kept."""
        nothing = np.zeros(0, np.int64)
        source = self.inputs[0].live(clock)
        rows = empty_like(source) if self._waiting is None else _stored(self._waiting, nothing)
        values, _ = self._values(
            rows, nothing, [pa.nulls(0, t) for t in self._form.types], BEGINNING
        )
        return replace(rows, cells=(*rows.cells, *values))

    def kept(self) -> int:
        waiting = 0 if self._waiting is None else len(self._waiting)
        return waiting + sum(map(len, self._frames)) + sum(len(r) for r, _ in self._by_place)

    def state(self) -> State:
        return {
            "partitions": self._partitions.state(),
            "waiting": {} if self._waiting is None else self._waiting.state(),
            "frames": {str(i): f.state() for i, f in enumerate(self._frames)},
            "by place": {str(i): r.state() for i, (r, _) in enumerate(self._by_place)},
        }

    def restore(self, state: State) -> None:
        self._partitions.restore(nested(state, "partitions"))
        if self._waiting is not None:
            self._waiting.restore(nested(state, "waiting"))
        for i, frame in enumerate(self._frames):
            frame.restore(nested(nested(state, "frames"), str(i)))
        for i, (rows, _) in enumerate(self._by_place):
            rows.restore(nested(nested(state, "by place"), str(i)))


def _stored(rows: RowStore, ts: Array) -> Batch:
    """The first rows of a store, at these times."""
    n = ts.size
    return Batch(
        ts,
        np.full(n, EXPIRY, np.int64),
        np.full(n, FOREVER, np.int64),
        np.ones(n, np.int8),
        (np.arange(rows.first, rows.first + n),),
        (rows,),
        tuple(Stored(0, c) for c in range(len(rows.schema))),
    )
