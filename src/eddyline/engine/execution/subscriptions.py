"""Subscriptions: the operator and the result table of each query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from eddyline.engine.execution.groupings import Grouping
from eddyline.engine.execution.result_tables import MaterialisedTable, ResultTable
from eddyline.engine.execution.shared_flow import Kind, SharedFlow
from eddyline.engine.query_metrics import QueryMetrics
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.eddy.shared_view import SharedView
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.stateless import Scan


class Subscription(ABC):
    """The results of one query.

    Attributes:
        operator: its results are those of the query. table: where they are kept.
    """

    #: The flow that the query shares; None: it runs as a tree.
    shared: SharedFlow | None = None
    #: What keeps its answer beside the operators; None: nothing does.
    view: SharedView | None = None

    def __init__(self, operator: Operator, table: ResultTable) -> None:
        self.operator = operator
        self.table = table

    @abstractmethod
    def answer(self, clock: int) -> Batch:
        """The results that are in the answer at ``clock``."""

    @property
    def kept(self) -> int:
        """Number of rows that its last operator keeps, and of results beside it."""
        return self.operator.kept() + (0 if self.view is None else len(self.view))

    @property
    def suspensions(self) -> tuple[int, int]:
        """See ``Operator``: of all operators that the query reads."""
        found = [o.suspensions for o in in_order([self.operator], probed=False)]
        return sum(suspended for suspended, _ in found), sum(released for _, released in found)

    @abstractmethod
    def add_metrics(self, total: QueryMetrics) -> None:
        """Add what was counted so far to query 0 of ``total``."""


class TreeSubscription(Subscription):
    """Of a query that runs as a tree of operators."""

    def answer(self, clock: int) -> Batch:
        return self.operator.live(clock)

    def add_metrics(self, total: QueryMetrics) -> None:
        total.add(self.table.metrics, np.zeros(1, np.int64))


class FlowSubscription(Subscription):
    """Of a query that shares a flow."""

    def __init__(
        self, shared: SharedFlow, table: ResultTable, key: object, bits: Sequence[int]
    ) -> None:
        super().__init__(shared.flow, table)
        self.shared: SharedFlow = shared
        self._key = key
        self._bits = bits

    @property
    def bits(self) -> Sequence[int]:
        """Its bits in the flow."""
        return self._bits

    @property
    def grouped(self) -> int | None:
        """Number of queries above one grouping, with this one; None: its rows are not grouped."""
        return None

    @property
    def predicates(self) -> int:
        """Number of attributes with predicates."""
        return sum(map(self.shared.flow.predicates_of, self.bits))

    @property
    def kinds(self) -> list[Kind]:
        """The kind of each of its bits."""
        return list(map(self.shared.kind, self.bits))

    def answer(self, clock: int) -> Batch:
        return self.shared.answer(clock, self.bits)

    def add_metrics(self, total: QueryMetrics) -> None:
        total.add(self.shared.metrics, np.array(self.bits, np.int64))

    def leave(self, name: str) -> None:
        """Remove the query from the flow."""
        for bit in self.bits:
            self.shared.dismiss(bit)
        self.table.unsubscribe(name)
        if not self.table.numbers:
            self.shared.close(self._key)


class MaterialisedSubscription(FlowSubscription):
    """Of a query whose answer is kept beside its result table."""

    def __init__(
        self, shared: SharedFlow, table: MaterialisedTable, key: object, bit: int, clock: int
    ) -> None:
        super().__init__(shared, table, key, (bit,))
        self.view: SharedView = table.view
        self.view.admit(self.bits, clock)

    def answer(self, clock: int) -> Batch:
        if self.shared.flow.waiting:  # results of queued rows are in the answer, too
            return super().answer(clock)
        return self.view.answer(clock, self.bits)

    def leave(self, name: str) -> None:
        self.view.dismiss(self.bits[0])
        super().leave(name)


class GroupedSubscription(FlowSubscription):
    """Of a query whose rows are grouped above the flow.

    Args:
        number: of the query in the operators that group, from a checkpoint; None: any.
        constants: of the query, for these operators.

    Attributes:
        number: likewise.
    """

    def __init__(
        self,
        shared: SharedFlow,
        grouping: Grouping,
        key: object,
        bit: int,
        number: int | None,
        constants: Sequence[Any],
    ) -> None:
        super().__init__(shared, grouping, key, (bit,))
        self.operator: PerQuery = grouping.operator
        self.number = self.operator.admit(bit, number, constants)
        self._grouping = grouping

    @property
    def grouped(self) -> int:
        return self.operator.members

    def answer(self, clock: int) -> Batch:
        return self.operator.answer(clock, self.bits)

    def bring_up(self, tree: Sequence[Operator], clock: int) -> None:
        """Group what the flow holds for the query; ``tree``: the operators that it had so far."""
        self.operator.take_over(tree, self.bits[0], clock)
        self.operator.bring_up(self.bits, clock)

    def leave(self, name: str) -> None:
        self.operator.dismiss(self.bits[0])
        super().leave(name)
        self._grouping.renew()


def subscription_in(
    shared: SharedFlow, table: ResultTable, key: object, bit: int, clock: int
) -> FlowSubscription:
    """Of a query whose results are those of the flow; ``clock``: of its streams."""
    if isinstance(table, MaterialisedTable):
        return MaterialisedSubscription(shared, table, key, bit, clock)
    return FlowSubscription(shared, table, key, (bit,))


def rows_seen(operator: Operator) -> int:
    """Number of rows that the scans below an operator have read."""
    return sum(o.rows_out for o in in_order([operator], probed=False) if isinstance(o, Scan))


def seconds_unshared(
    subscription: Subscription, readers: Mapping[Operator, int] = MappingProxyType({})
) -> float:
    """Computing time of the operators of a query, without that of a flow.

    Args:
        readers: number of queries that share an operator; 1 if not listed.
    """
    flow = None if subscription.shared is None else subscription.shared.flow
    operators = in_order([subscription.operator])
    return sum(o.seconds / readers.get(o, 1) for o in operators if o is not flow)
