"""Callers' rows as typed columns, with the reasons of bad rows.

What is to be done is decided per schema of the rows. Usually it is little: the columns have the
declared types, and timestamps are there, possible, and in a unit that is beyond doubt. All other
rows are converted column by column (``conversion.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.windows import format_duration
from eddyline.engine.ingest.arrow_values import as_text, flat, has_text, is_valid_text, to_table
from eddyline.engine.ingest.conversion import (
    CORRUPT_RECORD,
    Conversion,
    first_reason,
    reason_where,
)
from eddyline.engine.ingest.event_times import IN_DOUBT, improbable, improbable_reasons
from eddyline.engine.ingest.row_values import ExactRows, column_types
from eddyline.runtime.stores.columns import Array, raw_values
from eddyline.types import END_OF_TIME, FIRST_INSTANT, TIMESTAMP, Schema, arrow_schema

#: A column of this name, which no declaration can have, says what each row is to this engine:
#: ELSEWHERE, a row of other engines with an event time only, which can decide whether later rows
#: are bad or late, and counts in windows of rows; OWN (or NULL), a row to be processed; COPY,
#: likewise, but another engine reports it if it is bad or late; DROPPED, a row of no engine with an
#: event time only, which does not count.
ROLE = ""
ELSEWHERE, OWN, COPY, DROPPED = range(4)
_INT64 = np.dtype(np.int64)
_US = pa.int64()
#: Units of integers that are timestamps as they are; None: no unit is declared.
_PLAIN = (None, "us")
_REASON = pa.field("_reason", pa.string())


def late_schema(schema: Schema) -> pa.Schema:
    """The schema of a stream's late rows: its columns and the reason."""
    return pa.schema([*arrow_schema(schema), _REASON])


def bad_schema(schema: Schema) -> pa.Schema:
    """The schema of a stream's bad rows: its columns as text, and the reason."""
    return pa.schema([*(pa.field(f.name, pa.string()) for f in schema), _REASON])


class PlainTimes(NamedTuple):
    """The event times of rows that are neither bad nor in doubt.

    Attributes:
        us: int64[n], n > 0; may share memory with the caller. first, last: the bounds.
    """

    us: Array
    first: int
    last: int


