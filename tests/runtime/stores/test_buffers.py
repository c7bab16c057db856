"""Large arrays: their rows are moved by their pages, whatever is dropped, grown or given back."""

from __future__ import annotations

import ctypes
import mmap
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eddyline.runtime.footprint import nbytes_of
from eddyline.runtime.stores import buffers
from eddyline.runtime.stores.buffers import LARGE, Buffer, roomy
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.types import Field

ROWS = 4096  # large arrays have at least twice as many
SCHEMA = tuple(
    Field(str(type_), type_)
    for type_ in (pa.string(), pa.bool_(), pa.int16(), pa.int64(), pa.decimal128(38, 2))
)


@pytest.fixture(params=["pages", "failing", "copies"])
def small_arrays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of few rows are large; moving pages works, fails, or does not exist."""
    if request.param != "copies" and sys.platform != "linux":
        pytest.skip("pages are moved by mremap")
    monkeypatch.setattr(buffers, "_WITH_HUGE_PAGES", 1 << 16)
    large = sys.maxsize if request.param == "copies" else 2 * ROWS
    monkeypatch.setattr(buffers, "LARGE", large)
    if request.param == "failing":
        monkeypatch.setattr(buffers, "_MREMAP", lambda *_: ctypes.c_void_p(-1).value)
        monkeypatch.setattr(buffers, "_SMALLEST_MOVE", 1 << 13)


def values(first: int, count: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Rows that tell their number."""
    numbers = np.arange(first, first + count).reshape(-1, *(1 for _ in shape))
    return np.broadcast_to(numbers, (count, *shape)).astype(dtype)


