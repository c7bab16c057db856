"""Candidates for the axes of a query's layout, found from its plan.

A candidate says for each input how its rows get their coordinate: by a key, by their position, or
copied to all. Candidates are guesses; those that :mod:`~eddyline.spark.partitioning.locality` shows
to be right are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from eddyline.algebra.expressions import (
    Call,
    ColumnRef,
    Expr,
    columns_of,
    rewrite,
    shift_columns,
    walk,
)
from eddyline.algebra.plan import (
    AntiJoin,
    AsofJoin,
    Distinct,
    Filter,
    FinalRows,
    GroupBy,
    Join,
    MatchRecognize,
    Negation,
    Over,
    PartialGroupBy,
    Plan,
    Product,
    Project,
    RunningOver,
    SemiJoin,
    SessionGroups,
    SessionRows,
    StreamScan,
    TableScan,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.windows import PartitionRows
from eddyline.optimizer.selectivity import values_of
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.traversal import substituted
from eddyline.spark.partitioning.equalities import Equalities, can_be_key, is_exact
from eddyline.spark.partitioning.join_regions import equal_pairs, region
from eddyline.spark.partitioning.layouts import COPIED, SPREAD, ByKey, Coordinate
from eddyline.types import Field

#: By input of a layout, the coordinate of its rows along one axis.
Coordinates: TypeAlias = Mapping[str, Coordinate]


@dataclass(frozen=True)
class Candidate:
    """An axis that a query might have.

    Attributes:
        values: expected number of different keys; infinite without a key.
    """

    coordinates: Coordinates
    values: float

    @property
    def copied(self) -> frozenset[str]:
        """The inputs of which each coordinate has all rows."""
        return frozenset(n for n, c in self.coordinates.items() if c == COPIED)

    @property
    def has_key(self) -> bool:
        """Whether rows get their coordinate by a key."""
        return any(isinstance(c, ByKey) for c in self.coordinates.values())


def candidates(
    plan: Plan, inputs: Iterable[str], statistics: Statistics, large: Set[str] = frozenset()
) -> tuple[Candidate, ...]:
    """The candidates for a query: those without a key, then those by key in the order of its plan.

    Args:
        inputs: the streams and tables that it reads, other than small static tables.
        large: those of the tables that are worth dealing by key.
    """
    names = tuple(inputs)
    found: dict[tuple[tuple[str, Coordinate], ...], Candidate] = {}
    origins = _Origins(plan, large)
    streams = tuple(dict.fromkeys(s.stream for s, _ in origins.scans))
    options = [
        Candidate({n: SPREAD if n in spread else COPIED for n in names}, math.inf)
        for spread in (*((s,) for s in streams), streams)
    ]
    alone = (frozenset([table]) for table in sorted(large))
    for divided in dict.fromkeys((frozenset[str](), frozenset(large), *alone)):
        dealt = {*streams, *divided}
        by_key = (_by_key(key, origins, names, dealt, statistics) for key in origins.wanted)
        options += filter(None, by_key)
    for option in options:
        found.setdefault(tuple(sorted(option.coordinates.items(), key=lambda i: i[0])), option)
    return tuple(found.values())


def _by_key(
    key: tuple[Expr, ...],
    origins: _Origins,
    names: Sequence[str],
    dealt: Set[str],
    statistics: Statistics,
) -> Candidate | None:
    """The candidate in which those of the ``dealt`` inputs that have all parts of a key are dealt
    by it.
    """
    parts = [origins.own_keys(part) for part in key]
    coordinates: dict[str, Coordinate] = {}
    values = math.inf
    for name in names:
        if name in dealt and all(name in part for part in parts):
            own = tuple(part[name] for part in parts)
            coordinates[name] = ByKey(own)
            schema = origins.schemas[name]
            known = [origins.values(name, f, statistics) for f in schema]
            values = min(values, math.prod(values_of(e, known) for e in own))
        else:
            coordinates[name] = COPIED
    candidate = Candidate(coordinates, max(1.0, values))
    return candidate if candidate.has_key else None


class _Origins:
    """Where the columns of a plan come from: expressions over the columns of all scans.

    Args:
        large: tables that may be dealt by key.

    Attributes:
        scans, tables: the scans of streams, and of these tables, each with its first column.
        schemas: by stream and table.
        wanted: the keys by which nodes need their rows together, in order.
        equal: what the plan says is equal, somewhere.
    """

    def __init__(self, plan: Plan, large: Set[str]) -> None:
        self.scans: list[tuple[StreamScan, int]] = []
        self.tables: list[tuple[TableScan, int]] = []
        self.schemas: dict[str, Any] = {}
        self._large = large
        self._keys: dict[tuple[Expr, ...], None] = {}
        self._pairs: list[tuple[Expr, Expr]] = []
        self._width = 0
        self._outputs(plan)
        self.wanted = tuple(self._keys)
        self.equal = Equalities(self._pairs)

    def own_keys(self, expr: Expr) -> dict[str, Expr]:
        """By stream and table, what equals an expression and can be computed from each of its rows.

        Of a table, rows that are equal have equal keys, so that a deletion finds its row.
        """
        found: dict[str, list[list[Expr]]] = {}
        same = self.equal.equal_to(expr)
        scans = [(s.stream, s.schema, start) for s, start in self.scans]
        scans += [(t.table, t.schema, start) for t, start in self.tables]
        for name, schema, start in scans:
            columns = range(start, start + len(schema))
            own = [e for e in same if (r := columns_of(e)) and r <= set(columns) and can_be_key(e)]
            if name not in self._streams:
                own = [e for e in own if all(is_exact(c) for c in walk(e) if isinstance(c, Call))]
            names = [f"{name}.{f.name}" for f in schema]
            found.setdefault(name, []).append(
                [_named(shift_columns(e, -start), names) for e in own]
            )
        return {name: key for name, own in found.items() if (key := _common(own)) is not None}

    def values(self, name: str, field: Field, statistics: Statistics) -> float:
        """Number of distinct values of a column of a stream or table."""
        of = statistics.stream_values if name in self._streams else statistics.table_values
        return of(name, field.name, field.type)

    @property
    def _streams(self) -> set[str]:
        return {scan.stream for scan, _ in self.scans}

    def _want(self, key: Sequence[Expr | None]) -> None:
        """A node needs rows with equal values of ``key`` together: by all parts, or by one."""
        known = [e for e in key if e is not None and columns_of(e)]
        usable = tuple(dict.fromkeys(e for e in known if can_be_key(e)))
        if usable:
            self._keys.setdefault(usable)
        for part in known:
            self._keys.setdefault((part,))

    def _outputs(self, node: Plan) -> list[Expr | None]:
        """The columns of a node over those of the scans; None: computed of several rows."""
        match node:
            case StreamScan():
                return self._scan(node)
            case TableScan():
                return self._table(node)
            case Filter() | Project() | Join() | Product():
                return self._region(node)
            case Negation() | SemiJoin() | AntiJoin():
                return self._matching(node)
            case AsofJoin():
                left, right = self._outputs(node.left), self._outputs(node.right)
                for a, b in node.keys:
                    self._equal(_over(a, left), _over(b, right))
                return [*left, *right]
            case Unnest():
                return [*self._outputs(node.input), *(None for _ in node.names)]
            case Windowed():
                return [*self._outputs(node.input), None, None]
            case FinalRows():
                return self._outputs(node.input)
            case Union():
                return self._union(node)
            case GroupBy() if not isinstance(node, PartialGroupBy):
                below = self._outputs(node.input)
                keys = [_over(k, below) for k in node.keys]
                self._want(keys)
                return [*keys, *(None for _ in node.aggregates)]
            case SessionGroups():
                below = self._outputs(node.input)
                keys = [_over(k, below) for k in node.by]
                self._want(keys[: len(node.partition)])
                return [*keys, None, None, *(None for _ in node.aggregates)]
            case MatchRecognize():
                below = self._outputs(node.input)
                keys = [_over(c, below) for c in node.partition]
                self._want(keys)
                return [*(below if node.all_rows else keys), *(None for _ in node.values)]
            case Over() | RunningOver() | SessionRows():
                below = self._outputs(node.input)
                self._want([_over(k, below) for k in node.partition])
                return [*below, *(None for _ in node.schema[len(below) :])]
            case Distinct():
                below = self._outputs(node.input)
                self._want(below)
                return below
        for source in node.inputs:  # it needs no rows together
            self._outputs(source)
        return [None for _ in node.schema]

    def _union(self, node: Union) -> list[Expr | None]:
        columns = list(zip(*(self._outputs(part) for part in node.parts), strict=True))
        for first, *others in columns:
            self._pairs += [(first, e) for e in others if first and e and columns_of(e)]
        return [next((e for e in column if e and columns_of(e)), None) for column in columns]

    def _scan(self, scan: StreamScan) -> list[Expr | None]:
        start = self._width
        self.scans.append((scan, start))
        self.schemas[scan.stream] = scan.schema
        columns = self._columns(scan)
        if isinstance(scan.window, PartitionRows):
            self._want([columns[c] for c in scan.window.columns])
        assert self._width == start + len(scan.schema)
        return columns

    def _table(self, scan: TableScan) -> list[Expr | None]:
        if scan.table in self._large:
            self.tables.append((scan, self._width))
            self.schemas[scan.table] = scan.schema
        return self._columns(scan)

    def _columns(self, scan: Plan) -> list[Expr | None]:
        start = self._width
        self._width += len(scan.schema)
        return [ColumnRef(f.type, start + i, f.name) for i, f in enumerate(scan.schema)]

    def _region(self, plan: Plan) -> list[Expr | None]:
        found = region(plan)
        columns = [e for part in found.inputs for e in self._outputs(part)]
        for pair in found.equalities:
            self._equal(*(_over(side, columns) for side in pair))
        return [_over(e, columns) for e in found.outputs]

    def _matching(self, node: Negation | SemiJoin | AntiJoin) -> list[Expr | None]:
        left, right = self._outputs(node.left), self._outputs(node.right)
        for a, b in node.keys:
            self._equal(_over(a, left), _over(b, right))
        if not isinstance(node, Negation) and node.residual is not None:
            for pair in equal_pairs([node.residual]):
                self._equal(*(_over(side, [*left, *right]) for side in pair))
        return left

    def _equal(self, a: Expr | None, b: Expr | None) -> None:
        if a is not None and b is not None:
            self._pairs.append((a, b))
            self._keys.setdefault((a,))


def _over(expr: Expr, columns: Sequence[Expr | None]) -> Expr | None:
    """The expression with its columns replaced; None if one of them is unknown."""
    known = {c: e for c in columns_of(expr) if (e := columns[c]) is not None}
    return substituted(expr, known) if len(known) == len(columns_of(expr)) else None


def _common(own: list[list[Expr]]) -> Expr | None:
    """A key that all scans of a stream have; else one that some have."""
    everywhere = [e for e in own[0] if all(e in other for other in own)]
    some = everywhere or [e for keys in own for e in keys]
    return min(some, key=lambda e: (len(str(e)), str(e)), default=None)


def _named(expr: Expr, names: Sequence[str]) -> Expr:
    """The expression with columns named as the stream's."""

    def change(e: Expr) -> Expr | None:
        return replace(e, name=names[e.index]) if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)
