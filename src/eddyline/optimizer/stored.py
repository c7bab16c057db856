"""Which rows the SteMs keep for plans, and the expected size of their state.

A stream's rows are stored once for all queries, for the longest window. What operators keep besides
counts once for equal sub-plans, because these run once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    GroupBy,
    Join,
    Lookup,
    Negation,
    Plan,
    SemiJoin,
    StreamScan,
    TableScan,
)
from eddyline.algebra.windows import Unbounded
from eddyline.optimizer.estimates import Estimate, estimate_node
from eddyline.optimizer.memory import bytes_of, stored_row_bytes
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.traversal import OncePerNode


@dataclass(frozen=True)
class StoredRows:
    """The rows of a SteM.

    Attributes:
        rows: their number. row_bytes: of each.
    """

    rows: float = 0.0
    row_bytes: int = 0

    def with_(self, other: StoredRows) -> StoredRows:
        """Those of the longer window."""
        return StoredRows(max(self.rows, other.rows), max(self.row_bytes, other.row_bytes))


@dataclass(frozen=True)
class StateSize:
    """The expected state of what runs.

    Attributes:
        stems: the rows of streams and tables, by name. others: bytes of other state, by part.
    """

    stems: Mapping[str, StoredRows] = field(default_factory=dict)
    others: Mapping[Hashable, float] = field(default_factory=dict)

    @classmethod
    def of_all(cls, sizes: Iterable[StateSize]) -> StateSize:
        """The state of several; what they share counts once."""
        stems: dict[str, StoredRows] = {}
        others: dict[Hashable, float] = {}
        for size in sizes:
            for name, rows in size.stems.items():
                stems[name] = rows.with_(stems.get(name, StoredRows()))
            others |= size.others
        return cls(stems, others)

    def by_stem(self, measured: Mapping[str | None, float]) -> dict[str | None, float]:
        """Bytes by stream and table; None: of all else.

        Args:
            measured: by these names, the bytes as a multiple of the expected ones.
        """
        found: dict[str | None, float] = {
            name: stored.rows * stored.row_bytes * measured.get(name, 1.0)
            for name, stored in self.stems.items()
        }
        return found | {None: sum(self.others.values()) * measured.get(None, 1.0)}


def state_size(plan: Plan, statistics: Statistics, factor: float = 1.0) -> StateSize:
    """The expected state of a plan that runs as a tree of operators.

    Args:
        factor: of what is not in SteMs.
    """
    stored = stored_scans([plan])
    stems: dict[str, StoredRows] = {}
    others: dict[Hashable, float] = {}

    def visit(below: Callable[[Plan], Estimate], node: Plan) -> Estimate:
        inputs = [below(each) for each in node.inputs]
        found = estimate_node(node, inputs, statistics)
        if isinstance(node, (StreamScan, TableScan)):
            if isinstance(node, TableScan) or node in stored:
                rows = StoredRows(found.rows, stored_row_bytes(node))
                stems[source_of(node)] = rows.with_(stems.get(source_of(node), StoredRows()))
        else:
            others[node] = factor * bytes_of(node, found, inputs)
        return found

    OncePerNode(visit)(plan)
    return StateSize(stems, others)


def source_of(scan: StreamScan | TableScan) -> str:
    """The name of the scanned stream or table."""
    return scan.stream if isinstance(scan, StreamScan) else scan.table


def stored_scans(plans: Iterable[Plan]) -> set[StreamScan]:
    """The scans whose rows are stored; not those of unbounded streams whose rows only pass."""
    found: set[StreamScan] = set()

    def visit(below: Callable[[Plan, bool], None], plan: Plan, looked_up: bool) -> None:
        if isinstance(plan, StreamScan) and (looked_up or not isinstance(plan.window, Unbounded)):
            found.add(plan)
        if isinstance(plan, (GroupBy, Distinct)):
            looked_up = False
        elif isinstance(plan, (Join, Negation, SemiJoin, AntiJoin)):
            looked_up |= not isinstance(plan, Lookup)
        for each in plan.inputs:
            below(each, looked_up)

    walk = OncePerNode(visit)
    for plan in plans:
        walk(plan, False)
    return found
