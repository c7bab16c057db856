"""Placements as a checkpoint records them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eddyline.engine.placement.candidates import Candidates
from eddyline.engine.placement.placement import Placement, TreePlacement
from eddyline.optimizer.joins.trees import Tree
from eddyline.physical.flows import EddyNumber


def record(placement: Placement) -> dict[str, Any]:
    """A placement for JSON."""
    if isinstance(placement, TreePlacement):
        return {
            "orders": placement.orders,
            "all_changes": placement.all_changes,
            "feedback": placement.feedback,
            "relays": placement.relays,
            "why": placement.why,
        }
    eddy = None if placement.eddy is None else placement.eddy.number
    return {
        "form": placement.form,
        "number": placement.number,
        "eddy": eddy,
        "why": placement.why,
    }


def recorded(found: Candidates, saved: Mapping[str, Any]) -> Placement:
    """The placement that ``record`` was called with, of a query with these candidates."""
    why = saved["why"]
    if "number" in saved:
        flow = next(p for p in found.shared if p.form == saved["form"])
        if saved.get("eddy") is not None:
            flow = flow.in_eddy(EddyNumber(saved["eddy"]), why)
        return replace(flow, number=saved["number"], why=why)
    orders = tuple(map(tree_from, saved["orders"]))
    changes, feedback = saved["all_changes"], saved["feedback"]
    tree = replace(found.tree, all_changes=changes, feedback=feedback)
    tree = tree if saved["relays"] else tree.unrelayed()
    return tree.reordered(orders, why) if orders else replace(tree, why=why)


def tree_from(saved: Any) -> Tree:
    """A tree of joins that JSON has made lists of."""
    return saved if isinstance(saved, int) else (tree_from(saved[0]), tree_from(saved[1]))
