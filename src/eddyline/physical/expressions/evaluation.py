"""One evaluation of an expression: the rows that it is over, and those for which it has failed.

Nodes of an expression that can fail are functions of an :class:`Evaluation`, which are columns as
well; a row that fails has NULL for a value there. Nodes that are asked for some rows only, or whose
failures may not matter, get an evaluation of their own::

    CASE WHEN c THEN 1 / x END       1 / x over the rows where c is true
    p AND 1 / x > 2                  failures of the rows where p is false are forgotten
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.functions.conversion import convert
from eddyline.physical.expressions.kernel import Datum, null_where_not

Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Columns(Protocol):
    """Rows as columns: what an expression is evaluated over."""

    def column(self, index: int) -> pa.Array:
        """Column ``index``, of its declared type and as long as the rows are many."""

    def __len__(self) -> int:
        """Number of rows."""


class Evaluation:
    """Rows, and which of them have failed so far, each with the first reason."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._rows: list[Rows] = []
        self._reasons: list[pa.Array] = []

    def column(self, index: int) -> pa.Array:
        return self._columns.column(index)

    def __len__(self) -> int:
        return len(self._columns)

    def fail(self, rows: Rows, reasons: pa.Array) -> None:
        """These rows have failed, for string[k] reasons."""
        if rows.size:
            self._rows.append(rows)
            self._reasons.append(reasons)

    def fail_all(self, reason: str) -> None:
        """All rows have failed."""
        self.fail(np.arange(len(self)), pa.repeat(reason, len(self)))

    @property
    def has_failed(self) -> bool:
        """Whether any row has."""
        return bool(self._rows)

    def failures(self) -> tuple[Rows, pa.Array]:
        """int64[k] rows that have failed, ascending, and string[k] reasons."""
        if not self._rows:
            return np.zeros(0, np.int64), pa.array([], pa.string())
        rows, first = np.unique(np.concatenate(self._rows), return_index=True)
        return rows, pa.concat_arrays(self._reasons).take(pa.array(first))

    def failed(self) -> Flags:
        """bool[n]."""
        flags = np.zeros(len(self), np.bool_)
        for rows in self._rows:
            flags[rows] = True
        return flags

    def trial(self) -> Trial:
        """An evaluation of the same rows that ends when one fails."""
        return Trial(self._columns)

    def of(self, rows: Rows) -> Evaluation:
        """An evaluation of some rows, int64[k] ascending, whose failures are its own."""
        return Evaluation(self._columns if rows.size == len(self) else _Some(self._columns, rows))

    def adopt(self, part: Evaluation, rows: Rows | None = None) -> None:
        """Rows that have failed in ``part``, whose k-th row is ``rows[k]``, have failed here."""
        if part.has_failed:
            failed, reasons = part.failures()
            self.fail(failed if rows is None else rows[failed], reasons)

    def without_failed(self, values: pa.Array) -> pa.Array:
        """The values, NULL for the rows that have failed."""
        return null_where_not(pa.array(~self.failed()), values) if self._rows else values


class _Some:
    """Some rows of columns."""

    def __init__(self, columns: Columns, rows: Rows) -> None:
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
    """For what is NULL instead of failing."""

    def __init__(self) -> None:
        """Over no rows in particular."""


LENIENT: Final = _Lenient()


class RowFailed(Exception):
    """A row has failed in a :class:`Trial`."""


class Trial(Evaluation):
    """Ends with :class:`RowFailed` as soon as a row fails."""

    def fail(self, rows: Rows, reasons: pa.Array) -> None:
        if rows.size:
            raise RowFailed


def without(
    evaluation: Evaluation, bad: Flags | pa.Array, result: pa.Array, *reason: Datum
) -> pa.Array:
    """The result, NULL where bool[n] ``bad``: these rows have failed.

    Args:
        reason: what the reason is joined of: texts, and values, of which each row's is shown.
    """
    if isinstance(evaluation, Trial):
        raise RowFailed
    flags = np.asarray(bad)
    if evaluation is not LENIENT:
        rows = np.flatnonzero(flags)
        evaluation.fail(rows, _reasons(rows, reason))
    return null_where_not(pa.array(~flags), result)


def spread(values: pa.Array, rows: Rows, count: int) -> pa.Array:
    """The values at these rows of ``count``, ascending, and NULL at the others."""
    if rows.size == count:
        return values
    order = np.full(count, -1, np.int64)
    order[rows] = np.arange(rows.size)
    return values.take(pa.array(order, mask=order < 0))


def _reasons(rows: Rows, parts: tuple[Datum, ...]) -> pa.Array:
    texts = [
        pa.repeat(p, rows.size) if isinstance(p, str) else shown_values(p, rows) for p in parts
    ]
    return pc.binary_join_element_wise(*texts, "")


def shown_values(values: Datum, rows: Rows) -> pa.Array:
    """The values of rows as text, what is text in quotes."""
    some = pa.repeat(values, rows.size) if isinstance(values, pa.Scalar) else values.take(rows)
    if pt.is_duration(some.type):
        some = some.cast(pa.int64())
    text = convert(some, pa.string())
    if pt.is_string(some.type):
        text = pc.binary_join_element_wise("'", text, "'", "")
    return pc.fill_null(text, "NULL")
