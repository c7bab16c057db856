"""WindowGroup: one row per group of a window, when the window ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from eddyline.algebra.time_windows import TimeWindows
from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.batch import Batch, Evaluator, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.final_groups import FinalGroups, Source
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.window_groups import WindowGroups
from eddyline.runtime.time_windows import assigned, starts_of
from eddyline.types import FOREVER


@dataclass(frozen=True, slots=True)
class Grouping:
    """What is grouped by which windows.

    Attributes:
        keys, types: of the groups, beside the window. names: of keys, for reports of groups.
        arguments: of the aggregates; None: whole rows.
        aggregates: makes the aggregates of new groups.
        merged: where the windows consist of slices: makes what merges the aggregates of slices.
        outputs: the columns of the output.
    """

    keys: tuple[Evaluator, ...]
    types: tuple[pa.DataType, ...]
    names: tuple[str, ...]
    arguments: tuple[Evaluator | None, ...]
    aggregates: Callable[[], list[Aggregate]]
    merged: Callable[[], list[Aggregate]] | None
    outputs: tuple[Source, ...]


class WindowGroup(FinalGroups):
    """Aggregates rows where they come, and emits the groups of a window when it ends.

    Rows do not wait for their expiry: a window's groups are dropped as a whole. Of windows that
    overlap, each row goes into one slice, and the groups of a slice go into its windows when the
    slice ends.

    Rows for which a key or an argument cannot be computed belong to no group; a group of which an
    aggregate fails has no row, and is reported. The input has no '-'.
    """

    def __init__(self, source: Operator, windows: TimeWindows, grouping: Grouping) -> None:
        super().__init__(source, grouping.names, grouping.outputs)
        self._windows = windows
        self._grouping = grouping
        self._computed = [a for a in grouping.arguments if a is not None]
        self._slices: WindowGroups | None = None
        last = grouping.aggregates
        if grouping.merged is not None:
            self._slices = WindowGroups(grouping.types, grouping.aggregates)
            last = grouping.merged
        self._groups = WindowGroups(grouping.types, last)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        batch = batches[0]
        assert batch.only_inserts(), "a '-' is at another instant than its row"
        batch, values = usable_rows(batch, [*self._grouping.keys, *self._computed])
        keys, rest = values[: len(self._grouping.keys)], iter(values[len(self._grouping.keys) :])
        columns = [None if a is None else next(rest) for a in self._grouping.arguments]
        if self._slices is None:
            self._add(batch.ts, keys, columns)
        else:
            self._slices.add(assigned(self._windows.slices, batch.ts).end, keys, columns)
            ended = self._slices.close(tick.clock)
            self._add(ended.end - 1, ended.keys, list(ended.values))  # in the slice, not behind it
        closed = self._groups.close(tick.clock)
        return self.emitted(closed, starts_of(self._windows, closed.end))

    def _add(self, ts: Array, keys: list[pa.Array], columns: list[pa.Array | None]) -> None:
        row, end = assigned(self._windows, ts)
        if row is not None:
            rows = pa.array(row)
            keys = [k.take(rows) for k in keys]
            columns = [None if c is None else c.take(rows) for c in columns]
        self._groups.add(end, keys, columns)

    def live(self, clock: int) -> Batch:
        """None: rows are emitted and not kept."""
        closed = self._groups.close(-FOREVER)
        return self.rows(closed, closed.end, 0)

    def kept(self) -> int:
        return len(self._groups) + (0 if self._slices is None else len(self._slices))

    def state(self) -> State:
        return {
            **super().state(),
            "slices": {} if self._slices is None else self._slices.state(),
            "groups": self._groups.state(),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        if self._slices is not None:
            self._slices.restore(nested(state, "slices"))
        self._groups.restore(nested(state, "groups"))
