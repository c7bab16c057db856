"""How messages about layouts name the inputs of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eddyline.algebra.plan import Filter, Plan, Project, StreamScan, TableScan
from eddyline.spark.partitioning.join_regions import Region


def why_apart(found: Region, first: int, second: int, key: str, other: str) -> str:
    """Why two inputs of a join are not dealt alike; the texts of their keys."""
    names = name_of(found.inputs[first]), name_of(found.inputs[second])
    if names[0] == names[1]:
        return (
            f"{names[0]} is joined with itself on different columns: each of its rows would have "
            "to be dealt in two ways"
        )
    return f"{names[0]} and {names[1]} are joined, but {key} = {other} does not follow"


def names_of(plans: Sequence[Plan], places: Iterable[int]) -> str:
    """Several inputs of a join, by number."""
    names = [name_of(plans[i]) for i in places]
    return f"{names[0]} with itself" if len(set(names)) == 1 else " and ".join(names)


def name_of(plan: Plan) -> str:
    """The stream or table whose rows these are."""
    while isinstance(plan, (Filter, Project)):
        plan = plan.input
    if isinstance(plan, StreamScan):
        return plan.stream
    return plan.table if isinstance(plan, TableScan) else "a sub-query"
