"""Equal expressions: classes that follow from equalities, and expressions in terms of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, Literal, Parameter, walk
from eddyline.algebra.functions.fallibility import can_fail

#: Casts within casts that are looked for.
_CASTS: Final = 2


class Equalities:
    """Classes of equal expressions.

    Two values are equal as in ``=``: 0.0 and -0.0 are, and so are NaN and NaN. Casts of equal
    values are equal, unless the cast tells 0.0 from -0.0.

    >>> from eddyline.algebra.expressions import ColumnRef
    >>> a, b, c = (ColumnRef(pa.int64(), i, n) for i, n in enumerate("abc"))
    >>> found = Equalities([(a, b), (b, c)])
    >>> found.are_equal(a, c), [str(e) for e in found.equal_to(c)]
    (True, ['a', 'b', 'c'])
    """

    def __init__(self, pairs: Iterable[tuple[Expr, Expr]]) -> None:
        self._class: dict[Expr, list[Expr]] = {}
        for a, b in pairs:
            self._unite(a, b)
        for _ in range(_CASTS):
            self._unite_casts()

    def are_equal(self, a: Expr, b: Expr) -> bool:
        """Whether two expressions have equal values in each row."""
        return a == b or (a in self._class and self._class[a] is self._class.get(b))

    def equal_to(self, expr: Expr) -> tuple[Expr, ...]:
        """The expression and those equal to it, in order of their addition."""
        return tuple(self._class.get(expr, (expr,)))

    def _of(self, expr: Expr) -> list[Expr]:
        return self._class.setdefault(expr, [expr])

    def _unite(self, a: Expr, b: Expr) -> None:
        first, second = self._of(a), self._of(b)
        if first is second or a.type != b.type:
            return
        first += second
        for expr in second:
            self._class[expr] = first

    def _unite_casts(self) -> None:
        for expr in list(self._class):
            if isinstance(expr, Call) and expr.function == "cast" and is_exact(expr):
                for same in self.equal_to(expr.args[0]):
                    self._unite(expr, Call(expr.type, "cast", (same,)))


def is_exact(call: Call) -> bool:
    """Whether arguments that are equal give equal results: nothing tells 0.0 from -0.0."""
    floats = any(pa.types.is_floating(a.type) for a in call.args)
    return not floats or (call.function == "cast" and pa.types.is_floating(call.type))


def can_be_key(expr: Expr) -> bool:
    """Whether rows can be dealt by an expression: it has a value for every row, always the same."""
    return not can_fail(expr) and not any(isinstance(e, Parameter) for e in walk(expr))


def in_terms_of(expr: Expr, known: Mapping[Expr, Expr]) -> Expr | None:
    """The expression computed from known ones; None if they do not determine it.

    Args:
        known: by expression, what stands for it.
    """
    if expr in known:
        return known[expr]
    if isinstance(expr, Literal):
        return expr
    if not isinstance(expr, Call) or not is_exact(expr) or can_fail(expr):
        return None
    arguments = [in_terms_of(a, known) for a in expr.args]
    found = tuple(a for a in arguments if a is not None)
    return Call(expr.type, expr.function, found) if len(found) == len(arguments) else None
