"""How far an engine has come: rows go through its queries as watermarks free them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.ingest.stream_groups import Group
from eddyline.engine.ingest.watermark import holding, watermark_of
from eddyline.engine.instants import shown
from eddyline.engine.query import Query
from eddyline.engine.query_set import QuerySet
from eddyline.runtime.operators.base import Tick
from eddyline.types import BEGINNING, FOREVER


class Progress:
    """Takes rows through the queries, group by group and chunk by chunk.

    Args:
        inputs: where rows wait for the watermark. standing: the queries.
        wall_clock: microseconds since 1970.

    Attributes:
        chunk_rows: rows that run through the operators in one batch, at most.
    """

    def __init__(self, inputs: Inputs, standing: QuerySet, wall_clock: Callable[[], int]) -> None:
        self._inputs = inputs
        self._groups = inputs.groups
        self._standing = standing
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

    def _of_queries(self) -> list[Group]:
        """The groups of streams that queries read; the foremost of all if there is none."""
        return self._with_readers() or [self._groups.of(())]

    def _with_readers(self) -> list[Group]:
        streams = [name for name in self._inputs.streams() if self._groups.is_read(name)]
        return self._groups.among(streams)

    def advance(
        self,
        watermark: int | None,
        *,
        now_us: int,
        told: bool = False,
        paced: bool = False,
    ) -> Iterator[None]:
        """Process what the watermarks free, chunk by chunk.

        Args:
            watermark: of all groups; None: those that follow from the rows that have come.
            now_us: the wall clock.
            told: somebody says that it is this instant now, so something has happened by then.
            paced: let rows wait for their turn. Chunks alternate with the service of rows that come
                before newer ones.
        """
        for group, to in self._targets(watermark, now_us).items():
            yield from self._advance(group, to, told=told, paced=paced)

    def bring_together(self, names: Iterable[str]) -> None:
        """A query is about to read these: let their groups be one. Those that lag are advanced to
        the watermark of the foremost one first, and what they hold up to there is processed.
        """
        groups = self._groups.among(names)
        if len(groups) < 2:
            return
        watermark = max(group.watermark for group in groups)
        for group in groups:
            for _ in self._advance(group, watermark):
                pass
        merged = self._groups.merge(groups)
        if merged.began is not None:
            self._inputs.begin(merged)
            self._standing.begin(merged, merged.clock)

    def reset(self, group: Group) -> None:
        """Let nothing be late by what has come so far: the group begins again, with empty windows.
        Tables keep their rows.
        """
        self._standing.finish()
        group.watermark, group.clock, group.began = BEGINNING, BEGINNING, None
        self._standing.restart(group, lambda: self._inputs.restart(group))

    def _targets(self, watermark: int | None, now_us: int) -> dict[Group, int]:
        """Where the watermark of each group is to be."""
        bounds = {group: self._inputs.bounds(group, now_us) for group in self._groups}
        if watermark is not None:
            return dict.fromkeys(sorted(bounds, key=lambda g: not bounds[g]), watermark)
        own = {group: watermark_of(of) for group, of in bounds.items() if of}
        # tables that change apart from all streams go by what queries read, or by any stream
        read = [max(own[group], group.watermark) for group in self._with_readers()]
        least = min(read) if read else max(own.values(), default=BEGINNING)
        return own | dict.fromkeys((g for g in bounds if g not in own), least)

    def _advance(
        self,
        group: Group,
        watermark: int,
        *,
        told: bool = False,
        paced: bool = False,
    ) -> Iterator[None]:
        arrived = time.perf_counter()
        execution = self._standing.execution
        group.watermark = watermark = max(watermark, group.watermark)
        since = self._since(group)
        if since <= min(watermark, self._inputs.first_held(group)):
            self._run(Tick(since, first_row=since), group, arrived, paced=paced)
        for tick in self._inputs.fill(group, watermark, self.chunk_rows):
            self._run(tick, group, arrived, paced=paced)
            yield
            while paced and execution.waiting and not execution.wants_rows:
                self._standing.serve()
                yield
        if watermark > group.clock:
            self._run(Tick(watermark), group, arrived, told=told, paced=paced)
            yield

    def _since(self, group: Group) -> int:
        """When tables that change apart from all streams begin, with the streams by which they go;
        FOREVER if they have begun, or have to wait for rows of their own.
        """
        if group.began is not None or not self._standing.of(group):
            return FOREVER
        if any(name in group.members for name in self._inputs.streams()):
            return FOREVER
        leaders = self._with_readers() or list(self._groups)
        return min((g.began for g in leaders if g.began is not None), default=FOREVER)

    def _run(
        self,
        tick: Tick,
        group: Group,
        arrived: float,
        *,
        told: bool = False,
        paced: bool = False,
    ) -> None:
        if group.began is None:
            if tick.first_row is None and not told:
                return  # how far the watermark lags behind rows depends on how they are cut
            group.began = tick.clock if tick.first_row is None else tick.first_row
            self._inputs.begin(group)
            self._standing.begin(group, group.began)
        self._standing.follow(tick.clock)
        self._standing.run(tick, group, arrived=arrived, paced=paced)
        self._inputs.purge(group)
        self._standing.adapt()

    # -- looking inside, saving --------------------------------------------------------------------

    def stats(self, now_us: int) -> list[dict[str, Any]]:
        """By group: its streams and tables, watermark and clock, the largest timestamp of each
        stream, rows that wait, and the stream that holds them up.
        """
        found = []
        for group in self._groups:
            bounds = self._inputs.bounds(group, now_us)
            holder = holding(bounds)
            found.append(
                {
                    "members": list(group.members),
                    "watermark": group.watermark,
                    "clock": group.reached,
                    "newest": {b.stream: self._inputs.newest_of(b.stream) for b in bounds},
                    "held": self._inputs.held(group),
                    "held_by": None if holder is None else holder.stream,
                }
            )
        return found

    def lines(self, query: Query) -> list[str]:
        """What EXPLAIN says of a query's rows that wait; nothing if none do."""
        group = self._standing.execution.group_of(query)
        waiting = self._inputs.held(group)
        holder = holding(self._inputs.bounds(group, self._wall_clock()))
        if not waiting or holder is None:
            return []
        newest = self._inputs.newest_of(holder.stream)
        rows = "1 row waits" if waiting == 1 else f"{waiting:,} rows wait"
        watermark = f", {shown(group.watermark)}," if group.watermark > BEGINNING else ","
        why = "it has had no row yet"
        if newest is not None:
            why = f"its largest timestamp is {shown(newest)}"
        return [f"{rows} for the watermark{watermark} which {holder.stream} holds: {why}"]

    def saved(self) -> list[dict[str, Any]]:
        """For JSON: the groups as they are."""
        return [
            {"members": g.members, "watermark": g.watermark, "clock": g.clock, "began": g.began}
            for g in self._groups
        ]

    def resume(self, saved: Iterable[dict[str, Any]]) -> None:
        """Go on from where an engine had come when it was saved."""
        for of in saved:
            groups = self._groups.among(of["members"]) or list(self._groups)
            group = self._groups.merge(groups)
            group.watermark, group.clock, group.began = of["watermark"], of["clock"], of["began"]
            if group.began is not None:
                self._inputs.begin(group)
                self._standing.resume(group)
