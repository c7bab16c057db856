"""The queries of a running job: those that it was started with, minus and plus what came since.

Which streams form a group, and so which shards there are, is settled when a job starts from a new
checkpoint. A query that is added later joins the shard that has its streams. It becomes a statement
in the control stream, which the shard carries out before the rows of a batch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from eddyline.algebra.reads import streams_read
from eddyline.engine.query import Query
from eddyline.errors import (
    CatalogError,
    SqlError,
    StateError,
    UnsupportedError,
    did_you_mean,
)
from eddyline.spark.control import ControlStream, Request
from eddyline.spark.script import (
    QueryGroup,
    Script,
    drop_statement,
    longest_range_us,
    moved,
    reset_statement,
)
from eddyline.spark.script_delta import ScriptDelta
from eddyline.sql.catalog import Names
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, Drop, ResetWatermark, Statement


class RunningQueries:
    """Adds and drops queries of a job; takes over what earlier sessions added and dropped.

    Args:
        script: the program that the job was started with; it is left as it is, and what becomes of
            it later has no effect here.
        groups: by shard, as the checkpoint's first session made them.
        open_sink: makes the sink of an added query and lets the delivery know it.
        began: when the job began with the queries of the script, in ISO 8601.
        thinned: streams of which rows are dropped where they are read, whoever comes to read them.
    """

    def __init__(
        self,
        script: Script,
        groups: Mapping[int, QueryGroup],
        control: ControlStream,
        open_sink: Callable[[Query], None],
        began: str,
        thinned: Collection[str] = (),
    ) -> None:
        self._script = ScriptDelta(script)
        self._groups = groups
        self._control = control
        self._open_sink = open_sink
        self._thinned = thinned
        self._dropped: set[str] = set()  # in lower case
        self._listed: Names[Query] | None = None  # as they stand, until one comes or goes
        self._since = dict.fromkeys(script.queries, began)
        self._in_doubt = False  # whether the last request was sent
        self._lock = threading.Lock()
        for request in control.statements():
            self._take_over(request)

    @property
    def queries(self) -> Mapping[str, Query]:
        """The queries that stand now, by name. What comes later has no effect on it."""
        with self._lock:
            if self._listed is None:
                self._listed = Names()
                self._listed.update(self._script.queries)
            return self._listed

    def since(self, name: str) -> str:
        """When a query was added, in ISO 8601."""
        return self._since[name]

    def run(self, text: str) -> Iterator[tuple[Statement, Query | None]]:
        """Carry out CREATE QUERY, DROP QUERY and ALTER STREAM ... RESET WATERMARK statements, one
        by one, as ``add``, ``drop`` and ``reset_watermark`` do.

        Yields:
            Each statement that has been carried out, with the query that it made.

        Raises:
            UnsupportedError: another statement is among them.
        """
        for statement in parse(text):
            try:
                made = self._execute(statement)
            except SqlError as e:
                raise moved(e, statement, text) from None
            yield statement, made

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
            "a running job takes CREATE QUERY, DROP QUERY and ALTER STREAM ... RESET WATERMARK; "
            "for anything else stop it, and start a session that has it from another checkpoint",
            line=1,
            column=1,
        )

    def add(self, name: str, select: str, options: Mapping[str, str]) -> Query:
        """Add a query: the arguments are those of ``Session.query``.

        Raises:
            SqlError: the SELECT is wrong. DataError: the sink is.
            CatalogError: the name is taken or was; or the query reads what the job does not, or
                streams that it keeps apart, or does not allow what the job sheds.
            StateError: an earlier request may or may not have reached the job.
        """
        return self._add(name, lambda script: script.query(name, select, options))

    def _add(self, name: str, make: Callable[[ScriptDelta], Query]) -> Query:
        with self._lock:
            if name.lower() in self._dropped:
                raise CatalogError(
                    f"the name '{name}' belongs to a query of this job that was dropped, and so do "
                    "the rows delivered under it; choose another name"
                )
            self._require_certainty()
            self._listed = None
            script = self._script
            query = make(script)
            try:
                shard = self._shard_for(query)
                self._require_leave(query)
                self._open_sink(query)  # before a row can come for it
                request = self._control.statement(shard, script.statement(query.name))
            except Exception:
                script.drop(query.name)
                raise
            self._send(request)
            self._since[query.name] = request.at
            return query

    def drop(self, name: str) -> None:
        """Drop a query. What it delivered stays, and can still be read.

        Raises:
            CatalogError: there is no such query, or another one reads it.
            StateError: an earlier request may or may not have reached the job.
        """
        with self._lock:
            self._require_certainty()
            self._listed = None
            query = self._script.drop(name)
            self._dropped.add(query.name.lower())
            self._send(self._control.statement(self._shard_for(query), drop_statement(query.name)))

    def reset_watermark(self, stream: str) -> None:
        """Let nothing be late by what has come so far, in the group of a stream.

        Raises:
            CatalogError: no query of the job read such a stream when it started.
            StateError: an earlier request may or may not have reached the job.
        """
        with self._lock:
            self._require_certainty()
            groups = {s.lower(): (n, s) for n, g in self._groups.items() for s in g.streams}
            if stream.lower() not in groups:
                choices = did_you_mean(stream, [name for _, name in groups.values()])
                raise CatalogError(f"this job reads no stream '{stream}'; {choices}")
            shard, name = groups[stream.lower()]
            self._send(self._control.statement(shard, reset_statement(name)))

    def drain_us(self) -> dict[int, int]:
        """By shard the longest RANGE window: so long behind its last row a stream has effects."""
        with self._lock:
            longest = dict.fromkeys(self._groups, 0)
            for query in self._script.queries.values():
                shard = self._shard_for(query)
                longest[shard] = max(longest[shard], longest_range_us(query))
            return longest

    def _send(self, request: Request) -> None:
        self._in_doubt = True
        self._control.send(request)
        self._in_doubt = False

    def _take_over(self, request: Request) -> None:
        for statement in parse(request.text):
            match statement:
                case CreateQuery():
                    query = self._script.run(statement)
                    self._open_sink(query)
                    self._since[query.name] = request.at
                case Drop():
                    self._dropped.add(self._script.drop(statement.name).name.lower())

    def _require_certainty(self) -> None:
        """Check that the shards have been told what we know.

        Raises:
            StateError: perhaps not.
        """
        if self._in_doubt:
            raise StateError(
                "writing the last request failed, and whether the job has it is unknown: stop it "
                "and start again from the checkpoint to see"
            )

    def _require_leave(self, query: Query) -> None:
        """Check that a query allows that rows of its streams are dropped, if they are.

        Raises:
            CatalogError: it does not.
        """
        dropped = sorted(streams_read(query.plan) & set(self._thinned))
        if dropped and not query.sheds:
            raise CatalogError(
                f"query '{query.name}' reads the stream '{dropped[0]}', of which this job drops "
                "rows before they reach any query: write ON OVERLOAD SHED behind the query, or add "
                "it to the session and start from a new checkpoint"
            )

    def _shard_for(self, query: Query) -> int:
        """The shard that has all streams and tables that a query reads.

        Raises:
            CatalogError: there is none.
        """
        streams, tables = streams_read(query.plan), self._script.tables_of(query.name)
        self._require(
            query, "stream", streams, (s for g in self._groups.values() for s in g.streams)
        )
        shards = [s for s, group in self._groups.items() if streams & set(group.streams)]
        if not shards:
            raise CatalogError(f"query '{query.name}' reads no stream")
        if len(shards) > 1:
            apart = " and ".join(f"({', '.join(self._groups[s].streams)})" for s in shards)
            raise CatalogError(
                f"query '{query.name}' brings streams together that this job keeps apart: {apart}; "
                "add it to the session and start from a new checkpoint"
            )
        self._require(query, "table", tables, self._groups[shards[0]].tables)
        return shards[0]

    @staticmethod
    def _require(query: Query, kind: str, read: Iterable[str], there: Iterable[str]) -> None:
        known = list(there)
        missing = sorted(set(read) - set(known))
        if missing:
            has = f"it reads {', '.join(known)}" if known else "it reads none"
            beside = " beside these streams" if kind == "table" else ""
            raise CatalogError(
                f"query '{query.name}' reads the {kind} '{missing[0]}', which no query of this job "
                f"read{beside} when it started ({has}); add it to the session and start from a new "
                "checkpoint"
            )
