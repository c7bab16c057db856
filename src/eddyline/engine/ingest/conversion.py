"""Conversion of callers' rows, column by column, with the reasons of bad rows."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import StreamDef, TimeUnit
from eddyline.engine.ingest.arrow_values import as_text, converted, flat, has_text, with_valid_text
from eddyline.engine.ingest.computed_columns import (
    ComputedColumn,
    advice_to_compute,
    advice_to_read,
    computed_columns,
)
from eddyline.engine.ingest.event_times import (
    Advice,
    are_microseconds,
    declare,
    event_times,
    impossible,
    improbable_beside,
)
from eddyline.errors import DataError, did_you_mean
from eddyline.types import TIMESTAMP, Field, sql_type

#: A column of this name marks rows that a source could not parse; its value is their text.
CORRUPT_RECORD = "_corrupt_record"
_INTEGER = pa.int64()


@dataclass(slots=True)
class TypedColumns:
    """The columns of one call while they are read.

    Attributes:
        columns: by position, n values each. reasons: string[n], of bad rows; None: there are none.
        integers: timestamps that are integers without a unit, as they came, by position.
    """

    columns: list[Any]
    reasons: pa.Array | None = None
    integers: dict[int, pa.Array] = dataclass_field(default_factory=dict)

    def put(self, place: int, column: pa.Array, reasons: pa.Array | None) -> None:
        """Set a column, and the reasons of its bad values."""
        self.columns[place] = column
        self.add(reasons)

    def add(self, reasons: pa.Array | None) -> None:
        """Add reasons; a row keeps its first one."""
        self.reasons = first_reason(self.reasons, reasons)

    def note_integers(self, place: int, values: pa.Array, field: Field) -> None:
        """Note the values of a timestamp column, if they are integers without a unit."""
        if field.type == TIMESTAMP and pa.types.is_integer(values.type):
            self.integers[place] = values


class Conversion:
    """Converts any rows that fit the declaration of a stream.

    Args:
        what: the stream, for messages.
        timestamp: position of the event time; behind the columns if it is none.
    """

    def __init__(self, definition: StreamDef, what: str, timestamp: int) -> None:
        self._definition = definition
        self._what = what
        self._timestamp = timestamp
        self._supplied = [
            (i, f) for i, f in enumerate(definition.schema) if f.name not in definition.computed
        ]
        self._names = {f.name.lower() for _, f in self._supplied}
        self._computed = computed_columns(definition)

    def typed(self, table: pa.Table, own: pa.ChunkedArray | None) -> tuple[pa.Table, TypedColumns]:
        """Typed columns, the event time behind them if it is no column, and the reasons.

        Args:
            own: bool[n], the rows whose columns are all there; None: all.

        Returns:
            The rows with text that is valid UTF-8, and their columns.

        Raises:
            DataError: a column is missing, or its type cannot be converted to the declared one.
        """
        broken: dict[str, pa.Array] = {}
        read = {CORRUPT_RECORD, *self._names}
        if any(f.name.lower() in read and has_text(f.type) for f in table.schema):
            table, broken = with_valid_text(table, read)
        typed = self._columns(table, own)
        for name, rows in broken.items():
            if name.lower() != CORRUPT_RECORD:
                typed.add(reason_where(rows, f"{name} is not UTF-8"))
        return table, typed

    def _columns(self, table: pa.Table, own: pa.ChunkedArray | None) -> TypedColumns:
        positions = {n.lower(): i for i, n in enumerate(table.schema.names)}
        typed = TypedColumns([None] * (len(self._definition.schema) + 1))
        if CORRUPT_RECORD in positions:
            text = flat(table.column(positions[CORRUPT_RECORD])).cast(pa.string())
            typed.reasons = pc.binary_join_element_wise("cannot be read: ", text, "")
        for place, field in self._supplied:
            is_time = place == self._timestamp
            values = self._supplied_values(table, field, positions.get(field.name.lower()))
            unit = self._definition.ts_unit if is_time else None
            advice = declare if is_time else advice_to_compute
            typed.put(place, *self._column(values, place, field, unit, advice))
            if unit is None:
                typed.note_integers(place, values, field)
        for computed in self._computed:
            self._compute(computed, typed, table.num_rows, own)
        times = typed.columns[self._timestamp]
        if times.null_count:
            typed.add(reason_where(times.is_null(), f"{self._definition.timestamp} is null"))
        for place, values in typed.integers.items():
            if place != self._timestamp:
                name, column = self._definition.schema[place].name, typed.columns[place]
                typed.add(improbable_beside(values, column, times, name, advice_to_compute))
        if typed.reasons is not None and typed.reasons.null_count == table.num_rows:
            typed.reasons = None
        return typed

    def _compute(
        self, computed: ComputedColumn, typed: TypedColumns, count: int, own: pa.ChunkedArray | None
    ) -> None:
        """Compute a column, and judge it like one of the source; other engines' rows have the
        values only that the event time is computed from.
        """
        place = computed.position
        values, failed = computed.values(typed.columns, count)
        unit = computed.unit or self._definition.ts_unit
        advice = declare if computed.unit is None else advice_to_read
        column, reason = self._column(values, place, computed.field, unit, advice)
        reason = first_reason(failed, reason)
        if reason is not None and own is not None and place != self._timestamp:
            reason = pc.if_else(own.combine_chunks(), reason, pa.scalar(None, pa.string()))
        typed.put(place, column, reason)
        if place == self._timestamp and unit is None:
            typed.note_integers(place, values, computed.field)

    def _supplied_values(self, table: pa.Table, field: Field, position: int | None) -> pa.Array:
        """A column of the input rows.

        Raises:
            DataError: it is missing.
        """
        if position is None:
            raise DataError(
                f"{self._what}: the rows have no column {field.name!r}; "
                + did_you_mean(field.name, table.column_names)
            )
        values = table.column(position)
        is_plain = values.num_chunks == 1 and values.type in (field.type, _INTEGER)
        return values.chunk(0) if is_plain else flat(values)

    def _column(
        self,
        values: pa.Array,
        place: int,
        field: Field,
        unit: TimeUnit | None,
        advice: Advice,
    ) -> tuple[pa.Array, pa.Array | None]:
        """The values as the declared type; NULL and a reason where they cannot be converted.

        Args:
            place: of the column. unit, advice: of timestamps that are numbers, see ``event_times``.
        """
        is_time = field.type == TIMESTAMP
        if values.type == field.type:
            return values, impossible(values, field.name) if is_time else None
        try:
            if is_time and (place == self._timestamp or pa.types.is_integer(values.type)):
                if are_microseconds(values, unit):
                    return values.cast(TIMESTAMP), None
                times, reason = event_times(values, unit, field.name, advice)
                return times, first_reason(reason, impossible(times, field.name))
            typed = converted(values, field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise DataError(
                f"{self._what}: column {field.name!r} is declared {sql_type(field.type)} but the "
                f"rows have {sql_type(values.type)}, which cannot be converted: {error}"
            ) from None
        beyond = impossible(typed, field.name) if is_time else None
        lost = pc.and_(values.is_valid(), typed.is_null())
        if not pc.any(lost).as_py():
            return typed, beyond
        before, after = f"{field.name}: cannot read '", f"' as {sql_type(field.type)}"
        texts = as_text(pc.if_else(lost, values, pa.scalar(None, values.type)))
        unread = pc.binary_join_element_wise(before, texts, after, "")
        return typed, first_reason(unread, beyond)


def first_reason(known: pa.Array | None, more: pa.Array | None) -> pa.Array | None:
    """For each row the known reason, else the other one; None if no row has one."""
    if known is None or more is None:
        return more if known is None else known
    return pc.coalesce(known, more)


def reason_where(rows: pa.Array, reason: str) -> pa.Array:
    """The reason for the rows of a mask, bool[n]."""
    return pc.if_else(rows, pa.scalar(reason), pa.scalar(None, pa.string()))
