"""Functions that users bring: what is declared of one, and calls of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.coercion import implicit
from eddyline.types import sql_type

#: What the Python code is called with: whole Arrow arrays, pandas Series, or the values of one row.
FunctionKind = Literal["arrow", "pandas", "python"]
FUNCTION_KINDS: Final[tuple[FunctionKind, ...]] = ("arrow", "pandas", "python")


@dataclass(frozen=True, slots=True, eq=False)
class UserFunction:
    """A scalar function written in Python.

    Compared by identity: two engines may give one name to different functions, and code has no
    equality of its own.

    Attributes:
        name: as SQL writes it; case does not count.
        parameters: types of the arguments, at least one.
        result: type of what it returns.
        kind: how it is called.
        evaluate: the Python code.
    """

    name: str
    parameters: tuple[pa.DataType, ...]
    result: pa.DataType
    kind: FunctionKind
    evaluate: Callable[..., Any]

    def __str__(self) -> str:
        return f"{self.forms[0]} -> {sql_type(self.result)}"

    @property
    def forms(self) -> tuple[str, ...]:
        """How it is written, for messages."""
        return (f"{self.name}({', '.join(map(sql_type, self.parameters))})",)

    def rule(self, args: tuple[Expr, ...]) -> Expr | None:
        """The call; None if the arguments do not fit."""
        if len(args) != len(self.parameters):
            return None
        converted = [implicit(a, p) for a, p in zip(args, self.parameters, strict=True)]
        if any(a is None for a in converted):
            return None
        fitting = tuple(a for a in converted if a is not None)
        return UserCall(self.result, self.name, fitting, self)


@dataclass(frozen=True, slots=True)
class UserCall(Call):
    """A call of a user's function. Calls of one function with equal arguments are equal."""

    definition: UserFunction
