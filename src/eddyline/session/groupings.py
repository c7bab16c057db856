"""Queries of a flow that group in the same way: one grouping serves all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef
from eddyline.runtime.columns import Array
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.output import CHANGE_COLUMNS
from eddyline.session.latency import Latencies
from eddyline.session.shapes import Shape
from eddyline.session.shared import Seat, SharedFlow, shape_of
from eddyline.sharing.signature import Part
from eddyline.types import BEGINNING


class Grouping:
    """A shape whose results come from operators above the flow.

    Attributes:
        rows_out, latencies: by number of the query, since it came.
    """

    def __init__(self, shared: SharedFlow, shape: Shape, operator: PerQuery) -> None:
        self.shape = shape
        self.operator = operator
        self.rows_out = np.zeros(64, np.int64)
        self.latencies = Latencies()
        self._shared = shared

    def admit(self, name: str, bit: int, number: int | None) -> int:
        """A query comes; returns its number."""
        number = self.operator.admit(bit, number, reuse=not self.shape.pending)
        self._fit(number)
        self.rows_out[number] = 0
        self.latencies.forget(number)
        self.shape.seat(name, number)
        return number

    def dismiss(self, name: str, bit: int) -> None:
        """A query goes."""
        self.operator.dismiss(bit)
        self.shape.unseat(name)
        self._renew()

    def _renew(self) -> None:
        """Forget what belongs to queries that have gone, if it may be a lot."""
        clock = self.operator.clock
        if self.operator.members and self.operator.is_worn and clock > BEGINNING:
            self.operator.renew(self._shared.answer(clock, self.operator.bits), clock)

    def collect(self, arrived: float) -> None:
        """Take in the chunk's results; ``arrived``: when its rows could be processed."""
        fanouts, self.operator.fanouts = self.operator.fanouts, []
        for fanout in fanouts:
            counts = self.shape.collect(fanout)
            self.rows_out[: counts.size] += counts
            self.latencies.add(counts, time.perf_counter() - arrived)
        self._renew()

    def _fit(self, number: int) -> None:
        if number >= self.rows_out.size:
            self.rows_out = np.pad(self.rows_out, (0, 2 * number - self.rows_out.size))


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
    part: Part,
    schema: pa.Schema,
    operator: PerQuery,
    *,
    replaces: bool,
    number: int | None,
) -> GroupedSeat:
    """A query comes whose rows are grouped by this operator.

    Args:
        number: that it had there when it was saved; None: any.
    """
    key = shape_of(part, replaces=replaces)
    bit = shared.admit(name, key, part)
    if key not in shared.shapes:
        types = enumerate(schema.types[len(CHANGE_COLUMNS) :], start=1)
        columns = [ColumnRef(type_, i, f"c{i}") for i, type_ in types]
        shared.shapes[key] = Shape(schema, columns, replaces=replaces)
        shared.groupings[key] = Grouping(shared, shared.shapes[key], operator)
    number = shared.groupings[key].admit(name, bit, number)
    return GroupedSeat(shared, shared.groupings[key], key, bit, number)
