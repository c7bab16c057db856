"""The table of a hash index grows bucket by bucket, and finds the same rows meanwhile."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.stores.index import HashIndex, Liveness, Probes
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.types import FOREVER
from watched_buckets import refuse_to_rebuild, watched_tables

LIVENESS = Liveness("ts", FOREVER, fifo=False)


class Indexed:
    """A store whose row n has the key n % keys, an index over it, and the rows it should hold."""

    def __init__(self, keys: int) -> None:
        self.store = RowStore((), ["ts", "seq"])
        self.index = HashIndex(self.store)
        self.keys = keys

    def insert(self, count: int) -> np.ndarray:
        ts = np.arange(self.store.end, self.store.end + count)
        self.store.append(count, {"ts": ts, "seq": ts})
        self.index.insert(ts, ts % self.keys)
        return ts

    def check(self, wanted: np.ndarray) -> None:
        """Compare the rows of some keys, newest first."""
        by, found = self.index.all_alive(wanted, np.zeros(wanted.size, np.int64), LIVENESS)
        first, end = self.store.first, self.store.end
        expected = []
        for number, key in enumerate(wanted.tolist()):
            newest = end - 1 - (end - 1 - key) % self.keys
            expected += [(number, p) for p in range(newest, first - 1, -self.keys)]
        assert list(zip(by.tolist(), found.tolist(), strict=True)) == expected


@settings(derandomize=True, max_examples=100)
@given(
    st.integers(1, 5000),
    st.lists(st.tuples(st.sampled_from(["some", "some", "many", "drop"]), st.floats(0, 1))),
    st.randoms(use_true_random=False),
)
def test_whatever_is_inserted_and_dropped(
    keys: int, steps: list[tuple[str, float]], random: Random
) -> None:
    rows = Indexed(keys)
    for step, part in steps:
        if step == "drop":
            rows.store.drop_before(rows.store.first + int(part * len(rows.store)))
            continue
        new = rows.insert(int(part * (100 if step == "some" else 3000)))
        wanted = np.array([random.randrange(keys) for _ in range(20)])
        rows.check(wanted)
        probes = Probes(new % keys, new, new)  # each sees those before it
        by, found = rows.index.probe(probes, LIVENESS, inclusive=False)
        assert (found < new[by]).all()
        assert (found % keys == new[by] % keys).all()
        counts = np.array([len(range(n - keys, rows.store.first - 1, -keys)) for n in new])
        np.testing.assert_array_equal(np.bincount(by, minlength=new.size), counts)


def test_a_table_that_grows_is_not_rebuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Indexed(7_000)
    rows.insert(2_000)
    rows.insert(0)
    refuse_to_rebuild(monkeypatch)
    tables = watched_tables(monkeypatch)
    while rows.store.end < 300_000:
        rows.insert(500)
        assert not tables or tables[-1][0].size <= 8 * len(rows.store)
    rows.check(np.arange(0, 7_000, 97))
    assert len({heads.size for heads, _, _ in tables}) > 5, "it has doubled often"
    assert sum(split is not None for _, _, split in tables) > 100


def test_walks_go_on_while_buckets_are_split() -> None:
    """Cursors of a walk that was interrupted, corrected after each change of the table."""
    rows = Indexed(50)
    rows.insert(500)
    key = np.arange(50)
    stop = np.zeros(50, np.int64)
    end = np.full(50, rows.store.end)
    version, cursor = rows.index.version, rows.index.begin_below(key, end)
    changes = 0
    for stop_at in (400, 300, 200, 100, 0):
        rows.insert(197)
        if rows.index.version != version:
            version = rows.index.version
            rows.index.find_again(key, cursor)
            changes += 1
        stop[:] = stop_at
        by, found = rows.index.follow(0, key, cursor, stop)
        assert sorted(zip(by.tolist(), found.tolist(), strict=True)) == [
            (k, p) for k in range(50) for p in range(stop_at, stop_at + 100) if p % 50 == k
        ]
    assert changes
