"""Batches of changes: what flows along the edges of a physical plan.

A change is a row that enters (+1) or leaves (-1) a result at an instant. Rows are kept as row ids
into the stores that hold their payload for as long as possible (late materialisation); a column is
gathered on first access. Where an operator serves many queries, the batch lists the recipients of
each change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import methodcaller
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.kernels.merge import interleaved, merge_destinations
from eddyline.runtime.failures import collecting, failed_rows, report
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.stores.columns import Array, Column, all_of, filled, raw_values
from eddyline.runtime.stores.rowstore import RowStore

#: ``seq`` of a change that an expiry causes: before the arrivals of its instant.
EXPIRY = -1
#: ``seq`` of a change that follows all others of its instant.
LAST = 2**62


@dataclass(frozen=True, slots=True)
class Stored:
    """A column whose values are in a store: ``source`` numbers the batch's row id arrays."""

    source: int
    column: int


Cell: TypeAlias = "Stored | pa.Array"
_ONLY_STORED: Final = frozenset((Stored,))
#: Of some insertions; nothing writes into signs.
_PLUS: Final = np.ones(64, np.int8)
#: A column and the path of names of a field in it.
Part: TypeAlias = tuple[int, tuple[str, ...]]


@dataclass(slots=True)
class Batch:
    """A sequence of n changes ordered by (ts, seq).

    Attributes:
        ts, seq: int64[n], when a change happens; ``seq`` is 2k for what the k-th base row pushes
            out, 2k + 1 for what it brings, EXPIRY for what time alone does, or LAST.
        exp: int64[n], when the row expires by itself (FOREVER: not, or not known).
        sign: int8[n].
        ids: int64[n] each; together they identify a row: a '-' carries the ids of its '+'.
        stores: the store that each of ``ids`` points into, None for mere identities.
        cells: one per column.
        pair: int64[n] or None: a '-' and the '+' that replaces it (GROUP BY) share a number.
        recipients: the queries that get each change; None: every query that reads the operator gets
            all of them.
    """

    ts: Array
    seq: Array
    exp: Array
    sign: Array
    ids: tuple[Array, ...]
    stores: tuple[RowStore | None, ...]
    cells: tuple[Cell, ...]
    pair: Array | None = None
    recipients: Recipients | None = None
    _gathered: dict[int | Part, pa.Array] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(self.ts.size)

    def column(self, index: int) -> pa.Array:
        """A column as an Arrow array of length n."""
        cell = self.cells[index]
        if not isinstance(cell, Stored):
            return cell
        if index not in self._gathered:
            store = self.stores[cell.source]
            assert store is not None, "a stored column needs its store"
            self._gathered[index] = store.gather(cell.column, self.ids[cell.source])
        return self._gathered[index]

    def part(self, index: int, names: tuple[str, ...]) -> pa.Array:
        """The field of a structure column at a path of names; other fields are not gathered."""
        cell = self.cells[index]
        if not isinstance(cell, Stored) or index in self._gathered:
            return pc.struct_field(self.column(index), list(names))
        key = (index, names)
        if key not in self._gathered:
            store = self.stores[cell.source]
            assert store is not None, "a stored column needs its store"
            self._gathered[key] = store.part(cell.column, self.ids[cell.source], names)
        return self._gathered[key]

    def in_store(self, index: int) -> tuple[Column, Array] | None:
        """Where the column's values are, and the place of each; None if not in a store."""
        cell = self.cells[index]
        if not isinstance(cell, Stored):
            return None
        store = self.stores[cell.source]
        assert store is not None, "a stored column needs its store"
        return store.column(cell.column), store.places(self.ids[cell.source])

    def columns(self) -> list[pa.Array]:
        """All columns."""
        return [self.column(i) for i in range(len(self.cells))]

    def only_inserts(self) -> bool:
        """Whether no change is a '-'."""
        return all_of(self.sign > 0)

    def take(self, rows: Array) -> Batch:
        """The changes with these numbers, in this order, without their recipients."""
        cells = self.cells
        if not _ONLY_STORED.issuperset(map(type, cells)):
            at = pa.array(rows)
            cells = tuple([c if isinstance(c, Stored) else c.take(at) for c in cells])
        taken = methodcaller("take", rows)
        return Batch(
            self.ts.take(rows),
            self.seq.take(rows),
            self.exp.take(rows),
            self.sign.take(rows),
            tuple(map(taken, self.ids)),
            self.stores,
            cells,
            None if self.pair is None else self.pair.take(rows),
        )

    def where(self, wanted: Array) -> Batch:
        """The changes where bool[n] ``wanted``; the batch itself if that is all of them."""
        if all_of(wanted):
            return self
        return self.take(wanted.nonzero()[0])

    def sent_to(self, recipients: Recipients) -> Batch:
        """The changes with these recipients."""
        lanes = self.ts, self.seq, self.exp, self.sign
        layout = self.ids, self.stores, self.cells
        return Batch(*lanes, *layout, self.pair, recipients, self._gathered)

    def with_columns(self, columns: Sequence[int | pa.Array]) -> Batch:
        """The changes with these columns: numbers of columns that they have, or values."""
        had, known = self.cells, self._gathered
        gathered: dict[int | Part, pa.Array] = {}
        if known:
            gathered = {i: known[c] for i, c in enumerate(columns) if type(c) is int and c in known}
        return Batch(
            self.ts,
            self.seq,
            self.exp,
            self.sign,
            self.ids,
            self.stores,
            tuple([had[c] if type(c) is int else c for c in columns]),
            self.pair,
            self.recipients,
            gathered,
        )

    def received(self) -> Batch:
        """The changes that some query gets."""
        if self.recipients is None:
            return self
        received = self.recipients.received(len(self))
        if all_of(received):
            return self
        recipients = self.recipients.renumbered(received)
        return self.take(np.flatnonzero(received)).sent_to(recipients)


