"""The visible rows of an input by key, as of the instants of probes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.batch import Batch
from eddyline.runtime.join_inputs.access import Access, ScanIndex
from eddyline.runtime.join_inputs.join_input import JoinInput
from eddyline.runtime.stores.index import HashIndex, Probes
from eddyline.runtime.stores.intermediates import ResultRows
from eddyline.runtime.stores.rowstore import RowStore


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def changes(rows: Sequence[tuple[int, int, int, int, int | None]]) -> Batch:
    """Changes (ts, sign, id, exp, key), one per event."""
    ts, sign, ids, exp, keys = zip(*rows, strict=True)
    seq = 2 * np.arange(len(rows)) + 1 + 100 * min(ts)
    column = pa.array(keys, pa.int64())
    signs = np.array(sign, np.int8)
    return Batch(ints(*ts), seq, ints(*exp), signs, (ints(*ids),), (None,), (column,))


def found(rows: JoinInput, key: int, ts: int) -> list[int]:
    """Ids of the rows with a key that a probe after all events of ``ts`` finds, newest first."""
    probes = Probes(ints(key), ints(ts), ints(1 << 40))
    _, positions = rows.find(probes, inclusive=True)
    return rows.rows.ids(positions)[0].tolist()


@pytest.mark.parametrize("scanned", [False, True])
def test_results_are_visible_until_they_expire_or_are_deleted(*, scanned: bool) -> None:
    rows = JoinInput(ResultRows(1, strict=True), [lambda b: b.column(0)], scanned=scanned)
    rows.take_in(changes([(1, +1, 10, 9, 7), (2, +1, 11, 5, 7), (3, +1, 12, 9, 8)]))
    rows.take_in(changes([(4, +1, 13, 9, 7), (4, -1, 10, 9, 7)]))
    rows.take_in(changes([(5, +1, 14, 99, 8)]))
    assert found(rows, 7, 4) == [13, 11]
    assert found(rows, 7, 5) == [13]  # 11 expires at 5
    assert found(rows, 8, 5) == [14, 12]
    assert found(rows, 8, 9) == [14]
    assert found(rows, 9, 9) == []


def test_a_row_deleted_in_the_chunk_that_brought_it_is_visible_in_between() -> None:
    rows = JoinInput(ResultRows(1, strict=True), [lambda b: b.column(0)])
    batch = changes([(1, +1, 10, 9, 7), (2, -1, 10, 9, 7)])
    rows.take_in(batch)
    probes = Probes(ints(7, 7), batch.ts, batch.seq)
    by, positions = rows.find(probes, inclusive=True)
    assert (by.tolist(), rows.rows.ids(positions)[0].tolist()) == ([0], [10])


class _Unread:
    """In the place of chains by key, which must not be walked."""

    def bury(self, *arguments: object) -> np.ndarray:
        raise AssertionError("rows are searched for among those of their key")

    def insert(self, positions: np.ndarray, keys: np.ndarray) -> None:
        """Nothing is indexed."""


def test_negative_tuples_find_their_rows_by_id() -> None:
    rows = ResultRows(1, explicit=True, by_ids=True)
    first = changes([(1, +1, 10, 9, 7), (2, +1, 11, 9, 7), (3, +1, 12, 9, 7)])
    rows.take_in(first, ints(7, 7, 7), _Unread())  # type: ignore[arg-type]
    again = ResultRows(1, explicit=True, by_ids=True)
    again.restore(rows.state())
    for held in (rows, again):  # restored as well
        second = changes([(4, -1, 10, 9, 7), (5, +1, 13, 9, 7), (6, -1, 13, 9, 7)])
        places = held.take_in(second, ints(7, 7, 7), _Unread())  # type: ignore[arg-type]
        assert places.tolist()[0] == 0 and places[1] == places[2]
        assert [int(i) for i in held.ids(held.alive(6))[0]] == [11, 12]


def test_rows_with_null_in_the_key_match_nothing() -> None:
    rows = JoinInput(ResultRows(1), [lambda b: b.column(0)])
    kept, keys = rows.take_in(changes([(1, +1, 10, 9, None), (1, +1, 11, 9, 7)]))
    assert (kept.ids[0].tolist(), keys.tolist()) == ([11], [7])
    assert rows.kept() == 1


def test_an_input_is_restored_with_its_visible_rows() -> None:
    rows = JoinInput(ResultRows(1), [lambda b: b.column(0)])
    rows.take_in(changes([(1, +1, 10, 9, 7), (2, +1, 11, 9, 8)]))
    again = JoinInput(ResultRows(1), [lambda b: b.column(0)])
    again.restore(rows.state())
    assert found(again, 7, 3) == [10]
    assert found(again, 8, 3) == [11]


@pytest.mark.parametrize("seed", range(5))
def test_hash_and_scan_find_the_same_rows_slice_by_slice(seed: int) -> None:
    some = np.random.default_rng(seed)
    store = RowStore((), ["ts", "seq"])
    accesses: list[Access] = [HashIndex(store), ScanIndex(store)]
    ts = np.sort(some.integers(0, 50, 60))
    new = store.append(60, {"ts": ts, "seq": 2 * np.arange(60) + 1})
    positions, keys = np.arange(new.start, new.stop), some.integers(0, 4, 60)
    for access in accesses:
        access.insert(positions, keys)
    at = np.sort(some.integers(0, 60, 20))
    probes = Probes(some.integers(0, 4, 20), ts[at], 2 * at)
    cursors = [access.begin(probes, inclusive=False) for access in accesses]
    for end in (40, 10, 0):
        stop = np.full(20, end)
        one, other = (
            access.follow(0, probes.key, cursor, stop)
            for access, cursor in zip(accesses, cursors, strict=True)
        )
        assert [a.tolist() for a in one] == [a.tolist() for a in other]
