"""Positions, places and row ids of a row store across dropping, compaction and growth."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.stores.rowstore import RowStore
from eddyline.types import Field

SCHEMA = (Field("text", pa.string()),)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def store() -> RowStore:
    return RowStore(SCHEMA, ["ts", "seq"])


def append(rows: RowStore, count: int) -> None:
    start = rows.next_id
    texts = pa.array([f"row {i}" for i in range(start, start + count)], pa.string())
    ts = np.arange(start, start + count)
    rows.append(count, {"ts": ts, "seq": 2 * ts + 1}, [texts])


def held(rows: RowStore) -> list[int]:
    """The ids in the store, after checking that lanes, payload and ids agree."""
    positions = np.arange(rows.first, rows.end)
    ids = rows.ids(positions)
    np.testing.assert_array_equal(rows.positions(ids), positions)
    np.testing.assert_array_equal(rows.held("ts"), ids)
    np.testing.assert_array_equal(rows.lane_at("seq", positions), 2 * ids + 1)
    assert rows.gather(0, ids).to_pylist() == [f"row {i}" for i in ids]
    assert len(rows) == ids.size
    return ids.tolist()


def test_ids_are_positions_until_the_first_compaction() -> None:
    rows = store()
    append(rows, 5)
    rows.drop_before(2)
    assert held(rows) == [2, 3, 4]
    assert rows.ids(ints(3)).tolist() == [3]
    rows.keep(np.array([True, False, True]))
    assert held(rows) == [2, 4]
    assert rows.first == 5, "new positions are larger than all old ones"
    assert rows.generation == 1
    append(rows, 2)
    assert held(rows) == [2, 4, 5, 6]


def test_dropping_before_the_start_or_behind_the_end() -> None:
    rows = store()
    append(rows, 3)
    rows.drop_before(2)
    rows.drop_before(0)
    assert held(rows) == [2]
    rows.drop_before(99)
    assert held(rows) == []
    append(rows, 1)
    assert held(rows) == [3]


def test_added_lanes_are_filled_for_rows_present_and_to_come() -> None:
    rows = store()
    append(rows, 2)
    rows.add_lane("death", 77)
    append(rows, 100)
    assert rows.held("death").tolist() == [77] * 102
    rows.remove_lane("death")
    append(rows, 1)
    assert held(rows) == list(range(103))


def test_capacity_follows_the_rows_that_are_held() -> None:
    rows = store()
    for _ in range(500):
        append(rows, 50)
        rows.drop_before(rows.end - 60)
    assert len(rows) == 60
    assert rows.lane("ts").size <= 512
    assert rows.column(0).texts().data.size <= 64 * 512  # type: ignore[attr-defined]


steps = st.lists(
    st.tuples(st.sampled_from(["append", "drop", "keep", "thin", "save"]), st.integers(0, 90)),
    max_size=15,
)


@settings(max_examples=100, derandomize=True)
@given(steps=steps)
def test_against_a_list_of_ids(steps: list[tuple[str, int]]) -> None:
    rows, model, came = store(), list[int](), 0
    rows.add_lane("note", -1, derived=True)
    for step, number in steps:
        match step:
            case "append":
                append(rows, number)
                model += range(came, came + number)
                came += number
            case "drop":
                cut = min(number, len(model))
                rows.drop_before(rows.first + cut)
                del model[:cut]
            case "keep" | "thin":
                drops = [i % (number + 2) == 0 for i in range(len(model))]
                alive = np.array(drops, np.bool_) == (step == "thin")
                rows.keep(alive)
                model = [m for m, a in zip(model, alive, strict=True) if a]
            case "save":
                copy = store()
                copy.add_lane("note", -1, derived=True)
                copy.restore(rows.state())
                rows = copy
        assert held(rows) == model
        assert rows.next_id == came
        assert (rows.held("note") == -1).all()
