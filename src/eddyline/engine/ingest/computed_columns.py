"""Computed columns: expressions over the columns that the rows of a stream have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.catalog import StreamDef, TimeUnit
from eddyline.algebra.expressions import Call, Expr
from eddyline.physical.expressions import Columns, compile_expr
from eddyline.runtime.failures import Failure, collecting
from eddyline.types import TIMESTAMP, Field

#: The functions that make a timestamp of a number, with the unit of the number.
_UNITS: Final[dict[str, TimeUnit]] = {
    "timestamp_seconds": "s",
    "cast": "s",
    "timestamp_millis": "ms",
    "timestamp_micros": "us",
    "timestamp_nanos": "ns",
}
_READERS: Final = {unit: name for name, unit in _UNITS.items() if name != "cast"}


class ComputedColumn:
    """Computes one column of a stream's rows.

    Args:
        field: the column.

    Attributes:
        position: among the columns of the stream; that behind the last one for an event time
            without a column.
        unit: if the column is a timestamp of an integer, the unit of that: :meth:`values` returns
            the integers, so that they are judged like those of the source. Else None.
    """

    def __init__(self, field: Field, expression: Expr, position: int) -> None:
        self.field = field
        self.position = position
        number, self.unit = _number_of(expression)
        self._evaluate = compile_expr(number)

    def values(self, columns: Sequence[pa.Array], count: int) -> tuple[pa.Array, pa.Array | None]:
        """The values of rows, and the reasons of those for which the expression fails.

        Args:
            columns: of the stream, in the declared types; those that are computed are not read.
            count: number of rows, n.

        Returns:
            n values, NULL where the expression fails; and string[n], or None if it fails nowhere.
        """
        values, failure = evaluated(self._evaluate, columns, count)
        if failure is None:
            return values, None
        order = np.full(count, -1, np.int64)
        order[failure.rows] = np.arange(failure.rows.size)
        reasons = failure.reasons.take(pa.array(order, mask=order < 0))
        name = pa.scalar(f"{self.field.name}: ")
        return values, pc.binary_join_element_wise(name, reasons, "")


def evaluated(
    evaluate: Callable[[Columns], pa.Array], columns: Sequence[pa.Array], count: int
) -> tuple[pa.Array, Failure | None]:
    """The values of a compiled expression for rows, and those for which it fails.

    Args:
        columns: of the rows. count: number of rows.
    """
    with collecting() as failures:
        values = evaluate(_Rows(columns, count))
    if not failures:
        return values, None
    (failure,) = failures  # an evaluation reports its rows once
    return values, failure


def computed_columns(stream: StreamDef) -> list[ComputedColumn]:
    """The computed columns of a stream; the last one is its event time, if that is no column."""
    found = [
        ComputedColumn(field, stream.computed[field.name], position)
        for position, field in enumerate(stream.schema)
        if field.name in stream.computed
    ]
    if stream.event_time is not None:
        field = Field(stream.timestamp, TIMESTAMP)
        found.append(ComputedColumn(field, stream.event_time, len(stream.schema)))
    return found


def advice_to_read(unit: TimeUnit) -> str:
    """What to do about numbers of another unit than that by which a computed column reads them."""
    return f"write {_READERS[unit]}(...)"


def advice_to_compute(unit: TimeUnit) -> str:
    """What to do about numbers of a unit in a supplied column that is not the event time."""
    return f"declare it BIGINT, and a column TIMESTAMP AS ({_READERS[unit]}(...))"


def _number_of(expression: Expr) -> tuple[Expr, TimeUnit | None]:
    """The integer of which an expression makes a timestamp, and its unit; else the expression."""
    if isinstance(expression, Call) and pt.is_timestamp(expression.type):
        unit = _UNITS.get(expression.function)
        if unit is not None and pt.is_integer(expression.args[0].type):
            return expression.args[0], unit
    return expression, None


@dataclass(frozen=True, slots=True)
class _Rows:
    columns: Sequence[pa.Array]
    count: int

    def column(self, index: int) -> pa.Array:
        return self.columns[index]

    def __len__(self) -> int:
        return self.count
