"""The result tables of parameterized queries, whose select lists read the instances' rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Expr
from eddyline.engine.execution.groupings import Grouping
from eddyline.engine.execution.result_tables import ResultTable
from eddyline.engine.execution.shared_flow import SharedFlow
from eddyline.physical.compiled import with_row
from eddyline.physical.flows import output_of
from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.eddy.shared_view import SharedView
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.sharing.signature import Part


class RowColumns:
    """The columns of the instances' rows, for results by recipients.

    Args:
        rows: the table of the rows.

    Attributes:
        ids: int64[bits], the row of each instance, by its bit in the flow.
    """

    def __init__(self, rows: Stem) -> None:
        self.ids = np.zeros(64, np.int64)
        self._rows = rows

    def put(self, bit: int, row: int) -> None:
        """Set the row of an instance."""
        if bit >= self.ids.size:
            self.ids = np.pad(self.ids, (0, 2 * bit - self.ids.size))
        self.ids[bit] = row

    def beside(self, batch: Batch) -> Batch:
        """Each result once per instance, with the columns of the instance's row behind its own."""
        to = batch.recipients
        assert to is not None, "set by the flow"
        order = to.by_row(len(batch))  # results keep their order
        batch = batch.take(to.rows[order])
        own = tuple(Stored(len(batch.ids), i) for i in range(len(self._rows.schema)))
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return replace(
            batch,
            ids=(*batch.ids, self.ids[to.query[order]]),
            stores=(*batch.stores, self._rows),
            cells=(*batch.cells, *own),
            recipients=Recipients(place, to.starts, to.exp),
            _gathered={},
        )


class ParameterizedTable(ResultTable):
    """The result table of a parameterized query: its select list also reads the instance's row.

    Attributes:
        own_rows: of the instances.
    """

    def __init__(
        self, name: str, shared: SharedFlow, part: Part, schema: pa.Schema, rows: Stem
    ) -> None:
        outputs = with_row(part.outputs, len(shared.signature.schema))
        super().__init__(schema, shared.pending, shared.tally, outputs, owner=name)
        self.own_rows = RowColumns(rows)

    def _with_parameters(self, batch: Batch) -> Batch:
        return self.own_rows.beside(batch)


class MaterialisedParameterizedTable(ParameterizedTable):
    """The same where the answers of the instances are kept."""

    def __init__(
        self, name: str, shared: SharedFlow, part: Part, schema: pa.Schema, rows: Stem
    ) -> None:
        super().__init__(name, shared, part, schema, rows)
        self.view: SharedView = shared.new_view()

    def collect(self, batch: Batch, arrived: float | Array | None) -> None:
        if batch.ts.size and arrived is not None:  # others are there: an instance comes or goes
            self.view.keep(batch)
        super().collect(batch, arrived)


class ParameterizedGrouping(Grouping):
    """The same of a query of which operators above the flow group the rows, or apply EMIT.

    Args:
        outputs: the select list, over the columns of the operators and Parameters.
    """

    def __init__(
        self,
        name: str,
        shared: SharedFlow,
        operator: PerQuery,
        outputs: Sequence[Expr],
        schema: pa.Schema,
        rows: Stem,
    ) -> None:
        super().__init__(schema, shared.pending, shared.tally, operator, replaces=False)
        self.owner = name
        self._outputs = [output_of(e) for e in outputs]
        self.own_rows = RowColumns(rows)
        self.bits: set[int] = set()

    def _bits(self) -> Collection[int]:
        return self.bits

    def _with_parameters(self, batch: Batch) -> Batch:
        return self.own_rows.beside(batch)
