"""Union: UNION ALL, the rows of several inputs merged by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eddyline.runtime.batch import Batch, merge
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.screens import Screen


class Union(Operator):
    """Keeps nothing. A row is identified by its input's number and its ids there."""

    def asks_for(self, source: Operator) -> Screen | None:
        return self.asked()

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        screen = self.asked()
        if screen is not None:
            batches = [screen.applied(batch) for batch in batches]
        width = max(len(b.ids) for b in batches)
        return merge([_tagged(b, i, width) for i, b in enumerate(batches)])

    def live(self, clock: int) -> Batch:
        batches = [i.live(clock) for i in self.inputs]
        return self.process(batches, Tick(clock))


def _tagged(batch: Batch, number: int, width: int) -> Batch:
    nothing = np.full(len(batch), -1, np.int64)
    tag = np.full(len(batch), number, np.int64)
    padding = (nothing,) * (width - len(batch.ids))
    return replace(
        batch,
        ids=(tag, *batch.ids, *padding),
        stores=(None,) * (width + 1),
        cells=tuple(batch.columns()),
        pair=None,
    )
