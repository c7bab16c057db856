"""Groups of windows that have ended, as rows that never leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from eddyline.runtime.batch import EXPIRY, Batch
from eddyline.runtime.failures import Failure, report
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.window_groups import Closed
from eddyline.runtime.time_windows import instants
from eddyline.types import FOREVER

#: A column of the output: a key's or an aggregate's number, or the window's start or end.
Source = tuple[Literal["key", "aggregate", "start", "end"], int]


class FinalGroups(Operator):
    """Numbers the groups of windows that have ended; a group of which an aggregate fails has no
    row, and is reported.

    Args:
        names: of the columns that are no aggregates, for reports. outputs: the columns.
    """

    def __init__(self, source: Operator, names: Sequence[str], outputs: Sequence[Source]) -> None:
        super().__init__((source,))
        self._names = tuple(names)
        self._outputs = tuple(outputs)
        self._rows = 0

    def emitted(self, closed: Closed, start: Array) -> Batch:
        """The rows of groups; ``start``: int64[n], when their windows began."""
        if closed.failed.any():
            good = ~closed.failed
            self._report_failed(closed.where(closed.failed), start[closed.failed])
            closed, start = closed.where(good), start[good]
        batch = self.rows(closed, start, self._rows)
        self._rows += len(batch)
        return batch

    def rows(self, closed: Closed, start: Array, first: int) -> Batch:
        """The rows of groups, numbered from ``first`` on."""
        n = closed.end.size
        columns = []
        for kind, number in self._outputs:
            if kind == "key":
                columns.append(closed.keys[number])
            elif kind == "aggregate":
                columns.append(closed.values[number])
            else:
                columns.append(instants(closed.end if kind == "end" else start))
        return Batch(
            closed.end,
            np.full(n, EXPIRY, np.int64),
            np.full(n, FOREVER, np.int64),
            np.ones(n, np.int8),
            (np.arange(first, first + n),),
            (None,),
            tuple(columns),
        )

    def _report_failed(self, closed: Closed, start: Array) -> None:
        groups = self.rows(closed, start, 0)
        places = [i for i, (kind, _) in enumerate(self._outputs) if kind != "aggregate"]
        names = tuple((self._names[i], place) for i, place in enumerate(places))
        report(Failure(groups, np.arange(len(groups)), closed.reasons, names))

    def state(self) -> State:
        return {"rows": np.array([self._rows])}

    def restore(self, state: State) -> None:
        self._rows = int(array(state, "rows")[0])
