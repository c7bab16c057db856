"""How the rows of plans are stored, and where they wait for their expiry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from eddyline.algebra.expressions import Expr
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Plan
from eddyline.physical.patterns import row_ids_of
from eddyline.physical.strategy import Strategy
from eddyline.runtime.graph import Graph
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.expire import Expire
from eddyline.runtime.operators.group_aggregates import AggregateColumn
from eddyline.runtime.operators.group_timelines import OwnTimeline, Timeline
from eddyline.runtime.operators.shared_timelines import PartOfTimeline, SharedTimeline
from eddyline.runtime.operators.spool import Spool
from eddyline.runtime.stores.expiry import ExpiryStore, FifoStore, PartitionedStore

#: Partitions of a store whose rows have no known longest lifespan are made for this one.
_UNKNOWN_LIFESPAN_US: Final = 3_600_000_000


class StorePlanner(ABC):
    """Builds what stores the rows of plans.

    Args:
        graph: gets the operators. strategy: see there.
    """

    def __init__(self, graph: Graph, strategy: Strategy) -> None:
        self._graph = graph
        self._strategy = strategy

    @abstractmethod
    def build(self, plan: Plan, *, probed: bool = False) -> Operator:
        """The operator of a plan; ``probed``: its rows will be probed while they are alive."""

    def _stored(self, plan: Plan) -> Operator:
        """The operator of a plan, with its rows in a store."""
        source = self.build(plan, probed=True)
        return source if row_ids_of(plan).stored else self._spooled(plan, source)

    def _output_stored(self, plan: Plan, source: Operator) -> tuple[Operator, int]:
        """The source with its rows in a store, and the number of ids of a row there."""
        ids = row_ids_of(plan)
        return (source if ids.stored else self._spooled(plan, source)), ids.stored_width

    def _spooled(self, plan: Plan, source: Operator, *, keep: bool = True) -> Operator:
        width, lazy_us = row_ids_of(plan).width, self._strategy.lazy_us
        strict = plan.takes_back or self.expiries(plan, []) is None
        make = partial(Spool, source, plan.schema, width, lazy_us, strict=strict, keep=keep)
        return self._graph.obtain(("spool", source, keep), make)

    def with_expiries(self, plan: Plan, source: Operator, width: int) -> Operator:
        """The source, whose rows are stored, with a '-' for every row that expires."""
        dtypes = [np.int64, np.int64, np.int8, *[np.int64] * width]
        make = partial(Expire, source, self.timed_expiries(plan, dtypes))
        return self._graph.obtain(("expiring", source), make)

    def expiries(self, plan: Plan, dtypes: Sequence[Any]) -> ExpiryStore | None:
        """A store in which an operator's rows of this plan wait for their expiry; None where each
        leaves by a '-'.
        """
        return self.timed_expiries(plan, dtypes)

    def timed_expiries(self, plan: Plan, dtypes: Sequence[Any]) -> ExpiryStore:
        """A store in which rows of this plan's output wait for their expiry."""
        if plan.pattern <= Pattern.WKS:
            return FifoStore(dtypes)
        lifespan = plan.lifespan_us or _UNKNOWN_LIFESPAN_US
        return PartitionedStore(dtypes, max(lifespan // self._strategy.partitions, 1))

    def timeline(
        self,
        plan: Plan,
        source: Operator,
        keys: Sequence[Expr],
        columns: Sequence[AggregateColumn],
        *,
        shared: bool,
    ) -> Timeline:
        """When rows of this plan enter groups, and leave them.

        Args:
            columns: the aggregates, which remember something of each row.
            shared: whether all rows belong to a group, so that it may be one for several operators.
        """
        types = [key.type for key in keys]
        id_width = row_ids_of(plan).width if plan.takes_back else 0
        order = [np.int64, np.int64, np.int64, np.int8, *[np.int64] * id_width]
        lanes = [dtype for column in columns for dtype in column.aggregate.dtypes]
        expiries = self.expiries(plan, [*order, *lanes])
        shared &= bool(keys) and not plan.takes_back and plan.lifespan_us is not None
        if not (shared and isinstance(expiries, FifoStore)):
            return OwnTimeline(types, expiries, id_width)
        make = partial(SharedTimeline, types)
        common = self._graph.part(source, ("timeline", tuple(keys)), make)
        return PartOfTimeline(common, types, columns)
