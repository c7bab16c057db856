"""The script of a running job: the script that it was started with, plus and minus queries."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from eddyline.algebra.reads import streams_read
from eddyline.engine.definitions import names_read
from eddyline.engine.overload.shedding import require_alike
from eddyline.engine.query import Query
from eddyline.errors import CatalogError, did_you_mean
from eddyline.spark.layouts.layout_shards import planned
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.script import Script
from eddyline.spark.sources.format_check import check_sink, check_sink_of
from eddyline.sql.catalog import Names
from eddyline.sql.definitions import own_option
from eddyline.sql.naming import quoted, quoted_text
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, SelectStatement, whole_statement


class FirstStart(NamedTuple):
    """The first start of a job with this checkpoint.

    Attributes:
        began: when, in ISO 8601.
        other_sinks: queries of the script with the sinks of that start, where these were others.
    """

    began: str
    other_sinks: Mapping[str, Query] = MappingProxyType({})


class ScriptDelta:
    """Queries that are added to and dropped from a script, which itself does not change.

    The script may have thousands of queries, so it is not copied: added queries are checked by a
    second script with the streams, tables and views, and those queries of the first that these and
    the added queries read.

    Args:
        first: later changes of it have no effect here.
        other_sinks: queries of it with the sinks that they had before.
    """

    def __init__(
        self, first: Script, other_sinks: Mapping[str, Query] = MappingProxyType({})
    ) -> None:
        self._queries: Names[Query] = Names()
        self._queries.update(first.queries)
        self._queries.update(other_sinks)
        self._tables = {name: first.tables_of(name) for name in first.queries}
        self._statements: Names[str] = Names()  # of the queries of the first script
        self._statements.update({name: first.statement(name) for name in first.queries})
        self._readers = {
            name: readers for name in first.queries if (readers := first.readers(name))
        }
        self._statistics = first.statistics
        self._script = Script.of(first.program_of(first.read_beside(())), first.functions)

    @property
    def queries(self) -> Names[Query]:
        """The current queries, by name."""
        return self._queries

    def tables_of(self, name: str) -> frozenset[str]:
        """The tables that a query reads, or read before it was dropped."""
        return self._tables[name]

    def planned(self, query: Query) -> PlannedQuery:
        """What the partitioning of an added query depends on."""
        return planned(self._script, query, self._statistics)

    @property
    def added(self) -> Script:
        """The added queries, with those that they read."""
        return self._script

    def run(self, statement: CreateQuery) -> Query:
        """Add a query by its statement, or by that of its parts.

        Raises:
            SqlError: it is wrong. CatalogError: the name is taken.
        """
        create = whole_statement(statement.sql)
        self._prepare(statement.name, create)
        ((_, query),) = self._script.run(create)
        assert isinstance(query, Query), "CREATE QUERY returns a query"
        return self._added(query)

    def creation(self, name: str, views: Iterable[str], *, in_parts: bool) -> str:
        """Statements that create an added query in a shard, after views for others; see
        :meth:`Script.statement_of`.
        """
        create = self._script.statement_of(name, in_parts=in_parts)
        return ";\n".join([*map(self._script.view, views), create])

    def query(self, name: str, select: str, options: Mapping[str, str]) -> Query:
        """Add a query as :meth:`Script.query` does."""
        self._prepare(name, select)
        return self._added(self._script.query(name, select, options))

    def alter(self, name: str, options: Mapping[str, str]) -> tuple[Query, Query]:
        """A query, and the same with another sink, which :meth:`replace` makes the current one.

        Raises:
            CatalogError: there is no such query. DataError: the sink is wrong.
        """
        query = self.named(name)
        given = {own_option(option): value for option, value in options.items()}
        check_sink(query.name, given, of_query=True)
        altered = with_sink(query, given or {"sink": "print"})
        check_sink_of(altered)
        return query, altered

    def replace(self, query: Query) -> None:
        """Make this the current query of its name."""
        self._queries[query.name] = query

    def drop(self, name: str) -> Query:
        """Drop a query, and return it.

        Raises:
            CatalogError: there is no such query, or another one or a view reads it.
        """
        query = self.named(name)
        self.require_unread(query)
        if query.name in self._script.queries:
            self._script.drop(query.name)
        del self._queries[query.name]
        return query

    def require_unread(self, query: Query) -> None:
        """Check that nothing reads a query.

        Raises:
            CatalogError: another query or a view does.
        """
        for kind, reader in self._readers.get(query.name, ()):
            if kind == "view":
                raise CatalogError(
                    f"cannot drop query '{query.name}': view '{reader}' reads it, and a running "
                    "job keeps its views; start from a new checkpoint, without both"
                )
            if reader in self._queries:
                raise CatalogError(
                    f"cannot drop query '{query.name}': query '{reader}' reads it; "
                    f"DROP QUERY {reader} first"
                )

    def named(self, name: str) -> Query:
        """The current query of a name.

        Raises:
            CatalogError: there is none.
        """
        query = self._queries.get(name)
        if query is None:
            raise CatalogError(f"there is no query '{name}'; {did_you_mean(name, self._queries)}")
        return query

    def require_agreement(self, query: Query) -> None:
        """Check that an added query ranks the rows of streams as all others that allow shedding.

        Raises:
            CatalogError: it does not.
        """
        others = (q for q in self._queries.values() if q.sheds) if query.sheds else ()
        for other in others:
            for stream in sorted(query.streams & other.streams):
                require_alike(stream, query, other.name, other.utilities.get(stream))

    def _added(self, query: Query) -> Query:
        self._queries[query.name] = query
        self._tables[query.name] = self._script.tables_of(query.name)
        return query

    def _prepare(self, name: str, text: str) -> None:
        """Check that the name is free, and add the queries that the text reads to the script."""
        if name in self._queries:
            raise CatalogError(
                f"cannot create query '{name}': a query of this name exists; DROP it first"
            )
        self._add_queries_read(text)

    def _add_queries_read(self, text: str) -> None:
        for statement in parse(text):
            if isinstance(statement, CreateQuery | SelectStatement):
                for name in names_read(statement.select):
                    if name in self._queries and name not in self._script.queries:
                        create = self._statements[name]
                        self._add_queries_read(create)
                        list(self._script.run(create))


class OpenSink(Protocol):
    """See :meth:`SinkFactory.open`."""

    def __call__(self, query: Query, *, again: bool, instead_of: Query | None = None) -> None:
        """Open the sink of a query."""


def with_sink(query: Query, options: Mapping[str, str]) -> Query:
    """The query with another sink."""
    altered = copy.copy(query)
    altered.options = dict(options)
    return altered


def alter_statement(query: Query) -> str:
    """The statement that gives a query the sink that this one has."""
    options = ", ".join(f"{quoted(k)} = {quoted_text(v)}" for k, v in query.options.items())
    return f"ALTER QUERY {quoted(query.name)} WITH ({options})"


def require_shedding(query: Query, streams: Collection[str]) -> None:
    """Check that an added query allows load shedding, if it reads one of some streams.

    Args:
        streams: those of which the job drops rows.

    Raises:
        CatalogError: it does not.
    """
    dropped = sorted(streams_read(query.plan) & set(streams))
    if dropped and not query.sheds:
        raise CatalogError(
            f"query '{query.name}' reads the stream '{dropped[0]}', of which this job drops "
            "rows where they are read: declare the query ON OVERLOAD SHED, or add it to the "
            "session and start from a new checkpoint"
        )
