"""Nodes that pass, compute, merge or group the rows of their inputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from eddyline.algebra.expressions import Aggregate, ColumnRef, Expr, conjunction
from eddyline.algebra.nodes.base import Nary, Plan, Unary, check_columns
from eddyline.algebra.patterns import Pattern
from eddyline.types import Field, Schema, element_type


@dataclass(frozen=True)
class Filter(Unary):
    """Emits the rows for which the predicate is true (not false, not null); keeps nothing."""

    predicate: Expr

    def __post_init__(self) -> None:
        assert pa.types.is_boolean(self.predicate.type), f"not a predicate: {self.predicate}"
        check_columns(self.predicate, self.input.schema)

    @property
    def label(self) -> str:
        return str(self.predicate)


def filtered(plan: Plan, terms: Iterable[Expr]) -> Plan:
    """The plan below a Filter with the terms; the plan itself without terms."""
    predicate = conjunction(tuple(terms))
    return plan if predicate is None else Filter(plan, predicate)


@dataclass(frozen=True)
class Project(Unary):
    """Emits one computed row per row; keeps nothing."""

    exprs: tuple[Expr, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert len(self.exprs) == len(self.names), "one name per expression"
        for expr in self.exprs:
            check_columns(expr, self.input.schema)

    @cached_property
    def schema(self) -> Schema:
        return tuple(Field(n, e.type) for n, e in zip(self.names, self.exprs, strict=True))

    @property
    def label(self) -> str:
        shown = (
            str(e) if isinstance(e, ColumnRef) and e.name.split(".")[-1] == n else f"{e} AS {n}"
            for n, e in zip(self.names, self.exprs, strict=True)
        )
        return ", ".join(shown)


@dataclass(frozen=True)
class Unnest(Unary):
    """Emits a row per element of a list, with the columns of the input in front; keeps nothing.

    Attributes:
        listed: the list or map.
        fields: of the elements, which become columns; None: the element is one column.
        names: of the columns of the element, and of its number.
        outer: whether a row without elements is emitted with NULLs.
        numbered: whether the last column is the element's number, from 1.
    """

    listed: Expr
    fields: tuple[str, ...] | None
    names: tuple[str, ...]
    outer: bool = False
    numbered: bool = False

    def __post_init__(self) -> None:
        check_columns(self.listed, self.input.schema)

    @cached_property
    def schema(self) -> Schema:
        element = element_type(self.listed.type)
        types = [element] if self.fields is None else [element.field(n).type for n in self.fields]
        types += [pa.int64()] * self.numbered
        columns = (Field(n, t) for n, t in zip(self.names, types, strict=True))
        return (*self.input.schema, *columns)

    @property
    def label(self) -> str:
        words = [str(self.listed)]
        words += ["outer"] * self.outer + ["with ordinality"] * self.numbered
        return f"{', '.join(words)}: {', '.join(self.names)}"


@dataclass(frozen=True)
class Union(Nary):
    """UNION ALL: emits the rows of all inputs merged by time; keeps nothing."""

    def __post_init__(self) -> None:
        first = [f.type for f in self.parts[0].schema]
        for part in self.parts[1:]:
            assert [f.type for f in part.schema] == first, "UNION ALL inputs differ in types"

    @cached_property
    def schema(self) -> Schema:
        return self.parts[0].schema

    @cached_property
    def pattern(self) -> Pattern:  # rule 2; different windows do not expire in FIFO order
        worst = max(p.pattern for p in self.parts)
        differ = len({p.expiry for p in self.parts}) > 1
        return Pattern.WK if worst == Pattern.WKS and differ else worst


@dataclass(frozen=True)
class GroupBy(Unary):
    """Emits a group's new row whenever it changes, by arrival or expiry; keeps an array by group.

    The schema is the keys followed by the aggregates. With no keys there is one group, which
    exists even while the input is empty (SQL: COUNT(*) is then 0).
    """

    keys: tuple[Expr, ...]
    aggregates: tuple[Aggregate, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert len(self.names) == len(self.keys) + len(self.aggregates), "one name per column"

    @cached_property
    def schema(self) -> Schema:
        types = [k.type for k in self.keys] + [a.type for a in self.aggregates]
        return tuple(Field(n, t) for n, t in zip(self.names, types, strict=True))

    @cached_property
    def pattern(self) -> Pattern:  # rule 4: new aggregate values replace old ones
        return Pattern.WK

    @cached_property
    def takes_back(self) -> bool:
        return True

    @cached_property
    def lifespan_us(self) -> int | None:
        return None

    @property
    def label(self) -> str:
        keys = ", ".join(map(str, self.keys)) or "()"
        return f"{keys}: {', '.join(map(str, self.aggregates))}" if self.aggregates else keys


@dataclass(frozen=True)
class PartialGroupBy(GroupBy):
    """GROUP BY in one of several places, each of which has some of the rows: its groups are parts
    of groups, with aggregates over parts. They change once per instant at most.
    """


@dataclass(frozen=True)
class MergedGroupBy(GroupBy):
    """GROUP BY over the groups of all places. A group changes once per instant at most: what
    happens in several places at one instant has no order.
    """


@dataclass(frozen=True)
class Distinct(Unary):
    """Emits one row per distinct value of the input; keeps the output and its successors."""

    @cached_property
    def pattern(self) -> Pattern:  # rule 3
        monotonic = self.input.pattern == Pattern.MONOTONIC
        return Pattern.MONOTONIC if monotonic else max(self.input.pattern, Pattern.WK)

    @cached_property
    def lifespan_us(self) -> int | None:
        """Over negative tuples the row of a value stays until its last duplicate has left."""
        return None if self.input.takes_back else self.input.lifespan_us


def below_projections(plan: Plan) -> Plan:
    """The plan below the filters and projections on top."""
    while isinstance(plan, (Filter, Project)):
        plan = plan.input
    return plan
