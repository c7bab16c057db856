"""Filter: the rows for which a predicate is true."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.runtime.batch import Batch, Predicate
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.screens import Screen


class Filter(Operator):
    """Keeps nothing: a '-' carries its row's values and is judged alike.

    Args:
        screen: accepts all rows that the predicate does; None: it accepts any.
    """

    def __init__(
        self, source: Operator, predicate: Predicate, screen: Screen | None = None
    ) -> None:
        super().__init__((source,))
        self._predicate = predicate
        self._screen = screen

    def asks_for(self, source: Operator) -> Screen | None:
        return self._screen

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        return batch.where(self._predicate(batch)) if len(batch) else batch

    def live(self, clock: int) -> Batch:
        batch = self.inputs[0].live(clock)
        return batch.where(self._predicate(batch))
