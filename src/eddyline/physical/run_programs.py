"""Conditions on rows that have been matched, as programs of ``kernels/run_conditions.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.nodes.match_recognize import MatchedAggregate, Navigation, of_match
from eddyline.algebra.run_conditions import kind_of, reads_match
from eddyline.kernels import run_conditions as kernels
from eddyline.runtime.stores.columns import Array

_BINARY: Final = {
    "+": kernels.ADD,
    "-": kernels.SUBTRACT,
    "*": kernels.MULTIPLY,
    "/": kernels.DIVIDE,
    "=": kernels.EQUAL,
    "<>": kernels.EQUAL,
    "<=>": kernels.SAME,
    "<": kernels.LESS,
    ">": kernels.LESS,
    "<=": kernels.LESS_EQUAL,
    ">=": kernels.LESS_EQUAL,
}
_TRACKED: Final = {"sum": kernels.TRACK_SUM, "min": kernels.TRACK_LEAST, "max": kernels.TRACK_MOST}


@dataclass(frozen=True)
class RunPrograms:
    """The conditions of all variables that read rows matched before.

    Attributes:
        values: what the programs read of each row, over extended rows.
        trackers, steps, starts, constants: as in ``Conditions``. texts: places in ``constants``
            that stand for texts.
        registers: their number.
    """

    values: tuple[Expr, ...]
    trackers: Array
    steps: Array
    starts: Array
    constants: Array
    texts: dict[int, str]
    registers: int


def run_programs(conditions: Sequence[Expr | None]) -> RunPrograms:
    """The programs of conditions, by variable; None: without one."""
    return _Compiler(conditions).compiled()


class _Compiler:
    def __init__(self, conditions: Sequence[Expr | None]) -> None:
        self._conditions = conditions
        self._values: dict[Expr, int] = {}
        self._trackers: dict[tuple[int, ...], int] = {}  # to their register
        self._registers = 0
        self._steps: list[tuple[int, int, int, int]] = []
        self._constants: list[int] = []
        self._texts: dict[int, str] = {}
        self._deepest: dict[int, int] = {}  # furthest LAST by variables

    def compiled(self) -> RunPrograms:
        known = [c for c in self._conditions if c is not None]
        for condition in known:
            for part in of_match(condition):
                if isinstance(part, Navigation) and part.end == "last":
                    deepest = self._deepest.get(part.variables, 0)
                    self._deepest[part.variables] = max(deepest, part.offset)
        starts = [0]
        for variable in self._conditions:
            if variable is not None:
                self._push(variable)
            starts.append(len(self._steps))
        trackers = [(*key, register) for key, register in self._trackers.items()]
        by_columns = [(k, v, x, o, r, f) for k, v, x, o, f, r in trackers]
        return RunPrograms(
            tuple(self._values),
            np.array(by_columns, np.int64).reshape(-1, 6),
            np.array(self._steps, np.int64).reshape(-1, 4),
            np.array(starts, np.int64),
            np.array(self._constants, np.int64),
            self._texts,
            self._registers,
        )

    # -- what programs read --------------------------------------------

    def _value(self, expr: Expr) -> int:
        return self._values.setdefault(expr, len(self._values))

    def _tracker(self, kind: int, bits: int, value: int, offset: int, is_float: bool) -> int:
        """The first register of a tracker."""
        key = (kind, bits, value, offset, int(is_float))
        if key not in self._trackers:
            self._trackers[key] = self._registers
            self._registers += {kernels.TRACK_LAST: offset + 1, kernels.TRACK_COUNT: 1}.get(kind, 2)
        return self._trackers[key]

    def _emit(self, code: int, first: int = 0, second: int = 0, *, floats: bool = False) -> None:
        self._steps.append((code, first, second, int(floats)))

    # -- expressions ---------------------------------------------------

    def _push(self, expr: Expr) -> None:
        """Emit the steps that leave the value of an expression on the stack."""
        if isinstance(expr, Literal):
            self._constant(expr)
        elif isinstance(expr, Navigation):
            self._navigation(expr)
        elif isinstance(expr, MatchedAggregate):
            self._aggregate(expr)
        elif not reads_match(expr):
            self._emit(kernels.OF_ROW, self._value(expr))
        else:
            assert isinstance(expr, Call), f"a leaf that reads a match: {expr}"
            self._call(expr)

    def _constant(self, literal: Literal) -> None:
        value: Any = literal.value
        if value is None:
            self._emit(kernels.NULL)
            return
        place = len(self._constants)
        if isinstance(value, str):
            self._texts[place] = value
            self._constants.append(0)
        elif kind_of(literal.type) == "float":
            self._constants.append(int(np.float64(value).view(np.int64)))
        else:
            self._constants.append(_as_integer(literal))
        self._emit(kernels.CONSTANT, place)

    def _navigation(self, expr: Navigation) -> None:
        bits, value = expr.variables, self._value(expr.argument)
        if expr.end == "first":
            register = self._tracker(kernels.TRACK_FIRST, bits, kernels.NONE, expr.offset, False)
        else:
            depth = self._deepest[bits]
            register = self._tracker(kernels.TRACK_LAST, bits, kernels.NONE, depth, False)
            register += expr.offset
        self._emit(kernels.OF_REGISTER, register, value)

    def _aggregate(self, expr: MatchedAggregate) -> None:
        aggregate, bits = expr.aggregate, expr.variables
        argument = aggregate.value
        value = kernels.NONE if argument is None else self._value(argument)
        if aggregate.function == "count":
            register = self._tracker(kernels.TRACK_COUNT, bits, value, 0, False)
            self._emit(kernels.NUMBER, register, kernels.NONE)
            return
        assert argument is not None, "only COUNT counts whole rows"
        is_float = kind_of(argument.type) == "float"
        kind = _TRACKED.get(aggregate.function, kernels.TRACK_SUM)
        register = self._tracker(kind, bits, value, 0, is_float)
        self._emit(kernels.NUMBER, register, register + 1)
        if aggregate.function == "avg":
            if not is_float:
                self._emit(kernels.TO_FLOAT)
            self._emit(kernels.NUMBER, register + 1, kernels.NONE)
            self._emit(kernels.TO_FLOAT)
            self._emit(kernels.DIVIDE, 0, 64, floats=True)

    def _call(self, call: Call) -> None:
        function, args = call.function, call.args
        if function in ("and", "or"):
            self._chain(args, kernels.AND if function == "and" else kernels.OR)
        elif function == "coalesce":
            self._chain(args, kernels.COALESCE)
        elif function in _BINARY:
            self._binary(function, *args)
        elif function in ("not", "is_null", "negative", "abs", "cast"):
            self._push(args[0])
            self._unary(call)
        elif function == "is_not_null":
            self._push(args[0])
            self._emit(kernels.IS_NULL)
            self._emit(kernels.NOT)
        elif function.startswith("is_"):
            self._truth_test(function, args[0])
        elif function == "between":
            self._binary(">=", args[0], args[1])
            self._binary("<=", args[0], args[2])
            self._emit(kernels.AND)
        elif function == "in":
            for i, item in enumerate(args[1:]):
                self._binary("=", args[0], item)
                if i:
                    self._emit(kernels.OR)
        else:
            assert function == "case", f"not a function of conditions: {function}"
            self._case(args)

    def _chain(self, args: Sequence[Expr], code: int) -> None:
        for i, arg in enumerate(args):
            self._push(arg)
            if i:
                self._emit(code)

    def _binary(self, function: str, left: Expr, right: Expr) -> None:
        swapped = function in (">", ">=")
        self._push(right if swapped else left)
        self._push(left if swapped else right)
        is_float = "float" in (kind_of(left.type), kind_of(right.type))
        width = left.type.bit_width if pa.types.is_integer(left.type) else 64
        self._emit(_BINARY[function], 0, width, floats=is_float)
        if function == "<>":
            self._emit(kernels.NOT)

    def _unary(self, call: Call) -> None:
        source = call.args[0].type
        if call.function == "cast":
            if kind_of(source) == "int" and kind_of(call.type) == "float":
                self._emit(kernels.TO_FLOAT)
            return
        codes = {"not": kernels.NOT, "is_null": kernels.IS_NULL, "negative": kernels.NEGATIVE}
        code = codes.get(call.function, kernels.ABSOLUTE)
        width = source.bit_width if pa.types.is_integer(source) else 64
        self._emit(code, 0, width, floats=kind_of(source) == "float")

    def _truth_test(self, function: str, arg: Expr) -> None:
        self._push(arg)
        if "false" in function:
            self._emit(kernels.NOT)
        self._constant(Literal(pa.bool_(), False))
        self._emit(kernels.COALESCE)
        if "not" in function:
            self._emit(kernels.NOT)

    def _case(self, args: Sequence[Expr]) -> None:
        if len(args) == 1:
            self._push(args[0])
        elif len(args) == 0:
            self._emit(kernels.NULL)
        else:
            self._push(args[0])
            self._push(args[1])
            self._case(args[2:])
            self._emit(kernels.CHOOSE)


def _as_integer(literal: Literal) -> int:
    value = literal.value
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    assert isinstance(value, (datetime, date)), f"a constant of a time: {value}"
    scalar = pa.scalar(value, literal.type)
    return int(scalar.cast(pa.int32() if pa.types.is_date32(literal.type) else pa.int64()).as_py())
