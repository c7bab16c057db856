"""Lineage bitsets against sets of bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eddyline.kernels.lineage import (
    any_wanted,
    by_bit,
    earliest,
    expand,
    meet,
    order_ties,
)

words = st.sampled_from([1, 2, 3, 16])


def bits_below(end: int) -> st.SearchStrategy[set[int]]:
    """Few bits, those at the ends of words more often."""
    ends = sorted({0, 1, 62, 63, 64, 65, end - 1, end // 2} & set(range(end)))
    return st.sets(st.sampled_from(ends) | st.integers(0, end - 1), max_size=6)


def block(rows: list[set[int]], width: int) -> np.ndarray:
    """uint64[n, width] with these bits set."""
    out = np.zeros((len(rows), width), np.uint64)
    for i, bits in enumerate(rows):
        for b in bits:
            out[i, b >> 6] |= np.uint64(1 << (b & 63))
    return out


def sets_of(lineage: np.ndarray) -> list[set[int]]:
    """The inverse of ``block``."""
    flags = np.unpackbits(lineage.view(np.uint8), axis=1, bitorder="little")
    return [set(np.flatnonzero(row).tolist()) for row in flags]


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


@given(width=words, data=st.data())
def test_rows_match_if_a_query_selects_both_and_its_window_contains_the_older(
    width: int, data: st.DataObject
) -> None:
    some = st.lists(bits_below(64 * width), min_size=1, max_size=4)
    own, stored = data.draw(some), data.draw(some)
    windows = sorted(data.draw(st.sets(st.integers(1, 9), min_size=1, max_size=4)))
    length = {b: windows[b % len(windows)] for b in range(64 * width) if b % 7}
    members = [{b for b, us in length.items() if us >= w} for w in windows] + [set()]
    oldest = windows[0] - 1 if len(windows) == 1 else 10  # the SteM knows of a single window
    numbers, places = (st.integers(0, len(rows) - 1) for rows in (own, stored))
    pair = st.tuples(numbers, places, st.integers(0, oldest))
    pairs = data.draw(st.lists(pair, max_size=12))
    number, place, age = (ints([p[i] for p in pairs]) for i in range(3))

    rows, older = block(own, width), block(stored, width)
    kept, lineage = meet(rows, number, older, place, age, ints(windows), block(members, width))

    both = [{b for b in own[n] & stored[p] if old < length.get(b, 0)} for n, p, old in pairs]
    assert kept.tolist() == [i for i, bits in enumerate(both) if bits]
    assert sets_of(lineage) == [bits for bits in both if bits]


def test_without_windows_no_query_selects_a_row() -> None:
    """As in a flow whose queries are gone."""
    rows, none = block([{0}], 1), ints([])
    kept, lineage = meet(rows, ints([0]), rows, ints([0]), ints([0]), none, block([set()], 1))
    assert (kept.size, lineage.shape) == (0, (0, 1))


@given(width=words, first=st.sampled_from([0, 1000]), data=st.data())
def test_what_is_set_row_by_row_and_bit_by_bit(width: int, first: int, data: st.DataObject) -> None:
    rows = data.draw(st.lists(bits_below(64 * width), max_size=8))
    lineage = block(rows, width)
    assert any_wanted(lineage).tolist() == [bool(bits) for bits in rows]

    row, bit = expand(lineage, np.arange(first, first + len(rows)))
    expected = [(first + i, b) for i, bits in enumerate(rows) for b in sorted(bits)]
    assert list(zip(row.tolist(), bit.tolist(), strict=True)) == expected

    out, starts = by_bit(row, bit, 64 * width)
    assert starts.size == 64 * width + 1
    for b in range(64 * width):
        mine = out[starts[b] : starts[b + 1]].tolist()
        assert mine == [first + i for i, bits in enumerate(rows) if b in bits]
    assert starts[-1] == out.size


def test_every_bit_of_a_word() -> None:
    rows = [set(range(128)), {127}, set()]
    row, bit = expand(block(rows, 2), np.arange(3))
    assert row.tolist() == [0] * 128 + [1]
    assert bit.tolist() == [*range(128), 127]


@given(data=st.data())
def test_the_window_that_ends_first_counts(data: st.DataObject) -> None:
    rows, bits = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    instants = st.integers(0, 20)
    ts = data.draw(st.lists(instants, min_size=rows, max_size=rows))
    window = data.draw(st.lists(instants, min_size=bits, max_size=bits))
    result = st.tuples(st.integers(0, rows - 1), st.integers(0, bits - 1), instants)
    results = data.draw(st.lists(result, max_size=10))
    row, bit, exp = (ints([r[i] for r in results]) for i in range(3))
    earliest(exp, row, bit.astype(np.int32), ints(ts), ints(window))
    assert exp.tolist() == [min(e, ts[r] + window[b]) for r, b, e in results]


@given(pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=12))
def test_ties_are_ordered(pairs: list[tuple[int, int]]) -> None:
    key, tie = (ints([p[i] for p in pairs]) for i in range(2))
    order = np.argsort(key, kind="stable")
    order_ties(order, key, tie)
    assert [pairs[i] for i in order] == sorted(pairs)
