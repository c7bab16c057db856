"""Rows as users hand them over, made fit for the engine: typed, judged, and in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.windows import format_duration
from eddyline.engine.ingest.arrow_values import as_text, converted, flat, to_table
from eddyline.engine.ingest.event_times import event_times, improbable, improbable_reasons, in_doubt
from eddyline.engine.ingest.valid_text import with_valid_text
from eddyline.engine.ingest.watermark import Bound
from eddyline.engine.overload.drop_box import DropBox
from eddyline.errors import DataError, did_you_mean
from eddyline.kernels.merge import merge_destinations
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array, raw_values
from eddyline.runtime.stores.stem import Stem
from eddyline.types import (
    BEGINNING,
    END_OF_TIME,
    FIRST_INSTANT,
    FOREVER,
    Field,
    Schema,
    arrow_schema,
    sql_type,
)

#: A column of this name marks rows that a source could not read; its value is their text.
CORRUPT_RECORD = "_corrupt_record"
_REASON = pa.field("_reason", pa.string())


def late_schema(schema: Schema) -> pa.Schema:
    """The schema of a stream's late rows: its columns and the reason."""
    return pa.schema([*arrow_schema(schema), _REASON])


def bad_schema(schema: Schema) -> pa.Schema:
    """The schema of a stream's bad rows: its columns as text, and the reason."""
    return pa.schema([*(pa.field(f.name, pa.string()) for f in schema), _REASON])


@dataclass(frozen=True, slots=True)
class Ready:
    """Rows in order of time: int64 ts, int64 arrival numbers, and the stream's columns."""

    ts: Array
    arrival: Array
    columns: list[pa.Array]

    def part(self, start: int, end: int) -> list[pa.Array]:
        """Columns of the rows in [start, end)."""
        return [c.slice(start, end - start) for c in self.columns]


@dataclass(frozen=True, slots=True)
class Incoming:
    """Rows that were read: as given, typed, and why a row is bad (None: no row is).

    Attributes:
        doubtful: event times that are integers of no declared unit, as given: whether that is
            probable depends on the rows before.
    """

    table: pa.Table
    columns: list[pa.Array]
    reasons: pa.Array | None
    doubtful: pa.Array | None = None


