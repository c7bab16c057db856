"""Ways in which a query can run, as a saved engine remembers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eddyline.engine.execution.subscriptions import GroupedSubscription
from eddyline.engine.query import Query
from eddyline.optimizer.joins.trees import Tree


@dataclass(frozen=True)
class InOrder:
    """A query runs as a tree that joins its streams in an order of the engine's own choice.

    Attributes:
        fan_outs: results per row of the joins that have run, by part of the tree.
        since: of those that run, rows joined and results since these were counted last.
    """

    tree: Tree
    fan_outs: Mapping[Tree, float] = field(default_factory=dict)
    since: Mapping[Tree, tuple[int, int]] = field(default_factory=dict)


#: How a query runs: as a tree, in a flow, with this number above a flow, or as a tree of joins in
#: this order: one that the flow has learnt, or one by what was measured.
Way = str | int | tuple[int, ...] | InOrder


def way_of(query: Query) -> Way:
    """How a query runs, if its order of joins does not matter."""
    if isinstance(query.subscription, GroupedSubscription):
        return query.subscription.number
    return "tree" if query.flow is None else "eddy"


def to_save(way: Way) -> Any:
    """A way for JSON."""
    if not isinstance(way, InOrder):
        return way
    return {
        "tree": way.tree,
        "fan_outs": list(way.fan_outs.items()),
        "since": list(way.since.items()),
    }


def saved_way(saved: Any) -> Way:
    """What was given to ``to_save``."""
    if isinstance(saved, dict):
        return InOrder(
            _tree(saved["tree"]),
            {_tree(tree): fan_out for tree, fan_out in saved["fan_outs"]},
            {_tree(tree): (came, went) for tree, (came, went) in saved["since"]},
        )
    return tuple(saved) if isinstance(saved, list) else saved


def _tree(saved: Any) -> Tree:
    return saved if isinstance(saved, int) else (_tree(saved[0]), _tree(saved[1]))
