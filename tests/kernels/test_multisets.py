"""Percentiles, modes and lists under deletion, against sorted lists."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels import multisets, treaps
from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.heaps import NO_NODE, Values
from eddyline.kernels.text import text_prefixes
from eddyline.runtime.stores.columns import text_buffers

GROUPS = 2
FRACTIONS = np.array([0.0, 0.3, 0.5, 1.0])
PLACES = np.array([1.0, 2.0, 3.0, 20.0])
NUMBERS: list[Any] = [5, -3, 0, 9, 1 << 60, -(1 << 60), 7]
TEXTS: list[Any] = [b"", b"\0", b"abcdefgh", b"abcdefghi", b"abcdefghij", b"abcdefgi", b"\xff" * 9]


class Trees:
    """Nodes are (group, value) pairs numbered densely; state for ``GROUPS`` groups."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        nodes = GROUPS * len(values)
        self.offsets, self.data = np.zeros(0, np.int64), np.zeros(0, np.uint8)
        if isinstance(values[0], bytes):
            offsets, self.data = text_buffers(pa.array(values, pa.binary()))
            self.offsets = offsets.astype(np.int64) + 9
            order = text_prefixes(offsets, self.data)
        else:
            order = np.array(values, np.int64)
        self.order = np.tile(order, GROUPS)
        self.row = np.tile(np.arange(len(values)), GROUPS) + 5
        self.occurrences = np.zeros(nodes, np.int64)
        self.links = np.full((nodes, treaps.LINKS), NO_NODE, np.int64)
        self.root = np.full(GROUPS, NO_NODE, np.int64)

    def run(self, kernel: Any, rows: list[tuple[int, int, int]], argument: Any) -> Any:
        """Rows are (group, sign, number of the value) and count twice; each is an emission."""
        slot, sign, value = (np.array([r[i] for r in rows], np.int64) for i in range(3))
        signed = SignedRows(slot, sign.astype(np.int8), np.ones(slot.size, np.bool_))
        node, weight = slot * len(self.values) + value, np.full(slot.size, 2)
        values = Values(self.order, self.row, 5, self.offsets, 9, self.data)
        trees = multisets.Trees(values, self.occurrences, self.links, self.root)
        return kernel(signed, node, weight, argument, trees)

    def value(self, node: int) -> Any:
        return None if node == NO_NODE else self.values[node % len(self.values)]


def expected(what: int, values: list[Any], descending: bool) -> list[list[Any]]:
    found = sorted(values, reverse=descending)
    n = len(found)
    if what == multisets.NTH:
        return [[found[int(p) - 1] if p <= n else None] * 2 for p in PLACES]
    if n == 0:
        return [[None, None]] * FRACTIONS.size
    if what == multisets.MODE:
        count = Counter(found)
        mode = next(v for v in found if count[v] == max(count.values()))
        return [[mode, mode]] * FRACTIONS.size
    places = [(n - 1) * f for f in FRACTIONS]
    if what == multisets.AT:
        places = [max(math.ceil(n * f) - 1, 0) for f in FRACTIONS]
    return [[found[math.floor(p)], found[math.ceil(p)]] for p in places]


@pytest.mark.parametrize("what", [multisets.BETWEEN, multisets.AT, multisets.MODE, multisets.NTH])
@pytest.mark.parametrize("values", [NUMBERS, TEXTS], ids=["numbers", "texts that tie"])
@settings(max_examples=30, derandomize=True)
@given(data=st.data())
def test_picks_against_sorted_lists(values: list[Any], what: int, data: st.DataObject) -> None:
    trees, descending = Trees(values), data.draw(st.booleans())
    fractions = PLACES if what == multisets.NTH else FRACTIONS
    choice = multisets.Choice(what, fractions, descending, 0)
    held: list[list[int]] = [[] for _ in range(GROUPS)]
    for _ in range(data.draw(st.integers(1, 3))):
        rows, wanted = [], []
        for _ in range(data.draw(st.integers(1, 25))):
            group = data.draw(st.integers(0, GROUPS - 1))
            leaving = bool(held[group]) and data.draw(st.booleans())
            choices = held[group] if leaving else range(len(values))
            value = data.draw(st.sampled_from(choices))
            if leaving:
                held[group].remove(value)
            else:
                held[group].append(value)
            rows.append((group, -1 if leaving else 1, value))
            wanted.append(expected(what, [values[v] for v in held[group] * 2], descending))
        found, counts = trees.run(multisets.run_picks, rows, choice)
        assert [[[trees.value(v) for v in pair] for pair in of] for of in found] == wanted
        assert counts[-1] == 2 * len(held[rows[-1][0]])


@pytest.mark.parametrize("descending", [False, True])
@settings(max_examples=30, derandomize=True)
@given(
    rows=st.lists(st.tuples(st.integers(0, GROUPS - 1), st.integers(0, 6)), min_size=1, max_size=40)
)
def test_rows_behind_those_that_are_picked_are_forgotten(
    rows: list[tuple[int, int]], descending: bool
) -> None:
    trees = Trees(TEXTS)
    choice = multisets.Choice(multisets.NTH, PLACES[2:3], descending, 3)
    held: list[list[Any]] = [[] for _ in range(GROUPS)]
    for group, value in rows:
        held[group].append(TEXTS[value])
        found, counts = trees.run(multisets.run_picks, [(group, 1, value)], choice)
        wanted = sorted(held[group] * 2, reverse=descending)[2:3] or [None]
        assert [trees.value(found[0, 0, 0])] == wanted
        assert counts[0] == min(2 * len(held[group]), 3)


@pytest.mark.parametrize("once", [False, True])
def test_lists_of_many_values(once: bool) -> None:
    random = np.random.default_rng(5)
    values = list(range(500))
    trees = Trees(values)
    held: list[int] = []
    for _ in range(20):
        coming = random.integers(0, 500, 40).tolist()
        leaving = random.permutation(held)[: len(held) // 3].tolist()
        rows = [(0, 1, v) for v in coming] + [(0, -1, v) for v in leaving]
        held = list((Counter(held) + Counter(coming) - Counter(leaving)).elements())
        nodes, ends = trees.run(multisets.run_lists, rows, once)
        found = [trees.value(v) for v in nodes[ends[-2] : ends[-1]]]
        assert found == (sorted(set(held)) if once else sorted(held * 2))
    depth = np.zeros(500, np.int64)
    for v in np.flatnonzero(trees.occurrences):
        while trees.links[v, treaps.PARENT] != NO_NODE:
            v = trees.links[v, treaps.PARENT]
            depth[v] += 1
    assert np.count_nonzero(trees.occurrences) > 100
    assert depth.sum() < 30 * np.count_nonzero(trees.occurrences)  # as of a balanced tree


def test_lists_are_compared() -> None:
    nodes, ends = np.array([1, 2, 1, 2, 1, 2, 3]), np.array([2, 4, 7, 7])
    assert multisets.lists_differ(nodes, ends, np.array([0, 1, 2]), 1).tolist() == [
        False,
        True,
        True,
    ]
    assert multisets.lists_differ(nodes, ends, np.array([3]), 3).tolist() == [False]
