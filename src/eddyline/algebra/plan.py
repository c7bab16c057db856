"""Logical plans: immutable, typed nodes that check themselves and know schema and update pattern.

An example, rows flowing upwards::

    Project  symbol, price, bid                     WK
      Join  t.symbol = q.symbol                     WK    keeps both inputs while they are alive
        Filter  (t.price > 10)                      WKS
          StreamScan  trades [RANGE 5 MINUTES]      WKS
        StreamScan  quotes [RANGE 30 SECONDS]       WKS

Nodes compare and hash by structure: equal sub-plans of two queries run once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal

import pyarrow as pa

from eddyline.algebra.expressions import Aggregate, ColumnRef, Expr, columns_of
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.windows import PartitionRows, Range, Rows, Unbounded, Window
from eddyline.types import Field, Schema

#: What a change of a table means for the rows that came before it.
Updates = Literal["static", "non-retroactive", "retroactive"]


@dataclass(frozen=True)
class Plan:
    """A node of a logical plan.

    What is computed of a node is kept with it: equal parts of large plans are often the same nodes.
    """

    def __init_subclass__(cls) -> None:
        cls.__hash__ = Plan._hash_once  # type: ignore[assignment]  # dataclasses leave it so

    def _hash_once(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((type(self), *(getattr(self, f.name) for f in fields(self) if f.compare)))

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: hashes differ from process to process."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return ()

    @cached_property
    def schema(self) -> Schema:
        raise TypeError(f"{type(self).__name__} has no schema")

    @cached_property
    def pattern(self) -> Pattern:
        """The update pattern of the node's output edge."""
        raise TypeError(f"{type(self).__name__} has no update pattern")

    @property
    def label(self) -> str:
        """What EXPLAIN prints behind the node's name."""
        return ""


@dataclass(frozen=True)
class StreamScan(Plan):
    """Emits each row of a stream as it arrives; keeps nothing itself (the SteM does)."""

    stream: str
    window: Window
    fields: Schema

    @cached_property
    def schema(self) -> Schema:
        return self.fields

    @cached_property
    def pattern(self) -> Pattern:
        if isinstance(self.window, Unbounded):
            return Pattern.MONOTONIC
        return Pattern.WKS if isinstance(self.window, Range) else Pattern.STR

    @property
    def label(self) -> str:
        return f"{self.stream} {self.window}"


@dataclass(frozen=True)
class TableScan(Plan):
    """The rows of a table. Those of a static one are there before the first stream row, for ever.

    Changes of a retroactive table count for rows that came before them, those of a non-retroactive
    one (NRR) only for rows that come later (Golab and Ozsu 2005, section 4.1).
    """

    table: str
    fields: Schema
    updates: Updates = "static"

    @cached_property
    def schema(self) -> Schema:
        return self.fields

    @cached_property
    def pattern(self) -> Pattern:
        return Pattern.STR if self.updates == "retroactive" else Pattern.MONOTONIC

    @property
    def label(self) -> str:
        return self.table if self.updates == "static" else f"{self.table} ({self.updates})"


@dataclass(frozen=True)
class SharedRows(Plan):
    """The results of a flow, once per query that gets them; the first column is its number.

    Attributes:
        sources: of the flow, as far as queries have them in common.
        lifespan_us: about how long a row lives; None if that has no bound.
    """

    fields: Schema
    sources: tuple[Plan, ...]
    lifespan_us: int | None = field(compare=False)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return self.sources

    @cached_property
    def schema(self) -> Schema:
        return self.fields

    @cached_property
    def pattern(self) -> Pattern:  # windows differ from query to query
        return max(Pattern.WK, *(s.pattern for s in self.sources))


@dataclass(frozen=True)
class Filter(Plan):
    """Emits the rows for which the predicate is true (not false, not null); keeps nothing."""

    input: Plan
    predicate: Expr

    def __post_init__(self) -> None:
        assert pa.types.is_boolean(self.predicate.type), f"not a predicate: {self.predicate}"
        _check_columns(self.predicate, self.input.schema)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.input,)

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    @cached_property
    def pattern(self) -> Pattern:
        return self.input.pattern

    @property
    def label(self) -> str:
        return str(self.predicate)


@dataclass(frozen=True)
class Project(Plan):
    """Emits one computed row per row; keeps nothing."""

    input: Plan
    exprs: tuple[Expr, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert len(self.exprs) == len(self.names), "one name per expression"
        for expr in self.exprs:
            _check_columns(expr, self.input.schema)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.input,)

    @cached_property
    def schema(self) -> Schema:
        return tuple(Field(n, e.type) for n, e in zip(self.names, self.exprs, strict=True))

    @cached_property
    def pattern(self) -> Pattern:
        return self.input.pattern

    @property
    def label(self) -> str:
        shown = (
            str(e) if isinstance(e, ColumnRef) and e.name.split(".")[-1] == n else f"{e} AS {n}"
            for n, e in zip(self.names, self.exprs, strict=True)
        )
        return ", ".join(shown)


