"""Unnest: a row per element of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.list_parts import list_parts
from eddyline.kernels.lists import ranges
from eddyline.runtime.batch import Batch, Evaluator, usable_rows
from eddyline.runtime.operators.base import Operator, Tick


class Unnest(Operator):
    """Keeps nothing: a '-' carries its row's list. The number of an element is part of the row's
    identity. Rows for which the list cannot be computed are left out.

    Args:
        lists: computes the lists, or maps.
        fields: of the elements, which become columns; None: the element is the column.
        outer: whether a row without elements has one that is NULL.
        numbered: whether the last column is the element's number, from 1.
    """

    def __init__(
        self,
        source: Operator,
        lists: Evaluator,
        fields: Sequence[str] | None,
        *,
        outer: bool,
        numbered: bool,
    ) -> None:
        super().__init__((source,))
        self._lists = lists
        self._fields = fields
        self._outer = outer
        self._numbered = numbered

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._apply(batches[0])

    def live(self, clock: int) -> Batch:
        return self._apply(self.inputs[0].live(clock))

    def _apply(self, batch: Batch) -> Batch:
        batch, (lists,) = usable_rows(batch, [self._lists])
        offsets, elements = list_parts(lists)
        lengths = np.diff(offsets)
        counts = np.maximum(lengths, 1) if self._outer else lengths
        starts = np.zeros(counts.size + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        rows = np.repeat(np.arange(counts.size), counts)
        number = ranges(np.ones(counts.size, np.int64), starts)
        missing = np.repeat(lengths == 0, counts)
        element = pa.array(ranges(offsets[:-1], starts), mask=missing)
        out = batch.take(rows)
        cells = [*out.cells, *self._columns(elements.take(element))]
        if self._numbered:
            cells.append(pa.array(number, mask=missing))
        return replace(
            out,
            ids=(*out.ids, number),
            stores=(*out.stores, None),
            cells=tuple(cells),
            pair=None,
        )

    def _columns(self, elements: pa.Array) -> list[pa.Array]:
        if self._fields is None:
            return [elements]
        return [pc.struct_field(elements, [name]) for name in self._fields]
