"""Grouped filters: the predicates of all queries over one attribute, applied at once.

All constants of the predicates, in order, cut the attribute's values into cells, in each of which
the queries that accept a value are the same. So a row costs one look-up and one AND of its lineage,
however many predicates there are::

     queries     1: x > 3     2: 5 <= x < 8     3: x < 5
                        3         5         8
     cell        0      |    1    |    2    |    3
     accept     {3}     |  {1,3}  |  {1,2}  |   {1}

Source: Madden et al. 2002, section 2.2.1, whose trees and hash tables of constants find the
accepting predicates one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.value_sets import ValueSet
from eddyline.kernels.grouped_filter import (
    FilterIndex,
    any_accepted,
    bitmap,
    checkpoints,
    in_order,
    narrow,
    rows_left,
    rows_wanted,
)
from eddyline.kernels.lineage import expand
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.failures import Failure, collecting, failed_rows
from eddyline.runtime.predicates.cells import (
    Cells,
    Keys,
    StepColumns,
    Steps,
    keys_of,
    make_cells,
    steps_of,
)
from eddyline.runtime.screens import Bound, Condition
from eddyline.runtime.stores.columns import Array, any_of
from eddyline.runtime.stores.slots import SlotArray

#: Checkpoints take about this many bytes, as long as a cell is not far from one of them...
_CHECKPOINT_BYTES: Final = 1 << 19
#: ... in toggles.
_FAR: Final = 64
#: Words are gathered one by one if less than one in this many has a predicate.
_SPARSE: Final = 4
_BLOCK_BYTES: Final = 1 << 20
_COMPUTED_BLOCK_BYTES: Final = 1 << 24
_LEAST_BLOCK_ROWS: Final = 256
#: The weight of earlier rows in the share that screening leaves.
_SMOOTH: Final = 0.75


@dataclass(frozen=True)
class Attribute:
    """An expression over the columns of one source, which predicates compare with constants.

    Attributes:
        key: equal keys compute the same.
        name: for messages.
        evaluate: computes the values of a batch's rows.
        plain: costs nothing to compute: it is computed for whole batches, others only for the rows
            that some query with a predicate on it requires.
        guards: others are evaluated only for the rows that it leaves.
        column: the number of the column that it is; None: it is computed.
        reads: the numbers of the columns that it reads; None: it calls functions of users, which
            must not be called for rows that others leave out.
    """

    key: Hashable
    name: str
    type: pa.DataType
    evaluate: Evaluator
    plain: bool
    guards: bool = False
    column: int | None = None
    reads: frozenset[int] | None = None


class AttributeValues:
    """The values of attributes in one batch, computed as they are needed."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._whole: dict[Hashable, Keys] = {}

    def keys(self, attribute: Attribute, rows: Array) -> tuple[Keys, Array, list[Failure]]:
        """Where an attribute's values at int64[k] rows are: keys, and int64[k] places in them; and
        the failures of those for which it has none, by place in ``rows``.
        """
        if attribute.plain:
            place = attribute.key if attribute.column is None else attribute.column
            if place not in self._whole:
                self._whole[place] = keys_of(attribute.evaluate(self._batch))
            return self._whole[place], rows, []
        batch = self._batch if rows.size == len(self._batch) else self._batch.take(rows)
        with collecting() as failures:
            values = attribute.evaluate(batch)
        return keys_of(values), np.arange(rows.size), failures


@dataclass(frozen=True, slots=True)
class _Index:
    """The cells of the values, and what the kernels read by cell.

    ``accepted``: bool by cell, whether a predicate accepts its values; the last are NULL and NaN.
    """

    cells: Cells
    bits: FilterIndex
    accepted: Array


@dataclass(frozen=True, slots=True)
class Undecided:
    """Rows for which an attribute has no value, and the queries with a predicate on it.

    Attributes:
        failure: why; its rows are those of what the attribute was evaluated over.
        rows: int64[k], the same rows in the lineage.
        words: int64[c], words of the lineage. queries: uint64[c], the bits of these words.
    """

    failure: Failure
    rows: Array
    words: Array
    queries: Array

    def bits(self, lineage: Array) -> tuple[Array, Array]:
        """int64[m] places in ``rows`` and int64[m] bits of the queries that require them."""
        wanted = np.zeros((self.rows.size, lineage.shape[1]), np.uint64)
        wanted[:, self.words] = lineage[np.ix_(self.rows, self.words)] & self.queries
        places, bits = expand(wanted, np.arange(self.rows.size))
        return places, bits.astype(np.int64)

    def clear(self, lineage: Array) -> None:
        """Take these queries' bits out of the rows."""
        lineage[np.ix_(self.rows, self.words)] &= ~self.queries


