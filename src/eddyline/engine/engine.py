"""The embedded engine: standing queries over streams, in one process, without Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import inf
from types import MappingProxyType
from typing import Any, BinaryIO, Literal

import pyarrow as pa

from eddyline.algebra.functions import FunctionKind
from eddyline.engine.calibration import prices_of_machine
from eddyline.engine.change_collector import Telling
from eddyline.engine.changes import Changes
from eddyline.engine.checkpoint.checkpoint import Saving, options_of
from eddyline.engine.checkpoint.files import read_saved
from eddyline.engine.declared_statistics import DeclaredStatistics
from eddyline.engine.definitions import Definitions
from eddyline.engine.execution.progress import Progress
from eddyline.engine.functions import add_function, make_function
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.instants import checked_instant, instant_us
from eddyline.engine.locking import EngineLock, locked
from eddyline.engine.overload.controller import Overload
from eddyline.engine.overload.shedding import Shedding
from eddyline.engine.placement.replanning import Replanner
from eddyline.engine.planning import Planning
from eddyline.engine.query import Query
from eddyline.engine.query_set import QuerySet
from eddyline.engine.statements import Statements
from eddyline.errors import SqlError
from eddyline.optimizer.overload import Verdict
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.optimizer.work import Work
from eddyline.physical.flows import Executor, Schedules, Selections, Sharing
from eddyline.physical.strategy import Feedback, Mns, StateStrategy, Strategy
from eddyline.runtime.eddy.policies import PolicyName
from eddyline.sql import statements as st
from eddyline.sql.catalog import Catalog
from eddyline.sql.durations import parse_duration
from eddyline.sql.parser import parse
from eddyline.types import BEGINNING, FIRST_INSTANT


class Engine:
    """Runs standing queries over the rows it is given.

    Rows are processed in the order (ts, arrival) up to the *watermark*; the clock stands at the
    last instant processed. See the README for a first example.

    Threads may call an engine and its queries: each call waits until those before it have returned.
    What ``stream`` yields is made item by item, so calls of other threads may come in between. A
    function of a query cannot call the engine that it runs in.

    Args:
        chunk_rows: how many rows run through the operators at once. Results do not depend on it;
            1 is tuple-at-a-time processing.
        optimize: whether plans are rewritten by rule; without, joins run in the order written and
            filters where they stand.
        state: how rows leave the operators' state: ``upa`` (by update pattern), ``direct`` or
            ``negative-tuple``; see ``eddyline.physical.strategy``. Answers do not depend on it.
        partitions: of stores by expiry time.
        views: whether the answer of every query is materialised for ``snapshot``.
        statistics: what is known of rates and values, for the optimizer to choose plans by. It
            wins over what CREATE STREAM and CREATE TABLE declare.
        prices: what steps of operators cost, for the same; by default what ``eddyline calibrate``
            measured on this machine, else typical ones.
        lazy_expiry: how often state that is looked up by key drops expired rows ("5 minutes"); by
            default when they may be half of it. What reacts to expiry does so with every chunk.
        negative_tuples_from, feedback, admission, nested_loops, mns, combinations: see
            ``eddyline.physical.strategy``.
        sharing, executor, policy, selections, schedule: how queries run together; see
            ``eddyline.physical.flows``.
        replan: how many times less the joins of a query that runs must be expected to cost in
            another order, by what was measured, for them to get it; ``inf``: they never do.
        keep: the share of rows to keep, by stream, in (0, 1]: a stream is thinned if every query
            that reads it says ``ON OVERLOAD SHED``. Which rows are kept depends on what they hold
            only; see ``eddyline.engine.overload.drop_box``. Without it the engine decides, if
            rates are known.
        capacity: cores' worth that the queries may take: what is decided by.
        decide_every: how long rates are measured, of event time, before it is decided anew.
        decide: whether that is done before a call that brings rows, or after one, for the next:
            then who brings them knows from ``shedding`` which rows need not be brought.
        set_aside_after: a query that has had so many bad rows since its last result, at least a
            tenth of the rows of its streams, is set aside: it keeps its name, runs no more, and its
            ``stats`` say why. None: no query is.
        ahead_at_most: how far timestamps may be ahead of the wall clock, of streams that do not say
            so by AHEAD AT MOST ("1 day"); None: any.

    Attributes:
        wall_clock: says what time it is, in microseconds since 1970: for AHEAD AT MOST and IDLE
            AFTER. It can be replaced.

    >>> import eddyline, pyarrow as pa
    >>> engine = eddyline.Engine()
    >>> _ = engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
    >>> q = engine.query("SELECT x FROM s [RANGE 10 SECONDS] WHERE x > 1", name="big")
    >>> out = engine.process({"s": pa.table({"ts": [0, 1_000_000], "x": [1, 2]})})
    >>> out["big"]["x"].to_pylist()
    [2]
    """

    def __init__(
        self,
        *,
        chunk_rows: int = 16_384,
        optimize: bool = True,
        state: StateStrategy = "upa",
        partitions: int = 64,
        views: bool = False,
        statistics: Statistics = UNKNOWN,
        prices: Prices | None = None,
        lazy_expiry: str | None = None,
        negative_tuples_from: float | None = None,
        feedback: Feedback = "auto",
        admission: bool = True,
        nested_loops: bool = False,
        mns: Mns = "index",
        combinations: bool = False,
        sharing: bool = True,
        executor: Executor = "auto",
        policy: PolicyName = "ticket",
        selections: Selections = "push",
        schedule: Schedules = "greedy",
        replan: float = 1.5,
        keep: Mapping[str, float] = MappingProxyType({}),
        capacity: float = 1.0,
        decide_every: str = "1 minute",
        decide: Literal["before", "after"] = "before",
        set_aside_after: int | None = 1_000,
        ahead_at_most: str | None = None,
    ) -> None:
        if replan < 1:
            raise ValueError(f"replan must be at least 1, not {replan}")
        if chunk_rows < 1:
            raise ValueError(f"chunk_rows must be at least 1, not {chunk_rows}")
        prices = prices_of_machine() if prices is None else prices
        replan = replan if optimize else inf
        # what `load` makes an engine with; so far there are no other local names
        self._options = {n: given for n, given in locals().items() if n != "self"}
        self.prices = prices
        declared = DeclaredStatistics()
        self.statistics = statistics.over(declared.statistics)
        self.strategy = Strategy(
            state,
            partitions,
            views,
            negative_tuples_from,
            self.statistics,
            lazy_us=None if lazy_expiry is None else parse_duration(lazy_expiry),
            feedback=feedback,
            admission=admission,
            nested_loops=nested_loops,
            mns=mns,
            combinations=combinations,
        )
        self.chunk_rows = chunk_rows
        self.catalog = Catalog()
        self.sharing = Sharing(
            sharing, executor, policy, selections, schedule, rows_per_step=min(chunk_rows, 4_096)
        )
        self.lock = EngineLock()
        self.wall_clock: Callable[[], int] = _wall_clock
        self._inputs = Inputs(None if ahead_at_most is None else parse_duration(ahead_at_most))
        planning = Planning(optimize, self.statistics, self._inputs.measuring.statistics, prices)
        replanner = Replanner(lambda: self._inputs.arrived, planning, replan)
        self._standing = QuerySet(
            self.lock,
            self._inputs.stem,
            self.strategy,
            self.sharing,
            planning.explained,
            replanner,
            self._inputs.rows_in,
            set_aside_after,
            self._inputs.groups,
        )
        self._standing.on_set_aside = self._set_aside
        self._progress = Progress(self._inputs, self._standing, lambda: self.wall_clock())
        self._definitions = Definitions()
        self._shedding = Shedding(self._inputs, keep, self.statistics)
        self._overload = Overload(
            self._shedding,
            self._inputs,
            self._standing.workload,
            self.statistics,
            self._inputs.measuring.statistics,
            prices,
            capacity,
            parse_duration(decide_every),
            decides=not keep,
            afterwards=decide == "after",
        )
        self._statements = Statements(
            self.catalog,
            self._inputs,
            self._standing,
            self._definitions,
            declared,
            self._shedding,
            self._overload,
            planning,
            self._progress,
            lambda: self.chunk_rows,
        )
        self._telling = Telling(self._inputs, self._standing, self._shedding)
        self._saving = Saving(
            self.catalog,
            self._inputs,
            self._standing,
            self._definitions,
            self._statements,
            replanner,
            self._shedding,
            self._overload,
            self._progress,
        )

    @property
    def queries(self) -> Mapping[str, Query]:
        """The standing queries by name, those that are set aside among them."""
        return MappingProxyType(self._standing.known)

    def _set_aside(self, query: Query) -> None:
        """A query runs no more: it needs nothing, and no stream has its leave to ask."""
        self._shedding.drop(query)
        self._overload.changed()

    @property
    @locked
    def measured(self) -> Statistics:
        """What the engine has seen of its inputs so far: recent rates, sizes of tables, and numbers
        of values of the columns that queries compare. Plans go by :attr:`statistics`.
        """
        return self._inputs.measuring.statistics()

    @property
    def clock(self) -> int:
        """The instant up to which everything is processed that queries read, in microseconds."""
        return self._progress.clock

    @property
    def watermark(self) -> int:
        """Rows before this instant are late, in microseconds. If queries read streams that nothing
        brings together, the smallest of theirs; ``stats`` tells that of each group.
        """
        return self._progress.watermark

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
        return self._statements.add_query(name, parsed[0], parsed[0].emit, {})

    @locked
    def table(self, name: str, data: Any) -> None:
        """Give a declared table its first rows (Arrow, pandas or polars), once.

        A table that is updated has them before everything else; its changes go through
        ``process``.

        Raises:
            CatalogError: no such table, or it has rows already. DataError: columns do not fit.
        """
        self._inputs.give(name, data)

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
        return [reader for _, reader in self._definitions.readers(name)]

    @locked
    def drop(self, name: str) -> None:
        """Remove a standing query and free what nobody else needs.

        Raises:
            CatalogError: there is no such query.
        """
        self._statements.drop_query(name)

    @locked
    def shed(self, keep: Mapping[str, float] | None) -> None:
        """From now on keep these shares of the rows of streams, and all rows of other streams.

        A stream is thinned only while every query that reads it allows it. None: let the engine
        decide, as without the option ``keep``.

        Raises:
            ValueError: a share is not in (0, 1].
        """
        self._shedding.request(keep or {})
        self._overload.decides = keep is None
        self._overload.changed()

    @property
    def decides(self) -> bool:
        """Whether the engine decides which shares to keep, or somebody has said."""
        return self._overload.decides

    @locked
    def hold(self) -> None:
        """Keep all rows from the next decision on, until a query has come or gone: one that allows
        nothing to be dropped is about to come.
        """
        self._overload.hold()

    def explain(self, sql: str) -> str:
        """The plan of a SELECT that is not run."""
        result = self.sql(f"EXPLAIN {sql}")[0]
        assert isinstance(result, str)
        return result

    @locked
    def execute(self, statement: st.Statement) -> Query | str | None:
        """Carry out one statement of a script that was parsed, as ``sql`` does."""
        return self._statements.execute(statement)

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
        if watermark is not None:
            checked_instant(max(watermark, FIRST_INSTANT))  # an earlier one says nothing
        now = self.wall_clock() if now is None else now
        if self._shedding.sheddable:
            self._overload.begin_call()
        late, bad = self._inputs.accept(inputs, now)
        if dropped or newest_dropped:
            self._inputs.count_dropped(dropped, newest_dropped, now)
        for _ in self._progress.advance(watermark, self.chunk_rows, now_us=now):
            pass
        if self._shedding.sheddable:
            self._overload.end_call()
        return self._telling.changes(late, bad)

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
        if watermark is not None:
            checked_instant(max(watermark, FIRST_INSTANT))  # an earlier one says nothing
        if isinstance(inputs, Mapping):
            inputs = [inputs]
        elif watermark is not None:
            raise ValueError("a watermark goes with one input, not with an iterator over several")
        try:
            for rows in inputs:
                yield from self.lock.each(self._listened(rows, watermark))
            yield from self.lock.each(self._rest())
        finally:  # a caller that stops listening early does not stop the rows
            with self.lock:
                self._standing.finish()

    def _listened(
        self, rows: Mapping[str, Any] | None, watermark: int | None
    ) -> Iterator[tuple[str, pa.Table]]:
        """What one input of ``stream`` brings about, as it is made."""
        if rows is None:
            self._standing.serve()
            yield from self._telling.said()
            return
        now = self.wall_clock()
        if self._shedding.sheddable:
            self._overload.begin_call()
        late, bad = self._inputs.accept(rows, now)
        steps = self._progress.advance(watermark, self.chunk_rows, now_us=now, paced=True)
        try:
            yield from self._telling.aside("late", late)
            yield from self._telling.aside("bad", bad)
            for _ in steps:
                yield from self._telling.said()
        finally:
            for _ in steps:
                pass
        if self._shedding.sheddable:
            self._overload.end_call()

    def _rest(self) -> Iterator[tuple[str, pa.Table]]:
        """What rows that wait for their turn bring about."""
        while self._standing.execution.waiting:
            self._standing.serve()
            yield from self._telling.said()
        yield from self._telling.said()  # what queries said at once that came last

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
        steps = self._progress.advance(
            instant_us(to), self.chunk_rows, now_us=self.wall_clock(), begins=True
        )
        for _ in steps:
            pass
        return self._telling.changes()

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
        self._statements.reset_watermark(stream)

    # -- looking inside, saving --------------------------------------------------------------------

    @property
    @locked
    def shedding(self) -> dict[str, dict[str, Any]]:
        """By stream that is thinned, was, or was meant to be: the share ``keep`` of the rows to
        come, rows ``seen`` and ``kept`` so far, and ``why`` it is not thinned as asked.
        """
        return self._thinned()

    def _thinned(self) -> dict[str, dict[str, Any]]:
        self._overload.begin_call()
        return self._shedding.report()

    @property
    @locked
    def verdict(self) -> Verdict | None:
        """What all queries are expected to need of the capacity, and how drop boxes are best set if
        that is more than there is; None where the rate of a stream that they read is not known.
        """
        return self._overload.verdict()

    @property
    @locked
    def works(self) -> list[Work]:
        """What runs for the queries, as the optimizer reckons with it."""
        return self._standing.workload.works()

    @property
    @locked
    def advice(self) -> str | None:
        """In a sentence, what to do if the queries need more than the capacity; None if not."""
        return self._overload.advice()

    @property
    def newest(self) -> int | None:
        """The largest timestamp of any row of a stream, in microseconds; None: there is none."""
        newest = self._inputs.newest()
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
        return self._progress.stats(self.wall_clock() if now is None else now)

    @locked
    def stats(self) -> dict[str, Any]:
        """The clock, and the groups of streams that queries bring together, each with its
        watermark, rows that wait for it, and the stream that holds it up. Counters: per stream, per
        table that is updated, per query and per operator; what was measured of the inputs, as
        :meth:`Statistics.as_dict` tells it; and of streams that are thinned, or were meant to be,
        which share is kept and why.
        """
        streams, tables = self._inputs.stats()
        return {
            "clock": self.clock,
            "watermark": self.watermark,
            "groups": self._groups(),
            "streams": streams,
            "tables": tables,
            "shedding": self._thinned(),
            "queries": self._standing.stats(),
            "operators": [o.stats() for o in self._standing.operators()],
            "measured": self._inputs.measuring.statistics().as_dict(),
        }

    @locked
    def save(self, target: str | BinaryIO) -> None:
        """Write program, tables and state, so that ``load`` continues exactly here."""
        self._saving.save(target, {**self._options, "chunk_rows": self.chunk_rows})

    @classmethod
    def load(
        cls, source: str | BinaryIO, *, functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> Engine:
        """The engine that was saved.

        Args:
            source: a path or a binary file.
            functions: the code of those that were defined with ``function``, by name: it is not
                saved. What else was said of them is.

        Raises:
            StateError: this is not a saved engine, it is of a version that cannot be read, or
                functions are missing.
        """
        program, tables, header, state = read_saved(source)
        engine = cls(**options_of(header))
        engine._saving.restore(program, tables, header, state, functions or {})
        return engine


def _wall_clock() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1_000
