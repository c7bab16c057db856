"""Conversion of callers' rows to typed columns, with the reasons of bad rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.windows import format_duration
from eddyline.engine.ingest.arrow_values import (
    as_text,
    converted,
    flat,
    is_text,
    to_table,
    with_valid_text,
)
from eddyline.engine.ingest.event_times import (
    IN_DOUBT,
    event_times,
    improbable,
    improbable_reasons,
)
from eddyline.errors import DataError, did_you_mean
from eddyline.runtime.stores.columns import Array, raw_values
from eddyline.types import (
    END_OF_TIME,
    FIRST_INSTANT,
    TIMESTAMP,
    Field,
    Schema,
    arrow_schema,
    sql_type,
)

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
        table: n input rows. columns: in the declared order and types.
        reasons: string[n], the reason of each bad row, NULL for good rows; None: all are good.
        doubtful: input event times that are integers without a declared unit: the previous rows
            decide whether they are probable.
        own: bool[n], rows to be processed; None: all.
        dropped: bool[n], rows that no engine processes; None: none.
        reported: bool[n], those of them that are reported if they are bad or late; None: all.
    """

    table: pa.Table
    columns: list[pa.Array]
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
        positions: of the declared columns among those of the rows; None: there is no such column.
        corrupt: the position of CORRUPT_RECORD, or None.
        has_text: whether columns that are read have text, which may be invalid.
    """

    schema: pa.Schema
    positions: list[int | None]
    corrupt: int | None
    has_text: bool


class RowReader:
    """Reads rows of one stream, or changes of one table.

    Args:
        definition: the stream. kind: "stream" or "table", for messages.

    Attributes:
        ahead_us: maximum distance of timestamps ahead of the wall clock; None: no limit.
        timestamp: the position of the event time among the columns.
    """

    def __init__(self, definition: StreamDef, kind: str = "stream") -> None:
        self.definition = definition
        self.ahead_us = definition.ahead_us
        names = [f.name for f in definition.schema]
        self.timestamp = names.index(definition.timestamp)
        self._what = f"{kind} {definition.name!r}"
        self._names = [name.lower() for name in names]
        self._layout = self._layout_of(arrow_schema(definition.schema))

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
        columns, reasons, given = self._typed(table)
        for name, rows in broken.items():
            if name.lower() != CORRUPT_RECORD:
                reasons = first_reason(reasons, _where(rows, f"{name} is not UTF-8"))
        doubtful = pa.types.is_integer(given.type) and self.definition.ts_unit is None
        doubted = given if doubtful else None
        if ROLE not in table.column_names:
            return TypedRows(table, columns, reasons, doubted)
        roles = table.column(ROLE).fill_null(OWN).to_numpy()
        own, dropped = (roles == OWN) | (roles == COPY), roles == DROPPED
        return TypedRows(table, columns, reasons, doubted, own, dropped, roles == OWN)

    def content(self, rows: TypedRows) -> list[pa.Array]:
        """The columns that queries read, in the declared order and types."""
        return rows.columns

    def times(self, rows: TypedRows) -> Array:
        """int64[n], the event times; any value where NULL."""
        return raw_values(rows.columns[self.timestamp], np.dtype(np.int64))

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

    def bad_rows(self, table: pa.Table, reasons: pa.Array, is_bad: Array) -> pa.Table:
        """Rows of a table as text, with the reasons, string[n]. ``is_bad``: bool[n], which ones."""
        rows = pa.array(np.flatnonzero(is_bad))
        positions = {n.lower(): i for i, n in enumerate(table.schema.names)}
        columns = [
            as_text(flat(table.column(positions[f.name.lower()])).take(rows))
            for f in self.definition.schema
        ]
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
            any(f.name.lower() in read and is_text(f.type) for f in schema),
        )

    def _typed(self, table: pa.Table) -> tuple[list[pa.Array], pa.Array | None, pa.Array]:
        """Columns of the declared types, reasons, and the input event times."""
        stream, layout = self.definition, self._layout
        columns = []
        reasons = None
        if layout.corrupt is not None:
            text = flat(table.column(layout.corrupt)).cast(pa.string())
            reasons = pc.binary_join_element_wise("cannot be read: ", text, "")
        for field, position in zip(stream.schema, layout.positions, strict=True):
            if position is None:
                raise DataError(
                    f"{self._what}: the rows have no column {field.name!r}; "
                    + did_you_mean(field.name, table.column_names)
                )
            values = table.column(position)
            is_plain = values.num_chunks == 1 and values.type in (field.type, _INTEGER)
            values = values.chunk(0) if is_plain else flat(values)
            if field.name == stream.timestamp:
                given = values
            column, reason = self._column(values, field)
            columns.append(column)
            if reason is not None:
                reasons = first_reason(reasons, reason)
        ts = columns[self.timestamp]
        if ts.null_count:
            reasons = first_reason(reasons, _where(ts.is_null(), f"{stream.timestamp} is null"))
        us = raw_values(ts, np.dtype(np.int64))
        impossible = (us < FIRST_INSTANT) | (us >= END_OF_TIME)
        if impossible.any():
            why = f"{stream.timestamp} is not between the years 1 and 9999"
            rows = pc.and_(pa.array(impossible), ts.is_valid())
            reasons = first_reason(reasons, _where(rows, why))
        if reasons is not None and reasons.null_count == len(ts):
            reasons = None
        return columns, reasons, given

    def _column(self, values: pa.Array, field: Field) -> tuple[pa.Array, pa.Array | None]:
        """The values as the declared type; NULL and a reason where they cannot be converted."""
        if values.type == field.type:
            return values, None
        try:
            if field.name == self.definition.timestamp:
                if self._are_microseconds(values):
                    return values.cast(TIMESTAMP), None
                return event_times(values, self.definition.ts_unit, field.name)
            typed = converted(values, field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise DataError(
                f"{self._what}: column {field.name!r} is declared {sql_type(field.type)} but the "
                f"rows have {sql_type(values.type)}, which cannot be converted: {error}"
            ) from None
        lost = pc.and_(values.is_valid(), typed.is_null())
        if not pc.any(lost).as_py():
            return typed, None
        before, after = f"{field.name}: cannot read '", f"' as {sql_type(field.type)}"
        why = pc.binary_join_element_wise(before, values.cast(pa.string()), after, "")
        return typed, pc.if_else(lost, why, pa.scalar(None, pa.string()))

    def _are_microseconds(self, values: pa.Array) -> bool:
        """Whether event times are integers that need no conversion, all between the years 1 and
        9999.
        """
        if values.type != _INTEGER or self.definition.ts_unit not in (None, "us"):
            return False
        us = raw_values(values, np.dtype(np.int64))
        in_range = (us >= FIRST_INSTANT) & (us < END_OF_TIME)
        return values.null_count == 0 and bool(in_range.all())


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
