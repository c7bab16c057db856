"""MIN and MAX under deletion, against sorted multisets."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.heaps import NO_NODE, Heap, Values, run_extreme
from eddyline.kernels.text import text_prefixes
from eddyline.runtime.stores.columns import text_buffers

GROUPS = 3


class Heaps:
    """Nodes are (group, value) pairs numbered densely; state for ``GROUPS`` groups."""

    def __init__(self, values: list[object], *, largest: bool) -> None:
        self.values, self.largest = values, largest
        nodes = GROUPS * len(values)
        if isinstance(values[0], bytes):
            offsets, self.data = text_buffers(pa.array(values, pa.binary()))
            self.offsets = offsets.astype(np.int64)
            order = text_prefixes(offsets, self.data)
        else:
            self.offsets, self.data = np.zeros(0, np.int64), np.zeros(0, np.uint8)
            order = np.array(values, np.int64)
        self.order = np.tile(order, GROUPS)
        self.row = np.tile(np.arange(len(values)), GROUPS)
        self.occurrences = np.zeros(nodes, np.int64)
        self.links = [np.full(nodes, NO_NODE, np.int64) for _ in range(3)]
        self.root = np.full(GROUPS, NO_NODE, np.int64)
        self.reported = np.full(GROUPS, NO_NODE, np.int64)

    def node(self, group: int, value: object) -> int:
        return group * len(self.values) + self.values.index(value)

    def value(self, node: int) -> object:
        return None if node == NO_NODE else self.values[node % len(self.values)]

    def run(self, rows: list[tuple[int, int, int]]) -> list[tuple[object, object]]:
        """Rows are (group, sign, node); every row is an emission."""
        slot, sign, node = (np.array([r[i] for r in rows], np.int64) for i in range(3))
        child, sibling, previous = self.links
        new, old = run_extreme(
            SignedRows(slot, sign.astype(np.int8), np.ones(slot.size, np.bool_)),
            node,
            self.largest,
            self.occurrences,
            Values(self.order, self.row + 5, 5, self.offsets + 9, 9, self.data),
            Heap(child, sibling, previous, self.root),
            self.reported,
        )
        return [(self.value(n), self.value(o)) for n, o in zip(new, old, strict=True)]


NUMBERS: list[object] = [5, -3, 0, 9, 1 << 60, -(1 << 60), 7]
TEXTS: list[object] = [
    b"", b"\0", b"abcdefgh", b"abcdefghi", b"abcdefghij", b"abcdefgi", b"abcdefgh\0", b"\xff" * 9,
]  # fmt: skip


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("values", [NUMBERS, TEXTS], ids=["numbers", "texts that tie"])
@settings(max_examples=40, derandomize=True)
@given(data=st.data())
def test_extremes_against_multisets(
    values: list[object], largest: bool, data: st.DataObject
) -> None:
    heaps = Heaps(values, largest=largest)
    held: list[Counter[object]] = [Counter() for _ in range(GROUPS)]
    best = max if largest else min
    for _ in range(data.draw(st.integers(1, 3))):
        rows, expected = [], []
        for _ in range(data.draw(st.integers(1, 25))):
            group = data.draw(st.integers(0, GROUPS - 1))
            leaving = bool(held[group]) and data.draw(st.booleans())
            choices = sorted(held[group]) if leaving else values  # type: ignore[type-var]
            value = data.draw(st.sampled_from(choices))
            before = best(held[group], default=None)  # type: ignore[type-var]
            held[group][value] += -1 if leaving else 1
            held[group] += Counter()  # without zeros
            rows.append((group, -1 if leaving else 1, heaps.node(group, value)))
            expected.append((best(held[group], default=None), before))  # type: ignore[type-var]
        assert heaps.run(rows) == expected


def test_many_values_leave_in_another_order_than_they_came() -> None:
    random = np.random.default_rng(5)
    values: list[object] = list(range(2000))
    heaps = Heaps(values, largest=True)
    heaps.run([(0, 1, int(v)) for v in random.permutation(2000)])
    left = random.permutation(2000)
    found = [new for new, _ in heaps.run([(0, -1, int(v)) for v in left])]
    remaining = [set(left[i + 1 :].tolist()) for i in range(0, 2000, 97)]
    assert found[::97] == [max(r, default=None) for r in remaining]


def test_null_values_change_nothing_but_are_reported() -> None:
    heaps = Heaps(NUMBERS, largest=False)
    rows = [(0, 1, NO_NODE), (0, 1, heaps.node(0, 9)), (0, -1, NO_NODE), (0, -1, heaps.node(0, 9))]
    assert heaps.run(rows) == [(None, None), (9, None), (9, 9), (None, 9)]
