"""The engine of a shard, with the number of changes of each query."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import pyarrow as pa

from eddyline.algebra.functions import CodeFunction
from eddyline.bulk import without_collections
from eddyline.console.plan_graph import Node
from eddyline.engine.changes import Changes
from eddyline.engine.checkpoint.segments import Segments
from eddyline.engine.engine import Engine
from eddyline.engine.ingest.ordered_rows import ARRIVALS_PER_CALL
from eddyline.engine.ingest.table_changes import INSTANT, OPERATION
from eddyline.engine.ingest.table_contents import TableContents
from eddyline.engine.operator_graph import operator_graph
from eddyline.errors import StateError
from eddyline.runtime.stores.columns import Array
from eddyline.spark.exchange.query_rows import OutputRoute, QueryRows
from eddyline.spark.exchange.result_ages import Ages, ResultAges, ages_of
from eddyline.spark.sinks.output_routes import OutputRoutes
from eddyline.spark.storage.control import note_of
from eddyline.spark.workers.durable import EngineBatch
from eddyline.spark.workers.snapshots import Snapshots
from eddyline.sql.parser import parse
from eddyline.sql.statements import ResetWatermark
from eddyline.types import END_OF_TIME, FIRST_INSTANT, TIMESTAMP

_LENGTH_BYTES: Final = 8
#: Maximum size of what a shard answers.
_MOST_ANSWER_BYTES: Final = 128 << 20


@dataclass(frozen=True)
class StepOutput:
    """The output of one call of the engine.

    Attributes:
        changes: a table per set of result columns. late: by input. bad: by input or query.
        dropped: by stream, number of rows dropped by drop boxes.
        parts: by query whose groups are computed in parts, the changes of its parts.
    """

    changes: list[QueryRows]
    late: Mapping[str, pa.Table]
    bad: Mapping[str, pa.Table]
    dropped: Mapping[str, int]
    parts: Mapping[str, pa.Table] = field(default_factory=dict)

    @classmethod
    def of(cls, changes: Changes, in_parts: Collection[str] = ()) -> StepOutput:
        """The output of the changes that the engine returned.

        Args:
            in_parts: the queries whose groups are computed in parts.
        """
        parts: dict[str, list[pa.Table]] = {}  # an added query has a table of its answer before
        results = []
        for table in changes.batches():
            if table.num_rows:
                rows = QueryRows.of(table)
                if in_parts and rows.names[0] in in_parts:
                    for name, of_query in rows.each():
                        parts.setdefault(name, []).append(of_query)
                else:
                    results.append(rows)
        dropped = {stream: k.seen - k.kept for stream, k in changes.kept.items()}
        all_parts = {name: pa.concat_tables(tables) for name, tables in parts.items()}
        return cls(results, changes.late, changes.bad, dropped, all_parts)


class ShardEngine:
    """An engine with the output routes of its queries.

    It is deterministic: the same batches, with what was decided after each, give the same state.

    Attributes:
        rows_out: by query, number of changes since the job's first start.
        bad_rows: by query, number of bad rows since then; queries without any may be left out.
        ages: of the results of the last batch; see :meth:`ResultAges.of`.
        has_begun_again: whether the windows were emptied before the rows of the last batch.
        snapshots: those that ``DurableState`` writes.
    """

    def __init__(
        self,
        engine: Engine,
        rows_out: Mapping[str, int] = MappingProxyType({}),
        bad_rows: Mapping[str, int] = MappingProxyType({}),
        calls: Iterable[tuple[int, int, Ages]] = (),
    ) -> None:
        self.engine = engine
        self.routes = OutputRoutes(engine.queries)
        self.rows_out: dict[str, int] = dict(rows_out)
        self.bad_rows: dict[str, int] = dict(bad_rows)
        self._arrivals = ResultAges(calls)
        self.ages: dict[str, Any] = self._arrivals.of((), (), 0, ())
        self.snapshots: Snapshots | None = None
        self.has_begun_again = False
        self._hand_over: list[str] = []  # tables that the driver has asked for in the last batch

    def apply(self, batch: EngineBatch) -> list[StepOutput]:
        """Process one batch. The output of a replayed batch has been delivered before."""
        self.has_begun_again, self._hand_over = False, []
        for statement in batch.statements:
            self._execute(statement)
        if batch.hold:
            self.engine.hold()
        rows = {  # only pieces with copies have the column ROLE
            stream: pa.concat_tables(parts, promote_options="default").combine_chunks()
            for stream, parts in batch.rows().items()
        }
        waited = self.engine.parts.inputs.held_times()
        overload = self.engine.parts.overload
        with nullcontext() if batch.keep is None else overload.repeating(batch.keep):
            changes = self.engine.process(
                rows,
                now=batch.now_us,
                dropped=batch.dropped,
                newest=batch.newest,
                oldest=batch.oldest,
            )
        outputs = [StepOutput.of(changes, self.in_parts)]
        newest = self.engine.newest
        if batch.drain_us is not None and newest is not None:
            end = min(newest + batch.drain_us + 1, END_OF_TIME - 1)
            outputs.append(StepOutput.of(self.engine.advance(end), self.in_parts))
        self._note_ages(outputs, waited, batch)
        for name, n in counted(outputs).items():
            self.rows_out[name] = self.rows_out.get(name, 0) + n
        for output in outputs:
            for name in output.bad.keys() & self.engine.queries.keys():
                self.bad_rows[name] = self.bad_rows.get(name, 0) + output.bad[name].num_rows
        if batch.saved:
            self.engine.parts.queries.finish()
        return outputs

    def _note_ages(
        self,
        outputs: Iterable[StepOutput],
        waited: Sequence[tuple[Array, Array]],
        batch: EngineBatch,
    ) -> None:
        """Note how long ago the rows of the results of a batch arrived."""
        inputs, ages = self.engine.parts.inputs, ages_of(batch.ages)
        parts = (QueryRows.whole(n, t) for o in outputs for n, t in o.parts.items())
        results = chain((rows for output in outputs for rows in output.changes), parts)
        self.ages = self._arrivals.of(results, waited, batch.now_us, ages)
        waiting = (arrival for _, arrival in inputs.held_times())
        call = inputs.arrival // ARRIVALS_PER_CALL
        self._arrivals.note(call, batch.now_us, ages, waiting)

    def _execute(self, statement: str) -> None:
        """Execute a statement, or what a note says."""
        note = note_of(statement)
        if note is None:
            for parsed in parse(statement):
                self.has_begun_again |= isinstance(parsed, ResetWatermark)
                self.engine.execute(parsed)
        elif "read_elsewhere" in note:
            self.engine.parts.progress.share_clock((), note["read_elsewhere"])
            self.engine.sql(note["sql"])
        elif "hand_over" in note:
            self._hand_over = note["hand_over"]
        elif "cores" in note:
            self.engine.parts.overload.allot(note["cores"])
        elif note["set_aside"] in self.engine.parts.queries.queries:
            self.engine.parts.queries.set_aside(note["set_aside"], note["cause"])

    def handed_over(self) -> bytes | None:
        """The content of tables, packed, that the driver has asked for in the last batch."""
        if not self._hand_over:
            return None
        return TableContents.of(self.engine.parts.inputs, self._hand_over).packed()

    @property
    def in_parts(self) -> set[str]:
        """The queries whose groups are computed in parts."""
        known = self.engine.parts.queries.all.now()
        return {name for name, query in known.items() if query.in_parts}

    @property
    def altered_routes(self) -> dict[str, OutputRoute]:
        """The routes of queries whose groups are computed in parts and whose sinks were altered."""
        known = self.engine.parts.queries.all.now()
        altered = (known[name] for name in self.engine.parts.definitions.altered("query"))
        return {query.name: self.routes[query.name] for query in altered if query.in_parts}

    def current_parts(self) -> dict[str, pa.Table]:
        """By query whose groups are computed in parts, the parts that it has now, as changes; those
        of others, which have none, are left out.
        """
        now = self.engine.clock
        divided = (q for q in self.engine.parts.queries.queries.values() if q.in_parts)
        answers = {q.name: q.snapshot() for q in divided} if now >= FIRST_INSTANT else {}
        return {name: _as_changes(rows, now) for name, rows in answers.items() if rows.num_rows}

    def answer(self, name: str) -> pa.Table:
        """The rows of a query's answer that this shard has.

        Raises:
            StateError: it has no such query now, or the query is set aside; or there are too many
                rows.
        """
        query = self.engine.parts.queries.known.get(name)
        if query is None or query.in_parts:  # the driver merges parts, until it is set aside
            raise StateError(f"query '{name}' is being added, dropped or set aside: ask again")
        rows = query.snapshot()
        if rows.nbytes > _MOST_ANSWER_BYTES:
            raise StateError(
                f"the answer of query '{name}' is too large: {rows.nbytes / 1e6:,.0f} MB in one "
                f"shard, at most {_MOST_ANSWER_BYTES / 1e6:,.0f} MB are possible; use a sink"
            )
        return rows

    def graph(self) -> list[Node]:
        """The running plan, with the state of its parts."""
        return operator_graph(self.engine.parts, self.engine.lock, sizes=True)[0]

    @property
    def aside(self) -> dict[str, str]:
        """By query that is set aside, the reason."""
        return {name: str(q.set_aside) for name, q in self.engine.parts.queries.aside.items()}

    @property
    def cores(self) -> dict[str, Any]:
        """The CPU cores that its queries ``had`` and ``needed``, and the ``largest`` needs; None:
        rates are not known.
        """
        return self.engine.parts.overload.cores()

    @property
    def memory(self) -> dict[str, Any]:
        """The bytes of state that its queries ``had`` and ``needed``, the ``largest`` needs, and
        those that they ``used`` at the last decision; None: not known, or no limit.
        """
        return self.engine.parts.overload.memory_needs()

    @property
    def clock_us(self) -> int | None:
        """The watermark in us; None while a stream has had no row."""
        watermark = self.engine.watermark
        return watermark if watermark >= FIRST_INSTANT else None

    @property
    def last_us(self) -> int | None:
        """The largest timestamp of the rows that windows have or will have, and of all rows since
        the last reset of the watermark, in us; None if there is none.
        """
        last = self.engine.parts.inputs.last()
        return last if last >= FIRST_INSTANT else None

    def groups(self, now_us: int) -> list[dict[str, Any]]:
        """The groups of streams with their watermarks, and the streams that hold these back."""
        return self.engine.groups(now_us)

    @property
    def keep(self) -> dict[str, float]:
        """Keep rates below 1 for ingest in the next batch, by stream: of a stream with several, for
        rows of several times, the largest. Rows that are ranked are dropped here.
        """
        self.engine.parts.overload.begin_call()
        inputs = self.engine.parts.inputs
        rates = {name: inputs.largest_keep(name) for name in inputs.streams()}
        return {name: rate for name, rate in rates.items() if rate < 1}

    @property
    def requested(self) -> dict[str, float]:
        """What was decided after the last batch."""
        return self.engine.parts.overload.requested

    @property
    def drops_rows(self) -> bool:
        """Whether the engine has decided to drop rows of the next batch: ingest may already have
        dropped some, so a query without ON OVERLOAD SHED has to wait.
        """
        return self.engine.decides and bool(self.keep)

    def save(self, target: BinaryIO, segments: Segments | None = None) -> None:
        """Write the state, for :meth:`load`; see ``Engine.save``."""
        counts = json.dumps([self.rows_out, self.bad_rows, self._arrivals.calls]).encode()
        target.write(len(counts).to_bytes(_LENGTH_BYTES, "little"))
        target.write(counts)
        self.engine.save(target, segments)

    @classmethod
    def load(
        cls,
        source: BinaryIO,
        functions: Iterable[CodeFunction] = (),
        read: Callable[[int], bytes] | None = None,
        segments: Segments | None = None,
    ) -> ShardEngine:
        """The saved engine.

        Args:
            functions: those that its queries call. read, segments: see ``Engine.load``.

        Raises:
            StateError: as ``Engine.load``.
        """
        length = int.from_bytes(source.read(_LENGTH_BYTES), "little")
        counts = json.loads(source.read(length))
        code = {f.name: f.evaluate for f in functions}
        with without_collections():
            return cls(Engine.load(source, functions=code, read=read, segments=segments), *counts)


def counted(outputs: Iterable[StepOutput]) -> dict[str, int]:
    """Number of changes by query."""
    counts: dict[str, int] = {}
    for rows in (rows for output in outputs for rows in output.changes):
        for name, n in rows.counts.items():
            counts[name] = counts.get(name, 0) + n
    return counts


def _as_changes(rows: pa.Table, now: int) -> pa.Table:
    """Rows as changes that add them."""
    instant = pa.repeat(pa.scalar(now, TIMESTAMP), rows.num_rows)
    changes = rows.add_column(0, INSTANT.name, instant)
    return changes.add_column(0, OPERATION.name, pa.repeat("+", rows.num_rows))
