"""Merging, slots, hashing, text, partition windows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels import chains, hashing
from eddyline.kernels.chains import NOTHING, bucket_of
from eddyline.kernels.deferred import report_compilations
from eddyline.kernels.merge import merge_destinations
from eddyline.kernels.text import gather_bytes, gathered_offsets, same_texts, text_prefixes
from eddyline.kernels.windows import push_out
from eddyline.runtime.stores.columns import text_buffers

instants = st.lists(st.tuples(st.integers(-2, 3), st.integers(-1, 2)), max_size=8).map(sorted)


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


@settings(max_examples=50, derandomize=True)
@given(a=instants, b=instants)
def test_merging_is_stable_with_the_first_sequence_ahead(
    a: list[tuple[int, int]], b: list[tuple[int, int]]
) -> None:
    lanes = [ints([r[i] for r in rows]) for rows in (a, b) for i in (0, 1)]
    to_a, to_b = merge_destinations(*lanes)
    merged: list[tuple[int, int, str] | None] = [None] * (len(a) + len(b))
    for name, rows, places in (("a", a, to_a), ("b", b, to_b)):
        for row, place in zip(rows, places.tolist(), strict=True):
            merged[place] = (*row, name)
    assert merged == sorted([(*r, "a") for r in a] + [(*r, "b") for r in b])


class Slots:
    """The arrays of a slot table with room for 16 hashes in 4 buckets; the first two are split."""

    def __init__(self) -> None:
        self.table = (np.full(8, NOTHING, np.int64), 62, 2)
        self.nodes = np.zeros((16, 2), np.int64)
        self.free = np.zeros(16, np.int64)
        self.free_count = self.end = 0

    def find(self, wanted: list[int], room: int = 16) -> tuple[list[int], list[int]]:
        found, claims, self.free_count, self.end = chains.find_or_claim(
            *self.table, self.nodes, self.free, self.free_count, self.end, room, ints(wanted)
        )
        return found.tolist(), claims.tolist()

    def release(self, gone: list[int]) -> None:
        self.free_count = chains.release_slots(
            *self.table, self.nodes, self.free, self.free_count, ints(gone)
        )


def test_equal_hashes_share_a_slot_and_the_first_one_claims_it() -> None:
    assert Slots().find([9, -4, 9, -4, 0]) == ([0, 1, 0, 1, 2], [0, 1, 4])


def test_claims_end_where_there_is_no_room() -> None:
    table = Slots()
    assert table.find([9, -4, 9, 5, 9], room=2) == ([0, 1, 0], [0, 1])
    assert table.find([5, 9], room=0) == ([], [])
    assert table.find([5, 9], room=1) == ([2, 0], [0])


def test_released_slots_are_claimed_again() -> None:
    table = Slots()
    one = [h for h in range(200) if bucket_of(h, 62, 2) == 1][:4]
    table.find(one)
    table.release([1, 3])  # the middle and the head of a chain
    assert table.find([one[0], one[2]]) == ([0, 2], [])
    assert table.find([300, one[1], 301]) == ([3, 1, 4], [0, 1, 2])
    assert (table.free_count, table.end) == (0, 5)


@settings(max_examples=40, derandomize=True)
@given(steps=st.lists(st.tuples(st.booleans(), st.sets(st.integers(-5, 5))), max_size=12))
def test_slots_against_a_dictionary(steps: list[tuple[bool, set[int]]]) -> None:
    table, model = Slots(), dict[int, int]()
    for leaving, wanted in steps:
        if leaving:
            table.release([model.pop(h) for h in wanted if h in model])
            continue
        found, claims = table.find(list(wanted))
        assert [h for i, h in enumerate(wanted) if i in claims] == [
            h for h in wanted if h not in model
        ]
        for h, slot in zip(wanted, found, strict=True):
            assert model.setdefault(h, slot) == slot
        assert len(set(model.values())) == len(model) == table.end - table.free_count


def test_mix_tells_all_integers_apart() -> None:
    values = np.concatenate((np.arange(-2000, 2000), 1 << np.arange(62), -(1 << np.arange(62))))
    values = np.unique(values).astype(np.int64)
    hashes = hashing.mix_all(values)
    assert np.unique(hashes).size == values.size
    assert np.unique(hashes & 0xFFFF).size > values.size * 0.95  # the low bits pick the bucket


def test_texts_that_differ_in_split_or_length_have_other_hashes() -> None:
    texts = ["", "a", "b", "ab", "ba", "a\0", "\0", "\0\0", "ä", "x" * 1000, "x" * 999 + "y"]
    hashes = hashing.hash_texts(*text_buffers(pa.array(texts)))
    assert np.unique(hashes).size == len(texts)
    part = pa.array(["zzz", *texts]).slice(1)
    np.testing.assert_array_equal(hashing.hash_texts(*text_buffers(part)), hashes)


def test_combining_hashes_depends_on_the_order_of_columns() -> None:
    a, b = hashing.mix_all(ints([1, 2, 1])), hashing.mix_all(ints([2, 1, 2]))
    ab, ba = a.copy(), b.copy()
    hashing.combine(ab, b)
    hashing.combine(ba, a)
    assert ab[0] == ab[2] != ab[1]
    assert (ab != ba).all()


@settings(max_examples=60, derandomize=True)
@given(texts=st.lists(st.binary(max_size=12), min_size=2, max_size=6))
def test_prefixes_order_texts_by_their_first_eight_bytes(texts: list[bytes]) -> None:
    keys = text_prefixes(*text_buffers(pa.array(texts, pa.binary()))).tolist()
    padded = [t[:8].ljust(8, b"\0") for t in texts]
    for a, x in zip(keys, padded, strict=True):
        for b, y in zip(keys, padded, strict=True):
            assert (a < b) == (x < y)


@settings(max_examples=30, derandomize=True)
@given(texts=st.lists(st.binary(max_size=5), min_size=1, max_size=6), data=st.data())
def test_gathering_text(texts: list[bytes], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8))
    offsets, raw = text_buffers(pa.array(texts, pa.binary()))
    wide = offsets.astype(np.int64)
    out = gathered_offsets(wide, ints(rows))
    gathered = gather_bytes(wide + 7, raw, 7, ints(rows), out).tobytes()
    ends = out.tolist()
    cut = [gathered[a:b] for a, b in pairwise(ends)]
    assert cut == [texts[r] for r in rows]


def test_each_row_pushes_out_the_nth_before_it_of_its_partition() -> None:
    last, seen = np.full((2, 2), -1, np.int64), np.zeros(2, np.int64)
    assert push_out(ints([0, 0, 1, 0]), ints([10, 11, 12, 13]), last, seen).tolist() == [
        -1, -1, -1, 10,
    ]  # fmt: skip
    assert push_out(ints([1, 1, 0]), ints([14, 15, 16]), last, seen).tolist() == [-1, 12, 11]


def test_compilations_are_reported_only_inside_the_block_and_only_ours() -> None:
    told: list[str] = []
    with report_compilations(told.append):
        hashing.mix_all(ints([1]))  # compiled already, by this process or from the cache
    assert set(told) <= {"mix_all", "mix"}


def test_texts_are_compared_where_they_are() -> None:
    words = ["", "a", "ab", "abc", "b", "abcdefgh", "abcdefgi", "abcdefghi"]
    offsets, data = text_buffers(pa.array(words))
    wide = offsets.astype(np.int64)
    left, right = (g.ravel() for g in np.meshgrid(np.arange(len(words)), np.arange(len(words))))
    same = same_texts(wide, data, 0, left, wide + 7, data, 7, right)
    np.testing.assert_array_equal(same, left == right)