#: Computes a column from a batch.
Evaluator = Callable[[Batch], pa.Array]
#: Computes bool[n] from a batch.
Predicate = Callable[[Batch], Array]


def insertions(count: int) -> Array:
    """int8[count]: the signs of insertions."""
    return _PLUS[:count] if count <= _PLUS.size else filled(count, 1, np.int8)


def before(a_ts: Array, a_seq: Array, b_ts: Array, b_seq: Array) -> Array:
    """bool[n]: whether one change is before the other."""
    out: Array = (a_ts < b_ts) | ((a_ts == b_ts) & (a_seq < b_seq))
    return out


def empty_like(batch: Batch) -> Batch:
    """The batch without its changes."""
    return batch.take(np.zeros(0, np.int64))


def cut(batch: Batch, ends: Array) -> Iterator[Batch]:
    """The changes up to each of some places (int64[k], ascending), and the rest, with recipients.

    Takes as long as there are changes and recipients, whatever the number of pieces.
    """
    to = batch.recipients
    assert to is not None, "set by a flow"
    bounds = [0, *ends.tolist(), len(batch)]
    piece = np.searchsorted(ends, to.rows, "right")
    order = np.argsort(piece, kind="stable")  # query by query in each piece
    rows, query, exp = to.rows[order], to.query[order], to.exp[order]
    at = np.searchsorted(piece[order], np.arange(len(bounds))).tolist()
    for i, (first, end) in enumerate(pairwise(bounds)):
        mine = slice(at[i], at[i + 1])
        counts = np.bincount(query[mine], minlength=to.width)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        recipients = Recipients(rows[mine] - first, starts, exp[mine])
        yield batch.take(np.arange(first, end)).sent_to(recipients)


def merge_apart(batches: Iterable[Batch]) -> Batch:
    """The same of batches each of which numbers its pairs from 0."""
    out, first = [], 0
    for batch in batches:
        if batch.pair is not None:
            pair = batch.pair + first
            batch, first = replace(batch, pair=pair), int(pair.max(initial=first - 1)) + 1
        out.append(batch)
    return merge(out)


def merge(batches: Sequence[Batch]) -> Batch:
    """One ordered sequence out of several with the same layout; on ties earlier batches first."""
    out = batches[0]
    for other in batches[1:]:
        if len(other) == 0:
            continue
        if len(out) == 0:
            out = other
            continue
        out = _interleaved(out, other, *merge_destinations(out.ts, out.seq, other.ts, other.seq))
    return out


def _interleaved(one: Batch, other: Batch, to_one: Array, to_other: Array) -> Batch:
    """One batch of two with the same layout, given the places of the changes of each."""

    def lane(a: Array, b: Array) -> Array:
        return interleaved(a, b, to_one, to_other)

    cells = one.cells
    if one.stores != other.stores or not all(isinstance(c, Stored) for c in cells):
        columns = zip(one.columns(), other.columns(), strict=True)
        cells = tuple(_interleaved_column(a, b, to_one, to_other) for a, b in columns)
    pair = None
    if one.pair is not None and other.pair is not None:
        pair = lane(one.pair, other.pair)
    return Batch(
        lane(one.ts, other.ts),
        lane(one.seq, other.seq),
        lane(one.exp, other.exp),
        lane(one.sign, other.sign),
        tuple(lane(a, b) for a, b in zip(one.ids, other.ids, strict=True)),
        one.stores,
        cells,
        pair,
    )


