"""Given: the place of rows that somebody hands to the operators above."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.runtime.batch import Batch
from eddyline.runtime.operators.base import Operator, Tick


class Given(Operator):
    """Stands for the input of operators that another operator runs."""

    def __init__(self) -> None:
        super().__init__(())

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        raise AssertionError("its rows are given to the operators above it")

    def live(self, clock: int) -> Batch:
        raise AssertionError("what is grouped above it knows what is in the answer")
