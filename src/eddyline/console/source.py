"""What the console shows, as engines and jobs supply it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from eddyline.console.plan_graph import Node


@dataclass(frozen=True)
class StreamLine:
    """A stream. Counts are of rows so far.

    Attributes:
        late, bad, dropped: rows behind the watermark, that cannot be used, and of drop boxes.
        bad_reason: that of the last bad row, if it is known.
        keep: the share of the rows to come that is kept. why: why it is not thinned as requested.
        watermark_us: None: it is not known. held: rows that wait for the watermark; held_bytes.
        held_by: the stream that holds the watermark back.
    """

    name: str
    rows_in: int = 0
    late: int = 0
    bad: int = 0
    dropped: int = 0
    bad_reason: str = ""
    keep: float = 1.0
    why: str = ""
    watermark_us: int | None = None
    held: int = 0
    held_bytes: int = 0
    held_by: str = ""


@dataclass(frozen=True)
class QueryLine:
    """A query in a list.

    Attributes:
        rows_out: changes so far. bad: rows for which it has no value.
        p50_s, p99_s: latency of its results. seconds: CPU time so far, a share where it is shared.
        state: bytes, likewise. shared_with: number of other queries. Each None: not known.
        runs_as: ``tree`` or ``eddy``. why: the reason.
        set_aside: why it does not run any more; None: it runs.
        sink: its name, or empty.
    """

    name: str
    sql: str
    rows_out: int = 0
    bad: int = 0
    p50_s: float | None = None
    p99_s: float | None = None
    seconds: float | None = None
    state: int | None = None
    shared_with: int | None = None
    runs_as: str = ""
    why: str = ""
    set_aside: str | None = None
    sink: str = ""


@dataclass(frozen=True)
class Health:
    """The state of an engine or a job.

    Attributes:
        problem: why it does not run; None: it does. advice: what to do if it needs too much.
        cores, memory: ``had``, ``needed``, ``used`` and ``largest``, as of ``Engine.stats``.
        facts: further ones by name.
        phases: seconds of the last batch by part.
        shards: a row each, by column.
    """

    problem: str | None = None
    advice: str | None = None
    cores: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    phases: Mapping[str, float] = field(default_factory=dict)
    shards: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True)
class Look:
    """An engine or a job at an instant.

    Attributes:
        at: by the monotonic clock, in seconds. wall_us: by the wall clock, in us since 1970.
        nodes: the running plan. query_count: number of queries.
        members: by id of the nodes with results, the names of the queries, where they are known.
    """

    at: float
    wall_us: int
    streams: Sequence[StreamLine]
    nodes: Sequence[Node]
    health: Health
    query_count: int
    members: Mapping[str, Collection[str]] = field(default_factory=dict)


#: Gets the first changes of a query as they are made, and their number.
Follower = Callable[[pa.Table, int], None]


class Source(Protocol):
    """An engine or a job. Methods are called by several threads.

    Attributes:
        kind: ``engine`` or ``job``.
    """

    kind: str

    def look(self) -> Look:
        """Its state now."""

    def names(self) -> Sequence[str]:
        """The names of all queries."""

    def lines(self, names: Iterable[str]) -> list[QueryLine]:
        """Queries as of now; those that have been dropped are left out."""

    def explain(self, name: str) -> str:
        """The text of EXPLAIN ANALYZE of a query, or of EXPLAIN.

        Raises:
            CatalogError: there is no such query.
        """

    def answer(self, name: str) -> pa.Table:
        """The answer of a query now.

        Raises:
            CatalogError: there is no such query. StateError: it keeps no answer.
            TimeoutError: it has not come in time.
        """

    def follow(self, name: str, follower: Follower) -> Callable[[], None]:
        """Call a function with the changes of a query, until what is returned is called.

        Raises:
            CatalogError: there is no such query.
        """

    def check(self, text: str) -> None:
        """Check statements as :meth:`run` does, and change nothing.

        Raises:
            EddylineError: one is wrong.
        """

    def run(self, text: str) -> list[str]:
        """Add and drop queries by statements; returns their names.

        Raises:
            EddylineError: one is wrong; those before it have taken effect.
        """
