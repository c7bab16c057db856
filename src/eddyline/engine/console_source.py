"""An engine as the console shows it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from eddyline.console.plan_graph import Node
from eddyline.console.source import Follower, Health, Look, QueryLine, StreamLine
from eddyline.engine.execution.subscriptions import seconds_unshared
from eddyline.engine.locking import EngineLock
from eddyline.engine.operator_graph import operator_graph
from eddyline.engine.query import Query
from eddyline.engine.wiring import Parts
from eddyline.errors import CatalogError, UnsupportedError, did_you_mean
from eddyline.rate_limiter import RateLimiter
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, Drop, SelectStatement, Statement
from eddyline.types import FIRST_INSTANT

#: The share of the time that measuring the state of operators may take.
_SHARE_OF_SIZES: Final = 0.005
_AT_A_TIME: Final = 20


class EngineSource:
    """Reads an engine; the engine is locked for short times only.

    Args:
        parts, lock: of the engine. wall_clock: likewise, in us since 1970.
    """

    kind = "engine"

    def __init__(self, parts: Parts, lock: EngineLock, wall_clock: Callable[[], int]) -> None:
        self._parts = parts
        self._lock = lock
        self._wall_clock = wall_clock
        self._sizes = RateLimiter(_SHARE_OF_SIZES, of_cpu=True)
        self._known_sizes: dict[str, int | None] = {}

    def look(self) -> Look:
        """Streams, plan and health as of now."""
        parts, now = self._parts, self._wall_clock()
        with self._lock:
            counters, _ = parts.inputs.stats()
            reasons = {name: parts.inputs.intake(name).bad_reason for name in counters}
            shedding = parts.shedding_report()
            groups = parts.progress.stats(now)
            cores = parts.overload.cores()
            memory = parts.overload.memory_needs()
            advice = parts.overload.advice()
            count = len(parts.queries.queries) + len(parts.queries.aside)
        nodes, members = self._graph()
        streams = _stream_lines(counters, shedding, groups, reasons)
        health = Health(advice=advice, cores=cores, memory=memory)
        return Look(time.monotonic(), now, streams, nodes, health, count, members)

    def _graph(self) -> tuple[list[Node], Mapping[str, set[str]]]:
        """The plan, with the sizes of the last time that they were measured."""
        parts, lock = self._parts, self._lock
        if self._sizes.due:
            with self._sizes.measured():
                nodes, members = operator_graph(parts, lock, sizes=True)
            self._known_sizes = {node.id: node.state for node in nodes}
            return nodes, members
        nodes, members = operator_graph(parts, lock)
        return [replace(n, state=self._known_sizes.get(n.id)) for n in nodes], members

    def names(self) -> Sequence[str]:
        """The names of all queries."""
        return list(self._parts.queries.all.now())

    def lines(self, names: Iterable[str]) -> list[QueryLine]:
        """Queries as of now."""
        wanted, found = list(names), []
        for first in range(0, len(wanted), _AT_A_TIME):
            with self._lock:
                known = self._parts.queries.known
                some = wanted[first : first + _AT_A_TIME]
                found += [_query_line(known[name]) for name in some if name in known]
        return found

    def explain(self, name: str) -> str:
        """EXPLAIN ANALYZE."""
        return self._query(name).explain(analyze=True)

    def answer(self, name: str) -> pa.Table:
        """Q(now)."""
        return self._query(name).snapshot()

    def follow(self, name: str, follower: Follower) -> Callable[[], None]:
        """Subscribe to the changes."""
        query = self._query(name)
        listener = query.subscribe(lambda rows: follower(rows, rows.num_rows), tables=True)
        return listener.close

    def _query(self, name: str) -> Query:
        query = self._parts.queries.known.get(name)
        if query is None:
            raise CatalogError(f"there is no query '{name}'; {did_you_mean(name, self.names())}")
        return query

    def check(self, text: str) -> None:
        """Bind and optimize the queries of the statements."""
        for statement in _changes(text):
            with self._lock:
                self._parts.statements.check(statement)

    def run(self, text: str) -> list[str]:
        """Add and drop queries."""
        done = []
        for statement in _changes(text):
            with self._lock:
                result = self._parts.statements.execute(statement)
            done.append(result.name if isinstance(result, Query) else _name(statement))
        return done


def _changes(text: str) -> list[Statement]:
    """The statements of a text, all of which add or drop queries.

    Raises:
        SqlError: the text is wrong, or one is another statement.
    """
    statements = parse(text)
    for statement in statements:
        is_drop = isinstance(statement, Drop) and statement.kind == "query"
        if not is_drop and not isinstance(statement, CreateQuery | SelectStatement):
            raise UnsupportedError(
                "the console accepts CREATE QUERY, SELECT and DROP QUERY",
                line=statement.line,
                column=statement.column,
                sql=text,
            )
    return statements


def _name(statement: Statement) -> str:
    assert isinstance(statement, Drop), "CREATE QUERY and SELECT return a query"
    return statement.name


def _stream_lines(
    counters: Mapping[str, Mapping[str, Any]],
    shedding: Mapping[str, Mapping[str, Any]],
    groups: Iterable[Mapping[str, Any]],
    reasons: Mapping[str, str],
) -> list[StreamLine]:
    """The streams, from the parts of ``Engine.stats``."""
    group_of = {name: group for group in groups for name in group["members"]}
    found = []
    for name, of in counters.items():
        group = group_of.get(name)
        watermark = None if group is None else int(group["watermark"])
        shed = shedding.get(name, {})
        found.append(
            StreamLine(
                name,
                rows_in=of["rows_in"],
                late=of["late"],
                bad=of["bad"],
                bad_reason=reasons[name],
                dropped=of["dropped"],
                keep=float(shed.get("keep", 1.0)),
                why=str(shed.get("why", "")),
                watermark_us=None if watermark is None or watermark < FIRST_INSTANT else watermark,
                held=of["held"],
                held_bytes=of["held_bytes"],
                held_by=str((group or {}).get("held_by") or ""),
            )
        )
    return found


def _query_line(query: Query) -> QueryLine:
    """A query, while the engine is locked."""
    counted = query.counters()
    latency = counted["latency"]
    seconds, others = _cost(query)
    return QueryLine(
        query.name,
        query.sql,
        rows_out=counted["rows_out"],
        bad=counted["bad"],
        p50_s=latency.get("p50_seconds"),
        p99_s=latency.get("p99_seconds"),
        seconds=seconds,
        shared_with=others,
        runs_as="" if query.subscription is None else "tree" if query.flow is None else "eddy",
        why=query.why,
        set_aside=query.set_aside,
        sink=str(query.options.get("sink", "")),
    )


def _cost(query: Query) -> tuple[float | None, int | None]:
    """CPU time so far, and number of other queries in its flow; None where it runs in none. The
    time of operators that trees share is divided by ``stats`` only.
    """
    if query.subscription is None:
        return None, None
    own: Counter[Operator] = Counter(in_order([query.operator]))
    seconds = float(query.counted.seconds[0]) + seconds_unshared(query.running, own)
    return seconds, None if query.flow is None else query.flow.flow.members - 1