class TypedRows(NamedTuple):
    """Rows of one call.

    Attributes:
        given: n input rows; None: they are the columns, and these are no memory of the caller.
        columns: in the declared order and types. times: the event times.
        reasons: string[n], the reason of each bad row, NULL for good rows; None: all are good.
        doubtful: input event times that are integers without a declared unit: the previous rows
            decide whether they are probable.
        own: bool[n], rows to be processed; None: all.
        dropped: bool[n], rows that no engine processes; None: none.
        reported: bool[n], those of them that are reported if they are bad or late; None: all.
        plain: if all rows are to be processed and surely good, their event times.
    """

    given: pa.Table | None
    columns: list[pa.Array]
    times: pa.Array
    reasons: pa.Array | None
    doubtful: pa.Array | None = None
    own: Array | None = None
    dropped: Array | None = None
    reported: Array | None = None
    plain: PlainTimes | None = None

    @property
    def size(self) -> int:
        """N."""
        return len(self.times)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How rows of a schema are read.

    Attributes:
        schema: of the rows.
        places: of the declared columns among those of the rows; None: the columns are converted.
    """

    schema: pa.Schema
    places: list[int] | None


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
        names = [f.name for f in definition.schema]
        column = len(names) if definition.event_time else names.index(definition.timestamp)
        self._timestamp = column  # its position; behind the columns if it is none
        self._conversion = Conversion(definition, f"{kind} {definition.name!r}", column)
        schema = definition.schema
        self._times = [i for i, f in enumerate(schema) if f.type == TIMESTAMP]
        self._texts = [i for i, f in enumerate(schema) if has_text(f.type)]
        self._types = column_types(definition.supplied)
        self._exact = ExactRows(schema) if _is_plain(definition) else None
        self._plan = self._plan_of(arrow_schema(definition.supplied))

    def read(self, data: Any) -> TypedRows:
        """Convert rows to the declared types.

        Raises:
            DataError: a column is missing, or its type cannot be converted to the declared one.
        """
        if type(data) in (dict, list) and data and self._exact is not None:
            columns = self._exact.columns(data if type(data) is list else (data,))
            rows = None if columns is None else self._as_they_are(columns, None)
            if rows is not None:
                return rows
        table = data
        if not isinstance(data, pa.Table):
            table = to_table(data, self.definition.name, self._types)
        if table.schema != self._plan.schema:
            self._plan = self._plan_of(table.schema)
        if self._plan.places is not None:
            columns = [table.column(place) for place in self._plan.places]
            if all(c.num_chunks == 1 for c in columns):
                rows = self._as_they_are([c.chunk(0) for c in columns], table)
                if rows is not None:
                    return rows
        return self._converted(table)

    def _plan_of(self, schema: pa.Schema) -> _Plan:
        """The columns are not converted if they have the declared types, or times are other numbers
        of microseconds, and nothing else is to be done.
        """
        definition, names = self.definition, schema.names
        positions = {n.lower(): i for i, n in enumerate(names)}
        if not _is_plain(definition) or ROLE in names or CORRUPT_RECORD in positions:
            return _Plan(schema, None)
        places: list[int] = []
        for place, field in enumerate(definition.schema):
            position = positions.get(field.name.lower())
            if position is None:
                return _Plan(schema, None)
            type_ = schema.field(position).type
            unit = definition.ts_unit if place == self._timestamp else None
            if type_ != field.type and not (place in self._times and _is_in_us(type_, unit)):
                return _Plan(schema, None)
            places.append(position)
        return _Plan(schema, places)

    def _as_they_are(self, columns: list[pa.Array], given: pa.Table | None) -> TypedRows | None:
        """Rows whose columns need no conversion; None: some of them may be bad or in doubt.

        Args:
            columns: in the declared order; if none are ``given``, their text is valid.
        """
        plain = None
        for place in self._times:
            values = columns[place]
            us, is_integer = raw_values(values, _INT64), values.type == _US
            if values.null_count and (is_integer or place == self._timestamp):
                return None
            if us.size:
                first, last = bounds(us)
                if first < FIRST_INSTANT or last >= END_OF_TIME:
                    return None
                if is_integer and last >= IN_DOUBT[0] and first < IN_DOUBT[1]:
                    return None
                if place == self._timestamp:
                    plain = PlainTimes(us, first, last)
            if values.type != TIMESTAMP:
                columns[place] = values.view(TIMESTAMP)
        if given is not None and not all(is_valid_text(columns[place]) for place in self._texts):
            return None
        return TypedRows(given, columns, columns[self._timestamp], None, plain=plain)

    def _converted(self, table: pa.Table) -> TypedRows:
        """Rows of any schema that fits."""
        roles = table.column(ROLE).fill_null(OWN) if ROLE in table.column_names else None
        own = None if roles is None else pc.is_in(roles, pa.array([OWN, COPY], roles.type))
        table, typed = self._conversion.typed(table, own)
        columns, times = (
            typed.columns[: len(self.definition.schema)],
            typed.columns[self._timestamp],
        )
        doubtful = typed.integers.get(self._timestamp)
        if roles is None or own is None:
            plain = None
            if typed.reasons is doubtful is None and len(times):
                us = raw_values(times, _INT64)
                plain = PlainTimes(us, *bounds(us))
            return TypedRows(table, columns, times, typed.reasons, doubtful, plain=plain)
        role = roles.to_numpy()
        flags = own.to_numpy(), role == DROPPED, role == OWN
        return TypedRows(table, columns, times, typed.reasons, doubtful, *flags)

    def content(self, rows: TypedRows) -> list[pa.Array]:
        """The columns that queries read, in the declared order and types."""
        return rows.columns

    def times(self, rows: TypedRows) -> Array:
        """int64[n], the event times; any value where NULL."""
        return raw_values(rows.times, _INT64)

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
                reasons = first_reason(reasons, reason_where(pa.array(ahead), why))
        if rows.doubtful is not None and in_doubt(us).any():
            doubted = improbable(us, is_good(reasons, us.size), newest)
            if doubted.any():
                texts = improbable_reasons(rows.doubtful, stream.timestamp)
                none = pa.scalar(None, pa.string())
                reasons = first_reason(reasons, pc.if_else(pa.array(doubted), texts, none))
        return reasons

    def given(self, rows: TypedRows) -> pa.Table:
        """The input rows."""
        if rows.given is not None:
            return rows.given
        return pa.Table.from_arrays(rows.columns, schema=arrow_schema(self.definition.schema))

    def surely_bad(self, rows: TypedRows, now_us: int) -> Array:
        """bool[n]: rows that are bad for any previous rows."""
        reasons = self.reasons(rows._replace(doubtful=None), 0, now_us)
        return ~is_good(reasons, rows.size)

    def in_doubt(self, rows: TypedRows) -> Array:
        """bool[n]: rows of which the previous rows decide whether they are bad."""
        if rows.doubtful is None:
            return np.zeros(rows.size, np.bool_)
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
        for place, field in enumerate(self.definition.schema):
            if field.name not in self.definition.computed:
                values[place] = flat(table.column(positions[field.name.lower()]))
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


def _is_plain(definition: StreamDef) -> bool:
    """Whether nothing is computed from the columns."""
    return not definition.computed and definition.event_time is None


def _is_in_us(type_: pa.DataType, unit: str | None) -> bool:
    """Whether values are microseconds since 1970: integers of this unit, or timestamps."""
    if pa.types.is_timestamp(type_):
        return bool(type_.unit == "us")
    return bool(type_ == _US) and unit in _PLAIN


def bounds(us: Array) -> tuple[int, int]:
    """The smallest and the largest of some numbers."""
    if us.size == 1:
        return (only := int(us[0])), only
    return int(us.min()), int(us.max())


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
