"""SuppliedInput: rows that another operator supplies to the operators above."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.runtime.batch import Batch
from eddyline.runtime.operators.base import Operator, Tick


class SuppliedInput(Operator):
    """An input of operators that another operator runs; it does not run itself.

    Attributes:
        place: which input of the other operator supplies the rows.
    """

    def __init__(self, place: int = 0) -> None:
        super().__init__(())
        self.place = place

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        raise AssertionError("its rows are supplied to the operators above it")

    def live(self, clock: int) -> Batch:
        raise AssertionError("the answer is that of the operator that runs the ones above")
