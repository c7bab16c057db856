"""Conditions that bound a rank: ``rank <= n``."""

from __future__ import annotations

from typing import Final

import pyarrow.types as pt

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal

_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def upper_bound(term: Expr) -> tuple[int, int] | None:
    """The column, and the highest value that a term lets pass, of a term that bounds a rank; None
    of other terms.
    """
    if not isinstance(term, Call) or len(term.args) != 2:
        return None
    function = term.function
    left, right = term.args
    if isinstance(left, Literal):
        function = _TURNED.get(function, "")
        left, right = right, left
    left = left.args[0] if isinstance(left, Call) and left.function == "cast" else left
    if not isinstance(left, ColumnRef) or not isinstance(right, Literal):
        return None
    if right.value is None or not pt.is_integer(right.type):
        return None
    if function == "<=" or (function == "=" and right.value == 1):
        return left.index, right.value
    return (left.index, right.value - 1) if function == "<" else None
