"""Random joins above groups, outer joins and EXISTS over joins: queries through which feedback is
relayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from eddyline.testing.strategies.join_trees import JoinTreeCase, random_batches

_WINDOWS: Final = (2, 5, 10, 20)
_COLUMNS: Final = "xyz"
_AGGREGATES: Final = ("COUNT(*)", "SUM({})", "MIN({})", "MAX({})", "COUNT(DISTINCT {})", "AVG({})")
_STREAMS: Final = 5


def relayed_case(seed: int) -> JoinTreeCase:
    """The case of a seed: what is below, one to three joins above it, batches and restarts."""
    random = Random(seed)
    windows = [f"[RANGE {random.choice(_WINDOWS)} SECONDS]" for _ in range(_STREAMS)]
    sql, columns = _below(random, windows)
    left = [2, 3, 4]
    if random.random() < 0.5:
        sql, columns = _beside(random, sql, columns, left.pop(), windows, "g")
    if random.random() < 0.3:
        sql = _tested(random, sql, columns, windows)
    if random.random() < 0.6:
        sql, columns = _grouped(random, sql, columns)
    if random.random() < 0.2:
        sql = _tested(random, sql, columns, windows)
    for number in range(random.choice([1, 1, 1, 2])):
        sql, columns = _beside(random, sql, columns, left.pop(), windows, f"h{number}")
    if random.random() < 0.15:
        sql, _ = _grouped(random, sql, columns)
    batches, *_ = random_batches(random, _STREAMS, random.choice([2, 3, 4, 6]))
    restart = frozenset(n for n in range(len(batches)) if random.random() < 0.15)
    return JoinTreeCase(_STREAMS, sql, batches, restart, None, "static")


def _below(random: Random, windows: Sequence[str]) -> tuple[str, list[str]]:
    """A SELECT over s0 and s1, and the names of its columns."""
    shown = [f"s{i}.{c} AS s{i}_{c}" for i in (0, 1) for c in _COLUMNS]
    names = [f"s{i}_{c}" for i in (0, 1) for c in _COLUMNS]
    a, b = (random.choice(_COLUMNS) for _ in "ab")
    on = f"s0.{a} = s1.{b}"
    if random.random() < 0.2:
        on += f" AND s0.{random.choice(_COLUMNS)} <= s1.{random.choice(_COLUMNS)}"
    form = random.choice(["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "FULL JOIN", "EXISTS"])
    if form == "EXISTS":
        no = random.choice(["", "NOT "])
        where = f"{no}EXISTS (SELECT 1 FROM s1 {windows[1]} WHERE {on})"
        return f"SELECT {', '.join(shown[:3])} FROM s0 {windows[0]} WHERE {where}", names[:3]
    joined = f"s0 {windows[0]} {form} s1 {windows[1]} ON {on}"
    return f"SELECT {', '.join(shown)} FROM {joined}", names


def _tested(random: Random, sql: str, columns: list[str], windows: Sequence[str]) -> str:
    """The rows of a SELECT for which a stream has a match, or none; in some cases others, too."""
    stream = random.randrange(_STREAMS)
    terms = [f"t.{random.choice(columns)} = o.{random.choice(_COLUMNS)}"]
    if random.random() < 0.5:
        terms.append(f"t.{random.choice(columns)} <= o.{random.choice(_COLUMNS)} + 1")
    found = f"EXISTS (SELECT 1 FROM s{stream} {windows[stream]} AS o WHERE {' AND '.join(terms)})"
    where = random.choice(["", "NOT ", f"t.{random.choice(columns)} = 1 OR "]) + found
    return f"SELECT {', '.join(columns)} FROM ({sql}) AS t WHERE {where}"


def _grouped(random: Random, sql: str, columns: list[str]) -> tuple[str, list[str]]:
    """The groups of a SELECT by one or two columns, or its distinct rows."""
    keys = random.sample(columns, random.choice([1, 1, 2]))
    if random.random() < 0.1:
        return f"SELECT DISTINCT {', '.join(keys)} FROM ({sql}) AS d", keys
    values = [
        f"{random.choice(_AGGREGATES).format(random.choice(columns))} AS n{i}" for i in range(2)
    ]
    having = " HAVING COUNT(*) > 1" if random.random() < 0.2 else ""
    shown = ", ".join(keys + values)
    return f"SELECT {shown} FROM ({sql}) AS t GROUP BY {', '.join(keys)}{having}", keys


def _beside(
    random: Random,
    sql: str,
    columns: list[str],
    stream: int,
    windows: Sequence[str],
    name: str,
) -> tuple[str, list[str]]:
    """A join of a SELECT with a stream."""
    terms = [
        f"{name}.{random.choice(columns)} = s{stream}.{random.choice(_COLUMNS)}"
        for _ in range(random.choice([1, 1, 1, 2]))
    ]
    form = random.choice(["JOIN", "JOIN", "JOIN", "LEFT JOIN"])
    sides = [f"({sql}) AS {name}", f"s{stream} {windows[stream]}"]
    if random.random() < 0.3 and form == "JOIN":
        sides.reverse()
    column = random.choice(_COLUMNS)
    shown = [f"{name}.{c}" for c in columns] + [f"s{stream}.{column} AS {name}_{column}"]
    text = f"SELECT {', '.join(shown)} FROM {sides[0]} {form} {sides[1]} ON {' AND '.join(terms)}"
    return text, [*columns, f"{name}_{column}"]
