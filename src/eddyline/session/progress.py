"""How far an engine has come: rows go through its queries as the watermark frees them."""

from __future__ import annotations

import time
from collections.abc import Iterator

from eddyline.runtime.operators.base import Tick
from eddyline.session.inputs import Inputs
from eddyline.session.query_set import QuerySet
from eddyline.types import BEGINNING


class Progress:
    """Takes rows through the queries, chunk by chunk.

    Args:
        inputs: where rows wait for the watermark. standing: the queries.

    Attributes:
        watermark: rows before this instant are late, in microseconds.
        began: the first instant at which anything happened; None: nothing has.
    """

    def __init__(self, inputs: Inputs, standing: QuerySet) -> None:
        self.watermark = BEGINNING
        self.began: int | None = None
        self._inputs = inputs
        self._standing = standing

    @property
    def clock(self) -> int:
        """The instant up to which everything is processed, in microseconds."""
        return self.watermark if self.began is None else self._standing.execution.clock

    def advance(
        self, watermark: int | None, chunk_rows: int, *, told: bool = False, paced: bool = False
    ) -> Iterator[None]:
        """Process what the watermark frees, chunk by chunk.

        Args:
            watermark: None: the one that follows from the rows that have come.
            told: somebody says that it is this instant now, so something has happened by then.
            paced: let rows wait for their turn. Chunks alternate with the service of rows that come
                before newer ones.
        """
        arrived = time.perf_counter()
        execution = self._standing.execution
        if watermark is None:
            watermark = self._inputs.default_watermark()
        self.watermark = watermark = max(watermark, self.watermark)
        for tick in self._inputs.fill(watermark, chunk_rows):
            self._run(tick, arrived, paced=paced)
            yield
            while paced and execution.waiting and not execution.wants_rows:
                self._standing.serve()
                yield
        if watermark > execution.clock:
            self._run(Tick(watermark), arrived, told=told, paced=paced)
            yield

    def _run(self, tick: Tick, arrived: float, *, told: bool = False, paced: bool = False) -> None:
        if self.began is None:
            if tick.first_row is None and not told:
                return  # how far the watermark lags behind rows depends on how they are cut
            self.began = tick.clock if tick.first_row is None else tick.first_row
            self._inputs.begin()
            self._standing.begin(self.began)
        self._standing.follow(tick.clock)
        self._standing.run(tick, arrived=arrived, paced=paced)
        self._inputs.purge(tick.clock)
        self._standing.adapt()

    def resume(self, clock: int, watermark: int, began: int | None) -> None:
        """Go on from where an engine had come when it was saved."""
        self._standing.execution.clock = clock
        self.watermark, self.began = watermark, began
        if began is not None:
            self._inputs.begin()
        self._standing.resume(began)
