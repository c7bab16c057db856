"""Joins, and nodes that choose rows of one input by the rows of another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.nodes.base import Keyed, Keys, Nary, Plan, check_columns
from eddyline.algebra.nodes.rows import Filter, Project
from eddyline.algebra.nodes.scans import TableScan
from eddyline.algebra.patterns import Pattern
from eddyline.types import Schema


@dataclass(frozen=True)
class Product(Nary):
    """All combinations of rows alive together. The binder makes it; rules turn it into Joins."""

    @cached_property
    def schema(self) -> Schema:
        return tuple(f for p in self.parts for f in p.schema)

    @cached_property
    def pattern(self) -> Pattern:
        return _joined_pattern(self.parts)

    @cached_property
    def lifespan_us(self) -> int | None:
        return _shortest_us(self.parts)


@dataclass(frozen=True)
class Join(Keyed):
    """Emits a row for each pair that agrees on the keys and meets the residual predicate.

    Keeps both inputs while they are alive. No keys mean a nested-loop join; ``residual`` is over
    left schema + right schema. :func:`join` makes it, or a LookupJoin.

    ``feeds_back``: joins below may be told which of their rows are needed.
    """

    residual: Expr | None = None
    feeds_back: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_lookup(self)
        if self.residual is not None:
            check_columns(self.residual, self.schema)

    def with_inputs(self, *inputs: Plan) -> Plan:
        if inputs == self.inputs:
            return self
        left, right = inputs
        return self.remade(left, right, self.keys, self.residual)

    def remade(self, left: Plan, right: Plan, keys: Keys, residual: Expr | None) -> Join:
        """:func:`join` of others, which gives feedback if this one does."""
        joined = join(left, right, keys, residual)
        return joined if self.feeds_back else replace(joined, feeds_back=False)

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema + self.right.schema

    @cached_property
    def pattern(self) -> Pattern:
        return _joined_pattern(self.inputs)

    @cached_property
    def lifespan_us(self) -> int | None:
        return _shortest_us(self.inputs)

    @property
    def label(self) -> str:
        return _conditions([f"{a} = {b}" for a, b in self.keys], self.residual) or "(every pair)"


@dataclass(frozen=True)
class _Matching(Keyed):
    """Rows of the left input, chosen by what the right one holds; the schema is the left one's."""

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema

    @cached_property
    def pattern(self) -> Pattern:  # rule 5
        return Pattern.STR

    @cached_property
    def takes_back(self) -> bool:
        return True

    @cached_property
    def lifespan_us(self) -> int | None:
        return self.left.lifespan_us


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

    Keeps the left rows, and how many matches there are. ``nulls_match``: whether NULL equals NULL
    in the keys. Without keys every right row agrees.
    """

    residual: Expr | None = None
    nulls_match: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_lookup(self)
        if self.residual is not None:
            check_columns(self.residual, self.left.schema + self.right.schema)

    def with_inputs(self, *inputs: Plan) -> Plan:
        left, right = inputs
        if inputs == self.inputs:
            return self
        remade = semi_join if isinstance(self, SemiJoin) else anti_join
        return remade(left, right, self.keys, self.residual, nulls_match=self.nulls_match)

    @property
    def label(self) -> str:
        equals = "IS NOT DISTINCT FROM" if self.nulls_match else "="
        keys = [f"{a} {equals} {b}" for a, b in self.keys]
        return _conditions(keys, self.residual) or "(any row)"


@dataclass(frozen=True)
class SemiJoin(_Existence):
    """EXISTS: the rows of the left input while the right one holds a match.

    :func:`semi_join` makes it, or a LookupSemiJoin.
    """


@dataclass(frozen=True)
class AntiJoin(_Existence):
    """NOT EXISTS: the rows of the left input while the right one holds no match.

    :func:`anti_join` makes it, or a LookupAntiJoin.
    """


class _Lookup(Plan):
    """A join with, or EXISTS or NOT EXISTS on, a table of which changes do not affect earlier rows:
    a non-retroactive (NRR) or a static one, without computed columns.

    Each left row is enriched from, or tested on, the table as it was when the row came; changes of
    the right input have no effect. Keeps nothing of the left input.
    """

    left: Plan
    right: Plan

    @cached_property
    def table(self) -> TableScan:
        """The table that is looked up."""
        table = looked_up_table(self.right)
        assert table is not None, "checked when made"
        return table

    @property
    def is_static(self) -> bool:
        """Whether a row finds the same whenever it is looked up."""
        return self.table.updates == "static"

    @cached_property
    def pattern(self) -> Pattern:  # rule 1 for the join with an NRR
        return self.left.pattern

    @cached_property
    def takes_back(self) -> bool:
        return self.left.takes_back


@dataclass(frozen=True)
class LookupJoin(_Lookup, Join):
    """Enriches rows with what matches in a table."""


@dataclass(frozen=True)
class LookupSemiJoin(_Lookup, SemiJoin):
    """The rows with a match in a table."""


@dataclass(frozen=True)
class LookupAntiJoin(_Lookup, AntiJoin):
    """The rows without a match in a table."""


#: Joins with tables of which only the left input's changes matter.
Lookup: TypeAlias = LookupJoin | LookupSemiJoin | LookupAntiJoin


def join(left: Plan, right: Plan, keys: Keys, residual: Expr | None = None) -> Join:
    """The join of two plans: a LookupJoin if the right one is a table that is looked up."""
    kind = Join if looked_up_table(right) is None else LookupJoin
    return kind(left, right, keys, residual)


def semi_join(
    left: Plan, right: Plan, keys: Keys, residual: Expr | None = None, *, nulls_match: bool = False
) -> SemiJoin:
    """The left rows with a match: a LookupSemiJoin if the right plan is a table looked up."""
    looked_up = looked_up_table(right, set_operation=nulls_match) is not None
    return (LookupSemiJoin if looked_up else SemiJoin)(left, right, keys, residual, nulls_match)


def anti_join(
    left: Plan, right: Plan, keys: Keys, residual: Expr | None = None, *, nulls_match: bool = False
) -> AntiJoin:
    """The left rows without a match: a LookupAntiJoin if the right plan is a table looked up."""
    looked_up = looked_up_table(right, set_operation=nulls_match) is not None
    return (LookupAntiJoin if looked_up else AntiJoin)(left, right, keys, residual, nulls_match)


def looked_up_table(right: Plan, *, set_operation: bool = False) -> TableScan | None:
    """The table of which the right input of a look-up join consists; None if it is another plan.

    A static table of which columns are computed, or in a set operation, has a store of its own.
    """
    table, plain = right, not set_operation
    while isinstance(table, (Filter, Project)):
        if isinstance(table, Project):
            plain = plain and all(isinstance(e, ColumnRef) for e in table.exprs)
        table = table.input
    if not isinstance(table, TableScan) or table.updates == "retroactive":
        return None
    return table if plain or table.updates == "non-retroactive" else None


def _joined_pattern(parts: tuple[Plan, ...]) -> Pattern:
    """Rule 3 (join); a single window joined with static tables keeps its own pattern (rule 1)."""
    moving = [p.pattern for p in parts if p.pattern != Pattern.MONOTONIC]
    others = [p for p in parts if p.pattern == Pattern.MONOTONIC]
    if not moving:
        return Pattern.MONOTONIC
    if len(moving) == 1 and all(isinstance(p, TableScan) for p in others):
        return moving[0]
    return max(*moving, Pattern.WK)


def _shortest_us(parts: tuple[Plan, ...]) -> int | None:
    return min((s for p in parts if (s := p.lifespan_us) is not None), default=None)


def _conditions(keys: list[str], residual: Expr | None) -> str:
    return " AND ".join(keys if residual is None else [*keys, str(residual)])


def _check_lookup(plan: Join | _Existence) -> None:
    set_operation = isinstance(plan, _Existence) and plan.nulls_match
    looked_up = looked_up_table(plan.right, set_operation=set_operation) is not None
    assert isinstance(plan, _Lookup) == looked_up, "made by join, semi_join or anti_join"
