"""The final stage: the driver merges the parts of groups that the cells of a layout compute.

A query whose groups lie across the cells is not divided otherwise. Its cells send changes of their
parts with each batch, and the driver adds the results to the batch, as if another shard had sent
them. All shards of a group have the same watermark in the same batch, so up to there the parts are
complete.

The driver keeps no state: in the first batch of a launch each shard also sends the parts that it
had before it, and a repeated batch sends the same again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa

from eddyline.engine.changes import Changes
from eddyline.engine.merged_query import MergedQuery
from eddyline.engine.query import Query
from eddyline.errors import StateError
from eddyline.spark.delivery.collected import CollectedBatch
from eddyline.spark.exchange.packed_batches import PARTS, PARTS_BEFORE
from eddyline.spark.exchange.query_rows import OutputRoute, with_query
from eddyline.spark.layouts.layout_shards import LayoutShards
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.sink_bases import OF_QUERIES
from eddyline.spark.workers.shard_engine import StepOutput

#: Stands for the driver among the shards with rows.
DRIVER: Final = -1


@dataclass(frozen=True)
class DividedQuery:
    """A query whose groups are computed in parts, as a whole, and the shards that do so."""

    query: Query
    shards: Sequence[int]


class DividedQueries:
    """The current queries of a job whose groups are computed in parts; not those set aside.

    Attributes:
        by_name: replaced when it changes, so the thread that runs the batches can read it.
    """

    def __init__(self) -> None:
        self.by_name: Mapping[str, DividedQuery] = {}

    def add(self, query: Query, shards: Sequence[int]) -> None:
        """The groups of a query are computed in parts."""
        self.by_name = {**self.by_name, query.name: DividedQuery(query, shards)}

    def drop(self, name: str) -> None:
        """The parts of a query, if it is one of these, are not merged any more."""
        self.by_name = {n: divided for n, divided in self.by_name.items() if n != name}


def divided_queries(
    queries: Mapping[str, Query], layouts: Iterable[LayoutShards]
) -> DividedQueries:
    """Those of the layouts since the job's start."""
    found = DividedQueries()
    for of in layouts:
        for name in sorted(of.in_parts):
            found.add(queries[name], of.ids)
    return found


@dataclass
class _Merger:
    divided: DividedQuery
    merged: MergedQuery


@dataclass(frozen=True)
class MergedCounts:
    """By query, numbers of changes and of bad rows that the driver has made since the job's start.

    A batch that is repeated counts once.

    Attributes:
        out: changes. bad: bad rows; queries without any are left out.
        new: changes of the last batch.
    """

    out: Mapping[str, int] = field(default_factory=dict)
    bad: Mapping[str, int] = field(default_factory=dict)
    new: Mapping[str, int] = field(default_factory=dict)


class FinalStage:
    """Merges the parts of groups, batch by batch.

    Args:
        queries: those whose parts are merged.
        set_aside_after: as of ``EngineOptions``.

    Attributes:
        counts: by query. aside: queries that had to be set aside, with the reason.
    """

    def __init__(self, queries: DividedQueries, set_aside_after: int | None = None) -> None:
        self._queries = queries
        self._set_aside_after = set_aside_after
        self._mergers: dict[str, _Merger] = {}
        self.counts = MergedCounts()
        self._before = self.counts  # without the last batch
        self._batch_id: int | None = None
        self.aside: dict[str, str] = {}

    def launch(self) -> None:
        """Begin another launch of the job: what the shards have is sent again."""
        self._mergers = {}

    def note_bad(self, query: str, rows: int) -> None:
        """Count bad rows of a query that its sink has refused."""
        bad = {**self.counts.bad, query: self.counts.bad.get(query, 0) + rows}
        self.counts = replace(self.counts, bad=bad)

    def step(self, batch_id: int, batch: CollectedBatch) -> None:
        """Merge the parts of a batch, and add the results to it.

        Raises:
            StateError: a shard of a query has not sent what is needed.
        """
        reports = {report["shard"]: report for report in batch.reports}
        queries = self._queries.by_name
        self._mergers = {n: m for n, m in self._mergers.items() if queries.get(n) == m.divided}
        if batch_id != self._batch_id:
            self._before, self._batch_id = self.counts, batch_id
        all_out, all_bad, new = dict(self._before.out), dict(self._before.bad), {}
        for name, divided in queries.items():
            called = [reports[shard] for shard in divided.shards if shard in reports]
            if not called:
                continue
            if len(called) < len(divided.shards):
                raise StateError(
                    f"query '{name}': of its {len(divided.shards)} shards {len(called)} have "
                    "processed the batch; start the job again"
                )
            if name in self.aside or any(name in report["aside"] for report in called):
                self._mergers.pop(name, None)
                continue
            new[name], bad = self._merge(name, divided, called, batch)
            all_out[name] = all_out.get(name, 0) + new[name]
            if bad:
                all_bad[name] = all_bad.get(name, 0) + bad
        self.counts = MergedCounts(all_out, all_bad, new)

    def answer(self, name: str) -> pa.Table:
        """The answer of one of the queries, as of the last batch.

        Raises:
            StateError: it is none of these any more.
        """
        divided = self._queries.by_name.get(name)
        if divided is None or name in self.aside:
            why = f"is set aside ({self.aside[name]})" if name in self.aside else "was dropped"
            raise StateError(f"query '{name}' {why}")
        merger = self._mergers.get(name)
        if merger is None:  # no shard has had a part
            return divided.query.schema.empty_table()
        return merger.merged.query.snapshot()

    def _merge(
        self,
        name: str,
        divided: DividedQuery,
        reports: Sequence[Mapping[str, Any]],
        batch: CollectedBatch,
    ) -> tuple[int, int]:
        """Merge the parts of one query; returns the numbers of results and of bad rows."""
        before, parts = (batch.parts.get((kind, name), []) for kind in (PARTS_BEFORE, PARTS))
        if any(report["has_begun_again"] for report in reports):  # its windows have been emptied
            self._mergers.pop(name, None)
            before = []
        merger = self._mergers.get(name)
        if merger is None:
            if not before and not parts:
                return 0, 0  # an engine begins with its first row
            merger = _Merger(divided, MergedQuery(divided.query, self._set_aside_after))
            self._mergers[name] = merger
        if before:
            merger.merged.take_in(before, max(t.column("_ts")[0].value for t in before))
        if not parts and divided.query.emit.mode != "snapshot":
            return 0, 0  # time alone changes nothing: what expires in a shard changes a part
        clock = min(report["clock_us"] for report in reports)
        changes = merger.merged.take_in(parts, clock)
        if (cause := merger.merged.query.set_aside) is not None:
            self.aside[name] = cause
            del self._mergers[name]
        altered = reports[0].get("altered_routes", {}).get(name)
        route = route_of(divided.query) if altered is None else OutputRoute(*altered)
        return _add(divided.query, changes, batch, route)


def _add(
    query: Query, changes: Changes, batch: CollectedBatch, route: OutputRoute
) -> tuple[int, int]:
    """Add the results and bad rows of a query to the batch; returns their numbers."""
    name, out = query.name, 0
    for rows in StepOutput.of(changes).changes:
        out += rows.rows.num_rows
        for own, table in rows.by_route({name: route}):
            batch.add(("changes", own.key), DRIVER, table)
    if out:
        batch.counts[name] = out
    bad = changes.bad.get(name)
    if bad is not None:
        batch.add(("bad", OF_QUERIES), DRIVER, with_query(bad, name))
    return out, 0 if bad is None else bad.num_rows
