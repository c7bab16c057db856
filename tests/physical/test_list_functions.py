"""Functions of lists over no rows, and over a part of a column."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.algebra.expressions import ColumnRef, Literal
from eddyline.algebra.functions import resolve
from expression_columns import evaluate

LISTS = pa.array([[9], [3, None, 1, 3], None, [], [None], [2, 5]], pa.list_(pa.int64()))
NUMBER = ColumnRef(LISTS.type, 0, "l")
EXPECTED = {
    "sort_array": [[None, 1, 3, 3], None, [], [None], [2, 5]],
    "array_sort": [[1, 3, 3, None], None, [], [None], [2, 5]],
    "array_max": [3, None, None, None, 5],
    "array_min": [1, None, None, None, 2],
    "array_position": [1, None, 0, 0, 0],
    "slice": [[None, 1], None, [], [], [5]],
    "array_distinct": [[3, None, 1], None, [], [None], [2, 5]],
    "array_compact": [[3, 1, 3], None, [], [], [2, 5]],
    "array_remove": [[None, 1], None, [], [None], [2, 5]],
    "array_append": [[3, None, 1, 3, 7], None, [7], [None, 7], [2, 5, 7]],
    "array_prepend": [[None, 3, None, 1, 3], None, [None], [None, None], [None, 2, 5]],
    "array_repeat": [[[3, None, 1, 3]] * 2, [None] * 2, [[]] * 2, [[None]] * 2, [[2, 5]] * 2],
    "reverse": [[3, 1, None, 3], None, [], [None], [5, 2]],
    "concat": [[3, None, 1, 3] * 2, None, [], [None] * 2, [2, 5] * 2],
    "array_union": [[3, None, 1], None, [], [None], [2, 5]],
    "array_intersect": [[3, None, 1], None, [], [None], [2, 5]],
    "array_except": [[], None, [], [], []],
    "arrays_overlap": [True, None, False, None, True],
}
MORE = {
    "array_position": (Literal(pa.int64(), 3),),
    **dict.fromkeys(
        ("concat", "array_union", "array_intersect", "array_except", "arrays_overlap"), (NUMBER,)
    ),
    "array_remove": (Literal(pa.int64(), 3),),
    "array_append": (Literal(pa.int64(), 7),),
    "array_prepend": (Literal(pa.int64(), None),),
    "array_repeat": (Literal(pa.int32(), 2),),
    "slice": (Literal(pa.int32(), 2), Literal(pa.int32(), 2)),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_parts_of_a_column(name: str) -> None:
    expr = resolve(name, (NUMBER, *MORE.get(name, ())))
    batch = pa.RecordBatch.from_arrays([LISTS], names=["l"]).slice(1)
    assert evaluate(expr, pa.Table.from_batches([batch])).to_pylist() == EXPECTED[name]
    assert len(evaluate(expr, pa.table({"l": LISTS.slice(0, 0)}))) == 0
