"""Groups of sessions, compared with sessions found one row at a time."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.aggregates import Wanted, make_aggregate
from eddyline.runtime.state import State
from eddyline.runtime.stores import session_groups
from eddyline.runtime.stores.session_groups import SessionGroups

GAP = 10


def groups(further: bool = False) -> SessionGroups:
    aggregates = [
        make_aggregate("count", Wanted(None, pa.int64())),
        make_aggregate("max", Wanted(pa.int64(), pa.int64())),
        make_aggregate("count", Wanted(pa.int64(), pa.int64(), distinct=True)),
        make_aggregate("avg", Wanted(pa.float64(), pa.float64())),
    ]
    return SessionGroups([pa.int64()], [pa.int64()] if further else [], GAP, aggregates)


def feed(
    store: SessionGroups, rows: list[tuple[int, int, int]], further: bool, clock: int
) -> list[Any]:
    """Add rows (ts, key, value), and return the groups that are closed at the clock."""
    ts, key, value = (np.array([r[i] for r in rows], np.int64) for i in range(3))
    session = store.assign(ts, [pa.array(key)])
    keys = [pa.array(value % 3)] if further else []
    values = pa.array(value)
    store.add(session, keys, [None, values, values, values.cast(pa.float64())])
    closed, start = store.close(clock)
    columns = [start.tolist(), closed.end.tolist()]
    columns += [c.to_pylist() for c in (*closed.keys, *closed.values)]
    return list(zip(*columns, strict=True))


def expected(rows: list[tuple[int, int, int]], further: bool) -> list[Any]:
    """All sessions, as if time had passed."""
    sessions: list[tuple[int, list[tuple[int, int, int]]]] = []
    last: dict[int, int] = {}
    for row in rows:
        ts, key, _ = row
        number = last.get(key)
        if number is None or ts > sessions[number][1][-1][0] + GAP:
            last[key] = number = len(sessions)
            sessions.append((key, []))
        sessions[number][1].append(row)
    found = []
    for key, members in sessions:
        start, end = members[0][0], members[-1][0] + GAP
        for part in sorted({m[2] % 3 for m in members}) if further else [None]:
            values = [m[2] for m in members if part is None or m[2] % 3 == part]
            by = (key,) if part is None else (key, part)
            mean = sum(values) / len(values)
            found.append((start, end, *by, len(values), max(values), len(set(values)), mean))
    return sorted(found)


@pytest.mark.parametrize("further", [False, True])
@pytest.mark.parametrize("least", [0, 4096])
def test_sessions_of_random_rows(
    least: int, further: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_groups, "_LEAST_FORGOTTEN", least)
    for seed in range(20):
        random = Random(seed)
        store, found, everything, now = groups(further), [], [], 0
        for _ in range(12):
            batch = []
            for _ in range(random.choice([0, 1, 5, 30])):
                now += random.choice([0, 0, 1, 3, GAP, GAP + 1])
                batch.append((now, random.choice([1, 1, 2, 3, 4]), random.randrange(8)))
            everything += batch
            now += random.choice([0, 1, 40])
            found += feed(store, batch, further, now)
            state: State = store.state()
            store = groups(further)
            store.restore(state)
        found += feed(store, [], further, now + GAP + 1)
        assert sorted(found) == expected(everything, further)
        assert [f[1] for f in found] == sorted(f[1] for f in found), "by their ends"


def test_a_row_at_the_end_extends_the_session() -> None:
    store = groups()
    assert feed(store, [(0, 1, 0)], False, GAP) == []
    assert feed(store, [(GAP, 1, 0), (2 * GAP + 1, 1, 0)], False, 2 * GAP + 1) == [
        (0, 2 * GAP, 1, 2, 0, 1, 0.0)
    ]


def test_memory_is_bounded_by_open_sessions() -> None:
    """Also with a key whose session never ends."""
    store, now = groups(True), 0
    most = 0
    for step in range(200):
        rows = [(now, -1, step)]
        rows += [(now, 1000 * step + i, i) for i in range(100)]
        now += GAP
        feed(store, rows, True, now)
        most = max(most, len(store))
    assert most < 6_000
    assert store.state()["closed"].size < 6_000  # type: ignore[union-attr]
