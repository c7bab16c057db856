"""Carries out statements on an engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import Expr
from eddyline.algebra.functions import SqlFunction
from eddyline.algebra.parts import in_parts
from eddyline.algebra.reads import streams_read
from eddyline.engine.created_functions import created_function
from eddyline.engine.declared_statistics import DeclaredStatistics
from eddyline.engine.definitions import names_called, names_read
from eddyline.engine.explain import computed_values, waits_for_rows
from eddyline.engine.functions import add_function
from eddyline.engine.ingest.table_changes import changes_of, is_live
from eddyline.engine.planning import Planning
from eddyline.engine.prepared import PreparedPlans
from eddyline.engine.query import Query, QuerySpec
from eddyline.engine.query_plans import OwnPlans
from eddyline.engine.settings import SETTABLE, Settings
from eddyline.engine.shown import shown
from eddyline.engine.stateful_parts import StatefulParts
from eddyline.errors import CatalogError, EddylineError, SqlError, UnsupportedError, did_you_mean
from eddyline.sql import statements as st
from eddyline.sql.binder import bind, check_view
from eddyline.sql.binder.utilities import bind_utilities, require_no_estimates
from eddyline.sql.naming import quoted
from eddyline.sql.parser import parse
from eddyline.sql.placeholders import with_values


def one_select(sql: str, parameters: Mapping[str, Any]) -> st.SelectStatement:
    """The only statement of a text, with the values of its ``:name``.

    Raises:
        SqlError: the text is not one SELECT.
    """
    parsed = parse(with_values(sql, parameters) if parameters else sql)
    if len(parsed) != 1 or not isinstance(parsed[0], st.SelectStatement):
        raise SqlError(f"query() takes one SELECT, not: {sql.strip()[:60]}")
    return parsed[0]


class Statements:
    """Carries out statements on the parts of an engine.

    Args:
        declared: statistics of streams and tables, which CREATE and DROP change.
        planning: optimizes plans.

    Attributes:
        unnamed: number of names generated for queries without one.
        placements: while a checkpoint is loaded, records of its queries' placements.
        aside: errors of queries that are set aside.
    """

    def __init__(
        self, parts: StatefulParts, declared: DeclaredStatistics, planning: Planning
    ) -> None:
        self._parts = parts
        self._declared = declared
        self._planning = planning
        self._prepared = PreparedPlans(parts.catalog, planning, parts.queries.placements)
        self._lines_of = self._lines  # one object for all queries
        self.unnamed = 0
        self.placements: Mapping[str, Any] = {}
        self.aside: dict[str, str] = {}

    def configure(self) -> None:
        """Discard prepared plans: options have changed."""
        self._prepared.clear()

    def execute(self, statement: st.Statement) -> Query | str | pa.Table | None:
        """Carry out one statement; returns the new query, the text of EXPLAIN, the table of SHOW
        or DESCRIBE, or None.
        """
        match statement:
            case st.CreateStream(definition=stream):
                self._parts.catalog.create_stream(stream)
                self._parts.inputs.add_stream(stream)
                self._declared.add(stream.name, stream.sizes)
                self._parts.definitions.add("stream", stream.name, statement.sql)
            case st.CreateTable(definition=table):
                if is_live(table):
                    changes_of(table)  # raises if it cannot change
                self._parts.catalog.create_table(table)
                self._parts.inputs.add_table(table)
                self._declared.add(table.name, table.sizes)
                self._parts.definitions.add("table", table.name, statement.sql)
            case st.CreateView(name=name, select=select):
                check_view(select, self._parts.catalog)
                self._parts.catalog.create_view(name, select)
                reads, calls = names_read(select), names_called(select.ast)
                self._parts.definitions.add("view", name, statement.sql, reads, calls)
            case st.CreateFunction(name=name):
                function = created_function(statement, self._parts.catalog)
                add_function(self._parts.catalog, function)
                if isinstance(function, SqlFunction):  # code is not saved
                    assert statement.body is not None, "of SQL"
                    calls = names_called(statement.body)
                    self._parts.definitions.add("function", name, statement.sql, calls=calls)
            case st.CreateQuery():
                return self.add_query(statement.name, statement, statement.emit, statement.options)
            case st.SelectStatement():
                return self.add_query(None, statement, statement.emit, {})
            case st.Show():
                return shown(statement, self._parts.catalog, self._parts.queries.all.now())
            case st.Explain():
                return self._explain(statement)
            case st.AlterQuery():
                self._alter_query(statement)
            case st.ResetWatermark(name=name):
                self.reset_watermark(name)
            case st.Drop(kind="query", name=name):
                self.drop_query(name)
            case st.Drop(kind="function", name=name):
                self._drop_function(name)
            case st.Drop():
                self._drop_source(statement)
        return None

    def check(self, statement: st.Statement) -> None:
        """Check a statement that adds or drops a query as ``execute`` does, and change nothing.

        Raises:
            SqlError: it is wrong. CatalogError: a name is taken or missing, or read by others.
        """
        match statement:
            case st.CreateQuery() | st.SelectStatement():
                if isinstance(statement, st.CreateQuery):
                    self._parts.catalog.require_free(statement.name)
                select, emit = statement.select, statement.emit
                bound = bind(select, emit, self._parts.catalog)
                plan = self._planning.optimized(bound.plan)
                names = names_read(select), names_called(select.ast)
                self._utilities(statement.by, select, streams_read(plan), names)
            case st.Drop(kind="query", name=name):
                self._parts.definitions.require_unread("query", self._named(name).name)

    def add_query(
        self,
        name: str | None,
        statement: st.CreateQuery | st.SelectStatement,
        emit: Emit,
        options: Mapping[str, str],
    ) -> Query:
        """Add a standing query; a name is generated if there is none."""
        name = name or self._new_name()
        plans = self._prepared.find(statement.select, emit)
        if plans is None or (isinstance(statement, st.CreateQuery) and statement.in_parts):
            query = self._add_planned(name, statement, emit, options)
        else:
            prepared = plans.prepared
            names = prepared.reads, prepared.calls
            by = self._utilities(statement.by, statement.select, plans.facts.streams, names)
            known = QuerySpec(
                name, statement.sql, plans, prepared.emit, options, statement.sheds, utilities=by
            )
            query = self._add(statement, known, names, None)
        if query.set_aside is not None:
            return query
        self._parts.inputs.measuring.watch(query.plans.facts.compared)
        self._parts.shedding.add(query)
        self._parts.overload.changed()
        query.lines = self._lines_of
        return query

    def _add_planned(
        self,
        name: str,
        statement: st.CreateQuery | st.SelectStatement,
        emit: Emit,
        options: Mapping[str, str],
    ) -> Query:
        """Add a query that is bound and optimized for itself."""
        select = statement.select
        bound = bind(select, emit, self._parts.catalog)
        divided = isinstance(statement, st.CreateQuery) and statement.in_parts
        plan, emit = bound.plan, bound.emit
        if divided:  # parts of one group are apart, so a new one cannot replace an older one
            plan, emit = in_parts(plan).partial, Emit("changes")
        plan = self._planning.optimized(plan)
        plans = OwnPlans(plan, bound.plan, emit)
        names = names_read(select), names_called(select.ast)
        by = self._utilities(statement.by, statement.select, plans.facts.streams, names)
        spec = QuerySpec(name, statement.sql, plans, emit, options, statement.sheds, divided, by)
        return self._add(statement, spec, names, bound.rules)

    def _add(
        self,
        statement: st.CreateQuery | st.SelectStatement,
        spec: QuerySpec,
        names: tuple[frozenset[str], frozenset[str]],
        rules: str | None,
    ) -> Query:
        """Add a query to the catalog, the definitions, and those that run.

        Args:
            names: that it reads and calls.
            rules: the table of FOR EACH ROW OF.
        """
        name, facts = spec.name, spec.plans.facts
        self._parts.shedding.require_agreement(spec)
        self._parts.catalog.create_query(name, statement.select)
        try:
            reads = facts.streams | facts.tables
            self._parts.progress.bring_together(reads if rules is None else reads | {rules})
            if rules is None or name in self.aside:
                placement, aside = self.placements.get(name), self.aside.get(name)
                query = self._parts.queries.add(spec, placement=placement, aside=aside)
            else:
                table = self._parts.inputs.parameters(rules)
                restored = name in self.placements
                query = self._parts.queries.add_for_each(spec, table, restored=restored)
        except EddylineError:
            self._parts.catalog.drop("query", name)
            raise
        self._parts.definitions.add("query", name, _as_create(name, statement), *names)
        return query

    def _utilities(
        self,
        by: Sequence[exp.Expr],
        select: st.Select,
        streams: Iterable[str],
        names: tuple[frozenset[str], frozenset[str]],
    ) -> dict[str, Expr]:
        """By stream, what SHED BY ranks its rows by.

        Args:
            by: of the statement. streams: that its SELECT reads. names: that it reads and calls.
        """
        if not by:
            return {}
        reads, calls = names
        require_no_estimates(select, calls | self._parts.definitions.called_by(reads))
        return bind_utilities(by, select, streams, self._parts.catalog)

    def _lines(self, query: Query) -> list[str]:
        """The lines of EXPLAIN below the plan."""
        return [
            *self._parts.overload.lines(query),
            *computed_values(query.plan, self._parts.catalog.streams),
            *waits_for_rows(query.emit, query.plan, self._parts.catalog.streams),
            *self._parts.progress.lines(query),
        ]

    def reset_watermark(self, stream: str) -> None:
        """Restart the watermark of a stream; see ``Progress.reset``.

        Raises:
            CatalogError: the stream is unknown.
        """
        if stream not in self._parts.catalog.streams:
            choices = did_you_mean(stream, self._parts.catalog.streams)
            raise CatalogError(f"there is no stream {stream!r}; {choices}")
        self._parts.progress.reset(self._parts.inputs.groups.of([stream]))
        self._parts.overload.restart()

    def drop_query(self, name: str) -> None:
        """Remove a standing query and the state that only it needs.

        Raises:
            CatalogError: the query is unknown.
        """
        query = self._named(name)
        self._parts.definitions.require_unread("query", query.name)
        self._parts.shedding.drop(query)
        self._parts.overload.changed()
        self._parts.queries.drop(query.name)
        self._parts.catalog.drop("query", query.name)
        self._parts.definitions.remove("query", query.name)

    def _alter_query(self, statement: st.AlterQuery) -> None:
        """Change the options of a query's sink.

        Raises:
            CatalogError: the query is unknown.
        """
        query = self._named(statement.name)
        query.options = dict(statement.options)
        self._parts.definitions.alter("query", query.name, statement.sql)

    def _named(self, name: str) -> Query:
        """The query of a name.

        Raises:
            CatalogError: the name is unknown.
        """
        query = self._parts.queries.queries.get(name) or self._parts.queries.aside.get(name)
        if query is None:
            choices = did_you_mean(name, self._parts.queries.all.now())
            raise CatalogError(f"there is no query {name!r}; {choices}")
        return query

    def _explain(self, statement: st.Explain) -> str:
        if isinstance(statement.target, str):
            return self._named(statement.target).described(analyze=statement.analyze)
        if statement.analyze:
            raise UnsupportedError(
                "EXPLAIN ANALYZE shows measurements of a running query: "
                "write its name, as in EXPLAIN ANALYZE my_query",
                line=statement.line,
                column=statement.column,
                sql=statement.target.source.text,
            )
        bound = bind(statement.target, statement.emit, self._parts.catalog)
        plan = self._planning.optimized(bound.plan)
        names = names_read(statement.target), names_called(statement.target.ast)
        self._utilities(statement.by, statement.target, streams_read(plan), names)  # raises
        lines = self._parts.overload.lines_with(plan, sheds=statement.sheds)
        lines += computed_values(plan, self._parts.catalog.streams)
        lines += waits_for_rows(bound.emit, plan, self._parts.catalog.streams)
        return "\n".join([self._planning.explained(bound.emit, plan), *lines])

    def _drop_function(self, name: str) -> None:
        definitions, catalog = self._parts.definitions, self._parts.catalog
        definitions.require_unread("function", name)
        saved = [e.name for e in definitions if e.kind == "function"]
        catalog.drop("function", name)
        for known in saved:
            if known.lower() == name.lower():
                definitions.remove("function", known)

    def _drop_source(self, statement: st.Drop) -> None:
        kind = statement.kind
        entry = next(
            (
                e
                for e in self._parts.definitions
                if e.kind == kind and e.name.lower() == statement.name.lower()
            ),
            None,
        )
        if entry is not None:
            self._parts.definitions.require_unread(kind, entry.name)
        self._parts.catalog.drop(kind, statement.name)
        assert entry is not None, "every object of the catalog has a definition"
        self._parts.inputs.drop(entry.name)
        self._declared.drop(entry.name)
        self._parts.definitions.remove(kind, entry.name)

    def _new_name(self) -> str:
        self.unnamed += 1
        while f"q{self.unnamed}" in self._parts.catalog.queries:
            self.unnamed += 1
        return f"q{self.unnamed}"


def _as_create(name: str, statement: st.CreateQuery | st.SelectStatement) -> str:
    """The CREATE statement of a query."""
    if isinstance(statement, st.CreateQuery):
        return statement.sql
    return f"CREATE QUERY {quoted(name)} AS {statement.sql}"


def changed_options(
    settings: Settings, statement: st.SetOption, queries: Collection[str]
) -> Settings:
    """The options with the change of a SET statement.

    Args:
        queries: names of the queries of the engine.

    Raises:
        SqlError: the name or the value is not valid, or there is a query.
    """
    name, offsets = statement.name, statement.offsets
    if queries:
        reason = f"options are fixed once there is a query: write SET {name} before the first"
        raise statement.source.error(offsets.name, reason)
    try:
        return settings.with_text(name, statement.value)
    except ValueError as e:
        at = offsets.value if name in SETTABLE else offsets.name
        raise statement.source.error(at, str(e)) from None
