"""Operators that keep nothing: each row is judged, or its columns are computed, by itself."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from eddyline.runtime.batch import Batch, Evaluator, Predicate, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.screens import Screen


class Filter(Operator):
    """The rows for which a predicate is true; a '-' carries its row's values and is judged alike.

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
        return batch.where(self._predicate(batch)) if batch.ts.size else batch

    def live(self, clock: int) -> Batch:
        batch = self.inputs[0].live(clock)
        return batch.where(self._predicate(batch))


class Project(Operator):
    """Computed columns. Those that are only passed on stay where they are stored. Rows for which a
    column cannot be computed are left out.

    Args:
        outputs: per output column an input column's number, or how to compute it.
    """

    def __init__(self, source: Operator, outputs: Sequence[int | Evaluator]) -> None:
        super().__init__((source,))
        self._outputs = tuple(outputs)
        self._columns = [o if isinstance(o, int) else None for o in self._outputs]
        self._computed = [o for o in self._outputs if not isinstance(o, int)]

    def asks_for(self, source: Operator) -> Screen | None:
        screen = self.asked()
        return None if screen is None else screen.renamed(self._columns)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._apply(batches[0])

    def live(self, clock: int) -> Batch:
        return self._apply(self.inputs[0].live(clock))

    def _apply(self, batch: Batch) -> Batch:
        computed: list[pa.Array] = []
        if self._computed:
            batch, computed = usable_rows(batch, self._computed)
            values = iter(computed)
            return batch.with_columns(
                [o if type(o) is int else next(values) for o in self._outputs]
            )
        return batch.with_columns(self._outputs)
