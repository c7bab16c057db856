"""The streams and tables of an engine: from a caller's rows to the SteMs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.ingest.intake import Elsewhere, Intake
from eddyline.engine.ingest.measuring import Measuring
from eddyline.engine.ingest.ordered_rows import ARRIVALS_PER_CALL, OrderedRows, chunks
from eddyline.engine.ingest.row_reader import RowReader
from eddyline.engine.ingest.table_changes import ChangeIntake, is_live
from eddyline.engine.ingest.tables import ParameterTable, load_table, static_stem, table_columns
from eddyline.engine.ingest.watermarks import StreamBound, StreamGroup, StreamGroups, watermark_of
from eddyline.errors import CatalogError, did_you_mean
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.runtime.stores.table import TableStem
from eddyline.sql.catalog import Names
from eddyline.types import BEGINNING, FOREVER

_Counters = dict[str, dict[str, int]]


class Inputs:
    """Streams and tables by name.

    Attributes:
        stems: of streams, and of tables once a query reads them or they change.
        contents: the initial rows of tables that were supplied or loaded; for a table that changes
            only until its first change.
        counted: the counted streams, see ``counted_streams``; set before they are added.
        arrived: number of rows accepted. arrival: arrival number of the next one.
        sequence: number of rows processed. newest: the largest timestamp seen in any stream.
        measuring: their rates and numbers of values. groups: their watermarks and clocks.
    """

    def __init__(self) -> None:
        self.stems: Names[Stem] = Names()
        self.contents: Names[pa.Table] = Names()
        self.counted: frozenset[str] = frozenset()
        self.arrived = 0
        self.arrival = 0
        self.sequence = 0
        self.newest = BEGINNING
        self.measuring = Measuring(self.stems)
        self.groups = StreamGroups()
        self._ahead_us: int | None = None
        self._intakes: Names[Intake] = Names()
        self._tables: Names[TableDef] = Names()
        self._parameters: set[str] = set()  # tables with a query per row
        self._refused: dict[str, list[pa.Table]] = {}
        self._begun: set[str] = set()  # tables that may have changed

    def add_stream(self, definition: StreamDef) -> None:
        """Add a declared stream."""
        reader = RowReader(definition)
        if reader.ahead_us is None:
            reader.ahead_us = self._ahead_us
        intake = Intake(reader, counted=definition.name in self.counted)
        self._intakes[definition.name] = intake
        intake.stem = Stem(definition.name, intake.stored)
        self.stems[definition.name] = intake.stem
        self.groups.add(definition.name, is_stream=True, may_be_idle=definition.idle_us is not None)
        self.measuring.add_stream(definition.name, definition.schema)

    def limit_ahead(self, ahead_us: int | None) -> None:
        """Limit timestamps ahead of the wall clock, where the stream does not; None: no limit."""
        self._ahead_us = ahead_us
        for intake in map(self._intakes.__getitem__, self.streams()):
            if intake.reader.definition.ahead_us is None:
                intake.reader.ahead_us = ahead_us

    def add_table(self, definition: TableDef) -> None:
        """Add a declared table."""
        self._tables[definition.name] = definition
        if is_live(definition):
            self._intakes[definition.name] = ChangeIntake(definition)
            self.groups.add(definition.name, is_stream=False)
        self.measuring.add_table(definition.name, definition.schema, changes=is_live(definition))

    def drop(self, name: str) -> None:
        """Remove a stream or table."""
        for names in (self.stems, self.contents, self._intakes, self._tables):
            names.pop(name, None)
        self.groups.drop(name)
        self._begun.discard(name)
        self.measuring.drop(name)
        self._find_newest()

    def supply(self, name: str, data: Any) -> None:
        """Set the initial rows of a table.

        Raises:
            CatalogError: the table is unknown, or has rows. DataError: columns do not fit.
        """
        definition = self._tables.get(name)
        if definition is None:
            raise CatalogError(f"there is no table {name!r}; {did_you_mean(name, self._tables)}")
        if name in self.contents:
            advice = "; its changes go through process()" if is_live(definition) else ""
            raise CatalogError(f"table {definition.name!r} already has its rows{advice}")
        self.contents[definition.name] = table_columns(definition, data)

    def stem(self, name: str) -> Stem:
        """The SteM of a stream or table; that of a table is created on first use.

        Raises:
            DataError: the table has no rows, or they cannot be read.
        """
        try:
            return self.stems[name]
        except KeyError:
            definition = self._tables[name]
        if name not in self.contents:
            self.contents[name] = load_table(definition)
        self.stems[name] = stem = self._table_stem(definition)
        if is_live(definition):
            self._intakes[name].stem = stem
        return stem

    def parameters(self, name: str) -> ParameterTable:
        """A table whose rows are parameters of a query: each change is a chunk of its own now."""
        stem = self.stem(name)
        definition = self._tables[name]
        if is_live(definition):
            self._parameters.add(definition.name)
        return ParameterTable(stem, definition.updates)

    def _table_stem(self, definition: TableDef) -> Stem:
        contents = self.contents[definition.name]
        if is_live(definition):
            table = TableStem(definition.name, definition.schema)
            table.load(contents)
            if definition.name in self._begun:
                self.contents[definition.name] = contents.slice(0, 0)
            return table
        return static_stem(definition, contents)

    # -- rows ----------------------------------------------------------

    def begin(self, group: StreamGroup) -> None:
        """Mark a group as begun: from now on its tables may change."""
        for name in group.members:
            if isinstance(self._intakes[name], ChangeIntake):
                self._begun.add(name)
                if name in self.stems and name in self.contents:
                    self.contents[name] = self.contents[name].slice(0, 0)

    def accept(
        self, inputs: Mapping[str, Any], now_us: int
    ) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
        """Accept rows of streams and changes of tables: all of them, or none on an error.

        Args:
            now_us: the wall clock.

        Returns:
            Late rows and bad rows by name.

        Raises:
            CatalogError: unknown name, or the table is static. DataError: columns are missing or of
                the wrong type.
        """
        late, bad = {}, {}
        typed = [(i := self.intake(name), i.reader.read(data)) for name, data in inputs.items()]
        self.arrival += ARRIVALS_PER_CALL - self.arrival % ARRIVALS_PER_CALL
        for intake, incoming in typed:
            group = self.groups.by_name[intake.definition.name]
            accepted = intake.accept(incoming, group.watermark, self.arrival, now_us)
            self._moves(group, intake)
            if accepted.beginning < FOREVER:
                group.note_beginning(accepted.beginning)
            self.arrived += incoming.size
            self.arrival += incoming.size
            if accepted.late is not None:
                late[intake.definition.name] = accepted.late
            if accepted.bad is not None:
                bad[intake.definition.name] = accepted.bad
        return late, bad

    def _moves(self, group: StreamGroup, intake: Intake) -> None:
        """The times of a stream or table of a group have changed."""
        self.groups.moving.add(group)
        if intake.newest > self.newest and not isinstance(intake, ChangeIntake):
            self.newest = intake.newest

    def _find_newest(self) -> None:
        """Times of streams may be smaller than before."""
        newest = (self._intakes[stream].newest for stream in self.streams())
        self.newest = max(newest, default=BEGINNING)

    def intake(self, name: str) -> Intake:
        """Accepts the rows of a stream, or the changes of a table.

        Raises:
            CatalogError: unknown name, or the table is static.
        """
        try:
            return self._intakes[name]
        except KeyError:
            pass
        if name in self._tables:
            raise CatalogError(
                f"table {name!r} is static: declare it WITH (updates = 'retroactive'), or "
                "'non-retroactive', so that it can change while queries run"
            )
        raise CatalogError(f"there is no stream {name!r}; {did_you_mean(name, self._intakes)}")

    def rows_in(self, streams: Iterable[str]) -> int:
        """Number of rows of some streams so far, bad ones included."""
        return sum(self._intakes[s].rows for s in streams if s in self._intakes)

    def streams(self) -> list[str]:
        """The names of the streams."""
        return [n for n, i in self._intakes.items() if not isinstance(i, ChangeIntake)]

    def largest_keep(self, stream: str) -> float:
        """The largest share that is kept of the rows that may come and are not late."""
        return self._intakes[stream].keep_from(self.groups.by_name[stream].watermark)

    def note_elsewhere(self, rows: Elsewhere, now_us: int) -> None:
        """Take rows into account that are not processed here."""
        for stream, n in rows.dropped.items():
            self._intakes[stream].seen += n
        for stream, ts in rows.oldest.items():
            group = self.groups.by_name[stream]
            group.note_beginning(max(ts, group.watermark, self._intakes[stream].limit))
            self.groups.moving.add(group)
        for stream, ts in rows.newest.items():
            self._intakes[stream].note(ts, now_us)
            self._moves(self.groups.by_name[stream], self._intakes[stream])

    def last(self) -> int:
        """The largest timestamp since the last reset, and of rows that wait; BEGINNING: none."""
        return max((i.last for i in self._intakes.values()), default=BEGINNING)

    def newest_of(self, stream: str) -> int | None:
        """The largest timestamp seen in a stream; None: there is none."""
        newest = self._intakes[stream].newest
        return None if newest == BEGINNING else newest

    def times(self, names: Iterable[str]) -> dict[str, tuple[int, int]]:
        """By stream and table: the largest timestamp, and the wall clock at the last usable row."""
        intakes = {name: self._intakes[name] for name in names}
        return {name: (intake.newest, intake.active_us) for name, intake in intakes.items()}

    def set_times(self, times: Mapping[str, tuple[int, int]]) -> None:
        """Set what :meth:`times` returned."""
        for name, (newest, active_us) in times.items():
            self._intakes[name].newest, self._intakes[name].active_us = newest, active_us
            self._moves(self.groups.by_name[name], self._intakes[name])

    def bounds(self, group: StreamGroup, now_us: int) -> list[StreamBound]:
        """The bounds of the streams of a group that queries read; if there are none, of all."""
        return [self._intakes[name].bound(now_us) for name in group.leading]

    def watermark(self, group: StreamGroup, now_us: int) -> int:
        """The watermark that follows from the rows of the streams that lead a group."""
        least, may_be_idle = FOREVER, False
        for name in group.leading:
            intake = self._intakes[name]
            least = min(least, intake.reached)
            if intake.definition.idle_us is not None:
                may_be_idle = True
                intake.await_rows(now_us)
        return watermark_of(self.bounds(group, now_us), now_us) if may_be_idle else least

    def fill(
        self, group: StreamGroup, watermark: int, chunk_rows: int, *, to_watermark: bool
    ) -> Iterator[Tick]:
        """Append the rows up to the watermark of a group to their SteMs, in order of (ts, arrival);
        yields the time span of each chunk once its rows are there.

        Args:
            to_watermark: the last chunk ends there and not at its last row, unless rows may be
                parameters of queries.
        """
        ready, count = {}, 0
        for name in group.members:
            rows = self._intakes[name].held.release(watermark)
            if rows.ts.size:
                ready[name] = rows
                count += rows.ts.size
        if not ready:
            return
        are_apart = not self._parameters.isdisjoint(ready)
        end = watermark if to_watermark and not are_apart else None
        if len(ready) == 1 and count <= chunk_rows and not are_apart:
            ((name, rows),) = ready.items()
            first = 2 * self.sequence + 1
            self._put(name, rows, np.arange(first, first + 2 * count, 2))
            yield self._passed(group, rows.ts, end)
        else:
            left = count
            for chunk in chunks(ready, self._parameters, chunk_rows):
                left -= chunk.ts.size
                if chunk.apart:  # rows expire up to this instant before the change is applied
                    yield Tick(int(chunk.ts[0]))
                for name, (rows, numbers) in chunk.parts.items():
                    self._put(name, rows, 2 * (self.sequence + numbers) + 1)
                tick = self._passed(group, chunk.ts, None if left else end)
                yield tick._replace(following=left)
        self.sequence += count

    def _passed(self, group: StreamGroup, ts: Array, to: int | None) -> Tick:
        """The time span of a chunk: to an instant, or to the last of these timestamps."""
        last = int(ts[-1])
        for name in group.members:
            self.measuring.meters[name].pass_time(last)
        return Tick(last if to is None else to, first_row=int(ts[0]))

    def _put(self, name: str, rows: OrderedRows, seq: Array) -> None:
        """Append rows; ``seq``: as of a batch."""
        intake, ts, columns = self._intakes[name], rows.ts, rows.columns
        if not isinstance(intake, ChangeIntake):
            assert intake.stem is not None, "streams have one"
            own = intake.own_rows(ts, columns) if intake.counted else (ts, columns)
            self.measuring.meters[name].see(*own, rows.places)
            intake.stem.add(ts, seq, columns, rows.places, is_own=rows.is_own)
            return
        stem = self.stem(name)
        assert isinstance(stem, TableStem), "tables that change have a TableStem"
        self.measuring.meters[name].see(ts[intake.additions(columns)], ())
        refused = intake.apply(stem, ts, seq, columns)
        if refused is not None:
            self._refused.setdefault(name, []).append(refused)

    def refused(self) -> dict[str, pa.Table]:
        """By table, the changes that failed since the last call, as bad rows."""
        if not self._refused:
            return {}
        refused, self._refused = self._refused, {}
        return {name: pa.concat_tables(parts) for name, parts in refused.items()}

    def purge(self, group: StreamGroup) -> None:
        """Remove the rows that no window needs, after a chunk of a group."""
        for name in group.members:
            stem = self._intakes[name].stem
            if stem is not None:
                stem.purge(group.clock)

    def restart(self, group: StreamGroup) -> None:
        """Reset the times of a group. Its streams must not have windows of queries."""
        for name in group.members:
            self._intakes[name].forget_time()
        self._find_newest()
        self.groups.moving.add(group)
        self.purge(group)
        self.measuring.restart(group.members)

    def held_times(self) -> list[tuple[Array, Array]]:
        """Of rows that wait, in several parts: timestamps, in order, and arrival numbers."""
        return [times for intake in self._intakes.values() for times in intake.held.times()]

    def first_held(self, group: StreamGroup) -> int:
        """The smallest timestamp of the rows that wait for the watermark; FOREVER without any."""
        held = (self._intakes[name].held.first for name in group.members)
        return min(held, default=FOREVER)

    def held(self, group: StreamGroup) -> tuple[int, int]:
        """Rows of a group that wait for its watermark, and their size in memory."""
        held = [self._intakes[name].held for name in group.members]
        return sum(map(len, held)), sum(rows.nbytes for rows in held)

    # -- statistics and checkpoints ------------------------------------

    def stats(self) -> tuple[_Counters, _Counters]:
        """Counters by stream, and by table that changes."""
        streams: _Counters = {}
        tables: _Counters = {}
        for name, intake in self._intakes.items():
            counters = intake.stats(self.stems.get(name))
            (tables if isinstance(intake, ChangeIntake) else streams)[name] = counters
        return streams, tables

    def state(self) -> State:
        """Waiting rows and SteMs as plain arrays; without ``contents``."""
        return {
            "intakes": {n: i.state() for n, i in self._intakes.items()},
            "stems": {n: self.stems[n].state() for n in self._intakes if n in self.stems},
            "meters": self.measuring.state(),
        }

    def restore(self, state: State) -> None:
        """Restore ``state``; streams, tables and contents exist already."""
        for name, intake in self._intakes.items():
            intake.restore(nested(nested(state, "intakes"), name))
        for name in nested(state, "stems"):
            self.stem(name).restore(nested(nested(state, "stems"), name))
        self._find_newest()
        self.groups.moving.update(self.groups.all)
        self.measuring.restore(nested(state, "meters"))
