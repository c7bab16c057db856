"""The program as the driver keeps it: statements checked by an engine that never sees a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.algebra.functions import FunctionKind, UserFunction
from eddyline.algebra.plan import StreamScan
from eddyline.algebra.reads import nodes, streams_read, tables_read
from eddyline.algebra.windows import Range
from eddyline.engine.engine import Engine
from eddyline.engine.functions import add_function
from eddyline.engine.ingest.table_changes import is_live
from eddyline.engine.options import (
    DEFAULT_STRATEGY,
    DEFAULTS,
    EngineOptions,
    StrategyOptions,
)
from eddyline.engine.query import Query
from eddyline.errors import SqlError
from eddyline.optimizer.overload import Verdict
from eddyline.spark.formats import check_sink
from eddyline.spark.option_check import check_options, require_sources, unchecked_formats
from eddyline.spark.partitioning import connected
from eddyline.sql.definitions import own_option
from eddyline.sql.naming import quoted
from eddyline.sql.parser import parse
from eddyline.sql.statements import (
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    SelectStatement,
    Statement,
)
from eddyline.types import arrow_schema


@dataclass(frozen=True)
class QueryGroup:
    """Streams that meet in queries, the queries over them, and the tables that those read.

    ``live`` are those of the tables that change while the queries run.
    """

    streams: tuple[str, ...]
    queries: tuple[str, ...]
    tables: tuple[str, ...]
    live: tuple[str, ...]


def assigned(
    groups: Iterable[QueryGroup], shards: Mapping[int, Iterable[str]]
) -> dict[int, QueryGroup]:
    """The groups by id of the shard that has their queries.

    Args:
        shards: by id, the names of the queries.
    """
    ids = {frozenset(names): shard for shard, names in shards.items()}
    return {ids[frozenset(group.queries)]: group for group in groups}


class Script:
    """Statements in order, minus what was dropped.

    Args:
        options, strategy: of the engine that checks them.
    """

    def __init__(
        self, options: EngineOptions = DEFAULTS, strategy: StrategyOptions = DEFAULT_STRATEGY
    ) -> None:
        self._engine = Engine(options, strategy)
        self._definitions: dict[tuple[str, str], str] = {}
        self._queries: dict[str, str] = {}
        self._rules: dict[str, str] = {}  # by query the table for whose rows it stands

    def run(self, text: str) -> Iterator[tuple[Statement, Query | str | None]]:
        """Check and take in the statements of a script, one by one.

        Yields:
            Each statement with the query that it made, the text that it explained, or None.

        Raises:
            SqlError: a statement is wrong, or an option of a source or sink; line and column count
                from the start of the script.
            CatalogError: a name is taken or missing.
        """
        for statement in parse(text):
            check_options(statement, text)
            made = self._engine.execute(statement)
            self._record(statement, made)
            yield statement, made

    def query(self, name: str, select: str, options: Mapping[str, str]) -> Query:
        """Add a query given as a bare SELECT, perhaps with EMIT, and the options of its sink.

        Raises:
            SqlError, CatalogError: the SELECT is wrong, or the name taken. DataError: the sink is.
        """
        options = {own_option(option): value for option, value in options.items()}
        check_sink(name, options, of_query=True)
        made = self._engine.query(select, name=name)
        made.options.update(options)
        self._queries[made.name] = _create_statement(made)
        return made

    def function(
        self,
        name: str,
        evaluate: Callable[..., Any],
        args: Sequence[str],
        returns: str,
        kind: FunctionKind,
    ) -> None:
        """Define a function, for the statements to come, as :meth:`Engine.function` does."""
        self._engine.function(name, evaluate, args=args, returns=returns, kind=kind)

    @property
    def options(self) -> EngineOptions:
        """The options, those that SET statements changed included."""
        return self._engine.options

    @property
    def strategy(self) -> StrategyOptions:
        """Which algorithms and structures run the queries."""
        return self._engine.strategy

    def verdicts(self, cores: Sequence[float]) -> Iterator[tuple[QueryGroup, Verdict, str | None]]:
        """What the queries of each group need, and what to do if that is too much, as
        :attr:`Engine.verdict` and :attr:`Engine.advice` say; nothing of groups of which a stream's
        rate is not declared.

        Args:
            cores: cores' worth for each group.
        """
        for group, capacity in zip(self.groups(), cores, strict=True):
            if any(self.streams[name].sizes.rate is None for name in group.streams):
                continue
            queries = (self.statement(name) for name in group.queries)
            options = replace(self.options, capacity=capacity)
            engine = Script.of((*self.definitions, *queries), self.functions, options)._engine
            if (verdict := engine.verdict) is not None:
                yield group, verdict, engine.advice

    def require_sources(self, statements: Sequence[Statement], text: str) -> None:
        """Check that what the queries read has a source; see :func:`declared.require_sources`."""
        groups = self.groups()
        read = {name for g in groups for name in (*g.streams, *g.tables)}
        require_sources(statements, read, text)

    def unchecked_formats(self) -> Iterator[str]:
        """Which sources and sinks only Spark can know, each in a sentence."""
        definitions: list[StreamDef | TableDef] = [*self.streams.values(), *self.tables.values()]
        return unchecked_formats(definitions, self.queries.values())

    @property
    def keep_rates(self) -> dict[str, float]:
        """By stream that is thinned, by leave of all its queries, the share of rows to keep."""
        shedding = self._engine.shedding
        return {name: told["keep"] for name, told in shedding.items() if told.get("keep", 1) < 1}

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
        functions: Iterable[UserFunction] = (),
        options: EngineOptions = DEFAULTS,
    ) -> Script:
        """The script of these statements, which may call these functions."""
        script = cls(options)
        for function in functions:
            add_function(script._engine.catalog, function)
        for statement in statements:
            for _ in script.run(statement):
                pass
        return script

    @property
    def statements(self) -> tuple[str, ...]:
        """What makes the same streams, tables, views and queries again."""
        return (*self._definitions.values(), *self._queries.values())

    def try_rows(self, rows: Mapping[str, pa.Table]) -> None:
        """Let the checking engine process rows, to see its queries work; then drop the script.

        Time then passes until all windows are empty, but for what never expires.
        """
        self._engine.process(rows)
        self._engine.advance(max(map(longest_range_us, self.queries.values()), default=0) + 2)

    @property
    def functions(self) -> tuple[UserFunction, ...]:
        """The functions that users brought, in the order in which they were defined."""
        return tuple(self._engine.catalog.functions.values())

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
        """The queries, in the order in which they were made."""
        return self._engine.queries

    def tables_of(self, query: str) -> frozenset[str]:
        """The tables that a query reads, with the one for each of whose rows it stands."""
        rules = self._rules.get(query)
        own = frozenset() if rules is None else frozenset([rules])
        return own | tables_read(self.queries[query].plan)

    def readers(self, query: str) -> list[str]:
        """The names of the queries that read a query."""
        return self._engine.readers(query)

    @property
    def definitions(self) -> tuple[str, ...]:
        """CREATE STREAM, TABLE and VIEW statements, in order."""
        return tuple(self._definitions.values())

    def statement(self, query: str) -> str:
        """The CREATE QUERY that makes a query, with the options of its sink."""
        return self._queries[query]

    def groups(self) -> list[QueryGroup]:
        """The queries by the streams, and tables that change, that they have in common."""
        reads = {name: self._reads(name) for name in self.queries}
        return [self._group(read, names) for read, names in connected(reads)]

    def _reads(self, query: str) -> frozenset[str]:
        tables = (t for t in self.tables_of(query) if is_live(self.tables[t]))
        return streams_read(self.queries[query].plan).union(tables)

    def _group(self, streams: frozenset[str], names: list[str]) -> QueryGroup:
        tables = {t for name in names for t in self.tables_of(name)}
        # in the order declared: the same script always gives the same program
        return QueryGroup(
            tuple(s for s in self.streams if s in streams),
            tuple(names),
            tuple(t for t in self.tables if t in tables),
            tuple(n for n, t in self.tables.items() if n in tables and is_live(t)),
        )

    def _record(self, statement: Statement, made: Query | str | None) -> None:
        match statement:
            case CreateStream(definition=stream):
                self._definitions["stream", stream.name.lower()] = statement.sql
            case CreateTable(definition=table):
                self._definitions["table", table.name.lower()] = statement.sql
                self._engine.table(table.name, arrow_schema(table.schema).empty_table())
            case CreateView():
                self._definitions["view", statement.name.lower()] = statement.sql
            case CreateQuery(select=select):
                self._queries[statement.name] = statement.sql
                if select.for_each is not None:
                    self._rules[statement.name] = self.tables[select.for_each.table].name
            case SelectStatement():
                assert isinstance(made, Query)
                self._queries[made.name] = _create_statement(made)
            case Drop(kind="query"):
                name = statement.name.lower()
                self._forget(next(n for n in self._queries if n.lower() == name))
            case Drop():
                del self._definitions[statement.kind, statement.name.lower()]

    def _forget(self, query: str) -> None:
        del self._queries[query]
        self._rules.pop(query, None)


def moved(error: SqlError, statement: Statement, text: str) -> SqlError:
    """An error within a statement, with its place in the script."""
    if error.line is None or error.column is None:
        return error
    shift = statement.column - 1 if error.line == 1 else 0
    line = error.line + statement.line - 1
    return type(error)(error.message, line=line, column=error.column + shift, sql=text)


def longest_range_us(query: Query) -> int:
    """The longest RANGE window of a query, in microseconds; 0 if it has none."""
    scans = (node for node in nodes(query.plan) if isinstance(node, StreamScan))
    return max((s.window.us for s in scans if isinstance(s.window, Range)), default=0)


def drop_statement(name: str) -> str:
    """The statement that drops a query."""
    return f"DROP QUERY {quoted(name)}"


def reset_statement(stream: str) -> str:
    """The statement that resets the watermark of a stream's group."""
    return f"ALTER STREAM {quoted(stream)} RESET WATERMARK"


def _create_statement(query: Query) -> str:
    """The statement that makes a query which was given as a SELECT and options."""
    create = f"CREATE QUERY {quoted(query.name)} AS {query.sql}"
    if not query.options:
        return create
    options = (f"{quoted(k)} = {_quoted_text(v)}" for k, v in query.options.items())
    return f"{create} WITH ({', '.join(options)})"


def _quoted_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
