"""Bags: independent of order, dependent on everything else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline.bench.peers.bags import Bag, Differ, bag_of, check_equal

_MASK = 2**64 - 1


def hashed(*values: int) -> int:
    """What Java and Rust compute, in plain integers."""
    h = 0
    for value in values:
        h = ((h ^ value) * 0x9E3779B97F4A7C15) & _MASK
        h ^= h >> 32
    h = (h * 0x9E3779B97F4A7C15) & _MASK
    return h ^ (h >> 32)


def test_a_bag_is_the_sum_of_its_rows() -> None:
    rows = [(1, 5, 7), (2, 6, 8), (2, 6, 8)]
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    assert bag_of(columns) == Bag(3, sum(hashed(*row) for row in rows) & _MASK)
    shuffled = [pa.array(column) for column in zip(*reversed(rows), strict=True)]
    assert bag_of(shuffled) == bag_of(columns)


@pytest.mark.parametrize("other", [([1, 2], [6, 5]), ([2, 1], [6, 6]), ([1, 2, 2], [5, 6, 6])])
def test_other_rows_are_another_bag(other: tuple[list[int], list[int]]) -> None:
    assert bag_of([np.array(c) for c in other]) != bag_of([np.array([1, 2]), np.array([5, 6])])


def test_rows_taken_back() -> None:
    column = np.array([4, 4, 9])
    assert bag_of([column], np.array([True, False, True])) == bag_of([np.array([9])])


def test_strings_however_stored() -> None:
    number = 0
    for byte in "Zoë".encode():
        number = (number * 31 + byte) & _MASK
    expected = Bag(1, hashed(number, 3))
    plain = pa.array(["x", "Zoë"]).slice(1)
    for column in (plain, plain.cast(pa.large_string()), plain.dictionary_encode()):
        assert bag_of([column, np.array([3])]) == expected
    chunks = pa.chunked_array([pa.array(["Zoë"]), pa.array([], pa.string())])
    assert bag_of([chunks, np.array([3])]) == expected


def test_timestamps_are_microseconds() -> None:
    column = pa.array([1_500]).cast(pa.timestamp("us", "UTC"))
    assert bag_of([column]) == bag_of([np.array([1_500])])


def test_negative_numbers() -> None:
    assert bag_of([np.array([-1])]) == Bag(1, hashed(_MASK))


def test_bags_that_differ() -> None:
    check_equal("a case", {"A": Bag(2, 5), "B": Bag(2, 5)})
    with pytest.raises(
        Differ, match="a case: results differ: A: 2 rows, hash 5; B: 2 rows, hash 6"
    ):
        check_equal("a case", {"A": Bag(2, 5), "B": Bag(2, 6)})
    assert Bag(1, 2**64 - 1) + Bag(1, 2) == Bag(2, 1)