class GroupedFilter:
    """The predicates of queries over one attribute. The index is rebuilt when it is needed.

    Attributes:
        attribute: what the predicates are about.
        visited: number of rows evaluated: those required by a query with a predicate here.
        returned: number of these that such a query still required afterwards.
        share: of rows that ``screened`` accepts, of late.
        seconds: of looking at rows, with computing the attribute. price: seconds per row of late.

    Raises:
        DataError: values of the attribute's type have no order.
    """

    def __init__(self, attribute: Attribute) -> None:
        keys_of(pa.array([], attribute.type))
        self.attribute = attribute
        self.visited = 0
        self.returned = 0
        self.share = 0.0
        self.seconds = 0.0
        self.price = 0.0
        self._steps: dict[int, Steps] = {}
        self._has = SlotArray(np.bool_)  # by bit, whether it is in these
        self._columns: StepColumns | None = None  # of the steps but ``_new``; None: not made
        self._new: dict[int, Steps] = {}
        self._index: _Index | None = None

    @property
    def name(self) -> str:
        """The attribute's name, for people."""
        return self.attribute.name

    @property
    def predicates(self) -> int:
        """How many queries have a predicate here."""
        return len(self._steps)

    @property
    def nbytes(self) -> int:
        """Size of the index."""
        if self._index is None:
            return 0
        return sum(p.nbytes for p in self._index.bits if isinstance(p, np.ndarray))

    def put(self, bit: int, accepts: ValueSet) -> None:
        """Apply a predicate for the query with this bit, in place of the one that it had."""
        if bit in self._steps:
            self.remove(bit)
        self._steps[bit] = self._new[bit] = steps_of(accepts, self.attribute.type)
        self._has.grow(bit + 1)
        self._has.array[bit] = True
        self._index = None

    def remove(self, bit: int) -> None:
        """The query has no predicate here any more: it accepts every value.

        Raises:
            KeyError: it had none.
        """
        del self._steps[bit]
        self._has.array[bit] = False
        if self._new.pop(bit, None) is None:
            self._columns = None
        self._index = None

    def shares(self, width: int) -> Array:
        """float64[width]: equal parts for the queries with a predicate here, by bit."""
        parts, has = np.zeros(width), self._has.held()
        np.divide(has, len(self._steps), out=parts[: has.size])
        return parts

    def spend(self, seconds: float, visited: int) -> None:
        """Count the time that this number of rows took."""
        self.seconds += seconds
        if visited:
            known = _SMOOTH if self.price else 0.0
            self.price = known * self.price + (1 - known) * seconds / visited

    def steps(self, bit: int) -> Steps:
        """The predicate of the query with this bit."""
        return self._steps[bit]

    def prepare(self) -> None:
        """Make the index, if predicates have changed."""
        if self._index is None and self._steps:
            if self._columns is None:
                self._columns = StepColumns.of(self._steps)
            elif self._new:
                self._columns = self._columns.and_those(StepColumns.of(self._new))
            self._new = {}
            self._index = _make_index(self._columns, self.attribute.type)

    def covers(self, mask: Array) -> bool:
        """Whether all of some queries (uint64[W]) have a predicate here."""
        self.prepare()
        if self._index is None:
            return False
        left = mask.copy()
        left[self._index.bits.words] &= ~self._index.bits.predicates
        return not any_of(left)

    def condition(self) -> Condition | None:
        """The values that some predicate here accepts; None: the attribute is no column."""
        if self.attribute.column is None:
            return None
        self.prepare()
        index = self._index
        assert index is not None, "there are predicates"

        def accepts(values: pa.Array) -> Array:
            places = np.arange(len(values))
            found: Array = index.accepted[index.cells.find(keys_of(values), places)]
            return found

        bound = bound_of(self.attribute.type, list(self._steps.values()))
        return Condition(self.attribute.column, accepts, bound)

    def bits(self, words: int) -> Array:
        """uint64[words], the queries with a predicate here."""
        return bitmap(np.fromiter(self._steps, np.int64, len(self._steps)), words)

    def screened(self, values: AttributeValues, rows: Array) -> Array:
        """Those of some rows (int64[k]) that a predicate here accepts."""
        index = self._index
        assert index is not None, "there are predicates"
        keys, places, _ = values.keys(self.attribute, rows)
        kept = rows[index.accepted[index.cells.find(keys, places)]]
        self.share = _SMOOTH * self.share + (1 - _SMOOTH) * kept.size / (rows.size or 1)
        return kept

    def narrow(
        self,
        values: AttributeValues,
        lineage: Array,
        rows: Array,
        numbers: Array,
        undecided: list[Undecided],
    ) -> Array:
        """Clear the bits of the queries that do not accept, in place.

        Args:
            values: of a batch.
            lineage: uint64[n, W].
            rows: int64[k], the rows of ``lineage`` to look at.
            numbers: int64[n], which rows of the batch those of ``lineage`` are.
            undecided: gets the rows for which the attribute has no value. Their bits stay: whether
                the row fails a query depends on what the query's other predicates say.

        Returns:
            int64[m], those of ``rows`` that some query still requires.
        """
        self.prepare()
        index = self._index
        if index is None:
            return rows
        assert index.bits.words[-1] < lineage.shape[1], "a bit is behind the end of the lineage"
        asked = rows if self.attribute.plain else self._wanted(index, lineage, rows)
        keys, places, failures = values.keys(self.attribute, numbers[asked])
        if failures:
            failed = failed_rows(failures, asked.size)
            undecided += [
                Undecided(f, asked[f.rows], index.bits.words, index.bits.predicates)
                for f in failures
            ]
            asked, places = asked[~failed], places[~failed]
        kept, visited, returned = narrow(
            asked,
            index.cells.find(keys, places),
            lineage,
            index.bits,
        )
        self.visited += visited
        self.returned += returned
        return kept if asked is rows else rows_left(rows, lineage)

    def _wanted(self, index: _Index, lineage: Array, rows: Array) -> Array:
        """The rows that a query with a predicate here requires."""
        return rows_wanted(rows, lineage, index.bits.words, index.bits.dense, index.bits.predicates)


