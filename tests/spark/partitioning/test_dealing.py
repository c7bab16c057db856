"""Dealing rows to cells: every row in the right cells, in order of arrival."""

from __future__ import annotations

import datetime
import decimal
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.algebra.expressions import Call, ColumnRef, Literal
from eddyline.runtime.stores.keys import group_hashes
from eddyline.spark.partitioning.dealing import Dealer, Dealt
from eddyline.spark.partitioning.frequent_keys import KeyCounts
from eddyline.spark.partitioning.layouts import (
    COPIED,
    SPREAD,
    Axis,
    ByKey,
    Coordinate,
    Layout,
    one_cell,
)
from eddyline.spark.partitioning.split_keys import SplitKey

BIG, TEXT = pa.int64(), pa.string()
X = ByKey((ColumnRef(BIG, 0, "x"),))
Y = ByKey((ColumnRef(TEXT, 1, "y"),))
XY = ByKey((*X.key, *Y.key))


def layout(*axes: tuple[int, Coordinate]) -> Layout:
    sizes = tuple(Axis(f"axis {n}", size) for n, (size, _) in enumerate(axes))
    return Layout(sizes, {"s": tuple(c for _, c in axes)})


def rows_of(dealt: Dealt) -> list[list[int]]:
    """By cell, the numbers of its rows."""
    parts = dealt.parts(pa.table({"row": np.arange(dealt.starts[-1])}))
    return [parts[part]["row"].to_pylist() for part in dealt.part_of]


def deal(to: Layout, *columns: pa.Array, turn: int = 0) -> list[list[int]]:
    return rows_of(Dealer(to, "s").deal(columns, turn))


def numbers(count: int) -> list[pa.Array]:
    return [pa.array(range(count), BIG), pa.array([f"text {n % 7}" for n in range(count)])]


def cells_by_value(column: pa.Array, cells: int = 64) -> list[int]:
    """The cell of each value, by a key on the only column."""
    key = ByKey((ColumnRef(column.type, 0, "v"),))
    found = deal(layout((cells, key)), column)
    cell_of = {row: cell for cell, rows in enumerate(found) for row in rows}
    return [cell_of[row] for row in range(len(column))]


coordinates: st.SearchStrategy[Coordinate] = st.sampled_from([X, Y, XY, SPREAD, COPIED])
layouts = st.lists(st.tuples(st.integers(1, 3), coordinates), max_size=3).map(
    lambda axes: layout(*axes)
)
columns = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-3, 3)), st.one_of(st.none(), st.sampled_from("abc"))
    ),
    max_size=20,
).map(lambda rows: [pa.array([r[0] for r in rows], BIG), pa.array([r[1] for r in rows], TEXT)])


@settings(max_examples=200, derandomize=True, deadline=None)
@given(to=layouts, values=columns, turn=st.integers(0, 10))
def test_each_row_is_in_one_cell_per_combination_of_copied_coordinates(
    to: Layout, values: list[pa.Array], turn: int
) -> None:
    found = deal(to, *values, turn=turn)
    assert len(found) == to.cells
    assert all(rows == sorted(rows) for rows in found)
    count = len(values[0])
    counting = [row for cell, rows in enumerate(found) if to.counts("s", cell) for row in rows]
    assert sorted(counting) == list(range(count))
    copied = [n for n, c in enumerate(to.inputs["s"]) if c is COPIED]
    for row in range(count):
        places = [to.coordinates(cell) for cell, rows in enumerate(found) if row in rows]
        assert len(places) == to.copies("s")
        assert len({tuple(p[n] for n in copied) for p in places}) == len(places)
        assert len({tuple(v for n, v in enumerate(p) if n not in copied) for p in places}) == 1


