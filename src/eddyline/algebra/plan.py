"""Logical plans: immutable, typed nodes that check themselves and know schema and update pattern.

An example, rows flowing upwards::

    Project  symbol, price, bid                     WK
      Join  t.symbol = q.symbol                     WK    keeps both inputs while they are alive
        Filter  (t.price > 10)                      WKS
          StreamScan  trades [RANGE 5 MINUTES]      WKS
        StreamScan  quotes [RANGE 30 SECONDS]       WKS

Nodes compare and hash by structure: equal sub-plans of two queries run once. Code that would be
wrong for a kind that it does not know matches :func:`sealed` and ends in ``assert_never``, so that
mypy names each such place; elsewhere the other kinds have a default.
"""

from __future__ import annotations

from typing import TypeAlias, cast

from eddyline.algebra.nodes.admitted import Admitted, Partners
from eddyline.algebra.nodes.asof import AsofJoin
from eddyline.algebra.nodes.base import Keys, Plan
from eddyline.algebra.nodes.joins import (
    AntiJoin,
    Join,
    Lookup,
    LookupAntiJoin,
    LookupJoin,
    LookupSemiJoin,
    Negation,
    Product,
    SemiJoin,
    anti_join,
    join,
    semi_join,
)
from eddyline.algebra.nodes.match_recognize import MatchRecognize
from eddyline.algebra.nodes.over import Over
from eddyline.algebra.nodes.rows import (
    Distinct,
    Filter,
    GroupBy,
    MergedGroupBy,
    PartialGroupBy,
    Project,
    Union,
    Unnest,
    below_projections,
    filtered,
)
from eddyline.algebra.nodes.running_over import RunningOver
from eddyline.algebra.nodes.scans import (
    OWN_ROW,
    MatchedRows,
    SharedRows,
    StreamScan,
    TableScan,
    Updates,
)
from eddyline.algebra.nodes.sessions import SessionGroups, SessionRows, Sessions
from eddyline.algebra.nodes.windowed import FinalRows, Windowed

#: Every kind of node.
AnyPlan: TypeAlias = (
    StreamScan
    | TableScan
    | SharedRows
    | Admitted
    | Filter
    | Project
    | Unnest
    | Windowed
    | FinalRows
    | Product
    | Join
    | Negation
    | SemiJoin
    | AntiJoin
    | AsofJoin
    | Lookup
    | Union
    | GroupBy
    | SessionGroups
    | SessionRows
    | MatchRecognize
    | Over
    | RunningOver
    | Distinct
)


def sealed(plan: Plan) -> AnyPlan:
    """The plan as the union of all kinds of nodes, to match exhaustively."""
    return cast(AnyPlan, plan)


__all__ = [
    "OWN_ROW",
    "Admitted",
    "AntiJoin",
    "AnyPlan",
    "AsofJoin",
    "Distinct",
    "Filter",
    "FinalRows",
    "GroupBy",
    "Join",
    "Keys",
    "Lookup",
    "LookupAntiJoin",
    "LookupJoin",
    "LookupSemiJoin",
    "MatchRecognize",
    "MatchedRows",
    "MergedGroupBy",
    "Negation",
    "Over",
    "PartialGroupBy",
    "Partners",
    "Plan",
    "Product",
    "Project",
    "RunningOver",
    "SemiJoin",
    "SessionGroups",
    "SessionRows",
    "Sessions",
    "SharedRows",
    "StreamScan",
    "TableScan",
    "Union",
    "Unnest",
    "Updates",
    "Windowed",
    "anti_join",
    "below_projections",
    "filtered",
    "join",
    "sealed",
    "semi_join",
]
