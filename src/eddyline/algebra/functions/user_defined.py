"""User-defined functions: their definitions and calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.coercion import implicit
from eddyline.types import sql_type

#: The arguments of the Python code: whole Arrow arrays, pandas Series, the values of one row,
#: or those of an aggregate.
FunctionKind = Literal["arrow", "pandas", "python", "aggregate"]
FUNCTION_KINDS: Final[tuple[FunctionKind, ...]] = ("arrow", "pandas", "python", "aggregate")


@dataclass(frozen=True, slots=True, eq=False)
class UserFunction:
    """A scalar function in Python.

    Compared by identity: two engines may use one name for different functions, and code has no
    equality.

    Attributes:
        name: the name in SQL; case is ignored.
        parameters: types of the arguments, at least one.
        result: type of the result.
        kind: the form of the arguments.
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
