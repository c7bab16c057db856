"""Chains into which older rows are linked and out of which rows are taken: against plain lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eddyline.kernels.common_keys import have_common
from eddyline.runtime.stores.index import HashIndex, Liveness
from eddyline.runtime.stores.rowstore import RowStore

LIFESPAN = 10
LIVENESS = [Liveness("ts", LIFESPAN, fifo=True), Liveness("ts", LIFESPAN, fifo=False)]
KEYS = st.integers(0, 3)


@given(
    st.lists(KEYS, max_size=40),
    st.lists(st.sampled_from(["link", "take", "drop"]), max_size=12),
    st.randoms(use_true_random=False),
    st.booleans(),
    st.sampled_from(LIVENESS),
)
def test_whatever_is_linked_and_taken_out(
    keys: list[int], steps: list[str], random: Any, scanned: bool, liveness: Liveness
) -> None:
    store = RowStore((), ["ts", "seq"])
    index = HashIndex(store, scanned=scanned)
    key = np.array(keys, np.int64)
    ts = np.arange(key.size) // 3
    store.append(key.size, {"ts": ts, "seq": np.arange(key.size)})
    inside: set[int] = set()
    first = 0
    for step in steps:
        if step == "link":
            outside = [p for p in range(first, key.size) if p not in inside]
            rows = random.sample(outside, random.randint(0, len(outside)))
            index.link(np.array(rows, np.int64), key[np.array(rows, np.int64)])
            inside |= set(rows)
        elif step == "take":
            wanted = np.array(random.sample(range(4), 2), np.int64)
            taken = index.take_out(wanted).tolist()
            assert sorted(taken) == sorted(p for p in inside if key[p] in wanted)
            inside -= set(taken)
        else:
            first = min(key.size, first + random.randint(0, 5))
            store.drop_before(first)
            inside = {p for p in inside if p >= first}
        probes = np.repeat(np.arange(4), 3)
        instants = np.array([random.randint(0, 25) for _ in probes])
        alive = [
            sorted((p for p in inside if key[p] == k and ts[p] + LIFESPAN > t), reverse=True)
            for k, t in zip(probes, instants, strict=True)
        ]
        assert index.any_alive(probes, instants, liveness).tolist() == [bool(a) for a in alive]
        by, found = index.all_alive(probes, instants, liveness)
        assert by.tolist() == [i for i, a in enumerate(alive) for _ in a]
        assert found.tolist() == [p for a in alive for p in a]
        assert index.sizes() == (len(inside), len({int(key[p]) for p in inside}))
    assert index.take_all().tolist() == sorted(inside)
    assert index.sizes() == (0, 0)


def test_long_chains_are_made_anew() -> None:
    """Rows of one key that are linked oldest last, each behind all the others."""
    count = 3_000
    store = RowStore((), ["ts", "seq"])
    index = HashIndex(store)
    store.append(count, {"ts": np.arange(count), "seq": np.arange(count)})
    index.link(np.arange(count)[::-1].copy(), np.zeros(count, np.int64))
    found = index.all_alive(np.zeros(1, np.int64), np.zeros(1, np.int64), LIVENESS[1])[1]
    assert found.tolist() == list(range(count - 1, -1, -1))


LISTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), max_size=60)


@given(LISTS, LISTS)
def test_numbers_that_have_a_key_in_both_lists(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    a, b = (np.array(sorted(pairs), np.int64).reshape(-1, 2).T for pairs in (left, right))
    common = {number for number, _ in set(left) & set(right)}
    found = have_common(a[0].copy(), a[1].copy(), b[0].copy(), b[1].copy(), 5)
    assert found.tolist() == [n in common for n in range(5)]
