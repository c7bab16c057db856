"""Arrays by slot grow in place, against lists of their rows; free numbers against a set."""

from __future__ import annotations

import mmap
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eddyline.runtime.stores import buffers
from eddyline.runtime.stores.buffers import LARGE
from eddyline.runtime.stores.lanes import Lanes
from eddyline.runtime.stores.slots import FreeNumbers, SlotArray

ITEMS = 4096  # arrays of more are large

KINDS: dict[str, tuple[Any, tuple[int, ...], Any]] = {
    "numbers": (np.int64, (), 0),
    "filled": (np.int64, (), -1),
    "rows": (np.int64, (3,), 7),
    "one item": (np.int32, (1,), 0),
    "flags": (np.bool_, (), True),
    "floats": (np.float64, (), np.nan),
}


@pytest.fixture(params=["pages", "copies"])
def small_arrays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of few items are large; there are pages to move, or none."""
    if request.param == "pages" and sys.platform != "linux":
        pytest.skip("pages are moved by mremap")
    monkeypatch.setattr(buffers, "_WITH_HUGE_PAGES", 1 << 16)
    monkeypatch.setattr(buffers, "LARGE", ITEMS if request.param == "pages" else sys.maxsize)


@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["grow", "grow", "write", "save"]), st.integers(0, 3 * ITEMS)),
        max_size=12,
    )
)
@pytest.mark.usefixtures("small_arrays")
def test_rows_stay_while_the_array_grows(kind: str, steps: list[tuple[str, int]]) -> None:
    dtype, shape, fill = KINDS[kind]
    rows, model = SlotArray(dtype, shape, fill), np.zeros((0, *shape), dtype)
    for step, number in steps:
        if step == "grow":
            rows.grow(number)
            new = max(number - len(model), 0)
            model = np.concatenate((model, np.full((new, *shape), fill, dtype)))
        elif step == "write" and len(model):
            at = number % len(model)
            rows.array[at] = model[at] = number % 2
        elif step == "save":
            copy = SlotArray(dtype, shape, fill)
            copy.restore(rows.held())
            rows = copy
        assert rows.end == len(model)
        assert rows.array.shape[1:] == shape
        np.testing.assert_array_equal(rows.held(), model)
        assert not rows.array[rows.end :].any(), "what has not been handed out is zero"


@pytest.mark.skipif(sys.maxsize == LARGE, reason="pages are moved by mremap")
@pytest.mark.parametrize("fill", [0, -1])
def test_growing_touches_new_rows_only(fill: int) -> None:
    resource = pytest.importorskip("resource")
    rows = SlotArray(np.int64, (2,), fill)
    rows.grow(16 * LARGE)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    capacities = set()
    for _ in range(100):
        rows.grow(rows.end + LARGE // 8)
        capacities.add(len(rows.array))
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    assert len(capacities) > 2, "it has been extended"
    new = 100 * (LARGE // 8) * 16 // mmap.PAGESIZE
    assert faults < 1.5 * new


def test_records_have_a_fill_by_field() -> None:
    dtype = np.dtype([("a", np.int64), ("b", np.int8), ("c", np.int64)])
    lanes = Lanes(dtype, {"c": -1})
    lanes.grow(3)
    lanes["a"][:3] = [5, 6, 7]
    lanes.grow(100)
    copy = Lanes(dtype, {"c": -1})
    copy.restore(lanes.state())
    copy.grow(101)
    for records in (lanes, copy):
        assert records["a"][:4].tolist() == [5, 6, 7, 0]
        assert (records["c"][:100] == -1).all()
        assert not records["b"].any()
    assert copy["c"][100] == -1


@settings(max_examples=100, derandomize=True)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["take", "take", "release", "save"]), st.integers(0, 200))
    )
)
def test_free_numbers_against_a_set(steps: list[tuple[str, int]]) -> None:
    numbers, taken, most = FreeNumbers(), list[int](), 0
    for step, count in steps:
        if step == "take":
            new = numbers.take(count).tolist()
            assert len(new) == count
            taken += new
            most = max(most, len(taken))
        elif step == "release":
            gone, taken = taken[::2][:count], taken[1::2] + taken[::2][count:]
            numbers.release(np.array(gone, np.int64))
        else:
            copy = FreeNumbers()
            copy.restore(numbers.state())
            numbers = copy
        assert len(set(taken)) == len(taken) == len(numbers)
        assert numbers.end == most, "released numbers are taken first"
        assert all(0 <= number < numbers.end for number in taken)