def _interleaved_column(one: pa.Array, other: pa.Array, to_one: Array, to_other: Array) -> pa.Array:
    kind, nulls = one.type, one.null_count + other.null_count
    if pa.types.is_primitive(kind) and kind.bit_width == 64 and nulls == 0:
        values = raw_values(one, np.dtype(np.int64)), raw_values(other, np.dtype(np.int64))
        out = interleaved(*values, to_one, to_other)
        return pa.Array.from_buffers(kind, out.size, [None, pa.py_buffer(out)])
    numbers = np.arange(to_one.size), np.arange(to_other.size) + to_one.size
    order = interleaved(*numbers, to_one, to_other)
    return pa.concat_arrays([one, other]).take(pa.array(order))


def concatenated(batches: Sequence[Batch]) -> Batch:
    """The changes of batches with the same layout, which follow each other."""
    first = batches[0]

    def lane(of: Callable[[Batch], Array]) -> Array:
        return np.concatenate([of(b) for b in batches])

    def cells() -> tuple[Cell, ...]:
        if all(b.stores == first.stores for b in batches) and all(
            isinstance(c, Stored) for c in first.cells
        ):
            return first.cells
        columns = range(len(first.cells))
        return tuple(pa.concat_arrays([b.column(i) for b in batches]) for i in columns)

    pairs = [b.pair for b in batches if b.pair is not None]
    return Batch(
        lane(lambda b: b.ts),
        lane(lambda b: b.seq),
        lane(lambda b: b.exp),
        lane(lambda b: b.sign),
        tuple(np.concatenate(ids) for ids in zip(*(b.ids for b in batches), strict=True)),
        first.stores,
        cells(),
        np.concatenate(pairs) if len(pairs) == len(batches) else None,
    )


def paired(left: Batch, right: Batch) -> Batch:
    """Row i of the left with row i of the right, at the later of both instants; in no order."""
    first = before(left.ts, left.seq, right.ts, right.seq)
    return side_by_side(
        left,
        right,
        np.where(first, right.ts, left.ts),
        np.where(first, right.seq, left.seq),
        np.minimum(left.exp, right.exp),
        np.ones(len(left), np.int8),
        left.ids + right.ids,
    )


def side_by_side(
    left: Batch,
    right: Batch,
    ts: Array,
    seq: Array,
    exp: Array,
    sign: Array,
    ids: tuple[Array, ...],
) -> Batch:
    """A batch with the columns of both, which must be stored."""
    shift = len(left.ids)
    cells = left.cells + tuple(
        Stored(c.source + shift, c.column) for c in right.cells if isinstance(c, Stored)
    )
    assert len(cells) == len(left.cells) + len(right.cells), "join inputs must be stored"
    return Batch(ts, seq, exp, sign, ids, left.stores + right.stores, cells)


def usable_rows(batch: Batch, evaluators: Sequence[Evaluator]) -> tuple[Batch, list[pa.Array]]:
    """The rows that expressions can take, and the values of the expressions; others are reported.

    Args:
        evaluators: of the expressions.

    Returns:
        The batch without the rows for which an expression failed, and a column per expression.
    """
    with collecting() as failures:
        columns = [evaluate(batch) for evaluate in evaluators]
    if not failures:
        return batch, columns
    for failure in failures:
        report(failure)
    good = np.flatnonzero(~failed_rows(failures, len(batch)))
    return batch.take(good), [c.take(pa.array(good)) for c in columns]


def select_list(
    batch: Batch, outputs: Sequence[int | Evaluator], of: Array | None = None
) -> tuple[Batch, list[pa.Array]]:
    """Columns of a batch with recipients, each value computed once.

    A row for which a column cannot be computed is reported for each query that gets it.

    Args:
        outputs: column numbers of the batch, or how to compute the columns.
        of: bool[width], the queries with this select list; None: all.

    Returns:
        The batch; its recipients do not get the rows that failed. And the columns.
    """
    if all(isinstance(o, int) for o in outputs):
        return batch, [batch.column(o) for o in outputs if isinstance(o, int)]
    with collecting() as failures:
        columns = [batch.column(o) if isinstance(o, int) else o(batch) for o in outputs]
    if not failures:
        return batch, columns
    recipients = batch.recipients
    assert recipients is not None, "the batch of a flow"
    rows, query = recipients.rows, recipients.query
    mine = np.ones(recipients.width, np.bool_) if of is None else of
    for failure in failures:
        place = np.full(len(batch), -1, np.int64)
        place[failure.rows] = np.arange(failure.rows.size)
        pairs = np.flatnonzero((place[rows] >= 0) & mine[query])
        report(failure.of_queries(place[rows[pairs]], query[pairs].astype(np.int64)))
    failed = failed_rows(failures, len(batch))
    return batch.sent_to(recipients.only(~failed[rows])), columns
