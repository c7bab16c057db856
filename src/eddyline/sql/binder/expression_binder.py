"""What modules for one kind of syntax need of the binder of expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp

from eddyline.algebra.expressions import ElementRef, Expr
from eddyline.algebra.functions import Ordering
from eddyline.errors import SqlError
from eddyline.sql.binder.context import Context


class ExpressionBinder(Protocol):
    """Binds expressions over one scope; see ``scalars.Scalars``."""

    clause: str | None
    elements: dict[str, ElementRef]

    @property
    def context(self) -> Context:
        """For errors."""

    def star(self) -> list[tuple[str, Expr]]:
        """The columns of ``*``, with their names."""

    @property
    def event_time(self) -> Expr | None:
        """The event time of the rows, if it is known."""

    def bind(self, node: exp.Expr) -> Expr:
        """The typed expression."""

    def bind_all(self, nodes: Sequence[exp.Expr]) -> tuple[Expr, ...]:
        """Several typed expressions."""

    def ordering(self, node: exp.Expr) -> Ordering:
        """A value of ORDER BY."""

    def is_aggregate(self, node: exp.Expr) -> bool:
        """Whether a node calls an aggregate function."""

    def refusal(self, node: exp.Expr) -> SqlError:
        """The error for syntax that is not supported."""
