"""One evaluation of an expression: its rows, and those that have failed.

Nodes that can fail are functions of an :class:`Evaluation`, which also gives them the columns; a
failed row has the value NULL. Nodes that are evaluated for some rows only, or whose failures may be
ignored, get an evaluation of their own::

    CASE WHEN c THEN 1 / x END       1 / x over the rows where c is true
    p AND 1 / x > 2                  failures of the rows where p is false are ignored
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.functions.conversion import convert
from eddyline.physical.expressions.data import Datum, null_where_not
from eddyline.runtime.batch import Batch

RowIndexes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Columns(Protocol):
    """The columns over which an expression is evaluated."""

    def column(self, index: int) -> pa.Array:
        """Column ``index``, of its declared type, one value per row."""

    def __len__(self) -> int:
        """Number of rows."""


class Evaluation:
    """Rows, and those that have failed so far, each with its first reason."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._rows: list[RowIndexes] = []
        self._reasons: list[pa.Array] = []

    def column(self, index: int) -> pa.Array:
        return self._columns.column(index)

    def __len__(self) -> int:
        return len(self._columns)

    def fail(self, rows: RowIndexes, reasons: pa.Array) -> None:
        """Mark rows as failed, for string[k] reasons."""
        if rows.size:
            self._rows.append(rows)
            self._reasons.append(reasons)

    def fail_all(self, reason: str) -> None:
        """Mark all rows as failed."""
        self.fail(np.arange(len(self)), pa.repeat(reason, len(self)))

    @property
    def has_failed(self) -> bool:
        """Whether any row has failed."""
        return bool(self._rows)

    def failures(self) -> tuple[RowIndexes, pa.Array]:
        """int64[k] failed rows, ascending, and string[k] reasons."""
        if not self._rows:
            return np.zeros(0, np.int64), pa.array([], pa.string())
        rows, first = np.unique(np.concatenate(self._rows), return_index=True)
        return rows, pa.concat_arrays(self._reasons).take(pa.array(first))

    def failed(self) -> Flags:
        """bool[n]: whether each row has failed."""
        flags = np.zeros(len(self), np.bool_)
        for rows in self._rows:
            flags[rows] = True
        return flags

    def strict(self) -> StrictEvaluation:
        """An evaluation of the same rows that raises at the first failure."""
        return StrictEvaluation(self._columns)

    def of(self, rows: RowIndexes) -> Evaluation:
        """A separate evaluation of some rows, int64[k] ascending."""
        return Evaluation(self._columns if rows.size == len(self) else _Subset(self._columns, rows))

    def adopt(self, part: Evaluation, rows: RowIndexes | None = None) -> None:
        """Mark rows that failed in ``part``, whose k-th row is ``rows[k]``, as failed here."""
        if part.has_failed:
            failed, reasons = part.failures()
            self.fail(failed if rows is None else rows[failed], reasons)

    def without_failed(self, values: pa.Array) -> pa.Array:
        """The values, NULL for the failed rows."""
        return null_where_not(pa.array(~self.failed()), values) if self._rows else values


def part_of(columns: Columns, index: int, names: tuple[str, ...]) -> pa.Array:
    """The field of a structure column at a path of names; of a batch, other fields are not read."""
    while isinstance(columns, Evaluation):
        columns = columns._columns
    if isinstance(columns, Batch):
        return columns.part(index, names)
    return pc.struct_field(columns.column(index), list(names))


class _Subset:
    """Some rows of columns."""

    def __init__(self, columns: Columns, rows: RowIndexes) -> None:
        self._columns = columns
        self._rows = pa.array(rows)
        self._taken: dict[int, pa.Array] = {}

    def column(self, index: int) -> pa.Array:
        if index not in self._taken:
            self._taken[index] = self._columns.column(index).take(self._rows)
        return self._taken[index]

    def __len__(self) -> int:
        return len(self._rows)


class _Lenient(Evaluation):
    """An evaluation that ignores failures: failed rows are NULL."""

    def __init__(self) -> None:
        """Without rows."""


LENIENT: Final = _Lenient()


class RowFailed(Exception):
    """A row has failed in a :class:`StrictEvaluation`."""


class StrictEvaluation(Evaluation):
    """Raises :class:`RowFailed` as soon as a row fails."""

    def fail(self, rows: RowIndexes, reasons: pa.Array) -> None:
        if rows.size:
            raise RowFailed


def without(
    evaluation: Evaluation, bad: Flags | pa.Array, result: pa.Array, *reason: Datum
) -> pa.Array:
    """The result, NULL where bool[n] ``bad``; marks these rows as failed.

    Args:
        reason: parts of the reason: texts, and columns of which each row's value is inserted.
    """
    if isinstance(evaluation, StrictEvaluation):
        raise RowFailed
    flags = np.asarray(bad)
    if evaluation is not LENIENT:
        rows = np.flatnonzero(flags)
        evaluation.fail(rows, _reasons(rows, reason))
    return null_where_not(pa.array(~flags), result)


def spread(values: pa.Array, rows: RowIndexes, count: int) -> pa.Array:
    """An array of length ``count`` with the values at these ascending rows, else NULL."""
    if rows.size == count:
        return values
    order = np.full(count, -1, np.int64)
    order[rows] = np.arange(rows.size)
    return values.take(pa.array(order, mask=order < 0))


def _reasons(rows: RowIndexes, parts: tuple[Datum, ...]) -> pa.Array:
    texts = [
        pa.repeat(p, rows.size) if isinstance(p, str) else shown_values(p, rows) for p in parts
    ]
    return pc.binary_join_element_wise(*texts, "")


def shown_values(values: Datum, rows: RowIndexes) -> pa.Array:
    """The values of rows as text for messages, with texts in quotes."""
    some = pa.repeat(values, rows.size) if isinstance(values, pa.Scalar) else values.take(rows)
    if pt.is_duration(some.type):
        some = some.cast(pa.int64())
    text = convert(some, pa.string())
    if pt.is_string(some.type):
        text = pc.binary_join_element_wise("'", text, "'", "")
    return pc.fill_null(text, "NULL")
