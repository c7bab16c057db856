"""The places of queries that group what their flow brings them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef
from eddyline.engine.execution.groupings import Grouping
from eddyline.engine.execution.latency import Latencies
from eddyline.engine.execution.result_tables import Shape
from eddyline.engine.execution.shared_flow import Seat, SharedFlow
from eddyline.engine.placement.placement import FlowPlacement
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.output import CHANGE_COLUMNS
from eddyline.runtime.stores.columns import Array


class GroupedSeat(Seat):
    """The place of a query that groups what the flow brings it."""

    def __init__(
        self, shared: SharedFlow, grouping: Grouping, key: object, bit: int, number: int
    ) -> None:
        super().__init__(shared, grouping.shape, key, bit)
        self.grouping = grouping
        self.number = number

    @property
    def rows_out(self) -> int:
        """Changes so far."""
        return int(self.grouping.rows_out[self.number])

    @property
    def latencies(self) -> tuple[Latencies, Array]:
        """Where its latencies are counted, and as whose."""
        return self.grouping.latencies, np.array([self.number])

    @property
    def grouped(self) -> int:
        """How many queries the grouping serves, this one among them."""
        return self.grouping.operator.members

    def answer(self, clock: int) -> Fanout:
        """The groups that are in the answer at ``clock``."""
        return self.grouping.operator.answer(clock, self.number)

    def bring_up(self, tree: Sequence[Operator], clock: int) -> None:
        """Group what the flow holds for the query; ``tree``: the operators that it had so far."""
        self.grouping.operator.take_over(tree, self._bit, clock)
        self.grouping.operator.bring_up(self.shared.answer(clock, [self._bit]), clock)

    def leave(self, name: str) -> None:
        """The query goes."""
        self.shared.dismiss(self._bit)
        self.grouping.dismiss(name, self._bit)
        if not self.shape.seats:
            self.shared.close(self._key)


def add_grouped(
    shared: SharedFlow,
    name: str,
    placement: FlowPlacement,
    schema: pa.Schema,
    operator: PerQuery,
    *,
    replaces: bool,
) -> GroupedSeat:
    """Add a query whose rows are grouped by this operator."""
    key = placement.table
    bit = shared.admit(name, key, placement.part)
    if key not in shared.shapes:
        types = enumerate(schema.types[len(CHANGE_COLUMNS) :], start=1)
        columns = [ColumnRef(type_, i, f"c{i}") for i, type_ in types]
        shared.shapes[key] = Shape(schema, columns, replaces=replaces)
        shared.groupings[key] = Grouping(shared, shared.shapes[key], operator)
    number = shared.groupings[key].admit(name, bit, placement.number)
    return GroupedSeat(shared, shared.groupings[key], key, bit, number)
