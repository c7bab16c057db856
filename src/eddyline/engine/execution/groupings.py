"""Groupings: result tables of queries that read the same operators above a flow."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef
from eddyline.engine.execution.result_tables import Pending, ResultTable, Tally
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.output import CHANGE_COLUMNS
from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING


class Grouping(ResultTable):
    """A result table over operators that group a flow's results per query, or turn them into the
    changes or snapshots of each query.

    Attributes:
        operator: runs these operators.
    """

    def __init__(
        self,
        schema: pa.Schema,
        pending: Pending,
        tally: Tally,
        operator: PerQuery,
        *,
        replaces: bool,
    ) -> None:
        types = enumerate(schema.types[len(CHANGE_COLUMNS) :], start=1)  # behind the number
        columns = [ColumnRef(type_, i, f"c{i}") for i, type_ in types]
        super().__init__(schema, pending, tally, columns, replaces=replaces)
        self.operator = operator

    def collect(self, batch: Batch, arrived: float | Array | None) -> None:
        bits = self._bits()
        if self.operator.members > len(bits):  # other tables read the operator, too
            assert batch.recipients is not None, "set by the operator"
            mine = np.zeros(batch.recipients.width, np.bool_)
            mine[list(bits)] = True
            batch = batch.sent_to(batch.recipients.of_queries(mine))
        super().collect(batch, arrived)
        self.renew()

    def _bits(self) -> Collection[int]:
        """The bits in the flow of the queries that the table ends."""
        return self.numbers.values()

    def renew(self) -> None:
        """Remove the groups of dropped queries if there may be many."""
        clock = self.operator.clock
        if self.operator.members and self.operator.is_worn and clock > BEGINNING:
            self.operator.renew(clock)
