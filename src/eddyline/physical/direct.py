"""The DIRECT strategy: lists in the order of arrival, scanned for what has expired.

Source: Golab and Ozsu 2005, section 2.3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from eddyline.algebra.plan import Plan
from eddyline.physical.node_planner import StemOf
from eddyline.physical.planner import Planner
from eddyline.physical.strategy import Strategy
from eddyline.runtime.graph import Graph
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.distinct import ClassicDistinct
from eddyline.runtime.stores.answers import AnswerList, AnswerStore
from eddyline.runtime.stores.expiry import ExpiryStore, ListStore


class DirectPlanner(Planner):
    """Builds operators over lists, whatever the update pattern."""

    def __init__(self, graph: Graph, stem_of: StemOf, strategy: Strategy) -> None:
        super().__init__(graph, stem_of, replace(strategy, feedback="off"))

    def _delta(
        self, source: Operator, types: Sequence[pa.DataType], expiries: ExpiryStore
    ) -> Operator:
        return ClassicDistinct(source, types, expiries)

    def timed_expiries(self, plan: Plan, dtypes: Sequence[Any]) -> ExpiryStore:
        return ListStore(dtypes)

    def answers(self, plan: Plan, width: int) -> AnswerStore:
        return AnswerList(width)
