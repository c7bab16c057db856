"""Bound scalar expressions: columns are ordinals of the input's schema, every node has a type.

Expressions are immutable values; two expressions that compute the same thing in the same way are
equal and have the same hash. Sharing between queries relies on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from eddyline.types import sql_type


@dataclass(frozen=True, slots=True)
class Expr:
    """A typed scalar expression over the columns of one input."""

    type: pa.DataType

    @property
    def args(self) -> tuple[Expr, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class ColumnRef(Expr):
    """Column ``index`` of the input; ``name`` (``t.price``) is for display and not compared."""

    index: int
    name: str

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnRef) and (self.index, self.type) == (other.index, other.type)

    def __hash__(self) -> int:
        return hash((ColumnRef, self.index, self.type.id))  # that of a type makes its text


@dataclass(frozen=True, slots=True)
class Parameter(Expr):
    """Column ``index`` of the row of a parameterized query: a constant with its value still open.

    ``name`` (``rules.threshold``) is for display and not compared. Operators cannot compute it:
    :func:`eddyline.algebra.parameters.substitute` replaces it by a Literal.
    """

    index: int
    name: str

    def __str__(self) -> str:
        return f"${self.name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parameter) and (self.index, self.type) == (other.index, other.type)

    def __hash__(self) -> int:
        return hash((Parameter, self.index, self.type.id))


@dataclass(frozen=True, slots=True)
class ElementRef(Expr):
    """A variable of a function over the elements of a list, as in ``transform(xs, x -> x + 1)``.

    ``number`` tells it from the others that are visible there; ``name`` is not compared.
    """

    number: int
    name: str

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ElementRef) and (self.number, self.type) == (
            other.number,
            other.type,
        )

    def __hash__(self) -> int:
        return hash((ElementRef, self.number, self.type.id))


@dataclass(frozen=True, slots=True)
class Literal(Expr):
    """A constant; ``value`` is a Python value that ``pa.scalar(value, type)`` accepts, or None."""

    value: Any

    @property
    def is_null(self) -> bool:
        """Whether it is NULL."""
        return self.value is None

    def __str__(self) -> str:
        if self.value is None:
            return "NULL"
        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        return str(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._identity() == other._identity()

    def __hash__(self) -> int:
        python, type_, value = self._identity()
        return hash((python, type_.id, value))

    def _identity(self) -> tuple[Any, ...]:
        """1, True and 1.0 are different constants, and so are 0.0 and -0.0; NaN equals itself."""
        value = repr(self.value) if isinstance(self.value, float) else self.value
        return type(self.value), self.type, value


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A scalar function or operator applied to arguments.

    ``function`` is a key of :data:`eddyline.algebra.functions.FUNCTIONS`: operators are named by
    symbol or word (``+ = <= and or not is_null like in case coalesce cast``). ``case`` has the
    arguments (condition, value)* and an else; ``in`` the needle and the list; ``cast`` converts its
    argument to ``type``.
    """

    function: str
    arguments: tuple[Expr, ...]

    def __hash__(self) -> int:
        return hash((self.function, self.arguments))

    @property
    def args(self) -> tuple[Expr, ...]:
        return self.arguments

    def __str__(self) -> str:
        shown = [str(a) for a in self.arguments]
        if self.function == "cast":
            return f"CAST({shown[0]} AS {sql_type(self.type)})"
        if self.function == "field":
            return f"{shown[0]}.{shown[1][1:-1]}"
        if self.function in ("element", "value_of_key"):
            return f"{shown[0]}[{shown[1]}]"
        if len(shown) == 2 and not self.function[0].isalpha():
            return f"({shown[0]} {self.function} {shown[1]})"
        if self.function in ("and", "or"):
            return "(" + f" {self.function.upper()} ".join(shown) + ")"
        return f"{self.function}({', '.join(shown)})"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of GROUP BY: ``function`` is a key of ``functions.AGGREGATES``.

    ``argument`` is None for COUNT(*); of an aggregate of pairs it is a structure of both values.
    ``where`` is the FILTER (WHERE ...) clause, ``parameters`` are constants of the function.
    """

    function: str
    argument: Expr | None
    type: pa.DataType
    distinct: bool = False
    where: Expr | None = None
    parameters: tuple[Any, ...] = ()

    @property
    def value(self) -> Expr | None:
        """The argument, NULL for rows that FILTER leaves out; None: it is computed of all rows."""
        if self.where is None:
            return self.argument
        counted = Literal(pa.bool_(), True) if self.argument is None else self.argument
        return Call(counted.type, "case", (self.where, counted, Literal(counted.type, None)))

    def __str__(self) -> str:
        inner = "*" if self.argument is None else str(self.argument)
        if isinstance(self.argument, Call) and _is_pair(self.argument):
            inner = ", ".join(map(str, self.argument.args))
        inner = ", ".join((inner, *map(str, self.parameters)))
        distinct = "DISTINCT " if self.distinct else ""
        where = f" FILTER (WHERE {self.where})" if self.where is not None else ""
        return f"{self.function.upper()}({distinct}{inner}){where}"


def pair(first: Expr, second: Expr) -> Call:
    """The argument of an aggregate of pairs."""
    fields = [("_0", first.type), ("_1", second.type)]
    return Call(pa.struct(fields), "named_struct", (first, second))


def _is_pair(expr: Call) -> bool:
    return expr.function == "named_struct" and expr.type.field(0).name == "_0"


@dataclass(frozen=True, slots=True)
class AggregateCall(Expr):
    """An aggregate inside an expression, until GROUP BY assigns it a column."""

    aggregate: Aggregate

    def __str__(self) -> str:
        return str(self.aggregate)


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and its sub-expressions, parents first."""
    yield expr
    for arg in expr.args:
        yield from walk(arg)


def columns_of(expr: Expr) -> frozenset[int]:
    """Ordinals of the input columns that the expression reads."""
    found, waiting = [], [expr]
    while waiting:  # faster than ``walk``
        at = waiting.pop()
        if isinstance(at, ColumnRef):
            found.append(at.index)
        else:
            waiting.extend(at.args)
    return frozenset(found)


def rewrite(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with each node replaced for which ``change`` returns another one."""
    changed = change(expr)
    if changed is not None:
        return changed
    if isinstance(expr, Call):
        return replace(expr, arguments=tuple(rewrite(a, change) for a in expr.arguments))
    return expr


def without_names(expr: Expr) -> Expr:
    """The expression without column names; equal expressions then have the same text."""

    def change(e: Expr) -> Expr | None:
        return replace(e, name="") if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)


def shift_columns(expr: Expr, by: int) -> Expr:
    """The expression over an input whose columns start ``by`` positions later."""

    def move(e: Expr) -> Expr | None:
        return replace(e, index=e.index + by) if isinstance(e, ColumnRef) else None

    return rewrite(expr, move)


def conjuncts(expr: Expr | None) -> tuple[Expr, ...]:
    """The operands of the topmost ANDs, left to right; empty for None."""
    if expr is None:
        return ()
    if isinstance(expr, Call) and expr.function == "and":
        return tuple(c for a in expr.arguments for c in conjuncts(a))
    return (expr,)


def conjunction(parts: tuple[Expr, ...]) -> Expr | None:
    """The AND of the parts: None for none, the part itself for one."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return Call(pa.bool_(), "and", parts)
