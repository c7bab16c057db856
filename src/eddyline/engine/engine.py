"""The embedded engine: standing queries over streams, in one process, without Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, BinaryIO

import pyarrow as pa

from eddyline.algebra.functions import FunctionKind
from eddyline.engine.calibration import prices_of_machine
from eddyline.engine.changes import Changes
from eddyline.engine.checkpoint.files import read_saved
from eddyline.engine.functions import add_function, make_function
from eddyline.engine.instants import instant_us
from eddyline.engine.locking import EngineLock, locked
from eddyline.engine.options import (
    DEFAULT_STRATEGY,
    DEFAULTS,
    SETTABLE,
    EngineOptions,
    StrategyOptions,
)
from eddyline.engine.query import Query
from eddyline.engine.wiring import connect
from eddyline.errors import SqlError
from eddyline.optimizer.overload import Verdict
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import Work
from eddyline.physical.strategy import FeedbackForm
from eddyline.sql import statements as st
from eddyline.sql.parser import parse
from eddyline.types import BEGINNING


class Engine:
    """Runs standing queries over the rows it is given.

    Rows are processed in the order (ts, arrival) up to the *watermark*; the clock stands at the
    last instant processed. See the README for a first example.

    Threads may call an engine and its queries: each call waits until those before it have returned.
    What ``stream`` yields is made item by item, so calls of other threads may come in between. A
    function of a query cannot call the engine that it runs in.

    Args:
        options: capacity, limits and statistics; see :class:`EngineOptions`. Those that ``SET``
            names can be changed until the first query is added.
        strategy: algorithms and structures to compare; see :class:`StrategyOptions`.

    Attributes:
        parts: what the engine consists of, for measurements and tests of single parts.
        wall_clock: returns the time in microseconds since 1970, for AHEAD AT MOST and IDLE AFTER.
            It can be replaced.

    >>> import eddyline, pyarrow as pa
    >>> engine = eddyline.Engine()
    >>> _ = engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
    >>> q = engine.query("SELECT x FROM s [RANGE 10 SECONDS] WHERE x > 1", name="big")
    >>> out = engine.process({"s": pa.table({"ts": [0, 1_000_000], "x": [1, 2]})})
    >>> out["big"]["x"].to_pylist()
    [2]
    """

    def __init__(
        self, options: EngineOptions = DEFAULTS, strategy: StrategyOptions = DEFAULT_STRATEGY
    ) -> None:
        prices = prices_of_machine() if options.prices is None else options.prices
        self._options = replace(options, prices=prices)
        self.strategy = strategy
        self.lock = EngineLock()
        self.wall_clock: Callable[[], int] = _wall_clock
        self.parts = parts = connect(
            self._options, strategy, prices, self.lock, lambda: self.wall_clock()
        )
        self.catalog = parts.catalog
        self.statistics = parts.statistics

    @property
    def options(self) -> EngineOptions:
        """The options as they are now."""
        return self._options

    @property
    def chunk_rows(self) -> int:
        """Rows that run through the operators in one batch; it can be changed between calls."""
        return self._options.chunk_rows

    @chunk_rows.setter
    def chunk_rows(self, rows: int) -> None:
        self._options = replace(self._options, chunk_rows=rows)
        self.parts.progress.chunk_rows = rows

    @property
    def queries(self) -> Mapping[str, Query]:
        """The standing queries by name, those that are set aside among them."""
        return MappingProxyType(self.parts.queries.known)

    @property
    @locked
    def measured(self) -> Statistics:
        """What the engine has seen of its inputs so far: recent rates, sizes of tables, and numbers
        of values of the columns that queries compare. Plans go by :attr:`statistics`.
        """
        return self.parts.inputs.measuring.statistics()

    @property
    def clock(self) -> int:
        """The instant up to which everything is processed that queries read, in microseconds."""
        return self.parts.progress.clock

    @property
    def watermark(self) -> int:
        """Rows before this instant are late, in microseconds. If queries read streams that nothing
        brings together, the smallest of theirs; ``stats`` tells that of each group.
        """
        return self.parts.progress.watermark

    # -- statements ------------------------------------------------------------------------------

    def sql(self, text: str) -> list[Query | str | None]:
        """Run a script: CREATE, DROP, EXPLAIN and SELECT statements separated by semicolons.

        Returns:
            Per statement: the standing query, the text of EXPLAIN, or None.

        Raises:
            SqlError: with the position of the offending word. CatalogError: a name is taken or
                missing.
        """
        return [self.execute(statement) for statement in parse(text)]

    @locked
    def query(self, sql: str, name: str | None = None) -> Query:
        """Add a standing query. It is answered from now on, over what the windows still hold.

        Raises:
            SqlError: the text is not one SELECT. CatalogError: the name is taken.
        """
        parsed = parse(sql)
        if len(parsed) != 1 or not isinstance(parsed[0], st.SelectStatement):
            raise SqlError(f"query() takes one SELECT, not: {sql.strip()[:60]}")
        return self.parts.statements.add_query(name, parsed[0], parsed[0].emit, {})

    @locked
    def table(self, name: str, data: Any) -> None:
        """Give a declared table its first rows (Arrow, pandas or polars), once.

        A table that is updated has them before everything else; its changes go through
        ``process``.

        Raises:
            CatalogError: no such table, or it has rows already. DataError: columns do not fit.
        """
        self.parts.inputs.give(name, data)

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
        """Define a scalar function of SQL in Python, for the statements to come.

        It computes each row from its arguments alone, and always the same: rows come together as
        the data arrived, and after a restart results are computed anew. A row for which it fails
        is a bad row of the queries that call it (``bad:QUERY``); so are all rows of a call that
        returns something of another length or type. It cannot call the engine that it runs in.

        Args:
            name: a letter, then letters, digits and _.
            evaluate: the code, called by position. ``arrow``: with Arrow arrays, NULLs in them, and
                returns an array (of Arrow or NumPy) with a value per row. ``pandas``: with Series
                of pandas' nullable types, and returns a Series; in one of plain floats NaN is
                NULL. ``python``: with the values of one row, and returns one (None is NULL); a
                row with a NULL argument gives NULL without a call.
            args: SQL types of the arguments.
            returns: SQL type of the result.
            kind: how it is called, see ``evaluate``.

        Raises:
            CatalogError: the name is taken. SqlError: a type is unknown.

        >>> import eddyline, pyarrow.compute as pc
        >>> engine = eddyline.Engine()
        >>> engine.function("hypot", lambda a, b: pc.sqrt(pc.add(pc.multiply(a, a),
        ...     pc.multiply(b, b))), args=["DOUBLE", "DOUBLE"], returns="DOUBLE")
        """
        add_function(self.catalog, make_function(name, evaluate, args, returns, kind))

    def readers(self, name: str) -> list[str]:
        """The names of the queries and views that read a stream, table, view or query."""
        return [reader for _, reader in self.parts.definitions.readers(name)]

    @locked
    def drop(self, name: str) -> None:
        """Remove a standing query and free what nobody else needs.

        Raises:
            CatalogError: there is no such query.
        """
        self.parts.statements.drop_query(name)

    @locked
    def shed(self, keep: Mapping[str, float] | None) -> None:
        """From now on keep these shares of the rows of streams, and all rows of other streams.

        A stream is thinned only while every query that reads it allows it. None: let the engine
        decide, as without the option ``keep``.

        Raises:
            ValueError: a share is not in (0, 1].
        """
        self.parts.overload.shed(keep)

    @property
    def decides(self) -> bool:
        """Whether the engine decides which shares to keep, or somebody has said."""
        return self.parts.overload.decides

    @locked
    def hold(self) -> None:
        """Keep all rows from the next decision on, until a query has come or gone: one that allows
        nothing to be dropped is about to come.
        """
        self.parts.overload.hold()

    def explain(self, sql: str) -> str:
        """The plan of a SELECT that is not run."""
        result = self.sql(f"EXPLAIN {sql}")[0]
        assert isinstance(result, str)
        return result

    @locked
    def execute(self, statement: st.Statement) -> Query | str | None:
        """Carry out one statement of a script that was parsed, as ``sql`` does."""
        if isinstance(statement, st.SetOption):
            self._set(statement)
            return None
        return self.parts.statements.execute(statement)

    def _set(self, statement: st.SetOption) -> None:
        name, offsets = statement.name, statement.offsets
        if self.parts.queries.known:
            reason = f"options are fixed once there is a query: write SET {name} before the first"
            raise statement.source.error(offsets.name, reason)
        try:
            options = self._options.with_text(name, statement.value)
        except ValueError as e:
            at = offsets.value if name in SETTABLE else offsets.name
            raise statement.source.error(at, str(e)) from None
        self.parts.configure(options)
        self._options = options

    # -- data ------------------------------------------------------------------------------------

    @locked
    def process(
        self,
        inputs: Mapping[str, Any],
        *,
        watermark: int | None = None,
        now: int | None = None,
        dropped: Mapping[str, int] = MappingProxyType({}),
        newest_dropped: Mapping[str, int] = MappingProxyType({}),
    ) -> Changes:
        """Process rows of any number of streams and changes of tables, merged by time.

        Args:
            inputs: stream name -> rows, as Arrow, pandas or polars data. Columns go by name,
                others are ignored; integers given for a TIMESTAMP are microseconds.
                Table name -> changes of a table that is updated: the table's columns, ``_ts``
                (when) and perhaps ``_op``: ``+`` (the default) adds the row, ``-`` takes a row
                back that is equal in all columns. At one instant rows count in the order given.
            watermark: every row of every stream up to this instant (int64 us) has been handed over.
                Default, for each group of streams that queries bring together: the smallest of
                (largest timestamp - lateness) over its streams. So rows of one stream wait for
                those of the others, unless these are idle. Changes of tables wait, too.
            now: the wall clock (int64 us), by which streams are idle and timestamps too far ahead.
                Default: what ``wall_clock`` says.
            dropped: how many more rows of a stream there were that a drop box has dropped before
                they got here. They are counted. newest_dropped: their largest timestamp.

        Returns:
            The changes of every query, and the late and bad rows.

        Raises:
            CatalogError: unknown stream, or a table that is static. DataError: columns are missing
                or of the wrong type, or the watermark is no instant.
        """
        return self.parts.feeding.process(inputs, watermark, now, dropped, newest_dropped)

    def stream(
        self,
        inputs: Mapping[str, Any] | Iterable[Mapping[str, Any] | None],
        *,
        watermark: int | None = None,
    ) -> Iterator[tuple[str, pa.Table]]:
        """Like ``process``, but yields (query name, changes) as soon as they are made.

        Queries that join the same two streams over different windows need not wait for the largest
        one: option ``schedule`` says whose results come first. Each query's own changes come in the
        same order as ever.

        Late and bad rows come first, as ``late:STREAM`` and ``bad:STREAM``; deletions for which a
        table has no row, as ``bad:TABLE``, when they are found. A caller that stops early gets the
        rest from the next call.

        Args:
            inputs: as of ``process``; or an iterator over such, asked for more whenever new rows
                would be served before those that wait. ``None`` from it: nothing has come.
            watermark: as of ``process``, for one input.
        """
        return self.parts.feeding.stream(inputs, watermark, self.lock)

    @locked
    def advance(self, to: str | int | datetime) -> Changes:
        """Let time pass without rows: no row before ``to`` will come.

        Queries begin now, if they have not begun with a row before.

        Args:
            to: an instant as ISO 8601 text (UTC unless it says otherwise), microseconds, or a
                datetime.

        Returns:
            What expiry and rows that were held bring about.
        """
        return self.parts.feeding.advance(instant_us(to))

    @locked
    def reset_watermark(self, stream: str) -> None:
        """Let nothing be late by what has come so far, in the group of a stream: as after a
        timestamp far in the future has come. Also ``ALTER STREAM name RESET WATERMARK``.

        The windows of the queries that read the group's streams are empty then, and these queries
        begin again with the next row; what they have reported is not taken back. Rows that wait for
        the watermark go on waiting, tables keep their rows.

        Raises:
            CatalogError: there is no such stream.
        """
        self.parts.statements.reset_watermark(stream)

    # -- looking inside, saving --------------------------------------------------------------------

    @property
    @locked
    def shedding(self) -> dict[str, dict[str, Any]]:
        """By stream that is thinned, was, or was meant to be: the share ``keep`` of the rows to
        come, rows ``seen`` and ``kept`` so far, and ``why`` it is not thinned as asked.
        """
        return self._thinned()

    def _thinned(self) -> dict[str, dict[str, Any]]:
        self.parts.overload.begin_call()
        return self.parts.shedding.report()

    @property
    @locked
    def verdict(self) -> Verdict | None:
        """What all queries are expected to need of the capacity, and how drop boxes are best set if
        that is more than there is; None where the rate of a stream that they read is not known.
        """
        return self.parts.overload.verdict()

    @property
    @locked
    def works(self) -> list[Work]:
        """What runs for the queries, as the optimizer reckons with it."""
        return self.parts.queries.workload.works()

    @property
    @locked
    def advice(self) -> str | None:
        """In a sentence, what to do if the queries need more than the capacity; None if not."""
        return self.parts.overload.advice()

    @property
    def newest(self) -> int | None:
        """The largest timestamp of any row of a stream, in microseconds; None: there is none."""
        newest = self.parts.inputs.newest()
        return None if newest == BEGINNING else newest

    @locked
    def groups(self, now: int | None = None) -> list[dict[str, Any]]:
        """The groups of streams and tables that queries bring together: ``members``, ``watermark``
        and ``clock`` in microseconds, the largest timestamp of each stream (``newest``), the number
        of rows that wait for the watermark (``held``), and by which stream they are ``held_by``, if
        by any.

        Args:
            now: the wall clock (int64 us), by which streams are idle; default: ``wall_clock``.
        """
        return self._groups(now)

    def _groups(self, now: int | None = None) -> list[dict[str, Any]]:
        return self.parts.progress.stats(self.wall_clock() if now is None else now)

    @locked
    def stats(self) -> dict[str, Any]:
        """The clock, and the groups of streams that queries bring together, each with its
        watermark, rows that wait for it, and the stream that holds it up. Counters: per stream, per
        table that is updated, per query and per operator; what was measured of the inputs, as
        :meth:`Statistics.as_dict` tells it; and of streams that are thinned, or were meant to be,
        which share is kept and why.
        """
        streams, tables = self.parts.inputs.stats()
        return {
            "clock": self.clock,
            "watermark": self.watermark,
            "groups": self._groups(),
            "streams": streams,
            "tables": tables,
            "shedding": self._thinned(),
            "queries": self.parts.queries.stats(),
            "operators": [o.stats() for o in self.parts.queries.operators()],
            "measured": self.parts.inputs.measuring.statistics().as_dict(),
        }

    @locked
    def save(self, target: str | BinaryIO) -> None:
        """Write program, tables and state, so that ``load`` continues exactly here."""
        self.parts.checkpoint.save(target, self._options, self.strategy)

    @classmethod
    def load(
        cls,
        source: str | BinaryIO,
        *,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        feedback_form: FeedbackForm | None = None,
    ) -> Engine:
        """The engine that was saved.

        Args:
            source: a path or a binary file.
            functions: the code of those that were defined with ``function``, by name: it is not
                saved. What else was said of them is.
            feedback_form: that of the engine's :class:`StrategyOptions`, which is not saved.

        Raises:
            StateError: this is not a saved engine, it is of a version that cannot be read, or
                functions are missing.
        """
        program, tables, header, state = read_saved(source)
        options = EngineOptions.from_dict(header["options"])
        strategy = StrategyOptions.from_dict(header["strategy"], feedback_form)
        engine = cls(options, strategy)
        engine.parts.checkpoint.restore(program, tables, header, state, functions or {})
        return engine


def _wall_clock() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1_000
