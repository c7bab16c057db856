"""From the last batch of a plan to the table of changes that a user gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch
from eddyline.runtime.stores.columns import Array, bitmap, taken
from eddyline.types import END_OF_TIME, TIMESTAMP, Schema, arrow_schema

#: The columns before the select list.
CHANGE_COLUMNS = (
    pa.field("_op", pa.string()),
    pa.field("_ts", TIMESTAMP),
    pa.field("_exp", TIMESTAMP),
)


def change_schema(schema: Schema) -> pa.Schema:
    """The schema of a query's changes: ``_op``, ``_ts``, ``_exp``, then the select list."""
    return pa.schema([*CHANGE_COLUMNS, *arrow_schema(schema)])


@dataclass(slots=True)
class ChangeColumns:
    """What a table of changes is made of.

    Attributes:
        sign, ts, exp: of the n changes, as in a batch. columns: the select list.
        schema: as of ``change_schema``.
    """

    sign: Array
    ts: Array
    exp: Array
    columns: Sequence[pa.Array]
    schema: pa.Schema
    _heads: tuple[pa.Array, pa.Array] | None = None  # ``_op`` and ``_ts``
    _table: tuple[Array, pa.Table] | None = None  # the last one, and its ``exp``

    def table(self, exp: Array | None = None) -> pa.Table:
        """The changes as an Arrow table; ``exp``: int64[n], instead of their own."""
        if exp is None:
            exp = self.exp
        if self._table is not None and _are_equal(self._table[0], exp):
            return self._table[1]
        if self._heads is None:
            self._heads = _signs(self.sign), instants(self.ts)
        arrays = [*self._heads, instants(exp), *self.columns]
        table = pa.Table.from_arrays(arrays, schema=self.schema)
        self._table = exp, table
        return table

    def at(self, rows: Array, exp: Array) -> pa.Table:
        """The changes with these numbers (int64[m]), with an ``exp`` each."""
        heads = _signs(self.sign.take(rows)), instants(self.ts.take(rows)), instants(exp)
        return pa.Table.from_arrays([*heads, *taken(self.columns, rows)], schema=self.schema)


def _are_equal(a: Array, b: Array) -> bool:
    return a is b or a.tobytes() == b.tobytes()


def without_replaced(batch: Batch) -> Batch:
    """The changes without each '-' whose pair's '+' follows, for the same query if the batch has
    recipients: the new row replaces the older one.
    """
    pair, to = batch.pair, batch.recipients
    if pair is None:
        return batch
    if to is None:
        return batch.where(~_followed(batch.sign, pair))
    of_query = to.query
    replaced = _followed(batch.sign[to.rows], pair[to.rows])
    replaced[:-1] &= of_query[:-1] == of_query[1:]
    return batch.sent_to(to.only(~replaced))


def _followed(sign: Array, pair: Array) -> Array:
    """bool[n]: each '-' that is followed by a change with the same pair number."""
    followed = np.zeros(sign.size, np.bool_)
    followed[:-1] = (sign[:-1] < 0) & (pair[:-1] == pair[1:])
    return followed


def concat_changes(parts: Sequence[pa.Table], schema: pa.Schema) -> pa.Table:
    """One table out of the chunks' tables, without copying them."""
    if len(parts) == 1:
        return parts[0]
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _signs(sign: Array) -> pa.Array:
    if sign.size == 1:
        return _PLUS if sign[0] > 0 else _MINUS
    return _letters(sign)


def _letters(sign: Array) -> pa.Array:
    letters = np.int8(ord(",")) - sign  # ',' is between '+' and '-'
    offsets = np.arange(sign.size + 1, dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    return pa.Array.from_buffers(pa.string(), sign.size, buffers)


_NEVER: Final = pa.nulls(1, TIMESTAMP)
_PLUS: Final = _letters(np.array([1], np.int8))
_MINUS: Final = _letters(np.array([-1], np.int8))


def instants(us: Array) -> pa.Array:
    """int64[n] microseconds as timestamps; NULL behind the year 9999, which no clock reaches."""
    valid = None
    if us.size != 1:
        valid = bitmap(us < END_OF_TIME)
    elif us[0] >= END_OF_TIME:
        return _NEVER
    return pa.Array.from_buffers(
        TIMESTAMP, us.size, [valid, pa.py_buffer(np.ascontiguousarray(us))]
    )
