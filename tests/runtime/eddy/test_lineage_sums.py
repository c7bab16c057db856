"""Bounds from sums by lineage hold for what windows hold at any instant of a call."""

from __future__ import annotations

import numpy as np
import pytest

from eddyline.runtime.eddy.lineage_sums import LineageSums
from eddyline.runtime.eddy.lineages import NONE, Lineages


@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_at_every_instant(seed: int) -> None:
    random = np.random.default_rng(seed)
    slope, weight, length = float(random.choice([1.0, -1.0, 0.0])), float(random.normal()), 1_000
    sums = LineageSums(0, 2 * length, slope, weight)
    ts, lineage, group, value = (np.zeros(0, t) for t in (int, int, int, float))
    clock = 0
    for call in range(40):
        since, clock = clock, clock + int(random.integers(1, 800))
        count = int(random.integers(0, 40))
        new = np.sort(random.integers(since + 1, clock + 1, count))
        more = (
            random.integers(-1, 3, count),
            random.integers(0, 4, count),
            random.normal(1, 2, count),
        )
        if call == 20:
            weight += 0.5
            sums.loosen(weight)
        sums.add(new, more[0], more[1], np.ones(count, np.bool_), more[2], clock)
        ts, lineage = np.append(ts, new), np.append(lineage, more[0])
        group, value = np.append(group, more[1]), np.append(value, more[2])
        if since < length or call < 4:
            continue
        bounds = sums.bounds(length, since, clock)
        instants = np.unique(np.concatenate((new, ts + length, [since, clock])))
        for at in instants[(instants >= since) & (instants <= clock)]:
            held = (ts <= at) & (ts > at - length)
            for c in range(3):
                for g in range(4):
                    mine = held & (lineage == c) & (group == g)
                    rows, total = mine.sum(), slope * value[mine].sum()
                    for stricter in (0.0, 0.7, 3.0):
                        most = bounds.value[c, g] - stricter * bounds.sure[c, g]
                        assert total + (weight - stricter) * rows <= most + 1e-6
                    assert rows <= bounds.rows[c, g]


def test_lineages_have_numbers_whatever_the_number_of_words() -> None:
    lineages = Lineages()
    lineages.fit({"a": 1, "b": 3}, 1)
    rows = np.array([[0b0010], [0b1010], [0b0101], [0b1110], [0b1000]], np.uint64)
    first = lineages.number(rows)
    assert first[2] == NONE
    assert first[1] == first[3]
    assert len({int(n) for n in first}) == 4
    lineages.fit({"a": 1, "b": 3, "c": 70}, 2)
    wider = np.concatenate((rows, np.zeros((5, 1), np.uint64)), axis=1)
    assert lineages.number(wider).tolist() == first.tolist()
    wider[:, 1] = 1 << 6
    assert not set(lineages.number(wider).tolist()) & set(first.tolist())
    having = lineages.having(np.array([1, 3, 70]))
    assert having[:, first[1]].tolist() == [True, True, False]
    assert having[:, lineages.number(wider)[4]].tolist() == [False, True, True]


def test_boxed_queries_are_in_no_lineage() -> None:
    lineages = Lineages()
    lineages.fit({"a": 0, "b": 1}, 1)
    lineages.let(["a", "b"], be_dormant=True)
    lineages.leave_out(np.array([0b10], np.uint64))
    assert lineages.number(np.array([[0b10], [0b11]], np.uint64)).tolist() == [NONE, 0]
    assert lineages.dormant_mask.tolist() == [0b01]
    assert (lineages.bit("a"), lineages.bit("b")) == (0, None)