class Intake:
    """The rows of one stream, or the changes of one table, on their way in.

    Args:
        definition: the stream. kind: what messages call it.

    Attributes:
        ahead_us: how far timestamps may be ahead of the wall clock; None: any.
        newest: the largest timestamp seen. late, bad: how many rows went to the side outputs.
        active_us: when the last usable row came, by the wall clock; at first, when the stream was
            looked at first.
        box: which of the others are kept; None: all. seen, kept: how many came to it and passed.
    """

    def __init__(self, definition: StreamDef, kind: str = "stream") -> None:
        self.definition = definition
        self._what = f"{kind} {definition.name!r}"
        self.ahead_us = definition.ahead_us
        self.newest = BEGINNING
        self.active_us = BEGINNING
        self.rows = 0
        self.late = 0
        self.bad = 0
        self.box: DropBox | None = None
        self.seen = 0
        self.kept = 0
        names = [f.name for f in definition.schema]
        self._names = {CORRUPT_RECORD, *(name.lower() for name in names)}
        self._ts = names.index(definition.timestamp)
        self._nothing = _nothing(definition.schema)
        self._held = self._nothing

    @property
    def held(self) -> int:
        """Rows that wait for the watermark."""
        return int(self._held.ts.size)

    @property
    def first_held(self) -> int:
        """The smallest timestamp of those; FOREVER if there is none."""
        return int(self._held.ts[0]) if self.held else FOREVER

    def read(self, data: Any) -> Incoming:
        """Judge rows, without taking them in yet.

        Raises:
            DataError: a column is missing, or its type cannot be made the declared one.
        """
        table, broken = with_valid_text(to_table(data, self.definition.name), self._names)
        columns, reasons, given = self._typed(table)
        for name, rows in broken.items():
            if name.lower() != CORRUPT_RECORD:
                reasons = first_reason(reasons, _told(rows, f"{name} is not UTF-8"))
        doubtful = pa.types.is_integer(given.type) and self.definition.ts_unit is None
        return Incoming(table, columns, reasons, given if doubtful else None)

    def accept(
        self, incoming: Incoming, watermark: int, arrival: int, now_us: int
    ) -> tuple[pa.Table | None, pa.Table | None]:
        """Take rows in.

        Args:
            incoming: from ``read``. watermark: rows before it are late. arrival: number of the
                first row. now_us: the wall clock.

        Returns:
            The late rows and the bad ones (None: there are none).
        """
        count = incoming.table.num_rows
        self.rows += count
        columns, reasons = incoming.columns, self._judged(incoming, now_us)
        arrivals = np.arange(arrival, arrival + count)
        bad = None
        if reasons is not None:
            wrong = np.asarray(reasons.is_valid().to_numpy(zero_copy_only=False))
            bad = self._bad(incoming.table, reasons, wrong)
            good = pa.array(np.flatnonzero(~wrong))
            columns = [c.take(good) for c in columns]
            arrivals = arrivals[~wrong]
        ts = raw_values(columns[self._ts], np.dtype(np.int64)).copy()  # may be the user's memory
        limits = self._limits(ts, watermark)
        if ts.size:
            self.pass_by(int(ts.max()), now_us)
        late = None
        is_late = ts < limits
        if is_late.any():
            late = self._late(columns, is_late, limits)
            keep = np.flatnonzero(~is_late)
            columns, arrivals, ts = (
                [c.take(pa.array(keep)) for c in columns],
                arrivals[keep],
                ts[keep],
            )
        self._hold(self._thinned(Ready(ts, arrivals, columns)))
        return late, bad

    def forget_time(self) -> None:
        """What comes from now on is judged as if nothing had come before."""
        self.newest = BEGINNING

    def times(self, incoming: Incoming) -> pa.Array:
        """The event times of rows that were read."""
        return incoming.columns[self._ts]

    def surely_good(self, incoming: Incoming, now_us: int) -> Array:
        """bool[n]: rows that are good by themselves and by the wall clock, whatever came before."""
        reasons = self._judged(replace(incoming, doubtful=None), now_us)
        count = incoming.table.num_rows
        good = np.ones(count, np.bool_) if reasons is None else _is_null(reasons)
        if incoming.doubtful is not None:
            good = good & ~in_doubt(raw_values(self.times(incoming), np.dtype(np.int64)))
        return good

    def pass_by(self, ts: int, now_us: int) -> None:
        """Usable rows have come, up to this timestamp."""
        self.newest = max(self.newest, ts)
        self.active_us = max(self.active_us, now_us)

    def bound(self, now_us: int) -> Bound:
        """What the stream says of the watermark."""
        if self.active_us == BEGINNING:
            self.active_us = now_us
        stream = self.definition
        idle = stream.idle_us is not None and now_us - self.active_us >= stream.idle_us
        us = BEGINNING if self.newest == BEGINNING else self.newest - stream.lateness_us
        return Bound(stream.name, us, idle)

    def _judged(self, incoming: Incoming, now_us: int) -> pa.Array | None:
        """Why rows are bad: by themselves, by the wall clock, and by the rows before them."""
        reasons, stream = incoming.reasons, self.definition
        us = raw_values(incoming.columns[self._ts], np.dtype(np.int64))
        if self.ahead_us is not None:
            ahead = us > now_us + self.ahead_us
            if ahead.any():
                now = np.datetime64(now_us, "us")
                why = f"{stream.timestamp} is more than {format_duration(self.ahead_us)} ahead of"
                told = _told(pa.array(ahead), f"{why} the wall clock, {now}")
                reasons = first_reason(reasons, told)
        if incoming.doubtful is not None:
            usable = np.ones(us.size, np.bool_) if reasons is None else _is_null(reasons)
            doubted = improbable(us, usable, self.newest)
            if doubted.any():
                told = improbable_reasons(incoming.doubtful, stream.timestamp)
                told = pc.if_else(pa.array(doubted), told, pa.scalar(None, pa.string()))
                reasons = first_reason(reasons, told)
        return reasons

    def _thinned(self, rows: Ready) -> Ready:
        """The rows that the drop box keeps."""
        self.seen += rows.ts.size
        if self.box is not None and rows.ts.size:
            keep = np.flatnonzero(self.box.keeps(rows.columns))
            columns = [c.take(pa.array(keep)) for c in rows.columns]
            rows = Ready(rows.ts[keep], rows.arrival[keep], columns)
        self.kept += rows.ts.size
        return rows

    def release(self, watermark: int) -> Ready:
        """The rows up to the watermark, in (ts, arrival) order; the others go on waiting."""
        held = self._held
        ready = int(np.searchsorted(held.ts, watermark, "right"))
        if ready == held.ts.size:
            self._held = self._nothing
            return held
        self._held = Ready(
            held.ts[ready:].copy(),
            held.arrival[ready:].copy(),
            [pa.concat_arrays([c.slice(ready)]) for c in held.columns],
        )
        return Ready(held.ts[:ready], held.arrival[:ready], held.part(0, ready))

    def _hold(self, rows: Ready) -> None:
        if self.held:
            old = self._held
            rows = Ready(
                np.concatenate((old.ts, rows.ts)),
                np.concatenate((old.arrival, rows.arrival)),
                [pa.concat_arrays([a, b]) for a, b in zip(old.columns, rows.columns, strict=True)],
            )
        if rows.ts.size > 1 and (rows.ts[1:] < rows.ts[:-1]).any():
            order = np.argsort(rows.ts, kind="stable")
            pick = pa.array(order)
            rows = Ready(rows.ts[order], rows.arrival[order], [c.take(pick) for c in rows.columns])
        self._held = rows

    def _typed(self, table: pa.Table) -> tuple[list[pa.Array], pa.Array | None, pa.Array]:
        """Columns of the declared types, for each row why it is bad (None: no row is), and the
        event times as given.
        """
        places = {n.lower(): i for i, n in enumerate(table.schema.names)}
        columns = []
        reasons = given = None
        if CORRUPT_RECORD in places:
            text = flat(table.column(places[CORRUPT_RECORD])).cast(pa.string())
            told = pc.binary_join_element_wise("cannot be read: ", text, "")
            reasons = first_reason(reasons, told)
        for field in self.definition.schema:
            if field.name.lower() not in places:
                raise DataError(
                    f"{self._what}: the rows have no column {field.name!r}; "
                    + did_you_mean(field.name, table.column_names)
                )
            values = flat(table.column(places[field.name.lower()]))
            if field.name == self.definition.timestamp:
                given = values
            column, reason = self._column(values, field)
            columns.append(column)
            reasons = first_reason(reasons, reason)
        ts = columns[self._ts]
        if ts.null_count:
            reasons = first_reason(
                reasons, _told(ts.is_null(), f"{self.definition.timestamp} is null")
            )
        assert given is not None, "the event time is a column"
        us = raw_values(ts, np.dtype(np.int64))
        impossible = (us < FIRST_INSTANT) | (us >= END_OF_TIME)
        if impossible.any():
            told = f"{self.definition.timestamp} is not between the years 1 and 9999"
            reasons = first_reason(
                reasons, _told(pc.and_(pa.array(impossible), ts.is_valid()), told)
            )
        if reasons is not None and reasons.null_count == len(ts):
            reasons = None
        return columns, reasons, given

    def _column(self, values: pa.Array, field: Field) -> tuple[pa.Array, pa.Array | None]:
        """The values as the declared type, and a reason where one cannot be had."""
        if values.type == field.type:
            return values, None
        try:
            if field.name == self.definition.timestamp:
                return event_times(values, self.definition.ts_unit, field.name)
            typed = converted(values, field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise DataError(
                f"{self._what}: column {field.name!r} is declared "
                f"{sql_type(field.type)} but the rows bring {sql_type(values.type)}, "
                f"which cannot be converted: {error}"
            ) from None
        lost = pc.and_(values.is_valid(), typed.is_null())
        if not pc.any(lost).as_py():
            return typed, None
        told = pc.binary_join_element_wise(
            f"{field.name}: cannot read '",
            values.cast(pa.string()),
            f"' as {sql_type(field.type)}",
            "",
        )
        return typed, pc.if_else(lost, told, pa.scalar(None, pa.string()))

    def refuse(self, columns: Sequence[pa.Array], reason: str) -> pa.Table:
        """Rows that were released, yet turn out to be bad: as text with the reason."""
        table = pa.Table.from_arrays(list(columns), schema=arrow_schema(self.definition.schema))
        everyone = np.ones(table.num_rows, np.bool_)
        return self._bad(table, _repeated(reason, table.num_rows), everyone)

    def _bad(self, table: pa.Table, reasons: pa.Array, wrong: Array) -> pa.Table:
        rows = pa.array(np.flatnonzero(wrong))
        self.bad += len(rows)
        places = {n.lower(): i for i, n in enumerate(table.schema.names)}
        columns = [
            as_text(flat(table.column(places[f.name.lower()])).take(rows))
            for f in self.definition.schema
        ]
        schema = bad_schema(self.definition.schema)
        return pa.Table.from_arrays([*columns, reasons.take(rows)], schema=schema)

    def _limits(self, ts: Array, watermark: int) -> Array:
        """int64[n]: before which instant each row is late, in the order of arrival."""
        if self.definition.lateness_by == "batch" or not ts.size:
            return np.full(ts.size, watermark, np.int64)
        before = np.concatenate(([self.newest], ts[:-1]))
        newest = np.maximum(np.maximum.accumulate(before), self.newest)
        limits: Array = np.maximum(newest - self.definition.lateness_us, watermark)
        return limits

    def _late(self, columns: Sequence[pa.Array], is_late: Array, limits: Array) -> pa.Table:
        rows = pa.array(np.flatnonzero(is_late))
        self.late += len(rows)
        texts = np.datetime_as_string(limits[is_late].view("M8[us]"))
        reasons = pc.binary_join_element_wise("behind the watermark ", pa.array(texts), "")
        schema = late_schema(self.definition.schema)
        return pa.Table.from_arrays([*(c.take(rows) for c in columns), reasons], schema=schema)

    def stats(self, stem: Stem | None) -> dict[str, int]:
        """Counters since the stream was declared, and rows at hand: held here, kept in its SteM."""
        return {
            "rows_in": self.rows,
            "late": self.late,
            "bad": self.bad,
            "dropped": self.seen - self.kept,
            "held": self.held,
            "rows_kept": 0 if stem is None else len(stem),
        }

    def state(self) -> State:
        """Counters and the rows that wait, as plain arrays."""
        table = pa.table(self._held.columns, schema=arrow_schema(self.definition.schema))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return {
            "counters": np.array(
                [
                    self.newest,
                    self.active_us,
                    self.rows,
                    self.late,
                    self.bad,
                    self.seen,
                    self.kept,
                ],
                np.int64,
            ),
            "ts": self._held.ts,
            "arrival": self._held.arrival,
            "rows": np.frombuffer(sink.getvalue(), np.uint8),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        counters = (int(v) for v in array(state, "counters"))
        self.newest, self.active_us, *counts = counters
        self.rows, self.late, self.bad, self.seen, self.kept = counts
        table = pa.ipc.open_stream(pa.py_buffer(array(state, "rows"))).read_all()
        columns = [flat(c) for c in table.columns]
        self._held = Ready(array(state, "ts"), array(state, "arrival"), columns)


def merged(rows: list[Ready]) -> tuple[Array, list[Array]]:
    """Rows of several streams in (ts, arrival) order.

    Returns:
        int64[n] timestamps, and for each stream the places of its rows among all.
    """
    ts, arrival = rows[0].ts, rows[0].arrival
    places = [np.arange(ts.size)]
    for more in rows[1:]:
        to_known, to_more = merge_destinations(ts, arrival, more.ts, more.arrival)

        def mixed(known: Array, new: Array, to: tuple[Array, Array]) -> Array:
            out = np.empty(to[0].size + to[1].size, np.int64)
            out[to[0]], out[to[1]] = known, new
            return out

        to = (to_known, to_more)
        ts, arrival = mixed(ts, more.ts, to), mixed(arrival, more.arrival, to)
        places = [*(to_known[p] for p in places), to_more]
    return ts, places


def _nothing(schema: Schema) -> Ready:
    zero = np.zeros(0, np.int64)
    return Ready(zero, zero, [pa.array([], f.type) for f in schema])


def _is_null(reasons: pa.Array) -> Array:
    found: Array = reasons.is_null().to_numpy(zero_copy_only=False)
    return found


def _repeated(reason: str, count: int) -> pa.Array:
    return pa.array([reason]).take(pa.array(np.zeros(count, np.int64)))


def _told(rows: pa.Array, reason: str) -> pa.Array:
    """The reason for the rows where bool[n] says so."""
    return pc.if_else(rows, pa.scalar(reason), pa.scalar(None, pa.string()))


def first_reason(known: pa.Array | None, more: pa.Array | None) -> pa.Array | None:
    """For each row the known reason or else the other; None: no row has any."""
    if known is None or more is None:
        return more if known is None else known
    return pc.coalesce(known, more)
