"""Queries that run together in a flow, and their results: one table per chunk for all of a shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Expr
from eddyline.kernels.lineage import by_bit
from eddyline.physical.flows import member, output_of
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.columns import Array
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.output import concat_changes, instants, to_changes
from eddyline.sharing.signature import Part, Signature

#: Where ``_exp`` stands among the columns of changes.
_EXP = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """What one chunk brought to the queries of a shape.

    Attributes:
        results: n rows of changes, each result once; their ``_exp`` is not that of any query.
        rows: int64[m], who gets which results, query by query.
        starts: int64[bits + 1], where each query's rows begin. exp: int64[m].
    """

    results: pa.Table
    rows: Array
    starts: Array
    exp: Array

    def of(self, bit: int) -> pa.Table:
        """The changes of one query."""
        if bit + 1 >= self.starts.size:
            return self.results.slice(0, 0)
        return self.cut(slice(self.starts[bit], self.starts[bit + 1]))

    def cut(self, which: slice | Array) -> pa.Table:
        """The changes with these numbers, query by query."""
        changes = self.results.take(pa.array(self.rows[which]))
        return changes.set_column(_EXP, changes.field(_EXP), instants(self.exp[which]))

    def counts(self) -> Array:
        """int64[bits]: how many changes each query has."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class SharedChanges:
    """The changes of all queries of a shape.

    Attributes:
        schema: of the changes. pieces: chunk by chunk. seats: name of a query -> its bit.
    """

    schema: pa.Schema
    pieces: Sequence[Piece]
    seats: Mapping[str, int]

    def of(self, name: str) -> pa.Table:
        """The changes of one query."""
        bit = self.seats[name]
        return concat_changes([p.of(bit) for p in self.pieces], self.schema)

    def active(self) -> Iterator[str]:
        """The names of the queries that have changes."""
        bits = max((p.starts.size - 1 for p in self.pieces), default=0)
        busy = np.zeros(bits, np.bool_)
        for piece in self.pieces:
            busy[: piece.starts.size - 1] |= piece.counts() > 0
        return (name for name, bit in self.seats.items() if bit < bits and busy[bit])

    def together(self, column: str) -> pa.Table:
        """All changes in one table, query by query within a chunk; ``column`` names the query."""
        names = pa.array(list(self.seats), pa.string())
        number = np.full(max(self.seats.values(), default=-1) + 1, -1, np.int32)
        for i, bit in enumerate(self.seats.values()):
            number[bit] = i
        field_ = pa.field(column, pa.dictionary(pa.int32(), pa.string()))
        parts = []
        for piece in self.pieces:
            counts = piece.counts()[: number.size]
            owner = np.repeat(number[: counts.size], counts)
            known = np.flatnonzero(owner >= 0)  # the others were dropped meanwhile
            changes = piece.cut(known)
            query = pa.DictionaryArray.from_arrays(pa.array(owner[known]), names)
            parts.append(changes.add_column(0, field_, query))
        return pa.concat_tables(parts) if parts else pa.schema([field_, *self.schema]).empty_table()


class Shape:
    """Queries of a flow with the same select list.

    Attributes:
        seats: name of a query -> its bit.
    """

    def __init__(self, schema: pa.Schema, outputs: Sequence[Expr], *, replaces: bool) -> None:
        self.schema = schema
        self.seats: dict[str, int] = {}
        self._lent = False  # whether somebody has ``seats`` as they are
        self._outputs = [output_of(e) for e in outputs]
        self._replaces = replaces
        self._pieces: list[Piece] = []

    def seat(self, name: str, bit: int) -> None:
        """A query has come."""
        self._own_seats()[name] = bit

    def unseat(self, name: str) -> None:
        """A query has gone."""
        del self._own_seats()[name]

    def _own_seats(self) -> dict[str, int]:
        if self._lent:
            self.seats, self._lent = dict(self.seats), False
        return self.seats

    def collect(self, fanout: Fanout, mine: Array | None) -> None:
        """Add a chunk's results, of the bits ``mine`` (bool[bits]; None: all)."""
        rows, starts, exp = fanout.rows, fanout.starts, fanout.exp
        if mine is not None:
            bit = np.repeat(np.arange(mine.size), np.diff(starts))
            chosen = np.flatnonzero(mine[bit])
            rows, exp = rows[chosen], exp[chosen]
            starts = _starts(bit[chosen], mine.size)
        if self._replaces and fanout.batch.pair is not None:
            rows, starts, exp = _without_replaced(fanout.batch, rows, starts, exp)
        if not rows.size:
            return
        wanted = np.zeros(len(fanout.batch), np.bool_)
        wanted[rows] = True
        batch = fanout.batch
        if not wanted.all():
            batch = batch.take(np.flatnonzero(wanted))
            rows = (np.cumsum(wanted) - 1)[rows]
        self._pieces.append(Piece(self._projected(batch), rows, starts, exp))

    def _projected(self, batch: Batch) -> pa.Table:
        columns = [_column(batch, o) for o in self._outputs]
        return to_changes(batch, self.schema, columns)

    @property
    def pending(self) -> bool:
        """Whether there is something to take."""
        return bool(self._pieces)

    def changes(self) -> SharedChanges:
        """What has been collected, left in place."""
        self._lent = True
        return SharedChanges(self.schema, tuple(self._pieces), self.seats)

    def clear(self) -> None:
        """Forget what has been collected."""
        self._pieces = []


