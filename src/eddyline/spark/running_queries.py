"""The queries of a running job: those of its start, plus added and minus dropped ones.

The groups of streams are fixed when a job starts from a new checkpoint. A query that is added later
is assigned to a layout of its streams that fits it; if there is none, one is added. The query
becomes a statement in the control stream, which the shards of the layout execute before the rows of
a batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from eddyline.algebra.reads import streams_read
from eddyline.engine.query import Query
from eddyline.errors import CatalogError, SqlError, StateError, UnsupportedError, did_you_mean
from eddyline.spark.control import (
    ControlStream,
    Request,
    SentStatement,
    aside_note,
    cores_note,
    layout_request,
    note_of,
    reads_note,
)
from eddyline.spark.job_layouts import JobLayouts
from eddyline.spark.layout_shards import LayoutShards, by_group
from eddyline.spark.layout_views import LayoutViews
from eddyline.spark.script import (
    QueryGroup,
    Script,
    drop_statement,
    longest_range_us,
    positioned,
    reset_statement,
)
from eddyline.spark.script_delta import ScriptDelta
from eddyline.sql.catalog import Names
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, Drop, ResetWatermark, Statement

#: Longest time between two looks at whether the job has ended, while a query waits for a batch.
_POLL_S: Final = 1.0


class RunningQueries:
    """Adds and drops queries of a job. Replays the additions and drops of earlier sessions.

    Args:
        script: the script with which the job was started; it is not changed, and later changes of
            it have no effect here.
        layouts: of the job; those that were added in earlier sessions are added again.
        open_sink: creates the sink of an added query.
        began: time of the job's first start, in ISO 8601.
        shed_streams: streams of which rows are dropped where they are read.
        is_active: whether the job runs, or is going to.
    """

    def __init__(
        self,
        script: Script,
        layouts: JobLayouts,
        control: ControlStream,
        open_sink: Callable[[Query], None],
        began: str,
        shed_streams: Collection[str] = (),
        is_active: Callable[[], bool] = lambda: True,
    ) -> None:
        self._script = ScriptDelta(script)
        self._layouts = layouts
        self._views = LayoutViews(script, layouts.all)
        self._layout_of = {name: of for of in layouts.all for name in of.queries}
        self._aside: set[str] = set()
        self._told: dict[int, int] = {}  # by first shard of a group, for which number of shards
        self._control = control
        self._open_sink = open_sink
        self._shed_streams = shed_streams
        self._dropped: set[str] = set()  # in lower case
        self._listed: Names[Query] | None = None  # None after an addition or a drop
        self._since = dict.fromkeys(script.queries, began)
        self._in_doubt = False  # whether writing a request has failed
        self._asked: set[int] = set()  # first shards of groups that were asked for a report
        self._is_active = is_active
        self._lock = threading.Condition()  # notified after batches
        for statement in control.statements():
            self._replay(statement)

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

    def layout_of(self, name: str) -> LayoutShards:
        """The layout that a query runs in."""
        return self._layout_of[name]

    def run(self, text: str) -> Iterator[tuple[Statement, Query | None]]:
        """Execute CREATE QUERY, DROP QUERY and ALTER STREAM ... RESET WATERMARK statements, one by
        one, as ``add``, ``drop`` and ``reset_watermark`` do.

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
            case ResetWatermark():
                self.reset_watermark(statement.name)
                return None
        raise UnsupportedError(
            "a running job accepts CREATE QUERY, DROP QUERY and ALTER STREAM ... RESET WATERMARK; "
            "add other statements to the session and start from a new checkpoint",
            line=1,
            column=1,
        )

    def add(self, name: str, select: str, options: Mapping[str, str]) -> Query:
        """Add a query: the arguments are those of ``Session.query``.

        Raises:
            SqlError: the SELECT is wrong. DataError: the sink is.
            CatalogError: the name is or was taken; or the query reads streams or tables that the
                job does not read, or streams of several groups, or does not allow load shedding of
                a stream of which the job drops rows, or needs rows together that are split.
            StateError: whether an earlier request has reached the job is unknown; or the query
                needs a new layout, and the job has ended before one could begin.
        """
        return self._add(name, lambda script: script.query(name, select, options))

    def _add(self, name: str, create: Callable[[ScriptDelta], Query]) -> Query:
        with self._lock:
            if name.lower() in self._dropped:
                raise CatalogError(
                    f"'{name}' is the name of a dropped query of this job, whose delivered rows "
                    "can still be read; choose another name"
                )
            while (query := self._attempt(create)) is None:
                if not self._is_active():
                    raise StateError(
                        f"query '{name}' is not added: it fits none of the layouts of this job, "
                        "and the job has ended before the batch after which another one can begin; "
                        "start the job again"
                    )
                self._lock.wait(_POLL_S)
            return query

    def _attempt(self, create: Callable[[ScriptDelta], Query]) -> Query | None:
        """Add a query; None: it needs another layout, which can begin after one of the next
        batches.
        """
        self._require_no_doubt()
        self._listed = None
        script = self._script
        query = create(script)
        try:
            group = self._group_of(query)
            self._require_shedding(query)
            layout = self._layouts.fitting(group, query.name, script.planned(query))
            if is_new := layout is None:
                planned = self._layouts.plan(group, query.name, script.planned(query))
                layout = replace(planned, read_elsewhere=self._read_elsewhere(group, None))
                if not self._can_begin(group):
                    script.drop(query.name)
                    return None
            self._open_sink(query)  # before the first result can be delivered
            self._layout_of[query.name] = layout
            requests = self._statement(layout, self._creation(query.name, layout))
        except Exception:
            script.drop(query.name)
            self._layout_of.pop(query.name, None)
            raise
        if is_new:
            with self._layouts.adding(layout) as added:
                self._send(group, [*requests, layout_request(requests[0], added.record())])
        else:
            self._send(group, requests)
        self._views.add(layout, self._read_from(query.name, layout))
        self._since[query.name] = requests[0].at
        return query

    def _creation(self, name: str, layout: LayoutShards) -> str:
        """Statements that create an added query in a layout, after the views that it needs."""
        added, known = self._script.added, self._views.known(layout)
        views = [added.view(n) for n in self._read_from(name, layout) if n not in known]
        return ";\n".join([*views, added.statement(name)])

    def _read_from(self, name: str, layout: LayoutShards) -> list[str]:
        """The queries of other layouts that an added query of this one reads."""
        read = self._script.added.read_beside([name])
        return [n for n in read if self._layout_of[n] is not layout]

    def drop(self, name: str) -> None:
        """Drop a query. Its delivered rows stay, and can still be read.

        Raises:
            CatalogError: there is no such query, or another one reads it.
            StateError: whether an earlier request has reached the job is unknown.
        """
        with self._lock:
            self._require_no_doubt()
            self._listed = None
            query = self._script.drop(name)
            self._dropped.add(query.name.lower())
            layout = self._layout_of[query.name]
            self._send(layout.group, self._statement(layout, drop_statement(query.name), query))
            self._views.drop(query.name)

    def reset_watermark(self, stream: str) -> None:
        """Reset the watermark of a stream's group: rows already received make no row late.

        Raises:
            CatalogError: no query of the job read such a stream when it started.
            StateError: whether an earlier request has reached the job is unknown.
        """
        with self._lock:
            self._require_no_doubt()
            groups = {
                s.lower(): (of.group, s) for of in self._layouts.all for s in of.group.streams
            }
            if stream.lower() not in groups:
                choices = did_you_mean(stream, [name for _, name in groups.values()])
                raise CatalogError(f"this job reads no stream '{stream}'; {choices}")
            group, name = groups[stream.lower()]
            texts = dict.fromkeys(self._layouts.shards(group), reset_statement(name))
            self._send(group, self._control.statement(self._layouts.shards(group)[0], texts))

    def set_aside(self, name: str, cause: str) -> None:
        """Set a query aside in all shards of its group, as a shard has done with it; once."""
        with self._lock:
            if self._in_doubt or name in self._aside or name not in self._script.queries:
                return
            layout = self._layout_of[name]
            self._aside.add(name)
            if len(self._layouts.shards(layout.group)) > 1:
                self._send(layout.group, self._statement(layout, aside_note(name, cause)))

    def follow_batch(self, aside: Iterable[tuple[str, str]]) -> None:
        """After a batch has been delivered.

        Args:
            aside: queries that shards have set aside, each with the reason.
        """
        for name, cause in aside:
            self.set_aside(name, cause)
        with self._lock:
            self._lock.notify_all()

    def allot_cores(self, shards: int, first: int) -> None:
        """Tell the engines of each group how many cores each has, once after a rescaling.

        Args:
            shards: how many run side by side. first: for how many the engines were built.
        """
        with self._lock:
            for group, own in by_group(self._layouts.first):
                to = self._layouts.shards(group)
                if self._told.get(to[0], first) != shards:
                    note = cores_note(to[0], min(of.cores for of in own), shards)
                    self._send(group, self._control.statement(to[0], dict.fromkeys(to, note)))
                    self._told[to[0]] = shards

    def end_input(self) -> None:
        """End the input of all shards.

        A shard advances after its last row by the longest RANGE window of its queries, so that all
        windows expire.
        """
        with self._lock:
            longest_us = {shard: 0 for of in self._layouts.all for shard in of.ids}
            for query in self._script.queries.values():
                for shard in self._layouts.shards(self._layout_of[query.name].group):
                    longest_us[shard] = max(longest_us[shard], longest_range_us(query))
            self._control.end_of_input(longest_us)

    def _statement(
        self, layout: LayoutShards, text: str, dropped: Query | None = None
    ) -> list[Request]:
        """Requests to execute a statement in the shards of a layout. The other shards of the group
        get to know which streams are read, and drop a view for a query that is dropped.
        """
        texts = dict.fromkeys(layout.ids, text)
        for other in self._layouts.of(layout.group):
            if other is not layout:
                drop = ""
                if dropped is not None and dropped.name in self._views.known(other):
                    drop = drop_statement(dropped.name, "VIEW")
                note = reads_note(self._read_elsewhere(layout.group, other), drop)
                texts |= dict.fromkeys(other.ids, note)
        return self._control.statement(self._layouts.shards(layout.group)[0], texts)

    def _read_elsewhere(self, group: QueryGroup, layout: LayoutShards | None) -> frozenset[str]:
        """The streams of a group that current queries of other layouts than this one read."""
        read: set[str] = set()
        for name, query in self._script.queries.items():
            of = self._layout_of.get(query.name)
            if of is not None and of is not layout and of.group is group:
                read |= query.reads if name not in self._aside else frozenset()
        return frozenset(group.streams) & read

    def _send(self, group: QueryGroup, requests: list[Request]) -> None:
        self._in_doubt = True
        self._control.send(self._layouts.shards(group)[0], requests)
        self._in_doubt = False

    def _replay(self, sent: SentStatement) -> None:
        if (note := note_of(sent.text)) is not None:
            if "cores" in note:
                self._told[note["group"]] = note["shards"]
            elif "set_aside" in note:
                self._aside.add(note["set_aside"])
            return
        for statement in parse(sent.text):
            match statement:
                case CreateQuery():
                    query = self._script.run(statement)
                    self._open_sink(query)
                    group, planned = self._group_of(query), self._script.planned(query)
                    of = self._layouts.again(sent.layout, group, query.name, planned)
                    self._layout_of[query.name] = of
                    self._views.add(of, self._read_from(query.name, of))
                    self._since[query.name] = sent.at
                case Drop():
                    dropped = self._script.drop(statement.name).name
                    self._dropped.add(dropped.lower())
                    self._views.drop(dropped)

    def _require_no_doubt(self) -> None:
        """Check that all requests so far have been written.

        Raises:
            StateError: writing one has failed.
        """
        if self._in_doubt:
            raise StateError(
                "writing the last request failed, and whether the job has it is unknown: stop it "
                "and start again from the checkpoint to see"
            )

    def _require_shedding(self, query: Query) -> None:
        """Check that a query over streams of which rows are dropped allows load shedding.

        Raises:
            CatalogError: it does not.
        """
        dropped = sorted(streams_read(query.plan) & set(self._shed_streams))
        if dropped and not query.sheds:
            raise CatalogError(
                f"query '{query.name}' reads the stream '{dropped[0]}', of which this job drops "
                "rows where they are read: declare the query ON OVERLOAD SHED, or add it to the "
                "session and start from a new checkpoint"
            )

    def _group_of(self, query: Query) -> QueryGroup:
        """See :meth:`JobLayouts.group_of`."""
        streams, tables = streams_read(query.plan), self._script.tables_of(query.name)
        return self._layouts.group_of(query.name, streams, tables)

    def _can_begin(self, group: QueryGroup) -> bool:
        """Whether a layout can begin with the next batch: how far the shards of the group are is
        known, and they have executed all statements. Otherwise they will after one of the next
        batches.
        """
        first = self._layouts.shards(group)[0]
        executed = self._layouts.executed(group)
        if executed is None and first not in self._asked:
            self._asked.add(first)
            notes = {
                shard: reads_note(self._read_elsewhere(group, of))
                for of in self._layouts.of(group)
                for shard in of.ids
            }
            self._send(group, self._control.statement(first, notes))
        return executed == self._control.sent(first)
