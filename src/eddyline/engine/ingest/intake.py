"""Ingestion of one stream: checks rows, applies the drop box, buffers rows until the watermark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import OWN_ROW
from eddyline.engine.ingest.arrow_values import flat
from eddyline.engine.ingest.ordered_rows import HeldRows, OrderedRows
from eddyline.engine.ingest.row_reader import PlainTimes, RowReader, TypedRows, is_good
from eddyline.engine.ingest.watermarks import StreamBound
from eddyline.engine.overload.drop_box import DropBox
from eddyline.engine.overload.keep_steps import KeepSteps
from eddyline.engine.overload.utility_box import UtilityBox
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.types import BEGINNING, FOREVER, arrow_schema


@dataclass(frozen=True)
class Elsewhere:
    """Rows that arrived but are not processed by this engine, by stream.

    Attributes:
        dropped: number of rows that a drop box dropped. newest, oldest: the largest and smallest
            timestamp of these rows, and of rows that other engines process.
    """

    dropped: Mapping[str, int]
    newest: Mapping[str, int]
    oldest: Mapping[str, int]


class Accepted(NamedTuple):
    """What became of rows.

    Attributes:
        late, bad: the late rows and the bad ones; None without any.
        beginning: the first instant of a group that has not begun, of the rows that do not wait
            here: late rows count as if they came at the instant before which they are late, and
            rows of other engines as they are. FOREVER without any.
    """

    late: pa.Table | None
    bad: pa.Table | None
    beginning: int


_NOTHING: Final = Accepted(None, None, FOREVER)


class Intake:
    """Ingests the rows of one stream, or the changes of one table.

    Attributes:
        counted: whether windows count rows of other engines: see ``counted_streams``.
        reader: converts rows.
        stored: the columns of the rows that wait, and of those in the SteM.
        newest: the largest timestamp so far. rows: number of input rows. late, bad: those in the
            side outputs; bad_reason: that of the last one.
        active_us: wall clock at the last usable row; before any row, since when it is awaited.
        stem: where the rows go; None: nothing reads the table yet, and it has not changed.
        box: drops rows; None: keeps all. seen, kept: numbers of rows before and behind it.
        utility: drops rows instead of ``box``, those of the lowest utility; None: they have none.
        steps: the keep rates by event time.
        held: the rows that wait for the watermark.
    """

    def __init__(self, reader: RowReader, *, counted: bool = False) -> None:
        self.reader = reader
        self.definition: StreamDef = reader.definition
        self.stored = (*self.definition.schema, OWN_ROW) if counted else self.definition.schema
        self.counted = counted
        self._is_late_by_row = self.definition.lateness_by == "row"
        self.newest = BEGINNING
        self.active_us = BEGINNING
        self.rows = 0
        self.late = 0
        self.bad, self.bad_reason = 0, ""
        self.stem: Stem | None = None
        self.box: DropBox | None = None
        self.utility: UtilityBox | None = None
        self.steps = KeepSteps()
        self.seen = 0
        self.kept = 0
        zero = np.zeros(0, np.int64)
        none = [pa.array([], f.type) for f in self.stored]
        self.held = HeldRows(OrderedRows(zero, zero, none, None, True))

    @property
    def limit(self) -> int:
        """The instant before which the next row is late, if that is judged row by row."""
        if self.definition.lateness_by == "batch":
            return BEGINNING
        return self.newest - self.definition.lateness_us

    @property
    def last(self) -> int:
        """The largest timestamp so far, and of the rows that wait."""
        return self.held.last(self.newest)

    def accept(self, rows: TypedRows, watermark: int, arrival: int, now_us: int) -> Accepted:
        """Accept rows.

        Args:
            watermark: rows before it are late. arrival: number of the first row.
            now_us: the wall clock.
        """
        plain, reader = rows.plain, self.reader
        judges_rows = self.counted or reader.ahead_us is not None or self._is_late_by_row
        if plain is not None and plain.first >= watermark and not judges_rows:
            self._accept_plain(plain, rows, arrival, now_us)
            return _NOTHING
        count = rows.size
        own = np.ones(count, np.bool_) if rows.own is None else rows.own
        reported = own if rows.reported is None else rows.reported
        self.rows += int(np.count_nonzero(own))
        times = self.reader.times(rows).copy()  # may share memory with the caller
        processed = own
        columns = rows.columns
        if self.counted:
            columns = [*columns, pa.array(own)]
            processed = np.ones(count, np.bool_) if rows.dropped is None else ~rows.dropped
        usable = OrderedRows(times, np.arange(arrival, arrival + count), columns)
        late, bad, beginning = None, None, FOREVER
        reasons = self.reader.reasons(rows, self.newest, now_us)
        if reasons is not None:
            good = is_good(reasons, count)
            if not (good | ~reported).all():
                given = self.reader.given(rows)
                bad = self.reader.bad_rows(given, rows.columns, reasons, ~good & reported)
                self.bad, self.bad_reason = self.bad + bad.num_rows, str(bad["_reason"][-1])
            usable = usable.take(np.flatnonzero(good))
            processed, reported = processed[good], reported[good]
        if usable.ts.size:
            limits = self._limits(usable.ts, watermark)
            self.note(int(usable.ts.max()), now_us)
            is_late = usable.ts < limits
            if (is_late & reported).any():
                declared = usable.columns[: len(self.definition.schema)]
                late = self.reader.late_rows(declared, is_late & reported, limits)
                self.late += late.num_rows
            processed = processed & ~is_late
            if not processed.all():
                beginning = int(np.maximum(usable.ts, limits)[~processed].min())
                usable = usable.take(np.flatnonzero(processed))
        self.held.add(self._thinned(usable))
        return Accepted(late, bad, beginning)

    def _accept_plain(self, times: PlainTimes, rows: TypedRows, arrival: int, now_us: int) -> None:
        ts, count, columns = times.us, times.us.size, rows.columns
        self.rows += count
        self.seen += count
        self.note(times.last, now_us)
        thins = self.box is not None or self.utility is not None
        kept = self._kept(columns, times) if thins else None
        if kept is None:
            is_own = rows.given is None
            arrivals = np.arange(arrival, arrival + count)
            usable = OrderedRows(ts if is_own else ts.copy(), arrivals, columns, None, is_own)
        else:
            usable = OrderedRows(ts.take(kept), arrival + kept, columns, kept)
        self.kept += usable.ts.size
        self.held.add(usable)

    def note(self, ts: int, now_us: int) -> None:
        """Record usable rows up to a timestamp."""
        self.newest = max(self.newest, ts)
        self.active_us = max(self.active_us, now_us)

    def forget_time(self) -> None:
        """Treat later rows as the first of the stream."""
        self.newest = BEGINNING
        if self.utility is not None:
            self.utility.forget()

    def await_rows(self, now_us: int) -> None:
        """Measure the time without rows from now on, if it is not measured yet."""
        if self.active_us == BEGINNING:
            self.active_us = now_us

    @property
    def reached(self) -> int:
        """The largest timestamp minus the lateness; BEGINNING before the first row."""
        return BEGINNING if self.newest == BEGINNING else self.newest - self.definition.lateness_us

    def bound(self, now_us: int) -> StreamBound:
        """The watermark of this stream alone."""
        stream, since = self.definition, self.active_us
        idle_us = stream.idle_us
        idle = idle_us is not None and since > BEGINNING and now_us - since >= idle_us
        return StreamBound(stream.name, self.reached, idle, since)

    def waiting(self) -> pa.Table:
        """The rows that wait, in order of time: timestamp and arrival number (int64), then the
        columns ``stored``.
        """
        held, names = self.held.whole(), [field.name for field in self.stored]
        numbers = [pa.array(held.ts), pa.array(held.arrival)]
        return pa.Table.from_arrays([*numbers, *held.columns], ["ts", "arrival", *names])

    def take_over(self, waiting: pa.Table) -> None:
        """Hold what :meth:`waiting` of another engine returned; none waits here."""
        ts, arrival, *columns = (flat(column) for column in waiting.columns)
        self.held.restore(OrderedRows(ts.to_numpy(), arrival.to_numpy(), columns))

    def refuse(self, columns: list[pa.Array], reason: str) -> pa.Table:
        """Released rows that are bad, as text with the reason."""
        table = pa.Table.from_arrays(columns, schema=arrow_schema(self.definition.schema))
        self.bad, self.bad_reason = self.bad + table.num_rows, reason
        every = np.ones(table.num_rows, np.bool_)
        return self.reader.bad_rows(table, columns, pa.repeat(reason, every.size), every)

    def _limits(self, ts: Array, watermark: int) -> Array:
        """int64[n]: the instant before which each row is late; rows in order of arrival."""
        if self.definition.lateness_by == "batch":
            return np.full(ts.size, watermark, np.int64)
        before = np.concatenate(([self.newest], ts[:-1]))
        newest = np.maximum(np.maximum.accumulate(before), self.newest)
        limits: Array = np.maximum(newest - self.definition.lateness_us, watermark)
        return limits

    def thin(self, keep: float) -> None:
        """Keep this share of the rows that are later than all so far; of earlier ones that come out
        of order the share of their time. If it is 1, all are kept.
        """
        self.steps.step(BEGINNING if self.newest == BEGINNING else self.newest + 1, keep)
        self.box = DropBox(self.definition.name, keep) if keep < 1 else None

    def rank(self, utility: Expr | None, period_us: int) -> None:
        """From now on drop the rows of the lowest utility; None: draw those that are dropped.

        Args:
            utility: over the columns. period_us: see ``UtilityBox``.
        """
        if utility is None:
            self.utility = None
        elif self.utility is None or self.utility.utility != utility:
            self.utility = UtilityBox(self.definition.name, utility, period_us)

    @property
    def keep(self) -> float:
        """The share that is kept of the latest rows."""
        return 1.0 if self.box is None else self.box.keep

    def keep_from(self, ts: int) -> float:
        """The largest share that is kept of rows from an instant on; of ranked ones 1, as of any
        part of them all may be kept.
        """
        if self.box is None or self.utility is not None:
            return 1.0
        return self.steps.largest(ts)

    def _thinned(self, rows: OrderedRows) -> OrderedRows:
        """The rows that the drop box keeps, and those of other engines."""
        own = self.own(rows.columns)
        count = rows.ts.size if own is None else int(np.count_nonzero(own))
        self.seen += count
        columns = rows.columns[: len(self.definition.schema)]
        keeps = self._keeps(columns, rows.ts) if rows.ts.size else None
        if keeps is not None:
            count = int(np.count_nonzero(keeps if own is None else keeps & own))
            rows = rows.take(np.flatnonzero(keeps if own is None else keeps | ~own))
        self.kept += count
        return rows

    def _keeps(self, columns: list[pa.Array], ts: Array) -> Array | None:
        """bool[n]: whether rows with these declared columns and times are kept; None: all are."""
        if self.utility is not None:
            kept = self.utility.keeps(columns, ts, self.steps.at(ts))
            return None if kept.all() else kept
        return None if self.box is None else self.box.keeps(columns, self.steps.at(ts))

    def _kept(self, columns: list[pa.Array], times: PlainTimes) -> Array | None:
        """int64[k]: the numbers of those of these rows that are kept; None: all are."""
        if self.utility is None:
            if self.box is None:
                return None
            if times.first >= self.steps.since:  # at one rate
                return self.box.places(columns)
        keeps = self._keeps(columns, times.us)
        return None if keeps is None else np.flatnonzero(keeps)

    def own(self, columns: list[pa.Array]) -> Array | None:
        """bool[n]: of rows with the columns ``stored``, which are the engine's own; None: all."""
        if not self.counted:
            return None
        own: Array = columns[-1].to_numpy(zero_copy_only=False)
        return own

    def own_rows(self, ts: Array, columns: list[pa.Array]) -> tuple[Array, list[pa.Array]]:
        """The engine's own rows among some with the columns ``stored``: timestamps and columns."""
        own = self.own(columns)
        if own is None:
            return ts, columns
        return ts[own], [c.filter(pa.array(own)) for c in columns]

    def stats(self, stem: Stem | None) -> dict[str, int]:
        """Counters since the declaration of the stream; waiting rows, and rows in its SteM."""
        return {
            "rows_in": self.rows,
            "late": self.late,
            "bad": self.bad,
            "dropped": self.seen - self.kept,
            "held": len(self.held),
            "held_bytes": self.held.nbytes,
            "rows_kept": 0 if stem is None else len(stem),
        }

    def state(self) -> State:
        """Counters and waiting rows as plain arrays."""
        held = self.held.whole()
        table = pa.table(held.columns, schema=arrow_schema(self.stored))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        counters = [self.newest, self.active_us, self.rows, self.late, self.bad]
        return {
            "counters": np.array([*counters, self.seen, self.kept], np.int64),
            "ts": held.ts,
            "arrival": held.arrival,
            "steps": self.steps.state(),
            "utility": {} if self.utility is None else self.utility.state(),
            "rows": np.frombuffer(sink.getvalue(), np.uint8),
        }

    def restore(self, state: State) -> None:
        """Restore ``state``."""
        counters = (int(v) for v in array(state, "counters"))
        self.newest, self.active_us, *counts = counters
        self.rows, self.late, self.bad, self.seen, self.kept = counts
        self.steps.restore(array(state, "steps"))
        if self.utility is not None:
            self.utility.restore(nested(state, "utility"))
        table = pa.ipc.open_stream(pa.py_buffer(array(state, "rows"))).read_all()
        columns = [flat(c) for c in table.columns]
        self.held.restore(OrderedRows(array(state, "ts"), array(state, "arrival"), columns))