@pytest.mark.parametrize(("dtype", "shape"), [("i8", ()), ("u1", ()), ("i8", (3,)), ("i2", ())])
@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.usefixtures("small_arrays")
def test_rows_stay_while_others_come_and_go(
    dtype: str, shape: tuple[int, ...], scattered: bool
) -> None:
    rng = np.random.default_rng(7)
    capacity = 64
    buffer = Buffer(capacity, dtype, shape, scattered=scattered)
    start = end = base = 0  # places of the rows, and the number of place 0
    for step in range(60):
        count = int(rng.integers(0, 3 * ROWS if step % 20 < 12 else ROWS // 2))
        if end + count > capacity:
            capacity = roomy(end - start + count, capacity)
            buffer.shift(start, end, capacity)
            start, end, base = 0, end - start, base + start
            assert len(buffer.array) == capacity
        buffer.array[end : end + count] = values(base + end, count, dtype, shape)
        end += count
        expected = values(base + start, end - start, dtype, shape)
        np.testing.assert_array_equal(buffer.array[start:end], expected)
        start += int(rng.integers(0, end - start + 1)) if step % 20 >= 8 else 0
    assert capacity < 50 * ROWS


@pytest.mark.skipif(sys.maxsize == LARGE, reason="pages are moved by mremap")
def test_moving_touches_no_row_and_reuses_the_pages_of_dropped_ones() -> None:
    resource = pytest.importorskip("resource")
    rows = 64 * LARGE
    buffer = Buffer(rows, np.int64)
    buffer.array[:] = np.arange(rows)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(3):
        buffer.shift(16 * LARGE, rows, rows)
        buffer.array[-16 * LARGE :] = buffer.array[: 16 * LARGE]
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    assert faults < rows * 8 // mmap.PAGESIZE // 4
    assert buffer.array[0] == 48 * LARGE


@pytest.mark.skipif(sys.maxsize == LARGE, reason="pages are moved by mremap")
@pytest.mark.parametrize("scattered", [False, True])
def test_only_pages_that_were_written_may_become_huge(scattered: bool) -> None:
    buffer = Buffer(8 * LARGE, np.int64, scattered=scattered)
    assert not may_be_huge(buffer.array[0:1])
    buffer.array[:] = 1
    buffer.shift(0, 8 * LARGE, 16 * LARGE)
    assert may_be_huge(buffer.array[4 * LARGE :][:1]) == scattered
    assert not may_be_huge(buffer.array[12 * LARGE :][:1])


def may_be_huge(item: np.ndarray) -> bool:
    """Whether the kernel may replace the page of an item by a huge one."""
    within = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if match := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            start, end = (int(address, 16) for address in match.groups())
            within = start <= item.ctypes.data < end
        elif within and line.startswith("VmFlags:"):
            return "hg" in line.split()
    raise AssertionError("no mapping has this address")


def test_what_was_dropped_is_given_back() -> None:
    capacity = roomy(100 * LARGE, 64)
    assert roomy(90 * LARGE, capacity) == capacity
    assert roomy(10 * LARGE, capacity) < capacity // 4 or capacity < LARGE


def rows_of(first: int, count: int) -> list[pa.Array]:
    """The columns of rows by their numbers, each with NULLs."""
    numbers = np.arange(first, first + count)
    null = numbers % 11 == 3
    ints = pa.array(numbers, mask=null)
    texts = ints.cast(pa.string()).fill_null("").to_numpy(zero_copy_only=False)
    return [
        pa.array(texts, pa.string(), mask=null),
        pa.array(numbers % 3 == 0, mask=null),
        pa.array((numbers % 30_000).astype(np.int16), mask=null),
        ints,
        ints.cast(pa.decimal128(38, 2)),
    ]


class Model:
    """The ids of the rows that a store has, and how they compare with it."""

    def __init__(self) -> None:
        self.store = self.new()
        self.ids = np.zeros(0, np.int64)
        self.came = 0

    @staticmethod
    def new() -> RowStore:
        store = RowStore(SCHEMA, ["ts", "seq"])
        store.add_lane("note", -1)
        store.add_lane("wide", -1, width=3, derived=True)
        return store

    def append(self, count: int) -> None:
        ts = np.arange(self.came, self.came + count)
        added = self.store.append(count, {"ts": ts, "seq": 2 * ts}, rows_of(self.came, count))
        positions = np.arange(added.start, added.stop)
        self.store.lane("note")[positions - self.store.base] = ts + 5
        self.ids = np.concatenate((self.ids, ts))
        self.came += count

    def drop(self, count: int) -> None:
        self.store.drop_before(self.store.first + count)
        self.ids = self.ids[count:]

    def keep(self, seed: int) -> None:
        alive = np.random.default_rng(seed).random(self.ids.size) < 0.5
        self.store.keep(alive)
        self.ids = self.ids[alive]

    def save(self) -> None:
        copy = self.new()
        copy.restore(self.store.state())
        self.store = copy

    def check(self, seed: int) -> None:
        """Compare all lanes, and some rows in any order."""
        store, ids = self.store, self.ids
        positions = np.arange(store.first, store.end)
        np.testing.assert_array_equal(store.ids(positions), ids)
        np.testing.assert_array_equal(store.positions(ids), positions)
        np.testing.assert_array_equal(store.held("ts"), ids)
        np.testing.assert_array_equal(store.held("seq"), 2 * ids)
        np.testing.assert_array_equal(store.held("note"), ids + 5)
        assert (store.held("wide") == -1).all()
        if ids.size == 0:
            return
        some = np.random.default_rng(seed).choice(ids, 100)
        for column, expected in enumerate(rows_of(0, self.came)):
            assert store.gather(column, some).equals(expected.take(pa.array(some)))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append"] * 5 + ["drop"] * 4 + ["keep", "save"]),
        st.integers(0, 4 * ROWS),
    ),
    max_size=25,
)


@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
@pytest.mark.usefixtures("small_arrays")
def test_stores_against_a_list_of_ids(steps: list[tuple[str, int]]) -> None:
    model = Model()
    for step, number in steps:
        if step == "append":
            model.append(number)
        elif step == "drop":
            model.drop(min(number, model.ids.size))
        elif step == "keep":
            model.keep(number)
        else:
            model.save()
        model.check(number)


def test_mapped_arrays_are_counted_as_what_they_have_room_for() -> None:
    capacity = 2 * LARGE if LARGE < 1 << 30 else 1 << 19
    buffer = Buffer(capacity, np.int64)
    assert nbytes_of(buffer) == pytest.approx(8 * capacity, rel=0.01)
