"""The embedded engine: standing queries over streams, in one process, without Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from eddyline.algebra.functions import FunctionKind
from eddyline.bulk import without_collections
from eddyline.engine.calibration import prices_of_machine
from eddyline.engine.changes import Changes
from eddyline.engine.checkpoint.files import read_saved
from eddyline.engine.checkpoint.segments import Segments
from eddyline.engine.completion import ENGINE, offers
from eddyline.engine.functions import add_function, make_function
from eddyline.engine.ingest.intake import Elsewhere
from eddyline.engine.instants import Instant, instant_us
from eddyline.engine.locking import EngineLock, locked
from eddyline.engine.options import DEFAULT_STRATEGY, DEFAULTS, EngineOptions, StrategyOptions
from eddyline.engine.query import Query
from eddyline.engine.settings import Settings
from eddyline.engine.shown import overview
from eddyline.engine.statements import changed_options, one_select
from eddyline.engine.wiring import connect
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.verdict import Verdict
from eddyline.physical.strategy import FeedbackForm
from eddyline.runtime.stores.freed_memory import keep_freed_memory
from eddyline.sql import statements as st
from eddyline.sql.parser import parse
from eddyline.types import BEGINNING

if TYPE_CHECKING:
    from eddyline.console.console import Console


@offers(ENGINE)
class Engine:
    """Runs standing queries over streams and tables. See the README for a first example.

    Rows are processed in the order (ts, arrival), and the clock advances, up to the *watermark*.
    Threads may call an engine and its queries, one after the other; functions of a query may not.

    Args:
        options: capacity, limits and statistics; see :class:`EngineOptions`. Those that ``SET``
            names can be changed until the first query is added.
        strategy: algorithms and structures to compare; see :class:`StrategyOptions`.

    Attributes:
        parts: the components of the engine, for measurements and tests of single ones.
        wall_clock: replaceable; returns microseconds since 1970, for AHEAD AT MOST and IDLE AFTER.
    """

    def __init__(
        self, options: EngineOptions = DEFAULTS, strategy: StrategyOptions = DEFAULT_STRATEGY
    ) -> None:
        keep_freed_memory()
        prices = prices_of_machine() if options.prices is None else options.prices
        self._options = replace(options, prices=prices)
        self.strategy = strategy
        self.lock = EngineLock()
        self.wall_clock: Callable[[], int] = lambda: time.time_ns() // 1_000
        settings = Settings(self._options, strategy)
        self.parts = parts = connect(settings, prices, self.lock, lambda: self.wall_clock())
        self.catalog, self.statistics = parts.catalog, parts.statistics

    @property
    def options(self) -> EngineOptions:
        """As of now."""
        return self._options

    @property
    def queries(self) -> Mapping[str, Query]:
        """The standing queries by name, including those that are set aside."""
        return MappingProxyType(self.parts.queries.known)

    @property
    @locked
    def measured(self) -> Statistics:
        """Recent rates, sizes of tables, numbers of values of the columns that queries compare."""
        return self.parts.inputs.measuring.statistics()

    @property
    def clock(self) -> int:
        """The instant up to which all groups of streams are processed, in microseconds."""
        return self.parts.progress.clock

    @property
    def watermark(self) -> int:
        """Instant before which rows are late, in microseconds. Groups of streams have watermarks
        of their own (see ``stats``); this is the smallest one of groups that queries read.
        """
        return self.parts.progress.watermark

    def sql(self, text: str) -> list[Query | str | pa.Table | None]:
        """Run a script of statements separated by semicolons.

        Returns:
            Per statement: the query, the text of EXPLAIN, the table of SHOW or DESCRIBE, or None.

        Raises:
            SqlError: with the position of the wrong word. CatalogError: a name is taken or missing.
        """
        with without_collections():
            return [self.execute(statement) for statement in parse(text)]

    @locked
    def query(
        self,
        sql: str,
        name: str | None = None,
        parameters: Mapping[str, Any] = MappingProxyType({}),
    ) -> Query:
        """Add a standing query. Its first answer is over the rows that the windows hold now.

        Args:
            sql: one SELECT.
            parameters: the values of ``:name`` in it, which become constants: numbers, texts,
                booleans, datetimes, dates, timedeltas, None.

        Raises:
            SqlError: the text is not one SELECT. CatalogError: the name is taken.
        """
        select = one_select(sql, parameters)
        return self.parts.statements.add_query(name, select, select.emit, {})

    @locked
    def table(self, name: str, data: Any) -> None:
        """Supply the first rows (Arrow, pandas or polars) of a declared table, once.

        Those of a table that changes are there before any event; its changes go to ``process``.

        Raises:
            CatalogError: no such table, or it has rows already. DataError: columns do not fit.
        """
        self.parts.inputs.supply(name, data)

    @locked
    def function(
        self,
        name: str,
        evaluate: Callable[..., Any],
        *,
        args: Sequence[str],
        returns: str,
        kind: FunctionKind = "arrow",
    ) -> None:
        """Define a function of SQL in Python, for later statements.

        It must compute each row from its arguments alone, and always the same value: a restart
        computes results again. A row for which it raises, or all rows of a call whose result has
        another length or type, are bad rows of the queries that call it (``bad:QUERY``).

        Args:
            name: a letter, then letters, digits and _.
            evaluate: ``arrow``: takes Arrow arrays, returns an Arrow or NumPy array. ``pandas``:
                Series of nullable types (NaN in plain floats is NULL). ``python``: the values of
                one row; a NULL argument gives NULL without a call. ``aggregate``: a class, see
                docs/queries.md, CREATE FUNCTION.
            args, returns: SQL types of the arguments and of the result.
            kind: form of the call, see ``evaluate``.

        Raises:
            CatalogError: the name is taken. SqlError: a type is unknown. SetupError: pandas is not
                installed.
        """
        add_function(self.catalog, make_function(name, evaluate, args, returns, kind))

    def readers(self, name: str) -> list[str]:
        """The names of the queries and views that read a stream, table, view or query."""
        return [reader for _, reader in self.parts.definitions.readers(name)]

    @locked
    def drop(self, name: str) -> None:
        """Drop a standing query, and free what no other query uses.

        Raises:
            CatalogError: there is no such query.
        """
        self.parts.statements.drop_query(name)

    @locked
    def shed(self, keep: Mapping[str, float] | None) -> None:
        """Keep these shares of the rows to come, by stream, and all rows of other streams. A stream
        is thinned only while all its queries allow it. None: the engine decides.

        Raises:
            ValueError: a share is not in (0, 1].
        """
        self.parts.overload.shed(keep)

    @property
    def decides(self) -> bool:
        """Whether the engine decides which shares of the rows to keep; else they are set."""
        return self.parts.overload.decides

    @locked
    def hold(self) -> None:
        """Keep all rows from the next decision on, until queries are added or dropped."""
        self.parts.overload.hold()

    def explain(self, sql: str) -> str:
        """The plan of a SELECT."""
        return str(self.sql(f"EXPLAIN {sql}")[0])

    @locked
    def execute(self, statement: st.Statement) -> Query | str | pa.Table | None:
        """Execute one parsed statement, as ``sql`` does."""
        if isinstance(statement, st.SetOption):
            before, known = Settings(self._options, self.strategy), self.parts.queries.known
            settings = changed_options(before, statement, known)
            self._options, self.strategy = settings.options, settings.strategy
            self.parts.configure(settings)
            return None
        return self.parts.statements.execute(statement)

    def process(
        self,
        inputs: Mapping[str, Any],
        *,
        watermark: Instant | None = None,
        now: int | None = None,
        dropped: Mapping[str, int] = MappingProxyType({}),
        newest: Mapping[str, int] = MappingProxyType({}),
        oldest: Mapping[str, int] = MappingProxyType({}),
    ) -> Changes:
        """Process rows of any number of streams and changes of tables, merged by time; returns the
        changes of every query, late and bad rows.

        Args:
            inputs: rows by stream, as Arrow, pandas or polars data, a dict (one row), or several.
                Columns are matched by name, others are ignored; integers in a TIMESTAMP are
                microseconds. Changes by table: its columns, ``_ts`` (when) and optionally ``_op``:
                ``+`` (default) inserts the row, ``-`` deletes a row that is equal in all columns.
                Changes of one instant apply in the order supplied.
            watermark: all rows of all streams up to this instant (see ``advance``) are there.
                Default, per group of streams that queries join: the smallest of (largest timestamp
                - lateness) over its streams that are not idle; if all are idle it goes on with
                ``now``. Changes of tables wait, too.
            now: the wall clock (int64 us); default: ``wall_clock``.
            dropped: number of rows by stream that a drop box dropped before this call.
            newest, oldest: largest and smallest timestamps by stream, also of rows elsewhere.

        Raises:
            CatalogError: unknown stream, or static table. DataError: columns are missing or of the
                wrong type, or the watermark is no instant.
        """
        elsewhere = Elsewhere(dropped, newest, oldest) if dropped or newest or oldest else None
        return self.parts.feeding.process(inputs, watermark, now, elsewhere)

    def push(self, stream: str, row: Mapping[str, Any]) -> Changes:
        """Process a row, or a table's change, given as a dict: ``process({stream: row})``."""
        return self.process({stream: row})

    def push_many(self, stream: str, rows: Iterable[Mapping[str, Any]]) -> Changes:
        """Process rows given as dicts, by one call of ``process``."""
        return self.process({stream: rows})

    def stream(
        self,
        inputs: Mapping[str, Any] | Iterable[Mapping[str, Any] | None],
        *,
        watermark: Instant | None = None,
    ) -> Generator[tuple[str, pa.Table], None, None]:
        """Like ``process``, but yields (query name, changes) as soon as they are computed.

        Queries that join two streams over different windows are served by the option ``schedule``.

        Late and bad rows come first, as ``late:STREAM`` and ``bad:STREAM``; deletions without a row
        as ``bad:TABLE`` when they are processed. After an early stop the next call yields the rest.

        Args:
            inputs: as of ``process``; or an iterator of such, advanced when new rows would be
                served before queued ones. None from it: no rows now.
            watermark: as of ``process``, for one input.
        """
        return self.parts.feeding.stream(inputs, watermark)

    def advance(self, to: Instant) -> Changes:
        """Advance the time without rows: all rows before ``to`` have been supplied. Returns the
        changes caused by expiry and by rows that waited for the watermark.

        Queries without any row so far begin now.

        Args:
            to: an instant as ISO 8601 text (default zone: UTC), microseconds, or a datetime.
        """
        return self.parts.feeding.advance(instant_us(to))

    @locked
    def reset_watermark(self, stream: str) -> None:
        """``ALTER STREAM name RESET WATERMARK``, for example after a timestamp far in the future.

        The windows over the streams of its group become empty, and their queries begin again with
        the next row; reported results are not taken back. Rows that wait, and tables, stay.

        Raises:
            CatalogError: there is no such stream.
        """
        self.parts.statements.reset_watermark(stream)

    @property
    @locked
    def shedding(self) -> dict[str, dict[str, Any]]:
        """By stream that is, was or should be thinned: the share ``keep`` of the rows to come, rows
        ``seen`` and ``kept`` so far, and the reason ``why`` it is not thinned as requested.
        """
        return self.parts.shedding_report()

    @property
    @locked
    def verdict(self) -> Verdict | None:
        """The load of all queries, and drop boxes above a limit; None: a rate is not known."""
        return self.parts.overload.verdict()

    @property
    @locked
    def advice(self) -> str | None:
        """A sentence with the remedy if the queries need more than they may use; else None."""
        return self.parts.overload.advice()

    @property
    def newest(self) -> int | None:
        """The largest timestamp of all rows of streams, in microseconds; None without rows."""
        return None if (newest := self.parts.inputs.newest) == BEGINNING else newest

    @locked
    def groups(self, now: int | None = None) -> list[dict[str, Any]]:
        """The groups of streams and tables that queries join: ``members``; ``watermark``, ``clock``
        and ``newest`` by stream (us); rows ``held`` for the watermark, ``held_bytes`` and the
        stream ``held_by``; rows ``waiting`` by ``latency``. ``now``: the wall clock (int64 us).
        """
        return self.parts.progress.stats(self.wall_clock() if now is None else now)

    def console(
        self, address: str = "127.0.0.1:0", *, token: str | None = None, read_only: bool = False
    ) -> Console:
        """Serve a web page that shows the engine, and adds and drops queries, until it is closed:
        at its ``url``. See :class:`eddyline.console.console.Console` for arguments and errors.
        """
        from eddyline.console.console import Console
        from eddyline.engine.console_source import EngineSource

        source = EngineSource(self.parts, self.lock, lambda: self.wall_clock())
        return Console(source, address, token=token, read_only=read_only)

    def __repr__(self) -> str:
        return f"Engine({len(self.catalog.streams)} streams, {len(self.queries)} queries)"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return overview(self.catalog, self.queries) or escape(repr(self))

    @locked
    def stats(self) -> dict[str, Any]:
        """Clock, watermark and groups (see :meth:`groups`); counters per stream, changing table,
        query and operator; measured statistics; ``shedding``; and of ``cores`` and ``memory``
        (bytes) what queries ``had`` (None: no limit), ``needed``, most of it, and ``used``.
        """
        return self.parts.stats(self.wall_clock())

    @locked
    def save(self, target: str | Path | BinaryIO, segments: Segments | None = None) -> None:
        """Write statements, options, tables and state to a file; rows to ``segments``, if any."""
        self.parts.checkpoint.save(target, self._options, self.strategy, segments)

    @classmethod
    def load(
        cls,
        source: str | Path | BinaryIO,
        *,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        feedback_form: FeedbackForm | None = None,
        read: Callable[[int], pa.Buffer | bytes] | None = None,
        segments: Segments | None = None,
    ) -> Engine:
        """A new engine that continues where the saved one was.

        Args:
            functions: the code of user-defined functions by name, which is not saved.
            feedback_form: that of the engine's :class:`StrategyOptions`, which is not saved.
            read, segments: the content of segments, if it was saved with them; for its next save.

        Raises:
            StateError: the file is no saved engine or of another version, or functions are missing.
        """
        program, tables, header, state = read_saved(source, read, segments)
        strategy = StrategyOptions.from_dict(header["strategy"], feedback_form)
        engine = cls(EngineOptions.from_dict(header["options"]), strategy)
        engine.parts.checkpoint.restore(program, tables, header, state, functions or {})
        return engine