@dataclass(frozen=True)
class Product(Plan):
    """All combinations of rows alive together. The binder makes it; rules turn it into Joins."""

    parts: tuple[Plan, ...]

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return self.parts

    @cached_property
    def schema(self) -> Schema:
        return tuple(f for p in self.parts for f in p.schema)

    @cached_property
    def pattern(self) -> Pattern:
        return _joined(self.parts)


@dataclass(frozen=True)
class Join(Plan):
    """Emits a row for each pair that agrees on the keys and meets the residual predicate.

    Keeps both inputs while they are alive. ``keys`` are pairs of expressions, the first over the
    left schema, the second over the right one, of equal types; none means a nested-loop join.
    ``residual`` is over left schema + right schema.
    """

    left: Plan
    right: Plan
    keys: tuple[tuple[Expr, Expr], ...]
    residual: Expr | None = None

    def __post_init__(self) -> None:
        for left, right in self.keys:
            assert left.type == right.type, f"join key types differ: {left.type}, {right.type}"
            _check_columns(left, self.left.schema)
            _check_columns(right, self.right.schema)
        if self.residual is not None:
            _check_columns(self.residual, self.schema)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.left, self.right)

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema

    @cached_property
    def pattern(self) -> Pattern:  # rule 1 for the join with an NRR
        return self.left.pattern if looks_up(self) else _joined((self.left, self.right))

    @property
    def label(self) -> str:
        parts = [f"{a} = {b}" for a, b in self.keys]
        if self.residual is not None:
            parts.append(str(self.residual))
        return " AND ".join(parts) or "(every pair)"


@dataclass(frozen=True)
class _Matching(Plan):
    """Rows of the left input, chosen by what the right one holds; the schema is the left one's."""

    left: Plan
    right: Plan
    keys: tuple[tuple[Expr, Expr], ...]

    def __post_init__(self) -> None:
        for left, right in self.keys:
            assert left.type == right.type, f"key types differ: {left.type}, {right.type}"
            _check_columns(left, self.left.schema)
            _check_columns(right, self.right.schema)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.left, self.right)

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema

    @cached_property
    def pattern(self) -> Pattern:  # rule 5
        return Pattern.STR


@dataclass(frozen=True)
class Negation(_Matching):
    """EXCEPT ALL ON: of the v1 rows on the left with a key the youngest max(v1 - v2, 0), where the
    right input has v2 rows with that key. NULL equals NULL. Keeps the left rows and the counts.

    Source: Golab and Ozsu 2005, section 2.1, Equation 1.
    """

    @property
    def label(self) -> str:
        return ", ".join(f"{a} = {b}" for a, b in self.keys)


@dataclass(frozen=True)
class _Existence(_Matching):
    """A row matches if it agrees on the keys and meets the residual, over left + right columns.

    ``nulls_match``: whether NULL equals NULL in the keys. Without keys every right row agrees.
    """

    residual: Expr | None = None
    nulls_match: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.residual is not None:
            _check_columns(self.residual, self.left.schema + self.right.schema)

    @cached_property
    def pattern(self) -> Pattern:  # rule 5, but changes of an NRR take nothing back
        return self.left.pattern if looks_up(self) else super().pattern

    @property
    def label(self) -> str:
        equals = "IS NOT DISTINCT FROM" if self.nulls_match else "="
        parts = [f"{a} {equals} {b}" for a, b in self.keys]
        if self.residual is not None:
            parts.append(str(self.residual))
        return " AND ".join(parts) or "(any row)"


@dataclass(frozen=True)
class SemiJoin(_Existence):
    """EXISTS: the rows of the left input while the right one holds a match. Keeps the left rows,
    and how many matches there are.
    """


@dataclass(frozen=True)
class AntiJoin(_Existence):
    """NOT EXISTS: the rows of the left input while the right one holds no match. Keeps the left
    rows, and how many matches there are.
    """


@dataclass(frozen=True)
class Union(Plan):
    """UNION ALL: emits the rows of all inputs merged by time; keeps nothing."""

    parts: tuple[Plan, ...]

    def __post_init__(self) -> None:
        first = [f.type for f in self.parts[0].schema]
        for part in self.parts[1:]:
            assert [f.type for f in part.schema] == first, "UNION ALL inputs differ in types"

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return self.parts

    @cached_property
    def schema(self) -> Schema:
        return self.parts[0].schema

    @cached_property
    def pattern(self) -> Pattern:  # rule 2; windows of different length do not expire in FIFO order
        worst = max(p.pattern for p in self.parts)
        spans = {lifespan_us(p) for p in self.parts}
        return Pattern.WK if worst == Pattern.WKS and len(spans) > 1 else worst


