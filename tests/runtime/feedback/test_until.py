"""Until when pairs of keys are wanted, beside a dict."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eddyline.kernels.chains import KEY, LINK, NOT_INDEXED
from eddyline.kernels.until import NEVER
from eddyline.runtime.feedback.until import Until

KEYS = st.sampled_from([0, 1, 2, -1, 1 << 62, -(1 << 63), 31, 62])
PAIRS = st.lists(st.tuples(KEYS, KEYS, st.integers(-5, 50)), max_size=60)
STEPS = st.lists(st.tuples(PAIRS, st.sampled_from(["", "", "forget", "save"])), max_size=8)


@given(STEPS, st.integers(0, 40))
def test_the_latest_counts_until_it_is_forgotten(
    steps: list[tuple[list[tuple[int, int, int]], str]], clock: int
) -> None:
    until, model = Until(), dict[tuple[int, int], int]()
    for pairs, then in steps:
        left, right, times = (np.array([p[i] for p in pairs], np.int64) for i in range(3))
        before = until.extend(left, right, times)
        for number, (a, b, time) in enumerate(pairs):
            assert before[number] == model.get((a, b), NEVER)
            model[a, b] = max(model.get((a, b), NEVER), time)
        if then == "forget":
            until.forget(clock)
            model = {pair: time for pair, time in model.items() if time > clock}
        elif then == "save":
            saved, until = until.state(), Until()
            until.restore(saved)
        assert len(until) >= len(model)
        asked = [(a, b) for a in (0, 1, -1, 62) for b in (0, 2, 1 << 62, 99)]
        left, right = (np.array([p[i] for p in asked], np.int64) for i in (0, 1))
        assert until.at(left, right).tolist() == [model.get(p, NEVER) for p in asked]
        places = np.arange(len(asked))
        nodes = []
        for keys in (left, right):
            nodes.append(np.zeros((len(asked), 2), np.int64))
            nodes[-1][:, KEY] = keys
        nodes[1][3, LINK] = NOT_INDEXED  # a NULL
        wanted = until.exceeds((nodes[0], places), (nodes[1], places), clock)
        expected = [model.get(p, NEVER) > clock for p in asked]
        expected[3] = False
        assert wanted.tolist() == expected


def test_a_full_table_is_replaced_bit_by_bit() -> None:
    """Whatever a table holds, a batch pays for its own pairs; what is gone is gone at once."""
    random = np.random.default_rng(3)
    until, model = Until(), dict[tuple[int, int], int]()
    moved: list[tuple[int, int]] = []  # slots of the old table, pairs of the batch
    sizes = set()
    for batch in range(400):
        n = 50 if batch % 7 else 3
        left, right = random.integers(0, 200, (2, n))
        times = random.integers(0, 50, n) + batch
        before = until.unseen
        found = until.extend(left, right, times)
        moved.append((max(before - until.unseen, 0), n))
        for a, b, time, was in zip(left, right, times, found, strict=True):
            assert was == model.get((a, b), NEVER)
            model[a, b] = max(was, time)
        if until.is_full:
            until.forget(batch - 20)
            model = {pair: time for pair, time in model.items() if time > batch - 20}
        pairs = random.integers(0, 200, (2, 100))
        expected = [model.get((a, b), NEVER) for a, b in pairs.T.tolist()]
        assert until.at(*pairs).tolist() == expected
        assert 2 * len(until) <= until.table.times.size
        sizes.add(until.table.times.size)
    assert len(sizes) > 4 and len(model) > 1500
    assert all(slots <= 8 * n for slots, n in moved)
    assert sum(slots for slots, _ in moved) > 10_000
    saved, restored = until.state(), Until()
    restored.restore(saved)
    for of in (until, restored):
        assert len(of) == len(model)
        known = np.array(list(model), np.int64).T.copy()
        assert of.at(known[0], known[1]).tolist() == list(model.values())
