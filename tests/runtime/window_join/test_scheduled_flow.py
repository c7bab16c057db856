"""Paced flows: every query gets what it gets without pacing, in the same order."""

import random
from typing import Any

import pytest

from eddyline.runtime.window_join.schedules import ScheduleName
from eddyline.types import FOREVER
from flow_model import Model, Wanted
from thinned import thinned

SCHEDULES: list[ScheduleName] = ["lwo", "swf", "greedy"]
LENGTHS = (1, 2, 3, 5, 8, 13, 40, FOREVER)
COUNTED = ((False, False), (True, True), (True, False), (False, True))


def _wanted(
    some: random.Random, counted: tuple[bool, bool], *, selective: bool, equal: bool
) -> Wanted:
    least = tuple(some.choice((None, 2, 5)) if selective else None for _ in range(2))
    one, other = (some.choice(LENGTHS[:-1] if counts else LENGTHS) for counts in counted)
    rise = some.choice((None, 0)) if selective else None
    return Wanted(least, (one, one if equal else other), rise)


def _rows(some: random.Random, count: int, start: int) -> list[tuple[str, int, int, int]]:
    ts, rows = start, []
    for _ in range(count):
        ts += some.choice((0, 0, 1, 2, 6))
        rows.append((some.choice("ab"), ts, some.randrange(3), some.randrange(9)))
    return rows


@pytest.mark.parametrize(("counted", "schedule", "seed"), thinned(3, COUNTED, SCHEDULES, range(40)))
def test_pacing_changes_neither_content_nor_order(
    schedule: ScheduleName, seed: int, counted: tuple[bool, bool]
) -> None:
    some = random.Random(seed)
    rows_per_step = some.choice((1, 2, 7, 1000))
    sources = some.choice(("ab", "aa"))
    edges = [(0, "k", 1, "k"), (0, "v", 1, "v")][: some.choice((0, 1, 1, 2))]
    options: dict[str, Any] = {"pull_up": some.random() < 0.2, "counted": counted}
    paced = Model(sources, edges, schedule=schedule, rows_per_step=rows_per_step, **options)
    plain = Model(sources, edges, **options)
    late = some.random() < 0.6
    for model in (paced, plain):
        if late:  # what is held for a query that comes does not differ
            model.flow.hold((FOREVER, FOREVER))
    selective, equal = some.random() < 0.4, some.random() < 0.6
    bits: list[int] = []
    dropped: dict[int, int] = {}
    for turn in range(some.randrange(2, 9)):
        for _ in range(some.choice((0, 0, 1, 3)) if late else 4 * (not turn)):
            picky = selective and some.random() < 0.5
            wanted = _wanted(some, counted, selective=picky, equal=equal)
            bits.append(paced.admit(wanted))
            assert plain.admit(wanted) == bits[-1]
        if bits and some.random() < 0.2:
            gone = bits.pop(some.randrange(len(bits)))
            for model in (paced, plain):
                model.flow.dismiss(gone)
            dropped[gone] = len(paced.said[gone])
        start = paced.clock
        rows = [r for r in _rows(some, some.randrange(12), start) if r[0] in sources]
        chunk = some.choice((1, 3, 100))
        for model in (paced, plain):
            model.feed(rows, chunk)
        paced.serve(some.randrange(12))
    paced.serve()
    for bit in bits:
        assert paced.said[bit] == plain.said[bit], (bit, schedule)
        assert paced.taken[bit] == plain.taken[bit]
    for bit, count in dropped.items():
        assert len(paced.said[bit]) == count, "nothing after it was dropped"
        assert paced.said[bit] == plain.said[bit][:count]
    assert not paced.flow.waiting
    assert paced.answer(bits) == plain.answer(bits)


def test_lineage_becomes_wider_while_rows_wait() -> None:
    paced, plain = Model("ab", [(0, "k", 1, "k")], schedule="swf"), Model("ab", [(0, "k", 1, "k")])
    some = random.Random(1)
    bits: list[int] = []
    for queries in (60, 10, 100):
        for _ in range(queries):
            wanted = Wanted((some.choice((None, 2)), 3), (some.choice((2, 5, 30)),) * 2)
            bits.append(paced.admit(wanted))
            assert plain.admit(wanted) == bits[-1]
        rows = _rows(some, 30, paced.clock)
        for model in (paced, plain):
            model.feed(rows, 10)
        paced.serve(1)
        assert paced.flow.waiting
    paced.serve()
    assert [paced.got[bit] for bit in bits] == [plain.got[bit] for bit in bits]