@settings(max_examples=100, derandomize=True, deadline=None)
@given(values=columns)
def test_rows_with_equal_keys_meet_whatever_else_they_are(values: list[pa.Array]) -> None:
    found = deal(layout((3, XY), (2, SPREAD)), *values)
    pairs = list(zip(*(v.to_pylist() for v in values), strict=True))
    of_pair: dict[object, set[int]] = {}
    for cell, rows in enumerate(found):
        for row in rows:
            of_pair.setdefault(pairs[row], set()).add(cell // 2)
    assert all(len(cells) == 1 for cells in of_pair.values())


def test_two_inputs_of_an_axis_meet_by_their_own_key_columns() -> None:
    swapped = ByKey((ColumnRef(BIG, 1, "x"),))
    to = Layout((Axis("a.x = b.x", 5),), {"a": (X,), "b": (swapped,)})
    x, y = numbers(100)
    a = Dealer(to, "a").deal([x, y], 0)
    b = Dealer(to, "b").deal([y, x], 3)
    assert rows_of(a) == rows_of(b)
    assert all(10 <= len(rows) <= 32 for rows in rows_of(a))


def test_a_key_may_be_computed_and_rows_for_which_it_fails_are_dealt_like_null() -> None:
    inverse = Call(BIG, "div", (Literal(BIG, 12), ColumnRef(BIG, 0, "x")))
    to = layout((7, ByKey((inverse,))))
    cells = deal(to, pa.array([0, None, 12, 11, 1, 0], BIG))
    together = {tuple(rows) for rows in cells if rows}
    assert any({0, 1, 5} <= set(rows) for rows in together)
    assert any({2, 3} <= set(rows) for rows in together)


def test_axes_with_the_same_key_are_independent() -> None:
    found = deal(layout((2, X), (2, X)), *numbers(4_000))
    assert all(900 < len(rows) < 1_100 for rows in found)


def test_spread_rows_are_blocks_and_take_turns() -> None:
    values = numbers(10)
    assert deal(layout((3, SPREAD)), *values) == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert deal(layout((3, SPREAD)), *values, turn=4) == [[7, 8, 9], [0, 1, 2, 3], [4, 5, 6]]
    single = [deal(layout((3, SPREAD)), *numbers(1), turn=turn) for turn in range(3)]
    assert single == [[[0], [], []], [[], [0], []], [[], [], [0]]]
    both = deal(layout((4, X), (3, SPREAD)), *numbers(3_000))
    assert all(190 < len(rows) < 310 for rows in both)


def test_spread_and_copied_rows_are_not_copied_in_memory() -> None:
    table = pa.table({"row": np.arange(10)})
    for to in (one_cell({"s": None}), layout((3, SPREAD), (2, COPIED))):
        parts = Dealer(to, "s").deal(numbers(10), 1).parts(table)
        addresses = {part["row"].chunk(0).buffers()[1].address for part in parts}
        assert addresses == {table["row"].chunk(0).buffers()[1].address}


def test_only_some_rows_are_left() -> None:
    kept = np.arange(10) % 3 > 0
    for to in (layout((2, X), (2, COPIED)), layout((3, SPREAD)), one_cell({"s": None})):
        dealt = Dealer(to, "s").deal(numbers(10), 1)
        expected = [[row for row in rows if kept[row]] for rows in rows_of(dealt)]
        left = dealt.only(kept)
        parts = left.parts(pa.table({"row": np.arange(10)}))
        assert [parts[p]["row"].to_pylist() for p in left.part_of] == expected
        assert left.sizes.tolist() == [part.num_rows for part in parts]


def test_equal_values_are_in_one_cell_however_they_are_stored() -> None:
    zeros = pa.array([0.0, -0.0, float("nan"), np.float64("-nan"), None, None])
    cells = cells_by_value(zeros)
    assert cells[0] == cells[1]
    assert cells[2] == cells[3]
    assert cells[4] == cells[5]
    sliced = pa.array(["x", "abcdefghijk", None, "", "y"]).slice(1, 3)
    assert cells_by_value(sliced) == cells_by_value(pa.array(["abcdefghijk", None, ""]))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([True, False, None]),
        pa.array([1, -1, None], pa.int8()),
        pa.array([1.5, float("inf"), None], pa.float32()),
        pa.array([datetime.date(2026, 1, 1), datetime.date(1969, 1, 1), None]),
        pa.array([0, 1, None], pa.timestamp("us", "UTC")),
        pa.array([b"a", b"", None]),
        pa.array([decimal.Decimal("1.50"), decimal.Decimal("-7.00"), None], pa.decimal128(9, 2)),
    ],
    ids=lambda values: str(values.type),
)
def test_keys_of_every_type(values: pa.Array) -> None:
    cells = cells_by_value(pa.concat_arrays([values, values]), cells=1 << 14)
    assert cells[:3] == cells[3:]
    assert len(set(cells)) == 3


def test_other_processes_deal_the_same_way() -> None:
    code = "import test_dealing as t; print(t.deal(t.layout((5, t.XY), (2, t.X)), *t.numbers(50)))"
    paths = os.pathsep.join([*sys.path, os.path.dirname(__file__)])
    expected = str(deal(layout((5, XY), (2, X)), *numbers(50)))
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": seed}
        ran = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert ran.stdout.strip() == expected


