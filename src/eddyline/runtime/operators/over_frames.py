"""OverFrames: each row with aggregates of the rows in its frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.kernels import framed_rows
from eddyline.kernels import ordered_rows as kernels
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.failures import Failure, report
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.framed_orders import FramedOrders, FramedValue
from eddyline.runtime.operators.over import Computed, Over, Partitions
from eddyline.runtime.operators.row_orders import RowOrders
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.counted_values import CountedValues
from eddyline.runtime.stores.expiry import ExpiryStore


@dataclass(frozen=True, slots=True)
class FramedForm:
    """What is computed of frames.

    Attributes:
        bounds: of the frames. values: the aggregates.
        columns: what aggregates are computed of.
        names: (name, number) of columns, for reports.
    """

    bounds: framed_rows.Bounds
    values: tuple[FramedValue, ...]
    columns: tuple[Evaluator, ...]
    names: tuple[tuple[str, int], ...]


class OverFrames(Over):
    """Shows the rows of the input with aggregates of their frames; a '-' and a '+' where the values
    of a row change. A row of which a value cannot be computed is reported, and not shown.

    Args:
        computed: the bounds of RANGE are its arguments. Others: see ``Over``.
    """

    _orders: FramedOrders

    def __init__(
        self,
        source: Operator,
        partitions: Partitions,
        computed: Computed,
        framed: FramedForm,
        expiries: ExpiryStore | None,
        *,
        width: int,
        taken_back: bool,
    ) -> None:
        self._framed = framed
        super().__init__(source, partitions, computed, expiries, width=width, taken_back=taken_back)

    @property
    def _read(self) -> tuple[Evaluator, ...]:
        return (*self._computed.arguments, *self._framed.columns)

    def _numbered_arguments(self) -> tuple[CountedValues, ...]:
        return tuple(self._peers for _ in self._computed.arguments)

    def _made_orders(self) -> RowOrders:
        arguments = len(self._arguments)
        framed = self._framed
        return FramedOrders(framed.bounds, framed.values, arguments, self._keys, self._peers)

    @property
    def _peers(self) -> CountedValues:
        return self._keys if self._ties is None else self._ties

    def _coming(self, batch: Batch, values: Sequence[pa.Array]) -> tuple[kernels.Events, Array]:
        count = len(values) - len(self._framed.columns)
        coming, slot = super()._coming(batch, values[:count])
        entering = np.flatnonzero(batch.sign > 0)
        columns = [v.take(pa.array(entering)) for v in values[count:]]
        self._orders.take(coming.row[entering], slot[entering], columns)
        return coming, slot

    def _columns(self, values: Array) -> list[pa.Array]:
        return self._orders.columns(values)

    def _release(self, left: Array, slots: Array) -> None:
        self._orders.forget()
        super()._release(left, slots)

    def _report(self, events: kernels.Events) -> None:
        for failures in self._orders.failures:
            n = failures.row.size
            ts, seq = events.instants[:, failures.event]
            nothing = np.full((n, len(self._framed.values)), kernels.NOTHING)
            sign, version = np.ones(n, np.int8), np.zeros(n, np.int64)
            rows = self._batch(failures.row, ts, seq, sign, version, nothing)
            reasons = pa.array(failures.reasons, pa.string())
            report(Failure(rows, np.arange(n), reasons, self._framed.names))
        self._orders.failures = []
