"""Project: computed columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eddyline.runtime.batch import Batch, Cell, Evaluator
from eddyline.runtime.operators.base import Operator, Tick


class Project(Operator):
    """Keeps nothing. Columns that are only passed on stay where they are stored.

    Args:
        outputs: per output column an input column's number, or how to compute it.
    """

    def __init__(self, source: Operator, outputs: Sequence[int | Evaluator]) -> None:
        super().__init__((source,))
        self._outputs = tuple(outputs)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._apply(batches[0])

    def live(self, clock: int) -> Batch:
        return self._apply(self.inputs[0].live(clock))

    def _apply(self, batch: Batch) -> Batch:
        def cell(output: int | Evaluator) -> Cell:
            return batch.cells[output] if isinstance(output, int) else output(batch)

        gathered = {
            i: batch.column(output)
            for i, output in enumerate(self._outputs)
            if isinstance(output, int) and batch.is_gathered(output)
        }
        return replace(batch, cells=tuple(map(cell, self._outputs)), _gathered=gathered)
