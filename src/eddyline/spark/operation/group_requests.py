"""What the shards of a group are told when its queries change: requests of the control stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eddyline.algebra.drains import drain_us
from eddyline.engine.query import Query
from eddyline.errors import StateError
from eddyline.spark.layouts.job_layouts import JobLayouts
from eddyline.spark.layouts.layout_shards import LayoutShards, by_group
from eddyline.spark.layouts.layout_views import LayoutViews
from eddyline.spark.operation.script_delta import ScriptDelta
from eddyline.spark.script import QueryGroup
from eddyline.spark.statement_texts import drop_statement
from eddyline.spark.storage.control import (
    ControlStream,
    Request,
    cores_note,
    hand_over_note,
    reads_note,
)


class GroupRequests:
    """Composes and sends requests to all shards of a group.

    Args:
        script: the current queries. layouts: of the job. views: of its layouts.

    Attributes:
        layout_of: by query, the layout that it runs in, or ran in.
        aside: the queries that are set aside.
        allotted: by first shard of a group, for which number of shards it has been told its cores.
    """

    def __init__(
        self,
        script: ScriptDelta,
        layouts: JobLayouts,
        views: LayoutViews,
        control: ControlStream,
    ) -> None:
        self.layout_of = {name: of for of in layouts.all for name in of.queries}
        self.aside: set[str] = set()
        self.allotted: dict[int, int] = {}
        self._script = script
        self._layouts = layouts
        self._views = views
        self._control = control
        self._in_doubt = False  # whether writing a request has failed
        self._asked: dict[int, int] = {}  # by first shard of a group, the last request to report

    @property
    def in_doubt(self) -> bool:
        """Whether writing a request has failed."""
        return self._in_doubt

    def require_no_doubt(self) -> None:
        """Check that all requests so far have been written.

        Raises:
            StateError: writing one has failed.
        """
        if self._in_doubt:
            raise StateError(
                "writing the last request failed, and whether the job has it is unknown: stop it "
                "and start again from the checkpoint to see"
            )

    def send(self, group: QueryGroup, requests: list[Request]) -> None:
        """Send requests with one number to the shards of a group."""
        self._in_doubt = True
        self._control.send(self._layouts.shards(group)[0], requests)
        self._in_doubt = False

    def to_all(self, group: QueryGroup, text: str) -> None:
        """Send a statement or a note to all shards of a group."""
        shards = self._layouts.shards(group)
        self.send(group, self._control.statement(shards[0], dict.fromkeys(shards, text)))

    def end_input(self) -> None:
        """End the input of all shards.

        A shard advances after its last row for as long as one of its queries may have results, so
        that all windows end.
        """
        drains_us = {shard: 0 for of in self._layouts.all for shard in of.ids}
        for query in self._script.queries.values():
            for shard in self._layouts.shards(self.layout_of[query.name].group):
                drains_us[shard] = max(drains_us[shard], drain_us(query.plan))
        self._control.end_of_input(drains_us)

    def allot_cores(self, shards: int, first: int) -> None:
        """Tell the engines of each group how many cores each has, once after a rescaling.

        Args:
            shards: how many run side by side. first: for how many the engines were built.
        """
        for group, own in by_group(self._layouts.first):
            to = self._layouts.shards(group)
            if self.allotted.get(to[0], first) != shards:
                note = cores_note(to[0], min(of.cores for of in own), shards)
                self.to_all(group, note)
                self.allotted[to[0]] = shards

    def statement(
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
                note = reads_note(self.read_elsewhere(layout.group, other), drop)
                texts |= dict.fromkeys(other.ids, note)
        return self._control.statement(self._layouts.shards(layout.group)[0], texts)

    def creation(self, name: str, layout: LayoutShards, *, in_parts: bool) -> str:
        """Statements that create an added query in a layout, after the views that it needs."""
        known = self._views.known(layout)
        views = [n for n in self.read_from(name, layout) if n not in known]
        return self._script.creation(name, views, in_parts=in_parts)

    def read_from(self, name: str, layout: LayoutShards) -> list[str]:
        """The queries of other layouts that an added query of this one reads."""
        read = self._script.added.read_beside([name])
        return [n for n in read if self.layout_of[n] is not layout]

    def read_elsewhere(self, group: QueryGroup, layout: LayoutShards | None) -> frozenset[str]:
        """The streams of a group that current queries of other layouts than this one read."""
        read: set[str] = set()
        for name, query in self._script.queries.items():
            of = self.layout_of.get(query.name)
            if of is not None and of is not layout and of.group is group:
                read |= query.reads if name not in self.aside else frozenset()
        return frozenset(group.streams) & read

    def can_begin(self, group: QueryGroup, tables: Mapping[int, Sequence[str]]) -> bool:
        """Whether a layout can begin with the next batch: how far the shards of the group are is
        known, they have handed over these tables, and have executed all statements. Otherwise they
        are asked, and it can after one of the next batches.

        Args:
            tables: that change, by shard that has them.
        """
        first = self._layouts.shards(group)[0]
        executed = self._layouts.executed(group)
        is_known = executed is not None and self._layouts.tables.has(tables)
        if not is_known and (executed or 0) >= self._asked.get(first, 0):
            notes = {
                shard: reads_note(self.read_elsewhere(group, of))
                for of in self._layouts.of(group)
                for shard in of.ids
            }
            notes |= {shard: hand_over_note(names) for shard, names in tables.items()}
            self.send(group, requests := self._control.statement(first, notes))
            self._asked[first] = requests[0].number
        return is_known and executed == self._control.sent(first)
