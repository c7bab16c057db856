"""Conversion of callers' rows to typed columns, with the reasons of bad rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import StreamDef, TimeUnit
from eddyline.algebra.windows import format_duration
from eddyline.engine.ingest.arrow_values import (
    as_text,
    converted,
    flat,
    has_text,
    to_table,
    with_valid_text,
)
from eddyline.engine.ingest.computed_columns import (
    ComputedColumn,
    advice_to_compute,
    advice_to_read,
    computed_columns,
)
from eddyline.engine.ingest.event_times import (
    IN_DOUBT,
    Advice,
    are_microseconds,
    declare,
    event_times,
    impossible,
    improbable,
    improbable_beside,
    improbable_reasons,
)
from eddyline.errors import DataError, did_you_mean
from eddyline.runtime.stores.columns import Array, raw_values
from eddyline.types import TIMESTAMP, Field, Schema, arrow_schema, sql_type

#: A column of this name marks rows that a source could not parse; its value is their text.
CORRUPT_RECORD = "_corrupt_record"
#: A column of this name, which no declaration can have, says what each row is to this engine:
#: ELSEWHERE, a row of other engines with an event time only, which can decide whether later rows
#: are bad or late, and counts in windows of rows; OWN (or NULL), a row to be processed; COPY,
#: likewise, but another engine reports it if it is bad or late; DROPPED, a row of no engine with an
#: event time only, which does not count.
ROLE = ""
ELSEWHERE, OWN, COPY, DROPPED = range(4)
_INTEGER = pa.int64()
_REASON = pa.field("_reason", pa.string())


def late_schema(schema: Schema) -> pa.Schema:
    """The schema of a stream's late rows: its columns and the reason."""
    return pa.schema([*arrow_schema(schema), _REASON])


def bad_schema(schema: Schema) -> pa.Schema:
    """The schema of a stream's bad rows: its columns as text, and the reason."""
    return pa.schema([*(pa.field(f.name, pa.string()) for f in schema), _REASON])


@dataclass(frozen=True, slots=True)
class TypedRows:
    """Rows of one call.

    Attributes:
        table: n input rows. columns: in the declared order and types. times: the event times.
        reasons: string[n], the reason of each bad row, NULL for good rows; None: all are good.
        doubtful: input event times that are integers without a declared unit: the previous rows
            decide whether they are probable.
        own: bool[n], rows to be processed; None: all.
        dropped: bool[n], rows that no engine processes; None: none.
        reported: bool[n], those of them that are reported if they are bad or late; None: all.
    """

    table: pa.Table
    columns: list[pa.Array]
    times: pa.Array
    reasons: pa.Array | None
    doubtful: pa.Array | None = None
    own: Array | None = None
    dropped: Array | None = None
    reported: Array | None = None


@dataclass(frozen=True, slots=True)
class _Layout:
    """What follows from the schema of input rows.

    Attributes:
        schema: of the rows.
        positions: of the supplied columns among those of the rows; None: there is no such column.
        corrupt: the position of CORRUPT_RECORD, or None.
        has_text: whether columns that are read have text, which may be invalid.
    """

    schema: pa.Schema
    positions: list[int | None]
    corrupt: int | None
    has_text: bool


@dataclass(slots=True)
class _Typed:
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


