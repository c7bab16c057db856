"""The script of a session: statements, checked by an engine that processes no rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.algebra.drains import drain_us
from eddyline.algebra.functions import CodeFunction, FunctionKind
from eddyline.algebra.reads import streams_read, tables_read
from eddyline.engine.definitions import Definition
from eddyline.engine.engine import Engine
from eddyline.engine.functions import add_function
from eddyline.engine.ingest.table_changes import is_live
from eddyline.engine.options import EngineOptions, StrategyOptions
from eddyline.engine.query import Query
from eddyline.engine.settings import DEFAULT_SETTINGS, Settings
from eddyline.errors import CatalogError, EddylineError, SqlError
from eddyline.optimizer.byte_sizes import part_of
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.verdict import Verdict
from eddyline.spark.partitioning.groups import connected
from eddyline.spark.sinks.secrets import public_source, public_sql
from eddyline.spark.sources import option_check
from eddyline.spark.sources.format_check import check_sink, check_sink_of
from eddyline.spark.statement_texts import create_statement
from eddyline.sql.definitions import own_option
from eddyline.sql.naming import quoted
from eddyline.sql.parser import parse
from eddyline.sql.statements import (
    CreateQuery,
    CreateTable,
    Drop,
    ObjectKind,
    SelectStatement,
    Statement,
    in_parts_statement,
)
from eddyline.types import arrow_schema


@dataclass(frozen=True)
class QueryGroup:
    """Streams that queries join, these queries, and the tables that they read.

    Attributes:
        live: those of the tables that change while the queries run.
    """

    streams: tuple[str, ...]
    queries: tuple[str, ...]
    tables: tuple[str, ...]
    live: tuple[str, ...]


class Script:
    """The statements of a session in order, without those of dropped objects.

    Args:
        settings: of the engine that checks them.
    """

    def __init__(self, settings: Settings = DEFAULT_SETTINGS) -> None:
        self._engine = Engine(settings.options, settings.strategy)
        self._queries: dict[str, str] = {}  # CREATE QUERY by name, with the options of the sink
        self._parameters: dict[str, str] = {}  # parameterized query to the table of its parameters

    def run(
        self, text: str, base: Path | None = None
    ) -> Iterator[tuple[Statement, Query | str | pa.Table | None]]:
        """Check and execute the statements of a script, one by one.

        Args:
            base: directory of relative paths; None: files with a relative path are not read.

        Yields:
            Each statement with its query, its explanation, the table that it shows, or None.

        Raises:
            SqlError: a statement is wrong, or an option of a source or sink; with line and column
                in the script.
            CatalogError: a name is taken or missing.
        """
        for statement in parse(text):
            option_check.check_options(statement, text, base)
            result = self._engine.execute(statement)
            if isinstance(statement, CreateQuery) and isinstance(result, Query):
                with self._taken_back(result):
                    option_check.check_fit(statement, result, text)
                    result.sql = public_sql(result.sql, result.options)
            self._record(statement, result)
            yield statement, result

    def query(self, name: str, select: str, options: Mapping[str, str]) -> Query:
        """Add a query by its SELECT, optionally with EMIT, and the options of its sink.

        Raises:
            SqlError, CatalogError: the SELECT is wrong, or the name taken. DataError: the sink is.
        """
        options = {own_option(option): value for option, value in options.items()}
        check_sink(name, options, of_query=True)
        query = self._engine.query(select, name=name)
        query.options.update(options)
        with self._taken_back(query):
            check_sink_of(query)
        self._queries[query.name] = create_statement(query)
        return query

    def redirect(self, name: str, options: Mapping[str, str]) -> None:
        """Give a query another sink, by its options."""
        self.queries[name].options = dict(options)
        self._queries[name] = create_statement(self.queries[name])

    def function(
        self,
        name: str,
        evaluate: Callable[..., Any],
        args: Sequence[str],
        returns: str,
        kind: FunctionKind,
    ) -> None:
        """Define a function for the statements that follow; see :meth:`Engine.function`."""
        self._engine.function(name, evaluate, args=args, returns=returns, kind=kind)

    @property
    def options(self) -> EngineOptions:
        """The options, including changes by SET statements."""
        return self._engine.options

    @property
    def strategy(self) -> StrategyOptions:
        """The algorithms and structures of the engine."""
        return self._engine.strategy

    def verdicts(
        self, cores: Sequence[float], shares: Sequence[float]
    ) -> Iterator[tuple[QueryGroup, Verdict, str | None]]:
        """:attr:`Engine.verdict` and :attr:`Engine.advice` of each group whose streams all have
        declared rates.

        Args:
            cores: CPU cores of each group. shares: of each in the memory.
        """
        for group, capacity, share in zip(self.groups(), cores, shares, strict=True):
            if any(self.streams[name].sizes.rate is None for name in group.streams):
                continue
            memory = part_of(self.options.memory, share)
            options = replace(self.options, capacity=capacity, memory=memory)
            settings = Settings(options, self.strategy)
            engine = Script.of(self.program_of(group.queries), self.functions, settings)._engine
            if (verdict := engine.verdict) is not None:
                yield group, verdict, engine.advice

    def check_whole(self, statements: Sequence[Statement], text: str) -> None:
        """Check what takes all statements: there is a query, what queries read has a source, and
        sinks can write where they do.

        Raises:
            CatalogError: there is no query. SqlError: a source is missing, or two sinks cannot
                share a place.
        """
        if not (groups := self.groups()):
            raise CatalogError(option_check.NO_QUERY)
        streams = {name for group in groups for name in group.streams}
        option_check.require_sources(statements, self.read_by(groups), text)
        option_check.check_places(statements, self.queries, streams, text)

    def read_by(self, groups: Sequence[QueryGroup]) -> frozenset[str]:
        """The streams and tables that the queries of groups read."""
        return frozenset(name for g in groups for name in (*g.streams, *g.tables))

    @property
    def keep_rates(self) -> dict[str, float]:
        """Keep rates below 1 of streams of which all queries allow load shedding, and whose rows
        are drawn.
        """
        shedding = self._engine.shedding.items()
        return {n: s["keep"] for n, s in shedding if s.get("keep", 1) < 1 and "by" not in s}

    def drop(self, name: str) -> Query:
        """Drop a query, and return it.

        Raises:
            CatalogError: there is no such query, or another one reads it.
        """
        dropped = self._engine.queries.get(name)
        self._engine.drop(name)
        assert dropped is not None, "the engine has just dropped it"
        self._forget(dropped.name)
        return dropped

    @classmethod
    def of(
        cls,
        statements: Iterable[str],
        functions: Iterable[CodeFunction] = (),
        settings: Settings = DEFAULT_SETTINGS,
    ) -> Script:
        """A script of these statements, which may call these functions."""
        script = cls(settings)
        for function in functions:
            add_function(script._engine.catalog, function)
        for statement in statements:
            for _ in script.run(statement):
                pass
        return script

    @property
    def statements(self) -> tuple[str, ...]:
        """Statements that create the same streams, tables, views and queries."""
        return tuple(d.sql for d in self.definitions)

    def try_rows(self, rows: Mapping[str, pa.Table]) -> None:
        """Process rows with the checking engine, and advance it until all windows are empty.

        The script cannot be used to run a job afterwards.
        """
        self._engine.process(rows)
        self._engine.advance(max((drain_us(q.plan) for q in self.queries.values()), default=0) + 2)

    @property
    def functions(self) -> tuple[CodeFunction, ...]:
        """The functions defined in Python, in order."""
        return self._engine.catalog.code

    @property
    def streams(self) -> Mapping[str, StreamDef]:
        """The declared streams."""
        return self._engine.catalog.streams

    @property
    def tables(self) -> Mapping[str, TableDef]:
        """The declared tables."""
        return self._engine.catalog.tables

    @property
    def queries(self) -> Mapping[str, Query]:
        """The queries, in order."""
        return self._engine.queries

    @property
    def statistics(self) -> Statistics:
        """Statistics of the options and the declared ones."""
        return self._engine.statistics

    def rules_of(self, query: str) -> str | None:
        """The table of the parameters of a query FOR EACH ROW OF a table."""
        return self._parameters.get(query)

    def tables_of(self, query: str) -> frozenset[str]:
        """The tables that a query reads, including the table of a parameterized query."""
        parameters = self._parameters.get(query)
        own = frozenset() if parameters is None else frozenset([parameters])
        return own | tables_read(self.queries[query].plan)

    def readers(self, query: str) -> list[tuple[ObjectKind, str]]:
        """Kind and name of the queries and views that read a query."""
        return list(self._engine.parts.definitions.readers(query))

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The streams, tables, views and queries in order, without secrets; queries with the
        options of their sinks.
        """
        return tuple(
            replace(d, sql=self._queries[d.name])
            if d.kind == "query"
            else public_source(d, self._source(d))
            for d in self._engine.parts.definitions
        )

    def _source(self, made: Definition) -> StreamDef | TableDef | None:
        """The stream or table that a definition makes; None of another object."""
        if made.kind == "stream":
            return self.streams[made.name]
        return self.tables[made.name] if made.kind == "table" else None

    def statement(self, query: str) -> str:
        """The CREATE QUERY statement of a query, with the options of its sink."""
        return self._queries[query]

    def statement_of(self, query: str, *, in_parts: bool) -> str:
        """The statement that creates a query in a shard, perhaps one that computes its groups in
        parts.
        """
        create = self._queries[query]
        return in_parts_statement(create) if in_parts else create

    def read_beside(self, queries: Collection[str]) -> list[str]:
        """The queries that these and all views read, directly or through others, beside them; in
        order.
        """
        reads = self._engine.parts.definitions.reads
        own = {name.lower() for name in queries}
        found: set[str] = set()
        left = [*own, *self._engine.catalog.views]
        while left:
            new = reads(left.pop()) - found
            found |= new
            left += new
        if found := found - own:
            return [name for name in self._queries if name.lower() in found]
        return []

    def view(self, query: str) -> str:
        """CREATE VIEW for a query: the same SELECT by the same name."""
        select = self._engine.catalog.queries[query].text
        return f"CREATE VIEW {quoted(query)} AS {select}"

    def program_of(
        self, queries: Collection[str], in_parts: Collection[str] = ()
    ) -> tuple[str, ...]:
        """Statements that create the streams, tables and views, and these queries, in order. Other
        queries that they or the views read are views.

        Args:
            in_parts: those of the queries whose groups are computed in parts.
        """
        own, others = frozenset(queries), frozenset(self.read_beside(queries))
        program = []
        for made in self.definitions:
            if made.kind != "query":
                program.append(made.sql)
            elif made.name in own:
                program.append(self.statement_of(made.name, in_parts=made.name in in_parts))
            elif made.name in others:
                program.append(self.view(made.name))
        return tuple(program)

    def groups(self) -> list[QueryGroup]:
        """The queries, grouped by the streams and changing tables that they have in common.

        Raises:
            CatalogError: a query reads no stream, so that nothing would advance its clock.
        """
        for name, query in self.queries.items():
            if not streams_read(query.plan):
                raise CatalogError(
                    f"query '{name}' reads tables only; on Spark, a query needs a stream, whose "
                    "watermark advances its clock: join one, or run the query in an Engine"
                )
        reads = {name: self._reads(name) for name in self.queries}
        return [self._group(read, names) for read, names in connected(reads)]

    def _reads(self, query: str) -> frozenset[str]:
        tables = (t for t in self.tables_of(query) if is_live(self.tables[t]))
        return streams_read(self.queries[query].plan).union(tables)

    def _group(self, streams: frozenset[str], names: list[str]) -> QueryGroup:
        tables = {t for name in names for t in self.tables_of(name)}
        # in declaration order, so that equal scripts give equal programs
        return QueryGroup(
            tuple(s for s in self.streams if s in streams),
            tuple(names),
            tuple(t for t in self.tables if t in tables),
            tuple(n for n, t in self.tables.items() if n in tables and is_live(t)),
        )

    def _record(self, statement: Statement, made: Query | str | pa.Table | None) -> None:
        match statement:
            case CreateTable(definition=table):
                self._engine.table(table.name, arrow_schema(table.schema).empty_table())
            case CreateQuery(select=select):
                self._queries[statement.name] = public_sql(statement.sql, statement.options)
                if select.for_each is not None:
                    self._parameters[statement.name] = self.tables[select.for_each.table].name
            case SelectStatement():
                assert isinstance(made, Query)
                self._queries[made.name] = create_statement(made)
            case Drop(kind="query"):
                name = statement.name.lower()
                self._forget(next(n for n in self._queries if n.lower() == name))

    @contextmanager
    def _taken_back(self, query: Query) -> Iterator[None]:
        """Drop a new query if what follows fails."""
        try:
            yield
        except EddylineError:
            self._engine.drop(query.name)
            raise

    def _forget(self, query: str) -> None:
        del self._queries[query]
        self._parameters.pop(query, None)


def positioned(error: SqlError, statement: Statement, text: str) -> SqlError:
    """An error within a statement, with its position in the script."""
    if error.line is None or error.column is None:
        return error
    shift = statement.column - 1 if error.line == 1 else 0
    line = error.line + statement.line - 1
    return type(error)(error.message, line=line, column=error.column + shift, sql=text)
