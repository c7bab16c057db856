"""What changes mean, whatever happens within an instant: to compare merged groups with one engine.

An engine reports what each row does to a group; the merger reports what an instant does to it. So
changes are compared by what is different after an instant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from eddyline.engine.query import Query
from eddyline.testing.bags import Row

#: (instant, number of rows more, values), or (instant, how many, values) of a replaced group.
Net = tuple[Any, ...]


def net_changes(query: Query, rows: Sequence[Row], until_us: int) -> list[Net]:
    """The net changes up to an instant.

    Args:
        rows: _op, _ts, _exp and the select list, in the order in which they were emitted.
    """
    if query.emit.mode == "snapshot":
        return [(ts, 1, exp, *values) for _, ts, exp, *values in rows if ts <= until_us]
    if query.replace_key is not None:
        names = [f.name for f in query.schema]
        key = [names.index(name) for name in query.replace_key]
        found = _of_groups(rows, key)
    else:
        found = _of_bag(rows, expires=query.emit.mode == "inserts")
    return [net for net in found if net[0] <= until_us]


def answer_at(query: Query, rows: Sequence[Row], instant: int) -> list[Row]:
    """The rows of the query's answer at an instant; of EMIT SNAPSHOT, which repeats it, none.

    Args:
        rows: as of :func:`net_changes`.
    """
    if query.emit.mode == "snapshot":
        return []
    before = [row for row in rows if row[1] <= instant]
    if query.replace_key is not None:
        names = [f.name for f in query.schema]
        key = [names.index(name) for name in query.replace_key]
        groups: dict[Row, tuple[str, Row]] = {}
        for op, _, _, *values in before:
            groups[tuple(values[i] for i in key)] = op, tuple(values)
        return [values for op, values in groups.values() if op == "+"]
    answer: Counter[Row] = Counter()
    for op, _, exp, *values in before:
        if exp is None or exp > instant:
            answer[tuple(values)] += 1 if op == "+" else -1
    assert not -answer, "what is taken back was there"
    return [*answer.elements()]


def _of_bag(rows: Sequence[Row], *, expires: bool) -> Iterator[Net]:
    more: Counter[tuple[Any, ...]] = Counter()
    for op, ts, exp, *values in rows:
        n = 1 if op == "+" else -1
        more[ts, *values] += n
        if expires and exp is not None:
            more[exp, *values] -= n
    return ((ts, n, *values) for (ts, *values), n in more.items() if n)


def _of_groups(rows: Sequence[Row], key: Sequence[int]) -> Iterator[Net]:
    now: dict[Row, Row] = {}
    for ts, of_instant in groupby(rows, lambda row: row[1]):
        before: dict[Row, Row | None] = {}
        for op, _, _, *values in of_instant:
            group = tuple(values[i] for i in key)
            before.setdefault(group, now.get(group))
            now.pop(group, None)
            if op == "+":
                now[group] = tuple(values)
        for group, row in before.items():
            new = now.get(group)
            if new != row:
                yield (ts, 0, *group) if new is None else (ts, 1, *new)
