"""The queries of a running job: those of its start, plus added and minus dropped ones.

The groups of streams and their layouts, and so the shards, are fixed when a job starts from a new
checkpoint. A query that is added later is assigned to a layout of its streams that fits it. It
becomes a statement in the control stream, which the shards of the layout execute before the rows of
a batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from eddyline.algebra.reads import streams_read
from eddyline.engine.query import Query
from eddyline.errors import CatalogError, SqlError, StateError, UnsupportedError, did_you_mean
from eddyline.spark.control import (
    ControlStream,
    Request,
    aside_note,
    cores_note,
    note_of,
    reads_note,
)
from eddyline.spark.key_splits import KeySplits
from eddyline.spark.layout_shards import LayoutShards, by_group
from eddyline.spark.partitioning.planning import fits
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


class RunningQueries:
    """Adds and drops queries of a job. Replays the additions and drops of earlier sessions.

    Args:
        script: the script with which the job was started; it is not changed, and later changes of
            it have no effect here.
        layouts: from the first start with the checkpoint.
        open_sink: creates the sink of an added query.
        began: time of the job's first start, in ISO 8601.
        shed_streams: streams of which rows are dropped where they are read.
        splits: split keys of the job; None: it has none.
    """

    def __init__(
        self,
        script: Script,
        layouts: Sequence[LayoutShards],
        control: ControlStream,
        open_sink: Callable[[Query], None],
        began: str,
        shed_streams: Collection[str] = (),
        splits: KeySplits | None = None,
    ) -> None:
        self._script = ScriptDelta(script)
        self._layouts = layouts
        self._layout_of = {name: of for of in layouts for name in of.queries}
        self._aside: set[str] = set()
        self._told: dict[int, int] = {}  # by first shard of a group, for which number of shards
        self._control = control
        self._open_sink = open_sink
        self._shed_streams = shed_streams
        self._splits = splits
        self._dropped: set[str] = set()  # in lower case
        self._listed: Names[Query] | None = None  # None after an addition or a drop
        self._since = dict.fromkeys(script.queries, began)
        self._in_doubt = False  # whether writing a request has failed
        self._lock = threading.Lock()
        for request in control.statements():
            self._replay(request)

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
            StateError: whether an earlier request has reached the job is unknown.
        """
        return self._add(name, lambda script: script.query(name, select, options))

    def _add(self, name: str, create: Callable[[ScriptDelta], Query]) -> Query:
        with self._lock:
            if name.lower() in self._dropped:
                raise CatalogError(
                    f"'{name}' is the name of a dropped query of this job, whose delivered rows "
                    "can still be read; choose another name"
                )
            self._require_no_doubt()
            self._listed = None
            script = self._script
            query = create(script)
            try:
                layout = self._layout_for(query)
                self._require_shedding(query)
                self._open_sink(query)  # before the first result can be delivered
                self._layout_of[query.name] = layout
                requests = self._statement(layout, script.statement(query.name))
            except Exception:
                script.drop(query.name)
                raise
            self._send(layout.group, requests)
            self._since[query.name] = requests[0].at
            return query

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
            self._send(layout.group, self._statement(layout, drop_statement(query.name)))

    def reset_watermark(self, stream: str) -> None:
        """Reset the watermark of a stream's group: rows already received make no row late.

        Raises:
            CatalogError: no query of the job read such a stream when it started.
            StateError: whether an earlier request has reached the job is unknown.
        """
        with self._lock:
            self._require_no_doubt()
            groups = {s.lower(): (of.group, s) for of in self._layouts for s in of.group.streams}
            if stream.lower() not in groups:
                choices = did_you_mean(stream, [name for _, name in groups.values()])
                raise CatalogError(f"this job reads no stream '{stream}'; {choices}")
            group, name = groups[stream.lower()]
            texts = dict.fromkeys(self._shards(group), reset_statement(name))
            self._send(group, self._control.statement(self._shards(group)[0], texts))

    def set_aside(self, name: str, cause: str) -> None:
        """Set a query aside in all shards of its group, as a shard has done with it; once."""
        with self._lock:
            if self._in_doubt or name in self._aside or name not in self._script.queries:
                return
            layout = self._layout_of[name]
            self._aside.add(name)
            if len(self._shards(layout.group)) > 1:
                self._send(layout.group, self._statement(layout, aside_note(name, cause)))

    def allot_cores(self, shards: int, first: int) -> None:
        """Tell the engines of each group how many cores each has, once after a rescaling.

        Args:
            shards: how many run side by side. first: for how many the engines were built.
        """
        with self._lock:
            for group, own in by_group(self._layouts):
                ids = self._shards(group)
                if self._told.get(ids[0], first) != shards:
                    note = cores_note(ids[0], min(of.cores for of in own), shards)
                    self._send(group, self._control.statement(ids[0], dict.fromkeys(ids, note)))
                    self._told[ids[0]] = shards

    def end_input(self) -> None:
        """End the input of all shards.

        A shard advances after its last row by the longest RANGE window of its queries, so that all
        windows expire.
        """
        with self._lock:
            longest_us = {shard: 0 for of in self._layouts for shard in of.ids}
            for query in self._script.queries.values():
                for shard in self._shards(self._layout_of[query.name].group):
                    longest_us[shard] = max(longest_us[shard], longest_range_us(query))
            self._control.end_of_input(longest_us)

    def _shards(self, group: QueryGroup) -> list[int]:
        """The shards of all layouts of a group."""
        return [shard for of in self._layouts if of.group is group for shard in of.ids]

    def _statement(self, layout: LayoutShards, text: str) -> list[Request]:
        """Requests to execute a statement in the shards of a layout. The other shards of the group
        get to know which streams are read.
        """
        texts = dict.fromkeys(layout.ids, text)
        for other in self._layouts:
            if other.group is layout.group and other is not layout:
                note = reads_note(self._read_elsewhere(other))
                texts |= dict.fromkeys(other.ids, note)
        return self._control.statement(self._shards(layout.group)[0], texts)

    def _read_elsewhere(self, layout: LayoutShards) -> frozenset[str]:
        """The streams that current queries of the group's other layouts read."""
        read: set[str] = set()
        for name, query in self._script.queries.items():
            of = self._layout_of[query.name]
            if of.group is layout.group and of is not layout and name not in self._aside:
                read |= query.reads
        return frozenset(layout.group.streams) & read

    def _send(self, group: QueryGroup, requests: list[Request]) -> None:
        self._in_doubt = True
        self._control.send(self._shards(group)[0], requests)
        self._in_doubt = False

    def _replay(self, request: Request) -> None:
        if (note := note_of(request.text)) is not None:
            if "cores" in note:
                self._told[note["group"]] = note["shards"]
            else:
                self._aside.add(note["set_aside"])
            return
        for statement in parse(request.text):
            match statement:
                case CreateQuery():
                    query = self._script.run(statement)
                    self._open_sink(query)
                    self._layout_of[query.name] = self._layout_for(query)
                    self._since[query.name] = request.at
                case Drop():
                    self._dropped.add(self._script.drop(statement.name).name.lower())

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

    def _layout_for(self, query: Query) -> LayoutShards:
        """A layout of all streams and tables that an added query reads.

        Raises:
            CatalogError: there is none.
        """
        streams, tables = streams_read(query.plan), self._script.tables_of(query.name)
        self._require(
            query, "stream", streams, (s for of in self._layouts for s in of.group.streams)
        )
        groups = [g for g, _ in by_group(self._layouts) if streams & set(g.streams)]
        if not groups:
            raise CatalogError(f"query '{query.name}' reads no stream")
        if len(groups) > 1:
            apart = " and ".join(f"({', '.join(group.streams)})" for group in groups)
            raise CatalogError(
                f"query '{query.name}' joins streams of different groups of this job: {apart}; "
                "add it to the session and start from a new checkpoint"
            )
        self._require(query, "table", tables, groups[0].tables)
        own = [of for of in self._layouts if of.group is groups[0]]
        planned = self._script.planned(query)
        fitting = next((of for of in own if fits(of.layout, planned)), None)
        if fitting is not None and self._splits is not None:
            self._splits.require_fit(fitting, planned, query.name)
        if fitting is None:
            ways = "; ".join(dict.fromkeys(of.described for of in own))
            raise CatalogError(
                f"query '{query.name}' does not fit how this job divides rows over shards "
                f"({ways}): its results need rows that are in different shards; add it to the "
                "session, or start that with shards = 1, and start from a new checkpoint"
            )
        return fitting

    @staticmethod
    def _require(query: Query, kind: str, read: Iterable[str], available: Iterable[str]) -> None:
        known = list(available)
        missing = sorted(set(read) - set(known))
        if missing:
            has = f"it reads {', '.join(known)}" if known else "it reads none"
            beside = " beside these streams" if kind == "table" else ""
            raise CatalogError(
                f"query '{query.name}' reads the {kind} '{missing[0]}', which no query of this job "
                f"read{beside} when it started ({has}); add it to the session and start from a new "
                "checkpoint"
            )
