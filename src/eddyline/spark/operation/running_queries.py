"""The queries of a running job: those of its start, plus added and minus dropped ones.

The groups of streams are fixed when a job starts from a new checkpoint. A query that is added later
is assigned to a layout of its streams that fits it; if there is none, one is added. The query
becomes a statement in the control stream, which the shards of the layout execute before the rows of
a batch.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from eddyline.algebra.reads import streams_read
from eddyline.engine.query import Query
from eddyline.errors import CatalogError, SqlError, StateError, did_you_mean
from eddyline.spark.delivery.final_stage import divided_queries
from eddyline.spark.formats.format_options import sink_format
from eddyline.spark.layouts.job_layouts import JobLayouts
from eddyline.spark.layouts.layout_shards import LayoutShards, is_in_parts
from eddyline.spark.layouts.layout_views import LayoutViews
from eddyline.spark.operation import script_delta, statement_check
from eddyline.spark.operation.group_requests import GroupRequests
from eddyline.spark.operation.script_delta import (
    FirstStart,
    OpenSink,
    ScriptDelta,
    require_shedding,
)
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.script import QueryGroup, Script, positioned
from eddyline.spark.statement_texts import drop_statement, reset_statement
from eddyline.spark.storage.control import (
    ControlStream,
    SentStatement,
    aside_note,
    layout_request,
    note_of,
)
from eddyline.sql.catalog import Names
from eddyline.sql.parser import parse
from eddyline.sql.statements import AlterQuery, CreateQuery, Drop, ResetWatermark, Statement

#: Longest time between two looks at whether the job has ended, while a query waits for a batch.
_POLL_S: Final = 1.0
_log = logging.getLogger(__name__)

#: Adds a query to the script.
Creation = Callable[[ScriptDelta], Query]


class RunningQueries:
    """Adds and drops queries of a job. Replays the additions and drops of earlier sessions.

    Args:
        script: the script with which the job was started; it is not changed, and later changes of
            it have no effect here.
        layouts: of the job; those that were added in earlier sessions are added again.
        open_sink: creates the sink of an added query; ``again``: that was added before the start.
        shed_streams: streams of which rows are dropped where they are read.
        is_active: whether the job runs, or is going to.

    Attributes:
        divided: the queries whose groups are computed in parts.
    """

    def __init__(
        self,
        script: Script,
        layouts: JobLayouts,
        control: ControlStream,
        open_sink: OpenSink,
        first: FirstStart,
        shed_streams: Collection[str] = (),
        is_active: Callable[[], bool] = lambda: True,
    ) -> None:
        self._script = ScriptDelta(script, first.other_sinks)
        self._layouts = layouts
        self._views = LayoutViews(script, layouts.all)
        self._requests = GroupRequests(self._script, layouts, self._views, control)
        self.divided = divided_queries({**script.queries, **first.other_sinks}, layouts.all)
        self._control = control
        self._open_sink = open_sink
        self._shed_streams = shed_streams
        self._dropped: set[str] = set()  # in lower case
        self._listed: Names[Query] | None = None  # None after an addition or a drop
        self._since = dict.fromkeys(script.queries, first.began)
        self._waiting: list[tuple[Future[Query], Creation]] = []  # for a batch
        self._is_active = is_active
        self._lock = threading.Condition()  # notified after batches
        for statement in control.statements():
            self._replay(statement)
        layouts.all_are_added()

    @property
    def queries(self) -> Mapping[str, Query]:
        """The current queries by name. Later additions and drops have no effect on the result."""
        with self._lock:
            if self._listed is None:
                self._listed = Names()
                self._listed.update(self._script.queries)
            return self._listed

    def since(self, name: str) -> str:
        """When a query was added, in ISO 8601."""
        return self._since[name]

    def shards_of(self, name: str) -> tuple[Query, Sequence[int], Sequence[int]]:
        """A query, the shards that run it, and all shards of its group.

        Raises:
            CatalogError: there is no such query.
        """
        with self._lock:
            query = self._script.named(name)
            layout = self._requests.layout_of[query.name]
            return query, layout.ids, self._layouts.shards(layout.group)

    def layout_of(self, name: str) -> LayoutShards:
        """The layout that a query runs in."""
        return self._requests.layout_of[name]

    def run(self, text: str) -> Iterator[tuple[Statement, Query | None]]:
        """Execute the statements of :meth:`Run.sql`, one by one.

        Yields:
            Each executed statement, with the query that it added.

        Raises:
            UnsupportedError: it is another statement.
        """
        for statement in parse(text):
            try:
                query = self._execute(statement)
            except SqlError as e:
                raise positioned(e, statement, text) from None
            yield statement, query

    def _execute(self, statement: Statement) -> Query | None:
        match statement:
            case CreateQuery():
                return self._add(statement.name, lambda script: script.run(statement))
            case Drop(kind="query"):
                self.drop(statement.name)
                return None
            case AlterQuery():
                self.alter(statement.name, statement.options)
                return None
            case ResetWatermark():
                self.reset_watermark(statement.name)
                return None
        raise statement_check.unsupported()

    def check(self, text: str) -> None:
        """Check each statement as :meth:`run` does, without effect."""
        with self._lock:
            statement_check.check_statements(text, self._script, self._dropped, self._fitting)

    def add(self, name: str, select: str, options: Mapping[str, str]) -> Query:
        """Add a query: the arguments are those of ``Session.query``.

        Raises:
            SqlError: the SELECT is wrong. DataError: the sink is.
            CatalogError: the name is or was taken; or the query reads streams or tables that the
                job does not read, or streams of several groups, or does not allow load shedding of
                a stream of which the job drops rows, or ranks its rows otherwise, or needs rows
                together that are split.
            StateError: whether an earlier request has reached the job is unknown; or the query
                needs a new layout, and the job has ended before one could begin.
        """
        return self._add(name, lambda script: script.query(name, select, options))

    def _add(self, name: str, create: Creation) -> Query:
        with self._lock:
            statement_check.require_new_name(name, self._dropped)
            if (query := self._attempt(create)) is not None:
                return query
            added: Future[Query] = Future()
            self._waiting.append((added, create))
            try:
                while not added.done():
                    if not self._is_active():
                        raise StateError(
                            f"query '{name}' is not added: it fits none of the layouts of this "
                            "job, and the job has ended before the batch after which another one "
                            "can begin; start the job again"
                        )
                    self._lock.wait(_POLL_S)
            finally:
                self._waiting = [w for w in self._waiting if w[0] is not added]
            return added.result()

    def _attempt(self, create: Creation) -> Query | None:
        """Add a query; None: it needs another layout, which can begin after a batch."""
        self._requests.require_no_doubt()
        self._listed = None
        script = self._script
        query = create(script)
        try:
            group, planned = self._fitting(query)
            layout = self._layouts.fitting(group, query.name, planned)
            if layout is not None:
                self._begin(query, planned, layout)
                return query
            tables = self._layouts.shards_with_tables(group, planned)
            with self._layouts.boundary:
                if not self._requests.can_begin(group, tables):
                    script.drop(query.name)
                    return None
                read = self._requests.read_elsewhere(group, None)
                layout = replace(self._layouts.plan(group, planned), read_elsewhere=read)
                self._begin(query, planned, layout, tables)
        except Exception:
            script.drop(query.name)
            self._requests.layout_of.pop(query.name, None)
            self.divided.drop(query.name)
            raise
        return query

    def _fitting(self, query: Query) -> tuple[QueryGroup, PlannedQuery]:
        """The group of an added query, and its partitioning; an error if it does not fit."""
        group, planned = self._group_of(query), self._script.planned(query)
        require_shedding(query, self._shed_streams)
        self._script.require_agreement(query)
        return group, planned

    def _begin(
        self,
        query: Query,
        planned: PlannedQuery,
        layout: LayoutShards,
        tables: Mapping[int, Sequence[str]] | None = None,
    ) -> None:
        """Let a query run in a layout.

        Args:
            tables: of a new layout, those of its inputs that change, by shard that has handed them
                over; None: the job has the layout.
        """
        name, requests = query.name, self._requests
        self._open_sink(query, again=False)  # before the first result can be delivered
        requests.layout_of[name] = layout
        if in_parts := is_in_parts(layout.layout, planned):
            self.divided.add(query, layout.ids)
        creation = requests.creation(name, layout, in_parts=in_parts)
        statement = requests.statement(layout, creation)
        if tables is None:
            requests.send(layout.group, statement)
        else:
            with self._layouts.adding(layout, tables) as added:
                record = layout_request(statement[0], added.record())
                requests.send(layout.group, [*statement, record])
        self._views.add(layout, requests.read_from(name, layout))
        self._since[name] = statement[0].at
        _log.info("query '%s' is added: %s", name, layout.described)

    def alter(self, name: str, options: Mapping[str, str]) -> None:
        """Give a query another sink, from the batch of the request on.

        Raises:
            CatalogError: there is no such query. DataError: the sink is wrong.
            StateError: whether an earlier request has reached the job is unknown.
        """
        with self._lock:
            self._requests.require_no_doubt()
            query, altered = self._script.alter(name, options)
            self._open_sink(altered, again=False, instead_of=query)
            self._listed = None
            self._script.replace(altered)
            layout = self._requests.layout_of[query.name]
            requests = self._requests.statement(layout, script_delta.alter_statement(altered))
            self._requests.send(layout.group, requests)
            _log.info("query '%s' has another sink: %s", query.name, sink_format(altered.options))

    def drop(self, name: str) -> None:
        """Drop a query. Its delivered rows stay, and can still be read.

        Raises:
            CatalogError: there is no such query, or another one reads it.
            StateError: whether an earlier request has reached the job is unknown.
        """
        with self._lock:
            self._requests.require_no_doubt()
            self._listed = None
            query = self._script.drop(name)
            self._dropped.add(query.name.lower())
            self.divided.drop(query.name)
            layout = self._requests.layout_of[query.name]
            requests = self._requests.statement(layout, drop_statement(query.name), query)
            self._requests.send(layout.group, requests)
            self._views.drop(query.name)
            _log.info("query '%s' is dropped", query.name)

    def reset_watermark(self, stream: str) -> None:
        """Reset the watermark of a stream's group: rows already received make no row late.

        Raises:
            CatalogError: no query of the job read such a stream when it started.
            StateError: whether an earlier request has reached the job is unknown.
        """
        with self._lock:
            self._requests.require_no_doubt()
            groups = {
                s.lower(): (of.group, s) for of in self._layouts.all for s in of.group.streams
            }
            if stream.lower() not in groups:
                choices = did_you_mean(stream, [name for _, name in groups.values()])
                raise CatalogError(f"this job reads no stream '{stream}'; {choices}")
            group, name = groups[stream.lower()]
            self._requests.to_all(group, reset_statement(name))

    def set_aside(self, name: str, cause: str) -> None:
        """Set a query aside in all shards of its group, as a shard has done with it; once."""
        with self._lock:
            requests = self._requests
            if requests.in_doubt or name in requests.aside or name not in self._script.queries:
                return
            layout = requests.layout_of[name]
            requests.aside.add(name)
            self.divided.drop(name)
            if len(self._layouts.shards(layout.group)) > 1:
                note = requests.statement(layout, aside_note(name, cause))
                requests.send(layout.group, note)

    def follow_batch(self, aside: Iterable[tuple[str, str]]) -> None:
        """After a batch has been delivered, in the thread that runs the batches: queries that wait
        are added before the next one.

        Args:
            aside: queries that shards have set aside, each with the reason.
        """
        for name, cause in aside:
            self.set_aside(name, cause)
        with self._lock:
            for added, create in self._waiting:
                try:
                    query = self._attempt(create)
                except Exception as e:  # for the thread that waits
                    added.set_exception(e)
                else:
                    if query is not None:
                        added.set_result(query)
            self._waiting = [w for w in self._waiting if not w[0].done()]
            self._lock.notify_all()

    def allot_cores(self, shards: int, first: int) -> None:
        """Tell the engines of each group how many cores each has, once after a rescaling.

        Args:
            shards: how many run side by side. first: for how many the engines were built.
        """
        with self._lock:
            self._requests.allot_cores(shards, first)

    def end_input(self) -> None:
        """End the input of all shards."""
        with self._lock:
            self._requests.end_input()

    def _replay(self, sent: SentStatement) -> None:
        if (note := note_of(sent.text)) is not None:
            if "cores" in note:
                self._requests.allotted[note["group"]] = note["shards"]
            elif "set_aside" in note:
                self._requests.aside.add(note["set_aside"])
                self.divided.drop(note["set_aside"])
            return
        for statement in parse(sent.text):
            match statement:
                case CreateQuery():
                    query = self._script.run(statement)
                    self._open_sink(query, again=True)
                    group, planned = self._group_of(query), self._script.planned(query)
                    of = self._layouts.again(sent.layout, group, query.name, planned)
                    self._requests.layout_of[query.name] = of
                    if statement.in_parts:
                        self.divided.add(query, of.ids)
                    self._views.add(of, self._requests.read_from(query.name, of))
                    self._since[query.name] = sent.at
                case AlterQuery():
                    query, altered = self._script.alter(statement.name, statement.options)
                    self._open_sink(altered, again=True, instead_of=query)
                    self._script.replace(altered)
                case Drop():
                    dropped = self._script.drop(statement.name).name
                    self.divided.drop(dropped)
                    self._dropped.add(dropped.lower())
                    self._views.drop(dropped)

    def _group_of(self, query: Query) -> QueryGroup:
        """See :meth:`JobLayouts.group_of`."""
        streams, tables = streams_read(query.plan), self._script.tables_of(query.name)
        return self._layouts.group_of(query.name, streams, tables)
