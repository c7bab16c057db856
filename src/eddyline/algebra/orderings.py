"""Values of ORDER BY."""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.algebra.expressions import Expr


@dataclass(frozen=True, slots=True)
class Ordering:
    """A value of ORDER BY."""

    value: Expr
    descending: bool = False
    nulls_first: bool = True

    def __str__(self) -> str:
        nulls = (
            ""
            if self.nulls_first != self.descending
            else (f" NULLS {'FIRST' if self.nulls_first else 'LAST'}")
        )
        return f"{self.value}{' DESC' if self.descending else ''}{nulls}"
