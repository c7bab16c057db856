"""The first rows of partitions against a sort of all rows that are there."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels.first_places import First
from eddyline.kernels.ordered_rows import EXPIRED, IN, NOTHING, Events
from eddyline.runtime.batch import EXPIRY
from eddyline.runtime.operators.row_orders import ListOrders
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.counted_values import CountedValues

PARTITIONS = 2
KEYS = [b"", b"\0", b"abcdefgh", b"abcdefghi", b"abcdefghij", b"abcdefgi", b"\xff" * 9]
#: By number: partition, sort key, time.
Rows = list[tuple[int, bytes, int]]


def events_of(rows: Rows, us: int | None) -> list[tuple[int, int, int, int]]:
    """(ts, seq, kind, row), in order; rows stay for ``us``, or forever."""
    out = [(ts, r, IN, r) for r, (_, _, ts) in enumerate(rows)]
    if us is not None:
        out += [(ts + us, EXPIRY, EXPIRED, r) for r, (_, _, ts) in enumerate(rows)]
    return sorted(out)


class Lists:
    """The kernel's lists; rows have their numbers in the order in which they come."""

    def __init__(self, rows: Rows, first: First, us: int | None) -> None:
        keys = CountedValues(pa.binary(), ordered=True)
        self.key = keys.number(pa.array([k for _, k, _ in rows], pa.binary()))
        self.slot = np.array([p for p, _, _ in rows], np.int64)
        self.orders = ListOrders(first, keys)
        self.orders.grow(len(rows), PARTITIONS)
        self.orders.rows["exp"][: len(rows)] = [ts + (us or 0) for _, _, ts in rows]
        self.changes = 0

    def run(self, part: list[tuple[int, int, int, int]]) -> tuple[Array, Array, Array]:
        ts, seq, kind, row = (np.array([e[i] for e in part], np.int64) for i in range(4))
        key, none = self.key[row], np.zeros((0, row.size), np.int64)
        events = Events(kind, row, np.stack((ts, seq)), self.slot[row], key, key, none)
        found = self.orders.run(events, self.changes)
        self.changes += found[0].size
        return found


def expected(rows: Rows, there: set[int], limit: int) -> dict[int, int]:
    """The places of the rows that are shown."""
    out: dict[int, int] = {}
    for p in range(PARTITIONS):
        own = sorted((r for r in there if rows[r][0] == p), key=lambda r: (rows[r][1], r))
        out |= {r: place for place, r in enumerate(own[:limit], 1)}
    return out


@settings(deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, PARTITIONS - 1), st.sampled_from(KEYS), st.integers(0, 3)),
        min_size=1,
        max_size=40,
    ),
    limit=st.sampled_from([1, 2, 3, 32]),
    us=st.sampled_from([None, 1, 4, 9]),
    silent=st.booleans(),
    cuts=st.sets(st.integers(1, 60), max_size=3),
)
def test_shows_the_first_rows(
    rows: Rows, limit: int, us: int | None, silent: bool, cuts: set[int]
) -> None:
    times = np.cumsum([t for _, _, t in rows])
    rows = [(p, k, int(t)) for (p, k, _), t in zip(rows, times, strict=True)]
    events = events_of(rows, us)
    lists = Lists(rows, First(limit, silent, us is None), us)
    shown: dict[int, int] = {}
    gone: set[int] = set()
    there: set[int] = set()
    ends = sorted({c for c in cuts if c < len(events)} | {len(events)})
    for begin, end in zip([0, *ends], ends, strict=False):
        part = events[begin:end]
        change, values, left = lists.run(part)
        assert not gone & set(left.tolist()), "each row leaves once"
        gone |= set(left.tolist())
        by_event: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for c, value in zip(change, values[:, 0].tolist(), strict=True):
            by_event[int(c["event"])].append((int(c["row"]), int(c["sign"]), value))
        for e, (ts, seq, kind, r) in enumerate(part):
            if kind == IN:
                there.add(r)
            else:
                there.discard(r)
                shown.pop(r, None)
            for row, sign, place in by_event[e]:
                if sign < 0:
                    assert shown.pop(row) == place or silent
                else:
                    assert row not in shown
                    shown[row] = place
            if e + 1 < len(part) and part[e + 1][:2] == (ts, seq):
                assert not by_event[e], "changes are reported when an instant is complete"
                continue
            wanted = expected(rows, there, limit)
            assert set(shown) == set(wanted)
            if not silent:
                assert shown == wanted
    places = lists.orders.values(lists.orders.shown())[:, 0]
    assert dict(zip(lists.orders.shown().tolist(), places.tolist(), strict=True)) == expected(
        rows, there, limit
    )


def test_a_shown_row_that_is_forgotten_is_taken_back_before_its_instant_is_complete() -> None:
    rows: Rows = [(0, b"b", 0), (0, b"a", 1)]
    lists = Lists(rows, First(1, True, False), 10)
    change, _, left = lists.run(events_of(rows, None))
    assert [(int(c["row"]), int(c["sign"])) for c in change] == [(0, 1), (0, -1), (1, 1)]
    assert left.tolist() == [0]


@pytest.mark.parametrize("us", [1_000, None])
def test_keeps_rows_that_can_be_among_the_first_ones(us: int | None) -> None:
    random = np.random.default_rng(5)
    rows: Rows = [(0, random.bytes(12), ts) for ts in range(5_000)]
    lists = Lists(rows, First(2, True, us is None), us)
    *_, left = lists.run([e for e in events_of(rows, us) if e[0] < 5_000])
    kept = len(rows) - left.size
    assert kept == int(np.count_nonzero(lists.orders.there(np.arange(5_000))))
    assert kept == 2 if us is None else 2 < kept < 60, "about 2 (1 + ln 500) of a window of 1,000"


def test_there_is_room_for_more_changes_than_events() -> None:
    """Each row pushes 32 places, all of which are reported."""
    keys = [i.to_bytes(4, "big") for i in range(400)]
    rows: Rows = [(0, key, i) for i, key in enumerate(reversed(keys))]
    lists = Lists(rows, First(32, False, False), 10_000)
    change, *_ = lists.run(events_of(rows, None))
    assert change.size > 60 * (len(rows) - 32)


def test_a_partition_without_rows_is_emptied() -> None:
    rows: Rows = [(0, b"a", 0), (1, b"b", 0)]
    lists = Lists(rows, First(1, True, False), 5)
    *_, left = lists.run([e for e in events_of(rows, 5) if e[3] == 0 or e[2] == IN])
    assert left.tolist() == [0]
    assert lists.orders.emptied(np.array([1]), left).tolist() == [0]
    assert lists.orders.rows["slot"][1] != NOTHING