def bound_of(type_: pa.DataType, sets: Sequence[Steps]) -> Bound | None:
    """A bound that all values of some sets meet; None: there is none, or values are no numbers."""
    if keys_of(pa.array([], type_)).data is not None or any(s.null for s in sets):
        return None
    turns = [s.thresholds for s in sets if s.thresholds]
    if turns and not any(s.starts for s in sets):
        return Bound(True, min(t[0] for t in turns))
    if turns and all(s.starts == len(s.thresholds) % 2 for s in sets):  # none accepts to the end
        return Bound(False, max(t[-1] for t in turns))
    return None


def rows_per_block(words: int, filters: Iterable[GroupedFilter]) -> int:
    """The best number of rows per pass through filters, by words of their lineage.

    As many as stay in the processor's cache; more, if values have to be computed for the rows of a
    block, which costs something per block.
    """
    plain = all(f.attribute.plain for f in filters)
    size = _BLOCK_BYTES if plain else _COMPUTED_BLOCK_BYTES
    return max(size // (8 * max(words, 1)), _LEAST_BLOCK_ROWS)


def _make_index(steps: StepColumns, type_: pa.DataType) -> _Index:
    words, dense = _words(steps.bits)
    own = 64 * np.searchsorted(words, steps.bits >> 6) + (steps.bits & 63)  # bits of the bitmaps
    cells, cell = make_cells(steps.thresholds, type_)
    toggles, reach = in_order(cell, np.repeat(own, steps.counts), cells.count)
    predicates = bitmap(own, words.size)

    def accepting(chosen: Array) -> Array:
        """The queries that accept (bool by query), and those without a predicate."""
        mask: Array = bitmap(own[chosen], words.size) | ~predicates
        return mask

    shift = _spacing(toggles.size, words.size)
    first, null, nan = map(accepting, steps.flags)
    bitmaps = checkpoints(first, toggles, shift, null, nan)
    special = np.array([len(bitmaps) - 2, len(bitmaps) - 1]) << shift
    reach = np.append(reach, special.astype(np.int32))
    accepted = any_accepted(bitmaps, toggles, predicates)[reach[: cells.count]]
    others = (bitmaps[-2:] & predicates).any(axis=1)  # NULL and NaN
    found = FilterIndex(words, dense, predicates, reach, toggles, bitmaps, shift)
    return _Index(cells, found, np.append(accepted, others))


def _words(bits: Array) -> tuple[Array, bool]:
    """The words of the lineage that bitmaps are kept for, and whether these have no gaps."""
    used = np.unique(bits >> 6)
    span = int(used[-1] - used[0]) + 1
    if span > _SPARSE * used.size:
        return used, False
    return np.arange(used[0], used[-1] + 1), True


def _spacing(toggles: int, words: int) -> int:
    """The binary logarithm of the number of toggles from one checkpoint to the next."""
    affordable = 8 * words * toggles // _CHECKPOINT_BYTES
    return max(min(affordable, max(_FAR, words // 2)) - 1, 0).bit_length()