class RowReader:
    """Reads rows of one stream, or changes of one table.

    Args:
        definition: the stream. kind: "stream" or "table", for messages.

    Attributes:
        ahead_us: maximum distance of timestamps ahead of the wall clock; None: no limit.
    """

    def __init__(self, definition: StreamDef, kind: str = "stream") -> None:
        self.definition = definition
        self.ahead_us = definition.ahead_us
        schema = definition.schema
        self._what = f"{kind} {definition.name!r}"
        self._supplied = [(i, f) for i, f in enumerate(schema) if f.name not in definition.computed]
        self._names = [f.name.lower() for _, f in self._supplied]
        self._computed = computed_columns(definition)
        names = [f.name for f in schema]
        column = len(schema) if definition.event_time else names.index(definition.timestamp)
        self._timestamp = column  # its position; behind the columns if it is none
        self._layout = self._layout_of(arrow_schema(definition.supplied))

    def read(self, data: Any) -> TypedRows:
        """Convert rows to the declared types.

        Raises:
            DataError: a column is missing, or its type cannot be converted to the declared one.
        """
        table = to_table(data, self.definition.name)
        if table.schema != self._layout.schema:
            self._layout = self._layout_of(table.schema)
        broken: dict[str, pa.Array] = {}
        if self._layout.has_text:
            table, broken = with_valid_text(table, {CORRUPT_RECORD, *self._names})
        roles = table.column(ROLE).fill_null(OWN) if ROLE in table.column_names else None
        own = None if roles is None else pc.is_in(roles, pa.array([OWN, COPY], roles.type))
        typed = self._typed(table, own)
        columns, reasons = typed.columns[: len(self.definition.schema)], typed.reasons
        times, doubtful = typed.columns[self._timestamp], typed.integers.get(self._timestamp)
        for name, rows in broken.items():
            if name.lower() != CORRUPT_RECORD:
                reasons = first_reason(reasons, _where(rows, f"{name} is not UTF-8"))
        if roles is None or own is None:
            return TypedRows(table, columns, times, reasons, doubtful)
        role = roles.to_numpy()
        flags = own.to_numpy(), role == DROPPED, role == OWN
        return TypedRows(table, columns, times, reasons, doubtful, *flags)

    def content(self, rows: TypedRows) -> list[pa.Array]:
        """The columns that queries read, in the declared order and types."""
        return rows.columns

    def times(self, rows: TypedRows) -> Array:
        """int64[n], the event times; any value where NULL."""
        return raw_values(rows.times, np.dtype(np.int64))

    def reasons(self, rows: TypedRows, newest: int, now_us: int) -> pa.Array | None:
        """The reasons of bad rows, by their values, the wall clock and the previous rows.

        Args:
            newest: the largest previous timestamp of the stream. now_us: the wall clock.

        Returns:
            string[n], or None if all rows are good.
        """
        reasons, stream = rows.reasons, self.definition
        us = self.times(rows)
        if self.ahead_us is not None:
            ahead = us > now_us + self.ahead_us
            if ahead.any():
                limit, now = format_duration(self.ahead_us), np.datetime64(now_us, "us")
                why = f"{stream.timestamp} is more than {limit} ahead of the wall clock, {now}"
                reasons = first_reason(reasons, _where(pa.array(ahead), why))
        if rows.doubtful is not None and in_doubt(us).any():
            doubted = improbable(us, is_good(reasons, us.size), newest)
            if doubted.any():
                texts = improbable_reasons(rows.doubtful, stream.timestamp)
                none = pa.scalar(None, pa.string())
                reasons = first_reason(reasons, pc.if_else(pa.array(doubted), texts, none))
        return reasons

    def surely_bad(self, rows: TypedRows, now_us: int) -> Array:
        """bool[n]: rows that are bad for any previous rows."""
        reasons = self.reasons(replace(rows, doubtful=None), 0, now_us)
        return ~is_good(reasons, rows.table.num_rows)

    def in_doubt(self, rows: TypedRows) -> Array:
        """bool[n]: rows of which the previous rows decide whether they are bad."""
        if rows.doubtful is None:
            return np.zeros(rows.table.num_rows, np.bool_)
        return in_doubt(self.times(rows))

    def bad_rows(
        self, table: pa.Table, columns: Sequence[pa.Array], reasons: pa.Array, is_bad: Array
    ) -> pa.Table:
        """Rows of a table as text, as they were supplied, with the reasons.

        Args:
            columns: their typed columns, of which the computed ones are taken.
            reasons: string[n]. is_bad: bool[n], which rows.
        """
        rows = pa.array(np.flatnonzero(is_bad))
        positions = {n.lower(): i for i, n in enumerate(table.schema.names)}
        values = list(columns)
        for (place, _), name in zip(self._supplied, self._names, strict=True):
            values[place] = flat(table.column(positions[name]))
        columns = [as_text(column.take(rows)) for column in values]
        schema = bad_schema(self.definition.schema)
        return pa.Table.from_arrays([*columns, reasons.take(rows)], schema=schema)

    def late_rows(self, columns: Sequence[pa.Array], is_late: Array, limits: Array) -> pa.Table:
        """The late rows among typed ones, with the watermark at their arrival.

        Args:
            is_late: bool[n]. limits: int64[n], the instant before which each row is late.
        """
        rows = pa.array(np.flatnonzero(is_late))
        texts = np.datetime_as_string(limits[is_late].view("M8[us]"))
        reasons = pc.binary_join_element_wise("behind the watermark ", pa.array(texts), "")
        schema = late_schema(self.definition.schema)
        return pa.Table.from_arrays([*(c.take(rows) for c in columns), reasons], schema=schema)

    def _layout_of(self, schema: pa.Schema) -> _Layout:
        positions = {n.lower(): i for i, n in enumerate(schema.names)}
        read = {CORRUPT_RECORD, *self._names}
        return _Layout(
            schema,
            [positions.get(name) for name in self._names],
            positions.get(CORRUPT_RECORD),
            any(f.name.lower() in read and has_text(f.type) for f in schema),
        )

    def _typed(self, table: pa.Table, own: pa.ChunkedArray | None) -> _Typed:
        """Typed columns, the event time behind them if it is no column, and the reasons.

        Args:
            own: bool[n], the rows whose columns are all there; None: all.
        """
        typed = _Typed([None] * (len(self.definition.schema) + 1))
        if self._layout.corrupt is not None:
            text = flat(table.column(self._layout.corrupt)).cast(pa.string())
            typed.reasons = pc.binary_join_element_wise("cannot be read: ", text, "")
        for (place, field), position in zip(self._supplied, self._layout.positions, strict=True):
            is_time = place == self._timestamp
            values = self._supplied_values(table, field, position)
            unit = self.definition.ts_unit if is_time else None
            advice = declare if is_time else advice_to_compute
            typed.put(place, *self._column(values, place, field, unit, advice))
            if unit is None:
                typed.note_integers(place, values, field)
        for computed in self._computed:
            self._compute(computed, typed, table.num_rows, own)
        times = typed.columns[self._timestamp]
        if times.null_count:
            typed.add(_where(times.is_null(), f"{self.definition.timestamp} is null"))
        for place, values in typed.integers.items():
            if place != self._timestamp:
                name, column = self.definition.schema[place].name, typed.columns[place]
                typed.add(improbable_beside(values, column, times, name, advice_to_compute))
        if typed.reasons is not None and typed.reasons.null_count == table.num_rows:
            typed.reasons = None
        return typed

    def _compute(
        self, computed: ComputedColumn, typed: _Typed, count: int, own: pa.ChunkedArray | None
    ) -> None:
        """Compute a column, and judge it like one of the source; other engines' rows have the
        values only that the event time is computed from.
        """
        place = computed.position
        values, failed = computed.values(typed.columns, count)
        unit = computed.unit or self.definition.ts_unit
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


def in_doubt(us: Array) -> Array:
    """bool[n]: integers that may be improbable as microseconds, depending on the rows before."""
    first, last = IN_DOUBT
    found: Array = (us >= first) & (us < last)
    return found


def is_good(reasons: pa.Array | None, count: int) -> Array:
    """bool[count]: rows without a reason."""
    if reasons is None:
        return np.ones(count, np.bool_)
    good: Array = reasons.is_null().to_numpy(zero_copy_only=False)
    return good


def first_reason(known: pa.Array | None, more: pa.Array | None) -> pa.Array | None:
    """For each row the known reason, else the other one; None if no row has one."""
    if known is None or more is None:
        return more if known is None else known
    return pc.coalesce(known, more)


def _where(rows: pa.Array, reason: str) -> pa.Array:
    """The reason for the rows of a mask, bool[n]."""
    return pc.if_else(rows, pa.scalar(reason), pa.scalar(None, pa.string()))
