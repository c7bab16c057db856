"""NaN, infinities and signed zeros have one order."""

from __future__ import annotations

import math
import operator as op

import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.expressions import Literal
from eddyline.algebra.functions import cast
from expression_columns import column, evaluate, fn, same

NAN = math.nan

#: One NaN with other bits than the usual one.
FLOATS = [-math.inf, -1.5, -0.0, 0.0, 2.0, math.inf, NAN, np.uint64(0xFFF8000000000123).view(float)]
ORDER = {"=": op.eq, "<>": op.ne, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge}


def in_order(value: float) -> tuple[bool, float]:
    """NaN equals itself and is larger than any number."""
    return (True, 0.0) if math.isnan(value) else (False, value)


@pytest.mark.parametrize("type_", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("function", [*ORDER, "<=>"])
def test_floats_have_one_order(function: str, type_: pa.DataType) -> None:
    pairs = [(a, b) for a in [*FLOATS, None] for b in [*FLOATS, None]]
    table = pa.table([pa.array(v, type_) for v in zip(*pairs, strict=True)], names=["x", "y"])
    x, y = column("x", table), column("y", table)

    def expected(a: float | None, b: float | None) -> bool | None:
        if a is None or b is None:
            return a is b if function == "<=>" else None
        return ORDER.get(function, op.eq)(in_order(a), in_order(b))

    truth = [expected(a, b) for a, b in pairs]
    assert evaluate(fn(function, x, y), table).to_pylist() == truth
    for constant in [*FLOATS, None]:
        c = cast(Literal(type_, constant), type_)
        right = [expected(a, constant) for a, _ in pairs]
        assert evaluate(fn(function, x, c), table).to_pylist() == right
        left = [expected(constant, a) for a, _ in pairs]
        assert evaluate(fn(function, c, x), table).to_pylist() == left


def test_the_largest_and_smallest_of_floats() -> None:
    rows = [(1.0, NAN), (NAN, 1.0), (NAN, NAN), (None, NAN), (NAN, None), (2.0, None), (1.0, 2.0)]
    table = pa.table([pa.array(v, pa.float64()) for v in zip(*rows, strict=True)], names=["x", "y"])
    x, y = column("x", table), column("y", table)
    same(evaluate(fn("greatest", x, y), table), [NAN, NAN, NAN, NAN, NAN, 2.0, 2.0])
    same(evaluate(fn("least", x, y), table), [1.0, 1.0, NAN, NAN, NAN, 2.0, 1.0])
    same(evaluate(fn("greatest", x, 5.0), table), [5.0, NAN, NAN, 5.0, NAN, 5.0, 5.0])


def test_constants_that_differ_in_a_sign_or_are_nan() -> None:
    assert Literal(pa.float64(), 0.0) != Literal(pa.float64(), -0.0)
    assert Literal(pa.float64(), NAN) == Literal(pa.float64(), float("nan"))
