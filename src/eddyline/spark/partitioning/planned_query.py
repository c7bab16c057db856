"""What the partitioning of a query depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eddyline.algebra.parts import NotDivisible, in_parts
from eddyline.algebra.plan import Plan, TableScan
from eddyline.algebra.reads import nodes, stream_scans, streams_read
from eddyline.algebra.windows import Rows

#: A table that is known to have at least this number of rows is divided where that is possible:
#: memory for its copies matters more than that frequent keys of the streams cannot be split. An
#: estimate.
LARGE_TABLE: Final = 100_000


@dataclass(frozen=True)
class PlannedQuery:
    """What the partitioning of a query depends on.

    Attributes:
        plan: its logical plan, optimized.
        rules: the table of FOR EACH ROW OF, if it changes or is large.
        by_row: streams of which lateness is judged row by row.
        large: the tables of the plan that have at least LARGE_TABLE rows.
        parts: the plan of its partial groups; None: it has none.
    """

    plan: Plan
    rules: str | None = None
    by_row: frozenset[str] = frozenset()
    large: frozenset[str] = frozenset()
    parts: Plan | None = None

    @classmethod
    def of(
        cls, plan: Plan, bound: Plan, by_row: frozenset[str], large: frozenset[str]
    ) -> PlannedQuery:
        """A query without parameters. ``bound``: its plan before it was optimized."""
        try:
            return cls(plan, None, by_row, large, in_parts(bound).partial)
        except NotDivisible:
            return cls(plan, None, by_row, large)

    @property
    def in_parts(self) -> PlannedQuery | None:
        """The query that makes its partial groups; None: it has none."""
        if self.parts is None:
            return None
        return PlannedQuery(self.parts, self.rules, self.by_row, self.large)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The streams, and the changing and large tables, that it reads, sorted."""
        changing = {
            node.table
            for node in nodes(self.plan)
            if isinstance(node, TableScan) and node.updates != "static"
        }
        rules = () if self.rules is None else (self.rules,)
        return tuple(sorted(streams_read(self.plan).union(changing, self.large, rules)))

    @property
    def counted(self) -> frozenset[str]:
        """The streams that have a window of rows in its plan."""
        return frozenset(s.stream for s in stream_scans(self.plan) if isinstance(s.window, Rows))
