"""Conditions on columns say for each row what the expression says, NULL being false."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.algebra.expressions import Expr, Literal
from eddyline.physical.expressions import compile_predicate
from eddyline.runtime.stores.columns import raw_values
from eddyline.types import TIMESTAMP
from expression_columns import Rows, column, evaluate, fn

NOW = datetime(2026, 5, 1, tzinfo=UTC)
#: By type, values around those that conditions compare with.
VALUES: dict[pa.DataType, list[Any]] = {
    pa.int16(): [-(2**15), -1, 0, 1, 2**15 - 1],
    pa.int32(): [-(2**31), -1, 0, 1, 2**31 - 1],
    pa.int64(): [-(2**63), -1, 0, 1, 2**53 + 1, 2**63 - 1],
    pa.float32(): [-math.inf, -1.5, -0.0, 0.0, 0.1, math.inf, math.nan],
    pa.float64(): [-math.inf, -1.5, -0.0, 0.0, 0.1, math.inf, math.nan],
    TIMESTAMP: [NOW + timedelta(microseconds=us) for us in (-1, 0, 1)],
    pa.duration("us"): [timedelta(microseconds=us) for us in (-1, 0, 1)],
    pa.date32(): [date(1969, 12, 31), date(1970, 1, 1), date(2026, 5, 1)],
    pa.string(): ["", "a", "b"],
    pa.bool_(): [False, True],
}
COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]


@st.composite
def conditions(draw: st.DrawFn) -> tuple[Expr, pa.Table]:
    """Comparisons joined by AND and OR, over two columns with NULLs."""
    types = [draw(st.sampled_from(list(VALUES))) for _ in range(2)]
    rows = draw(st.integers(0, 6))
    lists = [[draw(st.sampled_from([*VALUES[t], None])) for _ in range(rows)] for t in types]
    table = pa.table([pa.array(v, t) for v, t in zip(lists, types, strict=True)], names=["x", "y"])
    start = draw(st.integers(0, rows))  # an array that is not at the beginning of its buffers
    table = table.slice(start)

    def comparison() -> Expr:
        name, type_ = draw(st.sampled_from(list(zip("xy", types, strict=True))))
        constant = Literal(type_, draw(st.sampled_from([*VALUES[type_], None])))
        sides = [column(name, table), constant]
        return fn(draw(st.sampled_from(COMPARISONS)), *draw(st.permutations(sides)))

    found = comparison()
    for _ in range(draw(st.integers(0, 3))):
        found = fn(draw(st.sampled_from(["and", "or"])), found, comparison())
    return found, table


@given(conditions())
def test_a_predicate_is_true_where_the_expression_is(case: tuple[Expr, pa.Table]) -> None:
    condition, table = case
    expected = evaluate(condition, table).fill_null(False).to_pylist()
    assert compile_predicate(condition)(Rows(table)).tolist() == expected


@pytest.mark.parametrize("type_", [pa.int64(), pa.float64(), TIMESTAMP])
def test_constants_are_compared_without_arrow(
    type_: pa.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = pa.array([*VALUES[type_]], type_)
    seen = []

    def counting(array: pa.Array, dtype: Any) -> Any:
        seen.append(array)
        return raw_values(array, dtype)

    monkeypatch.setattr("eddyline.physical.expressions.predicates.raw_values", counting)
    table = pa.table([values], names=["x"])
    condition = fn(">=", column("x", table), Literal(type_, VALUES[type_][1]))
    assert compile_predicate(condition)(Rows(table)).tolist()[1]
    assert len(seen) == 1