def _column(batch: Batch, output: int | Evaluator) -> pa.Array:
    return batch.column(output) if isinstance(output, int) else output(batch)


def _starts(bit: Array, bits: int) -> Array:
    return np.concatenate(([0], np.cumsum(np.bincount(bit, minlength=bits))))


def _without_replaced(
    batch: Batch, rows: Array, starts: Array, exp: Array
) -> tuple[Array, Array, Array]:
    """Without each '-' whose pair's '+' follows for the same query."""
    assert batch.pair is not None, "nothing replaces anything here"
    bits = starts.size - 1
    bit = np.repeat(np.arange(bits), np.diff(starts))
    replaced = np.zeros(rows.size, np.bool_)
    replaced[:-1] = (
        (batch.sign[rows[:-1]] < 0)
        & (batch.pair[rows[:-1]] == batch.pair[rows[1:]])
        & (bit[:-1] == bit[1:])
    )
    left = np.flatnonzero(~replaced)
    return rows[left], _starts(bit[left], bits), exp[left]


@dataclass
class SharedFlow:
    """A flow with the shapes of its queries.

    Attributes:
        rows_out, seconds: by bit, since the query came.
    """

    signature: Signature
    flow: Flow
    shapes: dict[object, Shape] = field(default_factory=dict)
    rows_out: Array = field(default_factory=lambda: np.zeros(64, np.int64))
    seconds: Array = field(default_factory=lambda: np.zeros(64))
    _shape_of: dict[int, object] = field(default_factory=dict)
    _masks: dict[object, Array] | None = None
    _seconds: float = 0.0

    def add(self, name: str, part: Part, schema: pa.Schema, *, replaces: bool) -> Seat:
        """A query comes."""
        if not any(s.pending for s in self.shapes.values()):
            self.flow.recycle()
        bit = self.flow.admit(member(self.signature, part))
        self._fit(bit)
        self.rows_out[bit], self.seconds[bit] = 0, 0.0
        key = (part.outputs, part.names, replaces)
        if key not in self.shapes:
            self.shapes[key] = Shape(schema, part.outputs, replaces=replaces)
        self.shapes[key].seat(name, bit)
        self._shape_of[bit] = key
        self._masks = None
        return Seat(self, self.shapes[key], bit)

    def drop(self, name: str, bit: int) -> None:
        """A query goes."""
        self.flow.dismiss(bit)
        key = self._shape_of.pop(bit)
        self.shapes[key].unseat(name)
        if not self.shapes[key].seats:
            del self.shapes[key]
        self._masks = None

    def collect(self) -> None:
        """Hand the chunk's results to the shapes, and account for the time that it took."""
        fanout = self.flow.fanout
        if fanout is None:
            return
        self.flow.fanout = None
        seconds, self._seconds = self.flow.seconds - self._seconds, self.flow.seconds
        counts = np.diff(fanout.starts)
        self._fit(counts.size - 1)
        self.rows_out[: counts.size] += counts
        self._attribute(seconds, counts)
        if len(self.shapes) == 1:
            (only,) = self.shapes.values()
            only.collect(fanout, None)
            return
        busy = {self._shape_of[b] for b in np.flatnonzero(counts).tolist() if b in self._shape_of}
        for key in busy:
            self.shapes[key].collect(fanout, self._mask(key, counts.size))

    def clear(self) -> None:
        """What was collected has been taken."""
        for shape in self.shapes.values():
            shape.clear()

    def _attribute(self, seconds: float, counts: Array) -> None:
        """Everybody pays for the filters, and who gets more for the results."""
        weights = counts.astype(np.float64)
        weights[list(self._shape_of)] += 1
        self.seconds[: counts.size] += seconds * weights / max(weights.sum(), 1)

    def _mask(self, key: object, bits: int) -> Array:
        if self._masks is None:
            self._masks = {k: np.zeros(bits, np.bool_) for k in self.shapes}
            for bit, shape in self._shape_of.items():
                self._masks[shape][bit] = True
        return self._masks[key]

    def _fit(self, bit: int) -> None:
        if bit >= self.rows_out.size:
            more = np.zeros(2 * bit - self.rows_out.size)
            self.rows_out = np.concatenate((self.rows_out, more.astype(np.int64)))
            self.seconds = np.concatenate((self.seconds, more))


@dataclass(frozen=True)
class Seat:
    """The place of a query in its flow."""

    shared: SharedFlow
    shape: Shape
    bit: int

    @property
    def rows_out(self) -> int:
        """Changes so far."""
        return int(self.shared.rows_out[self.bit])

    def leave(self, name: str) -> None:
        """The query goes."""
        self.shared.drop(name, self.bit)
