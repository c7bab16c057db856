"""The final stage of a query whose groups are computed in parts by several engines.

Each of them runs the query as CREATE PARTIAL QUERY; see ``algebra/parts.py``. The parts are the
rows of a table of one more engine, which runs the rest of the query. So forms of EMIT, bad rows and
counts are those of any query.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from eddyline.algebra.catalog import TableDef
from eddyline.algebra.parts import PARTS, in_parts
from eddyline.engine.changes import Changes
from eddyline.engine.engine import Engine
from eddyline.engine.options import EngineOptions
from eddyline.engine.query import Query, QuerySpec
from eddyline.engine.query_plans import OwnPlans
from eddyline.optimizer.prices import TYPICAL
from eddyline.sql.statements import CreateTable

#: All that happens at one instant is one change of a group, so an instant is never divided.
_ALL_ROWS: Final = 1 << 60


class MergedQuery:
    """Merges the parts of a query's groups into its results.

    Args:
        whole: the query as it would run in one engine.
        set_aside_after: as of :class:`EngineOptions`.

    Attributes:
        query: the one that runs.
    """

    def __init__(self, whole: Query, set_aside_after: int | None = None) -> None:
        plan = in_parts(whole.bound)
        options = EngineOptions(
            chunk_rows=_ALL_ROWS,
            capacity=math.inf,
            prices=TYPICAL,
            set_aside_after=set_aside_after,
        )
        self._engine = Engine(options)
        table = TableDef(PARTS, plan.partial.schema, "retroactive")
        self._engine.execute(CreateTable("", 1, 1, table))
        self._columns = ["_op", "_ts", *(f.name for f in plan.partial.schema)]
        plans = OwnPlans(plan.merged, plan.merged, whole.emit)
        spec = QuerySpec(whole.name, whole.sql, plans, whole.emit, whole.options, False)
        self.query = self._engine.parts.queries.add(spec)

    def take_in(self, parts: Iterable[pa.Table], watermark: int) -> Changes:
        """Process changes of parts.

        Args:
            parts: of each engine its changes since the last call, in order; columns as of
                ``Engine.process``.
            watermark: the instant up to which these are all, in us.

        Returns:
            The changes and bad rows of the query.
        """
        changes = [table.select(self._columns) for table in parts]
        rows = {PARTS: pa.concat_tables(changes)} if changes else {}
        out = self._engine.process(rows, watermark=watermark, now=watermark)
        assert not out.late and PARTS not in out.bad, "parts are complete up to the watermark"
        return out
