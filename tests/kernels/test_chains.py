"""Hash chains: probing as of each probe's instant, burying, and pairing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels import chain_probes, chains, hash_join

FOREVER = chains.FOREVER
NO_LANE = np.zeros(0, np.int64)
SHIFT, SPLIT = 62, None  # four buckets: keys share chains


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


@dataclass
class Index:
    """The arrays that a hash index owns, by place, with ``base`` as the position of place 0."""

    key: np.ndarray
    ts: np.ndarray
    seq: np.ndarray
    expiry: np.ndarray
    base: int = 0
    first: int = 0
    deaths: tuple[np.ndarray, np.ndarray] = (NO_LANE, NO_LANE)
    heads: np.ndarray = field(default_factory=lambda: np.full(4, chains.NOTHING, np.int64))

    def __post_init__(self) -> None:
        self.nodes = np.full((self.key.size, 2), chains.NOT_INDEXED, np.int64)

    def insert(self, rows: np.ndarray) -> None:
        chains.insert(
            self.heads, SHIFT, SPLIT, self.nodes, self.base, rows, self.key[rows - self.base]
        )

    def probe(
        self,
        new: np.ndarray,
        probes: list[tuple[int, int, int]],
        *,
        lifespan: int = 0,
        fifo: bool = False,
        inclusive: bool = False,
    ) -> list[tuple[int, int]]:
        key, ts, seq = (ints([p[i] for p in probes]) for i in range(3))
        number, found = chain_probes.probe(
            self.heads, SHIFT, SPLIT, self.nodes, self.base, self.first,
            self.base + self.key.size, new, self.ts, self.seq, self.expiry, lifespan, fifo,
            *self.deaths, inclusive, key, ts, seq,
        )  # fmt: skip
        return list(zip(number.tolist(), found.tolist(), strict=True))


def index_of(rows: list[tuple[int, int, int]], lifespan: int = 100, **kwargs: object) -> Index:
    """Rows are (key, ts, seq)."""
    key, ts, seq = (ints([r[i] for r in rows]) for i in range(3))
    return Index(key, ts, seq, ts + lifespan, **kwargs)  # type: ignore[arg-type]


def test_a_probe_sees_only_what_came_before_it_though_all_rows_are_inserted() -> None:
    index = index_of([(7, 1, 1), (7, 2, 3), (7, 3, 5)])
    rows = ints([0, 1, 2])
    index.insert(rows)
    assert index.probe(rows, [(7, 2, 0), (7, 2, 4), (7, 9, 9)]) == [
        (0, 0),
        (1, 1), (1, 0),
        (2, 2), (2, 1), (2, 0),
    ]  # fmt: skip


def test_only_an_inclusive_probe_sees_the_row_of_its_own_event() -> None:
    index = index_of([(7, 5, 3)])
    index.insert(ints([0]))
    assert index.probe(ints([0]), [(7, 5, 3)], inclusive=False) == []
    assert index.probe(ints([0]), [(7, 5, 3)], inclusive=True) == [(0, 0)]


def test_probing_leaves_the_index_as_it_was() -> None:
    index = index_of([(7, 1, 1), (8, 2, 3), (7, 3, 5)])
    rows = ints([0, 1, 2])
    index.insert(rows)
    heads, nodes = index.heads.copy(), index.nodes.copy()
    index.probe(rows, [(7, 0, 0), (8, 2, 9)])
    index.probe(rows, [])
    np.testing.assert_array_equal(index.heads, heads)
    np.testing.assert_array_equal(index.nodes, nodes)


def test_a_row_is_gone_at_the_very_instant_of_its_expiry() -> None:
    index = index_of([(7, 0, 1)], lifespan=10)
    index.insert(ints([0]))
    assert index.probe(ints([0]), [(7, 9, 9), (7, 10, 9)]) == [(0, 0)]


def test_dead_rows_are_passed_over_wherever_they_stand() -> None:
    index = index_of([(7, 0, 1), (7, 1, 3), (7, 2, 5)])
    index.expiry[:] = [50, 3, 50]  # the middle one dies early: no FIFO order
    rows = ints([0, 1, 2])
    index.insert(rows)
    assert index.probe(rows, [(7, 5, 9)], fifo=False) == [(0, 2), (0, 0)]


def test_in_fifo_order_the_rows_alive_are_a_suffix() -> None:
    index = index_of([(7, 0, 1), (7, 1, 3), (7, 2, 5)], lifespan=4)
    rows = ints([0, 1, 2])
    index.insert(rows)
    probes = [(7, 3, 9), (7, 4, 9), (7, 5, 9), (7, 6, 9)]
    assert index.probe(rows, probes, fifo=True) == index.probe(rows, probes, fifo=False)


def test_positions_below_first_have_been_dropped() -> None:
    index = index_of([(7, 1, 1), (7, 2, 3)], base=10, first=11)
    rows = ints([10, 11])
    index.insert(rows)
    assert index.probe(rows, [(7, 9, 9)]) == [(0, 11)]


def test_a_row_taken_back_is_seen_until_its_death() -> None:
    index = index_of([(7, 1, 1)])
    index.deaths = (ints([5]), ints([4]))
    index.insert(ints([0]))
    probes = [(7, 5, 3), (7, 5, 4), (7, 5, 5)]
    assert index.probe(ints([0]), probes, inclusive=False) == [(0, 0), (1, 0)]
    assert index.probe(ints([0]), probes, inclusive=True) == [(0, 0)]


def test_more_matches_than_the_first_guess_of_the_output() -> None:
    count = 500
    index = index_of([(7, i, 2 * i + 1) for i in range(count)], lifespan=10 * count)
    rows = np.arange(count)
    index.insert(rows)
    found = index.probe(rows, [(7, count, 9999)] * 3)
    assert found == [(p, r) for p in range(3) for r in reversed(range(count))]


def test_reinserting_gives_the_same_answers_and_skips_rows_outside_the_index() -> None:
    index = index_of([(7, i, 2 * i + 1) for i in range(6)])
    index.insert(ints([0, 2, 5]))
    index.heads[:] = chains.NOTHING
    chains.reinsert_all(index.heads, SHIFT, SPLIT, index.nodes, 0, 1, 6)
    assert index.probe(ints([]), [(7, 9, 99)]) == [(0, 5), (0, 2)]


event = st.tuples(st.integers(0, 2), st.integers(0, 8))


@settings(max_examples=60, derandomize=True)
@given(
    old=st.lists(event, max_size=6),
    new=st.lists(event, max_size=8),
    probes=st.lists(event, max_size=8),
    lifespan=st.integers(1, 6),
    fifo=st.booleans(),
    inclusive=st.booleans(),
    before=st.integers(0, 4),
)
def test_probing_against_a_scan_of_all_rows(
    old: list[tuple[int, int]],
    new: list[tuple[int, int]],
    probes: list[tuple[int, int]],
    lifespan: int,
    fifo: bool,
    inclusive: bool,
    before: int,
) -> None:
    past = sorted(((k, ts - 10) for k, ts in old), key=lambda r: r[1])
    came = past + sorted(new, key=lambda r: r[1])
    rows = [(k, ts, 2 * i + 1) for i, (k, ts) in enumerate(came)]
    index = index_of(rows, lifespan=0, first=min(before, len(past)))
    index.insert(np.arange(len(past)))
    fresh = np.arange(len(past), len(rows))
    index.insert(fresh)
    asked = sorted(((k, ts, 2 * ts + 1) for k, ts in probes), key=lambda r: (r[1], r[2]))

    def seen(row: tuple[int, int, int], probe: tuple[int, int, int]) -> bool:
        came_before = row[1:] < probe[1:] or (inclusive and row[1:] == probe[1:])
        return row[0] == probe[0] and came_before and row[1] + lifespan > probe[1]

    expected = [
        (p, r)
        for p, probe in enumerate(asked)
        for r in reversed(range(index.first, len(rows)))
        if (r < len(past) or seen(rows[r], (rows[r][0], *probe[1:]))) and seen(rows[r], probe)
    ]
    assert index.probe(fresh, asked, lifespan=lifespan, fifo=fifo, inclusive=inclusive) == expected


def bury(
    index: Index, identity: list[list[int]], dead: list[tuple[int, list[int], int, int]]
) -> list[int]:
    """``identity`` lane by lane; ``dead`` are (key, identity, ts, before)."""
    return chains.bury(
        index.heads, SHIFT, SPLIT, index.nodes, index.base, index.first, ints(identity).T.copy(),
        *index.deaths, ints([d[0] for d in dead]), ints([d[1] for d in dead]),
        ints([d[2] for d in dead]), np.arange(len(dead)) + 40, ints([d[3] for d in dead]),
    ).tolist()  # fmt: skip


def test_bury_takes_the_newest_living_row_of_the_same_identity() -> None:
    index = index_of([(7, 0, 1), (7, 1, 3), (7, 2, 5), (7, 3, 7)])
    index.deaths = (np.full(4, FOREVER), np.full(4, FOREVER))
    index.insert(np.arange(4))
    identity = [[1, 2, 1, 1], [5, 5, 5, 6]]
    dead = [(7, [1, 5], 10, 9), (7, [1, 5], 11, 9), (7, [1, 5], 12, 9), (9, [1, 5], 12, 9)]
    assert bury(index, identity, dead) == [2, 0, -1, -1]
    assert index.deaths[0].tolist() == [11, FOREVER, 10, FOREVER]
    assert index.deaths[1].tolist() == [41, FOREVER, 40, FOREVER]


def test_bury_spares_rows_that_came_after_the_negative_tuple_or_were_dropped() -> None:
    index = index_of([(7, 0, 1), (7, 1, 3), (7, 2, 5)], first=1)
    index.deaths = (np.full(3, FOREVER), np.full(3, FOREVER))
    index.insert(np.arange(3))
    assert bury(index, [[4, 4, 4]], [(7, [4], 10, 2), (7, [4], 10, 2)]) == [1, -1]


@settings(max_examples=40, derandomize=True)
@given(left=st.lists(st.integers(-2, 3)), right=st.lists(st.integers(-2, 3)))
def test_match_pairs_is_a_join(left: list[int], right: list[int]) -> None:
    i, j = hash_join.match_pairs(ints(left), ints(right))
    pairs = sorted(zip(i.tolist(), j.tolist(), strict=True))
    assert pairs == [(a, b) for a, x in enumerate(left) for b, y in enumerate(right) if x == y]
    assert (np.diff(i) >= 0).all()
