"""The progress of an engine: rows up to the watermarks run through the queries, chunk by chunk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from eddyline.engine.execution.budget import Budget
from eddyline.engine.execution.shared_flow import Pace
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.ingest.watermarks import StreamGroup, slowest
from eddyline.engine.instants import shown
from eddyline.engine.query import Query
from eddyline.engine.query_set import QuerySet
from eddyline.errors import CatalogError, did_you_mean
from eddyline.runtime.operators.base import Tick
from eddyline.types import BEGINNING, FIRST_INSTANT, FOREVER


class Progress:
    """Runs rows through the queries, group by group and chunk by chunk.

    Args:
        inputs: rows that wait for the watermark. queries: all that run.
        wall_clock: microseconds since 1970.

    Attributes:
        chunk_rows: rows that run through the operators in one batch, at most.
    """

    def __init__(self, inputs: Inputs, queries: QuerySet, wall_clock: Callable[[], int]) -> None:
        self._inputs = inputs
        self._groups = inputs.groups
        self._queries = queries
        self._execution = queries.execution
        self._wall_clock = wall_clock
        self.chunk_rows = 1

    @property
    def watermark(self) -> int:
        """Rows before this instant are late in every group of streams, in microseconds."""
        return min(group.watermark for group in self._of_queries())

    @property
    def clock(self) -> int:
        """The instant up to which everything is processed, in microseconds."""
        return min(group.reached for group in self._of_queries())

    def _of_queries(self) -> list[StreamGroup]:
        """The groups with streams that queries read; without any, the group that is furthest."""
        return self._groups.with_readers or [self._groups.of(())]

    def advance(
        self,
        watermark: int | None,
        *,
        now_us: int,
        begins: bool = False,
        budget: Budget | None = None,
    ) -> Iterator[None]:
        """Process rows up to the watermarks, chunk by chunk.

        Args:
            watermark: of all groups; None: the watermark that follows from the rows of each group.
            now_us: the wall clock.
            begins: a group without rows so far begins at the watermark.
            budget: put rows into the scheduling queues of window joins; while it is left, chunks
                alternate with the service of those queued rows that the schedule puts before newer
                ones. None: rows are not queued.
        """
        for group, to in self._targets(watermark, now_us).items():
            yield from self._advance(group, to, begins=begins, budget=budget)
            if watermark is None:
                self._groups.moving.discard(group)

    def serve(self, budget: Budget) -> None:
        """Serve queued rows while the budget is left. The others wait."""
        while self._execution.waiting and budget.is_left:
            self._queries.serve()

    def bring_together(self, names: Iterable[str]) -> None:
        """Merge the groups of these streams and tables, before a query reads them. First, all are
        advanced to the largest of their watermarks, and rows up to there are processed. A group
        that has not begun then begins at the clock of the others.
        """
        groups = self._groups.among(names)
        if len(groups) < 2:
            return
        watermark = max(group.watermark for group in groups)
        for group in groups:
            for _ in self._advance(group, watermark):
                pass
        begins = any(group.began is None for group in groups)
        merged = self._groups.merge(groups)
        if merged.began is not None:
            self._inputs.begin(merged)
            self._execution.begin(merged, merged.clock)
            if begins:
                self._run(Tick(merged.clock, first_row=merged.clock), merged, time.perf_counter())

    def share_clock(self, inputs: Sequence[str], read_elsewhere: Iterable[str]) -> None:
        """Follow one clock with other engines that process other parts of the same streams.

        All of them get ``newest`` and ``oldest`` of all rows with each call of ``Engine.process``;
        then their watermarks are those of one engine with all rows and all queries.

        Args:
            inputs: streams and changing tables that form one group, as if a query read them all.
            read_elsewhere: those streams that queries of the other engines read; replaces what was
                stated before.

        Raises:
            CatalogError: there is no such stream or changing table.
        """
        members = [name for group in self._groups.all for name in group.members]
        for name in inputs:
            if name not in members:
                raise CatalogError(
                    f"there is no stream or changing table {name!r}; {did_you_mean(name, members)}"
                )
        self._groups.read_elsewhere = frozenset(read_elsewhere)
        self.bring_together(inputs)

    def clocks(self) -> list[dict[str, Any]]:
        """For JSON: the clocks of all groups, for :meth:`follow`."""
        saved = ({k: v for k, v in of.items() if k != "read_elsewhere"} for of in self.saved())
        return [of | {"times": self._inputs.times(of["members"])} for of in saved]

    def follow(self, clocks: Iterable[dict[str, Any]]) -> None:
        """Continue the clocks of other engines, before the first row: see :meth:`share_clock`.

        From now on the watermarks are those of an engine that has been there from the beginning.

        Args:
            clocks: what :meth:`clocks` of one of the others returned.
        """
        for of in clocks:
            self._inputs.set_times(of["times"])
            self.resume([of])

    def reset(self, group: StreamGroup) -> None:
        """Start a group again, with empty windows and no watermark. Tables keep their rows."""
        self._queries.finish()
        group.watermark, group.clock, group.began = BEGINNING, BEGINNING, None
        group.oldest = FOREVER
        self._queries.restart(group, lambda: self._inputs.restart(group))

    def _targets(self, watermark: int | None, now_us: int) -> dict[StreamGroup, int]:
        """The watermark that each group is to be advanced to. Groups that stay are left out, so a
        call costs nothing for streams without rows in it.
        """
        groups = self._groups.all
        if watermark is None and not self._groups.have_followers:
            may_move = {*self._groups.moving, *self._groups.timed}
            groups = sorted(may_move, key=attrgetter("number"))
        own = {g: self._inputs.watermark(g, now_us) for g in groups if g.leading}
        if len(own) < len(groups):  # groups of tables only: they come last
            # they follow the groups that queries read, or else all streams
            read = [max(own[g], g.watermark) for g in self._groups.with_readers]
            least = min(read) if read else max(own.values(), default=BEGINNING)
            own |= dict.fromkeys((g for g in groups if g not in own), least)
        return own if watermark is None else dict.fromkeys(own, watermark)

    def _advance(
        self,
        group: StreamGroup,
        watermark: int,
        *,
        begins: bool = False,
        budget: Budget | None = None,
    ) -> Iterator[None]:
        arrived, pace = time.perf_counter(), "at once" if budget is None else budget.pace
        execution = self._execution
        group.watermark = watermark = max(watermark, group.watermark)
        if group.began is None:
            since = self._since(group)
            if since <= min(watermark, self._inputs.first_held(group)):
                self._run(Tick(since, first_row=since), group, arrived, pace=pace)
        ticks = self._inputs.fill(group, watermark, self.chunk_rows, to_watermark=budget is None)
        for tick in ticks:
            self._run(tick, group, arrived, pace=pace)
            yield
            while execution.flows and execution.waiting and not execution.wants_rows:
                if budget is None or not budget.is_left:
                    break
                self._queries.serve()
                yield
        if watermark > group.clock:
            self._run(Tick(watermark), group, arrived, begins=begins, pace=pace)
            yield

    def _since(self, group: StreamGroup) -> int:
        """When a group begins for another reason than its rows: one whose rows other engines have
        as well, with the first of these; one of tables only with the groups that it follows.
        """
        if group.leading:
            return group.oldest
        if not self._queries.of(group):
            return FOREVER
        leaders = self._groups.with_readers or self._groups.all
        return min((g.began for g in leaders if g.began is not None), default=FOREVER)

    def _run(
        self,
        tick: Tick,
        group: StreamGroup,
        arrived: float,
        *,
        begins: bool = False,
        pace: Pace = "at once",
    ) -> None:
        if group.began is None:
            if tick.first_row is None and not begins:
                return  # the watermark depends on how rows are cut into batches
            group.began = tick.clock if tick.first_row is None else tick.first_row
            self._inputs.begin(group)
            self._execution.begin(group, group.began)
        queries = self._queries
        if queries.parameterized:
            queries.follow(tick.clock)
        ran = self._execution.run(tick, group, arrived=arrived, pace=pace)
        if ran.failures or ran.broken:
            queries.take_in(ran)
        self._inputs.purge(group)
        if queries.placements.may_adapt:
            queries.placements.adapt()

    # -- statistics and checkpoints ------------------------------------

    def stats(self, now_us: int) -> list[dict[str, Any]]:
        """By group: its streams and tables, watermark and clock, the largest timestamp of each
        stream, number and size of the held rows, the stream that holds the watermark back, and the
        number of rows that wait in scheduled joins.
        """
        found = []
        for group in self._groups.all:
            bounds = self._inputs.bounds(group, now_us)
            holder = slowest(bounds)
            held, held_bytes = self._inputs.held(group)
            found.append(
                {
                    "members": list(group.members),
                    "watermark": group.watermark,
                    "clock": group.reached,
                    "newest": {b.stream: self._inputs.newest_of(b.stream) for b in bounds},
                    "held": held,
                    "held_bytes": held_bytes,
                    "waiting": self._execution.waiting_rows(group),
                    "held_by": None if holder is None else holder.stream,
                }
            )
        return found

    def lines(self, query: Query) -> list[str]:
        """Lines of EXPLAIN about rows that wait for the watermark; none if there are none."""
        group = self._execution.group_of(query)
        waiting, _ = self._inputs.held(group)
        holder = slowest(self._inputs.bounds(group, self._wall_clock()))
        if not waiting or holder is None:
            return []
        newest = self._inputs.newest_of(holder.stream)
        rows = "1 row waits" if waiting == 1 else f"{waiting:,} rows wait"
        known = group.watermark >= FIRST_INSTANT
        watermark = f", {shown(group.watermark)}," if known else ","
        why = "it has had no row yet"
        if newest is not None:
            why = f"its largest timestamp is {shown(newest)}"
        return [f"{rows} for the watermark{watermark} which {holder.stream} holds: {why}"]

    def saved(self) -> list[dict[str, Any]]:
        """For JSON: the groups as they are."""
        return [
            {
                "members": g.members,
                "watermark": g.watermark,
                "clock": g.clock,
                "began": g.began,
                "oldest": g.oldest,
                "read_elsewhere": sorted(self._groups.read_elsewhere.intersection(g.members)),
            }
            for g in self._groups.all
        ]

    def resume(self, saved: Iterable[dict[str, Any]]) -> None:
        """Continue from what ``saved`` returned."""
        for of in saved:
            groups = self._groups.among(of["members"]) or self._groups.all
            group = self._groups.merge(groups)
            group.watermark, group.clock, group.began = of["watermark"], of["clock"], of["began"]
            group.oldest = of.get("oldest", FOREVER)
            self._groups.read_elsewhere |= frozenset(of.get("read_elsewhere", ()))
            if group.began is not None:
                self._inputs.begin(group)
                self._queries.resume(group)
