"""Ways in which a query can run, as a saved engine remembers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eddyline.optimizer.joins.trees import Tree
from eddyline.session.groupings import GroupedSeat
from eddyline.session.query import Query


@dataclass(frozen=True)
class InOrder:
    """A query runs as a tree that joins its streams in an order of the engine's own choice."""

    tree: Tree


#: How a query runs: as a tree, in a flow, with this number above a flow, or as a tree of joins in
#: this order: one that the flow has learnt, or one by what was measured.
Way = str | int | tuple[int, ...] | InOrder


def way_of(query: Query) -> Way:
    """How a query runs, if its order of joins does not matter."""
    if isinstance(query.seat, GroupedSeat):
        return query.seat.number
    return "tree" if query.seat is None else "eddy"


def to_save(way: Way) -> Any:
    """A way for JSON."""
    return {"tree": way.tree} if isinstance(way, InOrder) else way


def saved_way(saved: Any) -> Way:
    """What was given to ``to_save``."""
    if isinstance(saved, dict):
        return InOrder(_tree(saved["tree"]))
    return tuple(saved) if isinstance(saved, list) else saved


def _tree(saved: Any) -> Tree:
    return saved if isinstance(saved, int) else (_tree(saved[0]), _tree(saved[1]))
