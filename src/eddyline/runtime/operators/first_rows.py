"""FirstRows: the first rows of each partition, where rows never leave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.kernels.frames import NONE
from eddyline.runtime.batch import Batch
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.over import Computed, Over, Partitions
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.payload import Payload, gathered, reference


class FirstRows(Over):
    """As :class:`Over` with a limit. It keeps the rows that are shown, and no others: a row behind
    them stays there. A change is identified by the number of that which shows the row.

    Args:
        types: of the columns of rows.
    """

    def __init__(
        self,
        source: Operator,
        partitions: Partitions,
        computed: Computed,
        types: Sequence[pa.DataType],
    ) -> None:
        super().__init__(source, partitions, computed, None, width=1, taken_back=False)
        self._types = list(types)
        self._payload = Payload(types)
        self._chunk = self._nothing()
        self._coming_rows = np.zeros(0, np.int64)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        out = super().process(batches, tick)
        self._keep()
        return out

    def _numbered(self, batch: Batch) -> Array:
        """The numbers of rows; the id of each is its place in the chunk, until it is kept."""
        self._chunk = batch.columns()
        self._coming_rows = super()._numbered(_identified(batch))
        return self._coming_rows

    def _keep(self) -> None:
        """Keep the rows of the chunk that are shown."""
        rows = self._coming_rows
        places = np.flatnonzero(self._orders.there(rows))
        columns = [c.take(pa.array(places)) for c in self._chunk]
        references = reference(self._payload.add(columns, places.size))
        self._shown["id0"][rows[places]] = references
        self._chunk, self._coming_rows = self._nothing(), rows[:0]

    def _nothing(self) -> list[pa.Array]:
        return [pa.nulls(0, t) for t in self._types]

    def _release(self, left: Array, slots: Array) -> None:
        references = self._shown["id0"][left]
        self._payload.release(-2 - references[references < NONE])
        super()._release(left, slots)

    def _batch(
        self, row: Array, ts: Array, seq: Array, sign: Array, version: Array, values: Array
    ) -> Batch:
        references = self._shown["id0"][row]
        columns = [
            gathered(references, column, self._payload, place)
            for place, column in enumerate(self._chunk)
        ]
        exp = self._orders.rows["exp"][row]
        cells = (*columns, *self._columns(values))
        return Batch(ts, seq, exp, sign, (version,), (None,), cells)

    def state(self) -> State:
        return {**super().state(), "payload": self._payload.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._payload.restore(nested(state, "payload"))


def _identified(batch: Batch) -> Batch:
    """The rows with their places as ids."""
    lanes = batch.ts, batch.seq, batch.exp, batch.sign
    return Batch(*lanes, (np.arange(len(batch)),), (None,), batch.cells)