def test_no_rows() -> None:
    for to in (layout((2, X), (2, SPREAD)), layout((3, SPREAD)), one_cell({"s": None})):
        assert list(itertools.chain(*deal(to, *numbers(0)))) == []


def hashes(key: ByKey, *columns: pa.Array) -> list[int]:
    return [int(h) for h in group_hashes([columns[e.index] for e in key.key])]  # type: ignore[attr-defined]


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    to=layouts,
    values=columns,
    turn=st.integers(0, 10),
    chosen=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 19), st.integers(0, 2))),
)
def test_rows_of_split_keys_are_spread_or_copied(
    to: Layout, values: list[pa.Array], turn: int, chosen: list[tuple[int, int, int]]
) -> None:
    """By axis: a row of a spread key is at one coordinate, of a copied one at all, of others where
    it is without splits. One of the cells with a row has it as its own.
    """
    split = {}
    for axis, row, how in chosen:
        keyed = axis < len(to.axes) and isinstance(to.inputs["s"][axis], ByKey)
        if keyed and row < len(values[0]):
            key = hashes(to.inputs["s"][axis], *values)[row]  # type: ignore[arg-type]
            spread, spreads = ("s", how == 1) if how else ("other", True)
            split[axis, key] = SplitKey(axis, key, spread, spreads)
    plain = deal(to, *values, turn=turn)
    dealt = Dealer(to, "s", list(split.values())).deal(values, turn)
    parts = [dealt.rows(part).tolist() for part in range(dealt.sizes.size)]
    assert all(rows == sorted(rows) for rows in parts), "in order of arrival"
    found = [parts[part] for part in dealt.part_of]
    for row in range(len(values[0])):
        before, after = (
            {to.coordinates(cell) for cell, rows in enumerate(of) if row in rows}
            for of in (plain, found)
        )
        for axis, (coordinate, of) in enumerate(zip(to.inputs["s"], to.axes, strict=True)):
            at, was = ({place[axis] for place in places} for places in (after, before))
            state = None
            if isinstance(coordinate, ByKey):
                state = split.get((axis, hashes(coordinate, *values)[row]))
            if state is None or (state.spread == "s" and not state.spreads):
                assert at == was
            else:
                assert len(at) == (1 if state.spread == "s" else of.size)
        own = [part for part, rows in enumerate(parts) if row in rows]
        copies = [dealt.copied(part)[parts[part].index(row)] for part in own]
        assert copies.count(False) == 1
    kept = np.arange(len(values[0])) % 2 == 0
    left = dealt.only(kept)
    assert [left.rows(p).tolist() for p in range(len(parts))] == [
        [row for row in rows if kept[row]] for rows in parts
    ]
    assert all(left.copied(p).size == left.rows(p).size for p in range(len(parts)))


def test_frequent_keys_are_counted_along_the_axes_that_are_asked_for() -> None:
    values = [pa.array([5] * 600 + list(range(1_000, 1_400)), BIG), pa.array(["t"] * 1_000)]
    to = layout((4, X), (2, Y), (2, SPREAD))
    dealer = Dealer(to, "s", counted=[0, 1])
    for _ in range(2):
        dealer.deal(values, 0)
    of_x, of_y = dealer.frequent()
    five = hashes(X, *values)[0]
    assert (of_x.input, of_x.axis, of_x.rows) == ("s", 0, 2_000)
    assert of_x.counts.keys() == {five}
    assert 1_200 - 2_000 / 64 <= of_x.counts[five][0] <= 1_200
    assert of_x.counts[five][1] == "5"
    assert [(n, text) for n, text in of_y.counts.values()] == [(2_000, "t")]
    assert KeyCounts.read(json.loads(of_x.packed())) == of_x
    assert Dealer(to, "s").frequent() == []


def test_rows_of_a_spread_key_are_spread_evenly() -> None:
    values = [pa.array([5] * 30, BIG), pa.array(["t"] * 30)]
    key = hashes(X, *values)[0]
    for turn in (0, 1):
        dealt = Dealer(layout((3, X)), "s", [SplitKey(0, key, "s", True)]).deal(values, turn)
        assert dealt.sizes.tolist() == [10, 10, 10]
        assert 0 in dealt.rows(turn).tolist()