@dataclass(frozen=True)
class GroupBy(Plan):
    """Emits a group's new row whenever it changes, by arrival or expiry; keeps an array by group.

    The schema is the keys followed by the aggregates. With no keys there is one group, which
    exists even while the input is empty (SQL: COUNT(*) is then 0).
    """

    input: Plan
    keys: tuple[Expr, ...]
    aggregates: tuple[Aggregate, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert len(self.names) == len(self.keys) + len(self.aggregates), "one name per column"

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.input,)

    @cached_property
    def schema(self) -> Schema:
        types = [k.type for k in self.keys] + [a.type for a in self.aggregates]
        return tuple(Field(n, t) for n, t in zip(self.names, types, strict=True))

    @cached_property
    def pattern(self) -> Pattern:  # rule 4: new aggregate values replace old ones
        return Pattern.WK

    @property
    def label(self) -> str:
        keys = ", ".join(map(str, self.keys)) or "()"
        return f"{keys}: {', '.join(map(str, self.aggregates))}" if self.aggregates else keys


@dataclass(frozen=True)
class Distinct(Plan):
    """Emits one row per distinct value of the input; keeps the output and its successors."""

    input: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.input,)

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    @cached_property
    def pattern(self) -> Pattern:  # rule 3
        if self.input.pattern == Pattern.MONOTONIC:
            return Pattern.MONOTONIC
        return max(self.input.pattern, Pattern.WK)


def looks_up(plan: Plan) -> bool:
    """Whether the plan is a join with, or EXISTS or NOT EXISTS on, a table whose changes do not
    concern it: a non-retroactive (NRR) or a static one, read as it is.

    Then only rows of the left input have effects: each sees the table as it was when it came.
    """
    if not isinstance(plan, (Join, _Existence)):
        return False
    right, plain = plan.right, True
    while isinstance(right, (Filter, Project)):
        plain = plain and (isinstance(right, Filter) or _only_columns(right))
        right = right.input
    if not isinstance(right, TableScan) or right.updates == "retroactive":
        return False
    set_operation = isinstance(plan, _Existence) and plan.nulls_match
    return right.updates == "non-retroactive" or (plain and not set_operation)


def _only_columns(plan: Project) -> bool:
    return all(isinstance(e, ColumnRef) for e in plan.exprs)


def _joined(parts: tuple[Plan, ...]) -> Pattern:
    """Rule 3 (join); a single window joined with static tables keeps its own pattern (rule 1)."""
    moving = [p.pattern for p in parts if p.pattern != Pattern.MONOTONIC]
    if not moving:
        return Pattern.MONOTONIC
    return (
        moving[0]
        if len(parts) - len(moving) == len(parts) - 1
        and all(isinstance(p, TableScan) for p in parts if p.pattern == Pattern.MONOTONIC)
        else max(*moving, Pattern.WK)
    )


def takes_back(plan: Plan) -> bool:
    """Whether the operator of this plan emits '-' rows (a grouped row takes back the older one)."""
    if isinstance(plan, StreamScan):
        return isinstance(plan.window, (Rows, PartitionRows))
    if isinstance(plan, TableScan):
        return plan.updates == "retroactive"
    if looks_up(plan):
        return takes_back(plan.inputs[0])
    if isinstance(plan, (GroupBy, _Matching)):
        return True
    return any(takes_back(p) for p in plan.inputs)


def lifespan_us(plan: Plan) -> int | None:
    """The longest that a row of this plan's output can live; None if that has no bound.

    Where rows are taken back, DISTINCT counts: the row of a value stays until the last one goes.
    """
    if isinstance(plan, StreamScan):
        return plan.window.us if isinstance(plan.window, Range) else None
    if isinstance(plan, (TableScan, GroupBy)):
        return None
    if isinstance(plan, Distinct) and takes_back(plan.input):
        return None
    if isinstance(plan, SharedRows):
        return plan.lifespan_us
    if isinstance(plan, _Matching):
        return lifespan_us(plan.left)
    spans = [lifespan_us(p) for p in plan.inputs]
    if isinstance(plan, (Join, Product)):
        known = [s for s in spans if s is not None]
        return min(known) if known else None
    return None if None in spans else max(s for s in spans if s is not None)


def _check_columns(expr: Expr, schema: Schema) -> None:
    width = len(schema)
    bad = [i for i in columns_of(expr) if not 0 <= i < width]
    assert not bad, f"{expr}: no column {bad} in a schema of {width} columns"
