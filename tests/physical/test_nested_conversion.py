"""Casts of nested values, and functions over elements, over no rows and over a part of a column."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from eddyline.algebra.expressions import ColumnRef, ElementRef, Expr, Literal
from eddyline.algebra.functions import cast, resolve
from eddyline.algebra.functions.lambdas import Lambda
from expression_columns import evaluate

INT, TEXT = pa.int32(), pa.string()
LISTS = pa.array([[9], [3, None, 1], None, [], [2, 5]], pa.list_(INT))
MAPS = pa.array([[("x", 1)], [("a", 1), ("b", None)], None, [], [("c", 3)]], pa.map_(TEXT, INT))
PAIRS = pa.array(
    [{"a": 0, "b": "?"}, {"a": 1, "b": None}, None, {"a": None, "b": "z"}, {"a": 2, "b": "q"}],
    pa.struct([("a", INT), ("b", TEXT)]),
)
BIGINT, DOUBLE = pa.int64(), pa.float64()
CASTS = [
    (LISTS, pa.list_(DOUBLE), [[3.0, None, 1.0], None, [], [2.0, 5.0]]),
    (LISTS, pa.list_(TEXT), [["3", None, "1"], None, [], ["2", "5"]]),
    (LISTS, TEXT, ["[3, null, 1]", None, "[]", "[2, 5]"]),
    (MAPS, pa.map_(TEXT, BIGINT), [[("a", 1), ("b", None)], None, [], [("c", 3)]]),
    (MAPS, TEXT, ["{a -> 1, b -> null}", None, "{}", "{c -> 3}"]),
    (PAIRS, TEXT, ["{1, null}", None, "{null, z}", "{2, q}"]),
    (
        PAIRS,
        pa.struct([("p", BIGINT), ("q", TEXT)]),
        [{"p": 1, "q": None}, None, {"p": None, "q": "z"}, {"p": 2, "q": "q"}],
    ),
]


def checked(expr: Expr, values: pa.Array, expected: list[Any]) -> None:
    batch = pa.RecordBatch.from_arrays([values], names=["v"]).slice(1)
    found = evaluate(expr, pa.Table.from_batches([batch]))
    found.validate(full=True)
    assert found.type == expr.type
    assert found.to_pylist() == expected
    assert len(evaluate(expr, pa.table({"v": values.slice(0, 0)}))) == 0


@pytest.mark.parametrize(("values", "type_", "expected"), CASTS)
def test_casts(values: pa.Array, type_: pa.DataType, expected: list[Any]) -> None:
    checked(cast(ColumnRef(values.type, 0, "v"), type_), values, expected)


def function(name: str, *more: Expr) -> Lambda:
    """``x -> name(x, more)``."""
    return Lambda(
        pa.null(), ("x",), lambda types: (resolve(name, (ElementRef(types[0], 0, "x"), *more)), 0)
    )


def test_functions_over_elements() -> None:
    lists = ColumnRef(LISTS.type, 0, "v")
    two = Literal(INT, 2)
    above = function(">", two)
    for name, body, expected in (
        ("transform", function("+", two), [[5, None, 3], None, [], [4, 7]]),
        ("filter", above, [[3], None, [], [5]]),
        ("exists", above, [True, None, False, True]),
        ("forall", function(">", Literal(INT, 1)), [False, None, True, True]),
    ):
        checked(resolve(name, (lists, body)), LISTS, expected)


def test_functions_of_maps() -> None:
    maps = ColumnRef(MAPS.type, 0, "v")
    entries = [[{"key": "a", "value": 1}, {"key": "b", "value": None}], None, []]
    checked(resolve("map_entries", (maps,)), MAPS, [*entries, [{"key": "c", "value": 3}]])
    back = resolve("map_from_entries", (resolve("map_entries", (maps,)),))
    checked(back, MAPS, MAPS.slice(1).to_pylist())
    zipped = resolve("arrays_zip", (ColumnRef(LISTS.type, 0, "s.v"), ColumnRef(LISTS.type, 0, "w")))
    pairs = [[{"v": v, "w": v} for v in values] for values in ([3, None, 1], [], [2, 5])]
    checked(zipped, LISTS, [pairs[0], None, *pairs[1:]])


def test_sequences() -> None:
    numbers = pa.array([0, 2, None, -1, 3], BIGINT)
    expr = resolve("sequence", (Literal(BIGINT, 1), ColumnRef(BIGINT, 0, "v")))
    checked(expr, numbers, [[1, 2], None, [1, 0, -1], [1, 2, 3]])
