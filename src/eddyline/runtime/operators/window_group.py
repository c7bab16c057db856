"""WindowGroup: one row per group of a window, when the window ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from eddyline.algebra.time_windows import TimeWindows
from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator
from eddyline.runtime.failures import Failure, report, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.window_groups import Closed, WindowGroups
from eddyline.runtime.time_windows import assigned, instants, starts_of
from eddyline.types import FOREVER

#: A column of the output: a key's or an aggregate's number, or the window's start or end.
Source = tuple[Literal["key", "aggregate", "start", "end"], int]


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


class WindowGroup(Operator):
    """Aggregates rows where they come, and emits the groups of a window when it ends.

    Rows do not wait for their expiry: a window's groups are dropped as a whole. Of windows that
    overlap, each row goes into one slice, and the groups of a slice go into its windows when the
    slice ends.

    Rows for which a key or an argument cannot be computed belong to no group; a group of which an
    aggregate fails has no row, and is reported. The input has no '-'.
    """

    def __init__(self, source: Operator, windows: TimeWindows, grouping: Grouping) -> None:
        super().__init__((source,))
        self._windows = windows
        self._grouping = grouping
        self._computed = [a for a in grouping.arguments if a is not None]
        self._slices: WindowGroups | None = None
        last = grouping.aggregates
        if grouping.merged is not None:
            self._slices = WindowGroups(grouping.types, grouping.aggregates)
            last = grouping.merged
        self._groups = WindowGroups(grouping.types, last)
        self._rows = 0

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
        return self._emitted(self._groups.close(tick.clock))

    def _add(self, ts: Array, keys: list[pa.Array], columns: list[pa.Array | None]) -> None:
        row, end = assigned(self._windows, ts)
        if row is not None:
            rows = pa.array(row)
            keys = [k.take(rows) for k in keys]
            columns = [None if c is None else c.take(rows) for c in columns]
        self._groups.add(end, keys, columns)

    def _emitted(self, closed: Closed) -> Batch:
        if closed.failed.any():
            self._report_failed(closed.where(closed.failed))
            closed = closed.where(~closed.failed)
        batch = self._batch(closed, self._rows)
        self._rows += len(batch)
        return batch

    def _batch(self, closed: Closed, first: int) -> Batch:
        n = closed.end.size
        columns = []
        for kind, number in self._grouping.outputs:
            if kind == "key":
                columns.append(closed.keys[number])
            elif kind == "aggregate":
                columns.append(closed.values[number])
            elif kind == "end":
                columns.append(instants(closed.end))
            else:
                columns.append(instants(starts_of(self._windows, closed.end)))
        return Batch(
            closed.end,
            np.full(n, EXPIRY, np.int64),
            np.full(n, FOREVER, np.int64),
            np.ones(n, np.int8),
            (np.arange(first, first + n),),
            (None,),
            tuple(columns),
        )

    def _report_failed(self, closed: Closed) -> None:
        groups = self._batch(closed, 0)
        places = [i for i, (kind, _) in enumerate(self._grouping.outputs) if kind != "aggregate"]
        names = tuple((self._grouping.names[i], place) for i, place in enumerate(places))
        report(Failure(groups, np.arange(len(groups)), closed.reasons, names))

    def live(self, clock: int) -> Batch:
        """None: rows are emitted and not kept."""
        return self._batch(self._groups.close(-FOREVER), 0)

    def kept(self) -> int:
        return len(self._groups) + (0 if self._slices is None else len(self._slices))

    def state(self) -> State:
        return {
            "slices": {} if self._slices is None else self._slices.state(),
            "groups": self._groups.state(),
            "rows": np.array([self._rows]),
        }

    def restore(self, state: State) -> None:
        if self._slices is not None:
            self._slices.restore(nested(state, "slices"))
        self._groups.restore(nested(state, "groups"))
        self._rows = int(array(state, "rows")[0])
