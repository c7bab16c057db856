"""The planner of each state strategy, by its name: the one place that lists them."""

from __future__ import annotations

from typing import Final

from eddyline.physical.direct import DirectPlanner
from eddyline.physical.negative_tuples import MixedPlanner, NegativeTuplePlanner
from eddyline.physical.node_planner import StemOf
from eddyline.physical.planner import Planner
from eddyline.physical.strategy import Strategy
from eddyline.runtime.graph import Graph

#: A planner overrides what its strategy does in another way than UPA.
PLANNERS: Final[dict[str, type[Planner]]] = {
    "upa": Planner,
    "direct": DirectPlanner,
    "negative-tuple": NegativeTuplePlanner,
}


def planner(graph: Graph, stem_of: StemOf, strategy: Strategy) -> Planner:
    """A planner that builds into a graph by a strategy."""
    form = PLANNERS[strategy.state]
    if form is Planner and strategy.negative_tuples_from is not None:
        form = MixedPlanner
    return form(graph, stem_of, strategy)
