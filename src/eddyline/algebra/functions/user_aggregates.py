"""User-defined aggregates: expressions over aggregates that are there.

One with a state is ``finish(SUM(a), MAX(b), ...)`` over columns that ``accumulate`` computes of
each row, so that rows leave it, and parts of groups are merged, as of the built-in ones. One
without is ``finish(array_agg(x))``: it sees all values of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.aggregate_requests import (
    Request,
    does_not_take,
    only_for_groups,
    resolve_aggregate,
)
from eddyline.algebra.functions.coercion import implicit
from eddyline.algebra.functions.user_defined import UserCall, UserFunction
from eddyline.types import sql_type

#: The aggregates that keep a column of a state.
KEPT_BY: Final = ("sum", "min", "max", "count")


@dataclass(frozen=True, slots=True)
class StateColumn:
    """A column of a state: what ``accumulate`` gives of each row, and the aggregate of it."""

    name: str
    function: str
    type: pa.DataType


@dataclass(frozen=True, slots=True, eq=False)
class UserAggregate:
    """An aggregate function in Python. Compared by identity, as :class:`UserFunction`.

    Attributes:
        name: the name in SQL; case is ignored.
        parameters: types of the arguments, at least one. result: type of the result.
        state: the columns of the state; empty: the group's values are listed.
        evaluate: the class, with ``finish`` and, if there is a state, ``accumulate``.
    """

    name: str
    parameters: tuple[pa.DataType, ...]
    result: pa.DataType
    state: tuple[StateColumn, ...]
    evaluate: Any
    kind: str = "aggregate"
    _made: dict[Any, UserFunction] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.forms[0]} -> {sql_type(self.result)}"

    @property
    def forms(self) -> tuple[str, ...]:
        return (f"{self.name}({', '.join(map(sql_type, self.parameters))})",)

    def rule(self, args: tuple[Expr, ...]) -> Expr | None:
        """None: it is no scalar function."""
        raise only_for_groups(self.name)

    def expression(self, request: Request) -> Expr:
        """The expression over aggregates.

        Raises:
            SqlError: the arguments do not fit. UnsupportedError: DISTINCT or ORDER BY.
        """
        given = request.require_plain(self.name)
        converted = [implicit(a, p) for a, p in zip(given, self.parameters, strict=False)]
        if len(given) != len(self.parameters) or any(a is None for a in converted):
            raise does_not_take(self.name, given, self.forms[0])
        args = tuple(a for a in converted if a is not None)
        return self._of_state(request, args) if self.state else self._of_values(request, args)

    def _of_state(self, request: Request, args: tuple[Expr, ...]) -> Expr:
        fields = pa.struct([(c.name, c.type) for c in self.state])
        name = f"{self.name}.accumulate"
        code = _Accumulate(self.evaluate.accumulate, tuple((c.name, c.type) for c in self.state))
        row = UserCall(fields, name, args, self._function(name, self.parameters, fields, code))
        kept = []
        for column in self.state:
            field = Literal(pa.string(), column.name)
            part = Call(column.type, "field", (row, field))
            kept.append(request.base(column.function, part))
        return self._finished(tuple(kept), self.evaluate.finish)

    def _of_values(self, request: Request, args: tuple[Expr, ...]) -> Expr:
        [value] = args
        listed = resolve_aggregate(Request("array_agg", (value,), where=request.where))
        return self._finished((listed,), self.evaluate.finish)

    def _finished(self, kept: tuple[Expr, ...], code: Callable[..., Any]) -> Expr:
        types = tuple(k.type for k in kept)
        return UserCall(
            self.result, self.name, kept, self._function(self.name, types, self.result, code)
        )

    def _function(
        self, name: str, types: tuple[pa.DataType, ...], result: pa.DataType, code: Any
    ) -> UserFunction:
        """The function of a step: one for equal ones, as functions are compared by identity."""
        made = UserFunction(name, types, result, "arrow", code)
        return self._made.setdefault((name, types, code), made)


#: The functions that have code.
CodeFunction: TypeAlias = UserFunction | UserAggregate


@dataclass(frozen=True, slots=True)
class _Accumulate:
    """What the rows add to the state, as a structure."""

    code: Callable[..., Any]
    fields: tuple[tuple[str, pa.DataType], ...]

    def __call__(self, *arrays: Any) -> pa.Array:
        given = self.code(*arrays)
        if isinstance(given, Mapping):
            given = [given[name] for name, _ in self.fields]
        elif isinstance(given, (pa.Array, np.ndarray)):
            given = [given]
        if not isinstance(given, Sequence) or len(given) != len(self.fields):
            raise TypeError(
                f"accumulate gives a column for each of {len(self.fields)} of the state"
            )
        columns = []
        for column, (name, type_) in zip(given, self.fields, strict=True):
            column = column if isinstance(column, pa.Array) else pa.array(column)
            if len(column) != len(arrays[0]):
                raise ValueError(f"{len(column)} values of {name} for {len(arrays[0])} rows")
            columns.append(column.cast(type_))
        return pa.StructArray.from_arrays(columns, names=[name for name, _ in self.fields])
