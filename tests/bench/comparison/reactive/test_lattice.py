"""MNS detection beside the algorithm as the paper writes it (Yang and Papadias 2008, Figure 8)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eddyline.bench.comparison.reactive.lattice import kill, minimal_alive

Node = frozenset[int]


def identify_mns(components: int, opposite: list[Node]) -> set[Node]:
    """Figure 8, line by line: ``opposite`` says which components each opposite row matches."""
    if not opposite:
        return {frozenset()}
    levels = [
        [frozenset(c) for c in combinations(range(components), level)]
        for level in range(1, components + 1)
    ]
    alive = {node: True for level in levels for node in level}
    for row in opposite:
        matched = {node: node <= row for node in levels[0]}
        for level in levels[1:]:
            for node in level:
                matched[node] = all(matched[node - {c}] for c in node)
        for node, is_matched in matched.items():
            if is_matched:
                alive[node] = False
    found = {node for node in levels[0] if alive[node]}
    above = set(found)  # MNSs, and what is not minimal
    for level in levels[1:]:
        for node in level:
            if alive[node]:
                if not any(node - {c} in above for c in node):
                    found.add(node)
                above.add(node)
    return found


def mask_of(node: Node) -> int:
    return sum(1 << c for c in node)


@given(st.data(), st.integers(1, 6), st.integers(0, 5), st.integers(1, 4))
def test_minimal_sub_tuples_without_a_match(
    data: st.DataObject, components: int, opposite: int, rows: int
) -> None:
    """Rows of two parts: components below ``split`` are of the left, the others of the right."""
    split = data.draw(st.integers(0, components))
    some = st.frozensets(st.integers(0, components - 1))
    left, right = ([[data.draw(some) for _ in range(opposite)] for _ in range(3)] for _ in "lr")
    parts = st.lists(st.integers(0, 2), min_size=rows, max_size=rows)
    left_of, right_of = data.draw(parts), data.draw(parts)
    low = (1 << split) - 1
    shape = (3, opposite)
    left_masks = np.array([[mask_of(n) & low for n in r] for r in left], np.int64).reshape(shape)
    right_masks = np.array([[mask_of(n) & ~low for n in r] for r in right], np.int64).reshape(shape)

    dead = np.zeros((rows, 1 << components), np.bool_)
    for piece in np.array_split(np.arange(opposite), 2):  # opposite rows may come in pieces
        kill(
            dead,
            np.array(left_of),
            left_masks[:, piece].copy(),
            np.array(right_of),
            right_masks[:, piece].copy(),
        )
    by, found = minimal_alive(dead)

    expected = []
    for row in range(rows):
        masks = left_masks[left_of[row]] | right_masks[right_of[row]]
        nodes = [frozenset(c for c in range(components) if m >> c & 1) for m in masks.tolist()]
        expected += sorted((row, mask_of(n)) for n in identify_mns(components, nodes))
    assert list(zip(by.tolist(), found.tolist(), strict=True)) == expected


def test_the_example_of_the_paper() -> None:
    """abcd with e1, which a matches, and e2, which c matches: b, d and ac are the MNSs."""
    dead = np.zeros((1, 16), np.bool_)
    a, b, c, d = 1, 2, 4, 8
    nothing = np.zeros((1, 2), np.int64)
    row = np.zeros(1, np.int64)
    kill(dead, row, np.array([[a, c]]), row, nothing)
    assert minimal_alive(dead)[1].tolist() == [b, a | c, d]
