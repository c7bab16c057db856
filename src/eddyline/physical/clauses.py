"""Predicates for filter banks: compiled clauses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef, Expr, Literal, columns_of, conjuncts, walk
from eddyline.algebra.functions.user_defined import UserCall
from eddyline.algebra.plan import OWN_ROW
from eddyline.physical.expressions import compile_expr
from eddyline.runtime.eddy.policies import make_policy
from eddyline.runtime.failures import collecting
from eddyline.runtime.predicates.filter_bank import Attribute, Clause, FilterBank
from eddyline.runtime.screens import Screen
from eddyline.sharing.predicates import clauses_of
from eddyline.sharing.signature import Part


def clauses(terms: Sequence[Expr]) -> tuple[Clause, ...]:
    """The conjunction of terms in conjunctive normal form, compiled."""
    return tuple(
        tuple((_attribute(c.attribute), c.accepts) for c in clause)
        for term in terms
        for clause in clauses_of(term, fold)
    )


def _attribute(expr: Expr) -> Attribute:
    if isinstance(expr, ColumnRef):
        return _column(expr, expr.name)
    calls = any(isinstance(part, UserCall) for part in walk(expr))
    reads = None if calls else frozenset(columns_of(expr))
    return Attribute(expr, str(expr), expr.type, compile_expr(expr), plain=False, reads=reads)


@lru_cache(maxsize=1_024)
def _column(column: ColumnRef, name: str) -> Attribute:
    """A column as an attribute; equal columns may have other names."""
    guards = name == OWN_ROW.name
    return Attribute(column, name, column.type, compile_expr(column), True, guards, column.index)


def screen_of(predicate: Expr) -> Screen | None:
    """What rows have in common of which a predicate is true; None: nothing that is known."""
    bank = FilterBank(make_policy("fixed", 0))
    bank.add(0, clauses(conjuncts(predicate)))
    return bank.screen(np.ones(1, np.uint64))


def fold(expr: Expr) -> object:
    """The value of an expression without columns.

    Raises:
        ValueError: it has none, as ``1 / 0``.
    """
    with collecting() as failures:
        value = compile_expr(expr)(_NO_COLUMNS)[0].as_py()
    if failures:
        raise ValueError(failures[0].reasons[0].as_py())
    return value


def constants_of(part: Part) -> list[Any]:
    """The values of the constants of a query, then windows that operators above the flow have.

    Raises:
        ValueError: one has no value.
    """
    values = [e.value if isinstance(e, Literal) else fold(e) for e in part.constants]
    return [*values, *part.windows[len(part.filters) :]]


class _OneRow:
    """A row without columns."""

    def column(self, index: int) -> pa.Array:
        raise AssertionError("a constant has no columns")

    def __len__(self) -> int:
        return 1


_NO_COLUMNS = _OneRow()
