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
        assert len(until) == len(model)
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
