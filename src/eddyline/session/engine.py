"""The embedded engine: standing queries over streams, in one process, without Spark."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, BinaryIO, Literal

import numpy as np
import pyarrow as pa

from eddyline.algebra.functions import FunctionKind
from eddyline.errors import SqlError
from eddyline.optimizer.overload import Verdict
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.optimizer.work import Work
from eddyline.physical.flows import Executor, Schedules, Selections, Sharing
from eddyline.physical.strategy import Feedback, Mns, StateStrategy, Strategy
from eddyline.runtime.eddy.policies import PolicyName
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.state import State, array, nested
from eddyline.session.changes import Changes
from eddyline.session.declared import Declared
from eddyline.session.functions import add_declared, add_function, declared, make_function
from eddyline.session.inputs import Inputs
from eddyline.session.instants import instant_us
from eddyline.session.machine import prices_of_machine
from eddyline.session.overload import Overload
from eddyline.session.planning import Planning
from eddyline.session.program import Program
from eddyline.session.query import Query
from eddyline.session.query_set import QuerySet
from eddyline.session.replanning import Replanner
from eddyline.session.saved import read_saved, write_saved
from eddyline.session.shedding import Shedding
from eddyline.session.statements import Statements
from eddyline.session.ways import saved_way, to_save
from eddyline.sql import statements as st
from eddyline.sql.catalog import Catalog
from eddyline.sql.durations import parse_duration
from eddyline.sql.parser import parse
from eddyline.types import BEGINNING

_PENDING = "pending:"  # in a saved engine: changes of a query that nobody has fetched


class Engine:
    """Runs standing queries over the rows it is given.

    Rows are processed in the order (ts, arrival) up to the *watermark*; the clock stands at the
    last instant processed. See the README for a first example.

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
            only; see ``eddyline.session.drop_box``. Without it the engine decides, if rates are
            known.
        capacity: cores' worth that the queries may take: what is decided by.
        decide_every: how long rates are measured, of event time, before it is decided anew.
        decide: whether that is done before a call that brings rows, or after one, for the next:
            then who brings them knows from ``shedding`` which rows need not be brought.

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
    ) -> None:
        if replan < 1:
            raise ValueError(f"replan must be at least 1, not {replan}")
        if chunk_rows < 1:
            raise ValueError(f"chunk_rows must be at least 1, not {chunk_rows}")
        self._given = statistics
        self._declared = Declared()
        self.statistics = statistics.over(self._declared.statistics)
        self.prices = prices_of_machine() if prices is None else prices
        self.lazy_expiry = lazy_expiry
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
        self.optimize = optimize
        self.replan = replan if optimize else math.inf
        self.catalog = Catalog()
        self.sharing = Sharing(
            sharing, executor, policy, selections, schedule, rows_per_step=min(chunk_rows, 4_096)
        )
        self._inputs = Inputs()
        planning = Planning(optimize, self.statistics, lambda: self.measured, self.prices)
        self._replanner = Replanner(lambda: self._inputs.arrived, planning, self.replan)
        self._standing = QuerySet(
            self._inputs.stem, self.strategy, self.sharing, planning.explained, self._replanner
        )
        self._program = Program()
        self._shedding = Shedding(self._inputs, keep, self.statistics)
        self.decide_every = decide_every
        self._overload = Overload(
            self._shedding,
            self._inputs,
            self._standing.execution,
            self.statistics,
            lambda: self.measured,
            self.prices,
            capacity,
            parse_duration(decide_every),
            decides=not keep,
            afterwards=decide == "after",
        )
        self._statements = Statements(
            self.catalog,
            self._inputs,
            self._standing,
            self._program,
            self._declared,
            self._shedding,
            self._overload,
            planning,
        )
        self._watermark = BEGINNING
        self._began: int | None = None  # the first instant at which anything happened
        self._unheard: dict[str, dict[str, pa.Table]] = {"late": {}, "bad": {}}

    @property
    def queries(self) -> Mapping[str, Query]:
        """The standing queries by name."""
        return MappingProxyType(self._standing.queries)

    @property
    def measured(self) -> Statistics:
        """What the engine has seen of its inputs so far: recent rates, sizes of tables, and numbers
        of values of the columns that queries compare. Plans go by :attr:`statistics`.
        """
        return self._inputs.measuring.statistics()

    @property
    def clock(self) -> int:
        """The instant up to which everything is processed, in microseconds."""
        return self._watermark if self._began is None else self._standing.execution.clock

    @property
    def watermark(self) -> int:
        """Rows before this instant are late, in microseconds."""
        return self._watermark

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

    def query(self, sql: str, name: str | None = None) -> Query:
        """Add a standing query. It is answered from now on, over what the windows still hold.

        Raises:
            SqlError: the text is not one SELECT. CatalogError: the name is taken.
        """
        parsed = parse(sql)
        if len(parsed) != 1 or not isinstance(parsed[0], st.SelectStatement):
            raise SqlError(f"query() takes one SELECT, not: {sql.strip()[:60]}")
        return self._statements.add_query(name, parsed[0], parsed[0].emit, {})

    def table(self, name: str, data: Any) -> None:
        """Give a declared table its first rows (Arrow, pandas or polars), once.

        A table that is updated has them before everything else; its changes go through
        ``process``.

        Raises:
            CatalogError: no such table, or it has rows already. DataError: columns do not fit.
        """
        self._inputs.give(name, data)

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
        the data arrived, and after a restart results are computed anew. A function that fails, or
        returns something of another length or type, raises a DataError from where it ran; the
        engine has then processed some of the rows, so load it as it was saved before.

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
        return [reader for _, reader in self._program.readers(name)]

    def drop(self, name: str) -> None:
        """Remove a standing query and free what nobody else needs.

        Raises:
            CatalogError: there is no such query.
        """
        self._statements.drop_query(name)

    def shed(self, keep: Mapping[str, float] | None) -> None:
        """From now on keep these shares of the rows of streams, and all rows of other streams.

        A stream is thinned only while every query that reads it allows it. None: let the engine
        decide, as without the option ``keep``.

        Raises:
            ValueError: a share is not in (0, 1].
        """
        self._shedding.ask(keep or {})
        self._overload.decides = keep is None
        self._overload.changed()

    @property
    def decides(self) -> bool:
        """Whether the engine decides which shares to keep, or somebody has said."""
        return self._overload.decides

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

    def execute(self, statement: st.Statement) -> Query | str | None:
        """Carry out one statement of a script that was parsed, as ``sql`` does."""
        return self._statements.execute(statement)

    # -- data ------------------------------------------------------------------------------------

    def process(
        self,
        inputs: Mapping[str, Any],
        *,
        watermark: int | None = None,
        dropped: Mapping[str, int] = MappingProxyType({}),
    ) -> Changes:
        """Process rows of any number of streams and changes of tables, merged by time.

        Args:
            inputs: stream name -> rows, as Arrow, pandas or polars data. Columns go by name,
                others are ignored; integers given for a TIMESTAMP are microseconds.
                Table name -> changes of a table that is updated: the table's columns, ``_ts``
                (when) and perhaps ``_op``: ``+`` (the default) adds the row, ``-`` takes a row
                back that is equal in all columns. At one instant rows count in the order given.
            watermark: every row up to this instant (int64 us) has been handed over. Default: the
                largest timestamp seen in any stream less the largest declared lateness, so that
                with no lateness everything is processed at once. Changes of tables wait for it.
            dropped: how many more rows of a stream there were that a drop box has dropped before
                they got here. They are counted.

        Returns:
            The changes of every query, and the late and bad rows.

        Raises:
            CatalogError: unknown stream, or a table that is static. DataError: columns are missing
                or of the wrong type.
        """
        self._overload.begin_call()
        late, bad = self._inputs.accept(inputs, self._watermark)
        self._inputs.count_dropped(dropped)
        for _ in self._advance(watermark):
            pass
        self._overload.end_call()
        return self._changes(late, bad)

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
        if isinstance(inputs, Mapping):
            inputs = [inputs]
        elif watermark is not None:
            raise ValueError("a watermark goes with one input, not with an iterator over several")
        steps: Iterator[None] = iter(())
        try:
            for rows in inputs:
                if rows is None:
                    self._standing.execution.serve()
                    yield from self._said()
                    continue
                self._overload.begin_call()
                late, bad = self._inputs.accept(rows, self._watermark)
                steps = self._advance(watermark, paced=True)
                yield from self._aside("late", late)
                yield from self._aside("bad", bad)
                for _ in steps:
                    yield from self._said()
                self._overload.end_call()
            while self._standing.execution.waiting:
                self._standing.execution.serve()
                yield from self._said()
            yield from self._said()  # what queries said at once that came last
        finally:  # whoever stops listening early does not stop the rows
            for _ in steps:
                pass
            self._standing.finish()

    def _said(self) -> Iterator[tuple[str, pa.Table]]:
        """What queries have to say now. What nobody listens to is kept."""
        changes = self._changes({}, {})
        names = changes.active()[::-1]
        try:
            yield from self._aside("late", changes.late)
            yield from self._aside("bad", changes.bad)
            while names:
                name = names.pop()
                yield name, changes[name]
        finally:
            for name in names:
                if name in self.queries:
                    self._standing.put_back(name, changes[name])

    def _aside(self, kind: str, tables: dict[str, pa.Table]) -> Iterator[tuple[str, pa.Table]]:
        """Late or bad rows. What nobody listens to is kept."""
        try:
            for name in list(tables):
                yield f"{kind}:{name}", tables.pop(name)
        finally:
            self._unheard[kind] |= tables

    def advance(self, to: str | int | datetime) -> Changes:
        """Let time pass without rows: no row before ``to`` will come.

        Queries begin now, if they have not begun with a row before.

        Args:
            to: an instant as ISO 8601 text (UTC unless it says otherwise), microseconds, or a
                datetime.

        Returns:
            What expiry and rows that were held bring about.
        """
        for _ in self._advance(instant_us(to), told=True):
            pass
        return self._changes({}, {})

    def _advance(
        self, watermark: int | None, *, told: bool = False, paced: bool = False
    ) -> Iterator[None]:
        """Process what the watermark frees, chunk by chunk.

        Args:
            told: somebody says that it is this instant now, so something has happened by then.
            paced: let rows wait for their turn. Chunks alternate with the service of rows that come
                before newer ones.
        """
        arrived = time.perf_counter()
        execution = self._standing.execution
        if watermark is None:
            watermark = self._inputs.default_watermark()
        self._watermark = watermark = max(watermark, self._watermark)
        for tick in self._inputs.fill(watermark, self.chunk_rows):
            self._run(tick, arrived, paced=paced)
            yield
            while paced and execution.waiting and not execution.wants_rows:
                execution.serve()
                yield
        if watermark > execution.clock:
            self._run(Tick(watermark), arrived, told=told, paced=paced)
            yield

    def _run(self, tick: Tick, arrived: float, *, told: bool = False, paced: bool = False) -> None:
        if self._began is None:
            if tick.first_row is None and not told:
                return  # how far the watermark lags behind rows depends on how they are cut
            self._began = tick.clock if tick.first_row is None else tick.first_row
            self._inputs.begin()
            self._standing.begin(self._began)
        self._standing.follow(tick.clock)
        self._standing.run(tick, arrived=arrived, paced=paced)
        self._inputs.purge(tick.clock)
        self._standing.adapt()

    def _changes(self, late: dict[str, pa.Table], bad: dict[str, pa.Table]) -> Changes:
        """What all queries emitted, with the side outputs."""
        unheard, self._unheard = self._unheard, {"late": {}, "bad": {}}
        late = _joined(unheard["late"], late)
        bad = _joined(unheard["bad"], bad, self._inputs.refused())
        kept = self._shedding.news()
        return Changes(self._standing.queries.listed(), *self._standing.take(), late, bad, kept)

    # -- looking inside, saving --------------------------------------------------------------------

    @property
    def shedding(self) -> dict[str, dict[str, Any]]:
        """By stream that is thinned, was, or was meant to be: the share ``keep`` of the rows to
        come, rows ``seen`` and ``kept`` so far, and ``why`` it is not thinned as asked.
        """
        self._overload.begin_call()
        return self._shedding.report()

    @property
    def verdict(self) -> Verdict | None:
        """What all queries are expected to need of the capacity, and how drop boxes are best set if
        that is more than there is; None where the rate of a stream that they read is not known.
        """
        return self._overload.verdict()

    @property
    def works(self) -> list[Work]:
        """What runs for the queries, as the optimizer reckons with it."""
        return self._standing.execution.works()

    @property
    def advice(self) -> str | None:
        """In a sentence, what to do if the queries need more than the capacity; None if not."""
        return self._overload.advice()

    def stats(self) -> dict[str, Any]:
        """Counters: per stream, per table that is updated, per query and per operator; what was
        measured of the inputs, as :meth:`Statistics.as_dict` tells it; and of streams that are
        thinned, or were meant to be, which share is kept and why.
        """
        streams, tables = self._inputs.stats()
        return {
            "clock": self.clock,
            "watermark": self._watermark,
            "streams": streams,
            "tables": tables,
            "shedding": self.shedding,
            "queries": self._standing.stats(),
            "operators": [o.stats() for o in self._standing.operators()],
            "measured": self.measured.as_dict(),
        }

    def save(self, target: str | BinaryIO) -> None:
        """Write program, tables and state, so that ``load`` continues exactly here."""
        self._standing.finish()
        changes = Changes(self._standing.queries.listed(), *self._standing.pending())
        pending = {_PENDING + name: changes[name] for name in changes.active()}
        tables = {**self._inputs.contents, **pending}
        inputs = self._inputs
        began = BEGINNING if self._began is None else self._began
        counters = [
            self._standing.execution.clock,
            self._watermark,
            inputs.arrived,
            inputs.sequence,
        ]
        counters += [self._statements.unnamed, began]
        state: State = {
            "counters": np.array(counters, np.int64),
            **inputs.state(),
            "operators": {str(i): o.state() for i, o in enumerate(self._standing.operators())},
        }
        options = {
            "chunk_rows": self.chunk_rows,
            "optimize": self.optimize,
            "state": self.strategy.state,
            "partitions": self.strategy.partitions,
            "views": self.strategy.views,
            "statistics": self._given.as_dict(),
            "prices": self.prices.as_dict(),
            "lazy_expiry": self.lazy_expiry,
            "negative_tuples_from": self.strategy.negative_tuples_from,
            "feedback": self.strategy.feedback,
            "admission": self.strategy.admission,
            "nested_loops": self.strategy.nested_loops,
            "mns": self.strategy.mns,
            "combinations": self.strategy.combinations,
            "sharing": self.sharing.sharing,
            "executor": self.sharing.executor,
            "policy": self.sharing.policy,
            "selections": self.sharing.selections,
            "schedule": self.sharing.schedule,
            "replan": self.replan,
            "keep": {} if self._overload.decides else dict(self._shedding.asked),
            "capacity": self._overload.capacity,
            "decide_every": self.decide_every,
            "decide": "after" if self._overload.afterwards else "before",
            "shedding": {"since": self._shedding.saved(), "overload": self._overload.saved()},
            "functions": declared(self.catalog),
            "looked": self._replanner.looked,
            "ways": {n: to_save(w) for n, w in self._standing.execution.ways().items()},
        }
        write_saved(target, [e.sql for e in self._program], tables, options, state)

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
        program, tables, options, state = read_saved(source)
        declarations, ways = options.pop("functions"), options.pop("ways")
        shedding, looked = options.pop("shedding"), options.pop("looked")
        options["statistics"] = Statistics.from_dict(options["statistics"])
        options["prices"] = Prices.from_dict(options.get("prices", {}))
        engine = cls(**options)
        add_declared(engine.catalog, declarations, functions or {})
        engine._statements.ways = {name: saved_way(way) for name, way in ways.items()}
        for statement in program:
            engine.sql(statement)
            for name in engine.catalog.tables:
                if name in tables:
                    engine._inputs.contents.setdefault(name, tables[name])
        engine._statements.ways = {}
        engine._restore(state)
        engine._replanner.looked = tuple(looked)
        engine._overload.restore(shedding["overload"])
        engine._shedding.restore(shedding["since"])
        for name, rows in tables.items():
            if name.startswith(_PENDING):
                engine._standing.put_back(name.removeprefix(_PENDING), rows)
        return engine

    def _restore(self, state: State) -> None:
        counters = (int(v) for v in array(state, "counters"))
        inputs = self._inputs
        self._standing.execution.clock, self._watermark, inputs.arrived, inputs.sequence, *rest = (
            counters
        )
        self._statements.unnamed, began = rest
        self._began = None if began == BEGINNING else began
        if self._began is not None:
            inputs.begin()
        self._standing.resume(self._began)
        inputs.restore(state)
        self._standing.sync()
        for i, operator in enumerate(self._standing.operators()):
            operator.restore(nested(nested(state, "operators"), str(i)))
            operator.clock = self._standing.execution.clock


def _joined(*parts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Tables of the same name one behind the other."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {n: pa.concat_tables([part[n] for part in parts if n in part]) for n in names}
