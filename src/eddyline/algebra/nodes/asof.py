"""ASOF joins: each row with the latest row of another input up to its time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from eddyline.algebra.nodes.base import Keyed, Plan
from eddyline.algebra.nodes.rows import Filter, Project, Unnest
from eddyline.algebra.nodes.running_over import RunningOver
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.per_node import per_node
from eddyline.types import Schema


@dataclass(frozen=True)
class AsofJoin(Keyed):
    """Emits each left row with the latest right row that agrees on the keys and came before it, if
    that one is still in its window then. Keeps the latest right row of each key.

    It is known at once which row that is, if it is earlier; if it may have the same time, when time
    has passed: then all is a microsecond later.

    Attributes:
        inclusive: whether a right row of the same time counts.
        outer: whether a left row without a right one is emitted with NULLs.
    """

    inclusive: bool
    outer: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        assert not any(p.takes_back for p in self.inputs), "rows that stay as they are"

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema

    @cached_property
    def pattern(self) -> Pattern:
        return self.left.pattern

    @cached_property
    def takes_back(self) -> bool:
        return False

    @cached_property
    def lifespan_us(self) -> int | None:
        return self.left.lifespan_us

    @property
    def offset_us(self) -> int:
        """Right rows count whose time is before the instant of the left one plus this."""
        return int(self.inclusive) - lag_us(self.left)

    @property
    def lag_us(self) -> int:
        """How much later than the event time of the left row its result is."""
        return lag_us(self.left) + max(self.offset_us, 0)

    @property
    def label(self) -> str:
        keys = [f"{a} = {b}" for a, b in self.keys]
        time = "up to the same time" if self.inclusive else "before"
        return ", ".join([" AND ".join(keys) or "(any row)", time, *["outer"] * self.outer])


@per_node
def lag_us(plan: Plan) -> int:
    """How much later than its event time a row of a plan comes."""
    while isinstance(plan, (Filter, Project, Unnest)):
        plan = plan.input
    if isinstance(plan, AsofJoin):
        return plan.lag_us
    if isinstance(plan, RunningOver):
        return lag_us(plan.input) + plan.waits_us
    return max(map(lag_us, plan.inputs), default=0)
