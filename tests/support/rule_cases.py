"""Queries for each rule, the joins that they are, and random changes of the rules."""

from __future__ import annotations

import random
from typing import Any, Protocol

import pyarrow as pa

from eddyline import Engine
from eddyline.testing import batch
from eddyline.testing.script import Script

STREAMS = """
    CREATE STREAM s (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;
    CREATE STREAM u (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;
    CREATE TABLE names (k BIGINT, name STRING);
"""
NAMES = "k:int | name:str\n0 | a\n1 | b\n1 | c"
TABLE = "CREATE TABLE rules (id BIGINT, k BIGINT, lo BIGINT, name STRING, live BOOLEAN)"
FIRST = "id:int | k:int | lo:int | name:str | live:bool\n1 | 0 | 5 | a | true\n2 | 1 | . | b | true"
STEP = 250_000  # so that much happens at one instant

#: Select list, FROM and WHERE; with the table in FROM they are the join.
QUERIES = {
    "one stream": ("r.id, s.x, s.x - r.lo AS d", "s [RANGE 2 SECONDS]", "s.k = r.k AND s.x > r.lo"),
    "nothing of the rule": ("s.x", "s [RANGE 1 SECOND]", "s.x > r.lo"),
    "only the rule": ("r.name, r.id + 1 AS n", "s [RANGE 1 SECOND]", "s.x = r.lo"),
    "OR, NULL and flags": (
        "r.id, s.x",
        "s [RANGE 1 SECOND]",
        "r.live AND (s.k = r.k OR s.x > r.lo OR r.lo IS NULL AND s.x < 3)",
    ),
    "no predicate": ("r.id, s.k", "s [NOW]", "TRUE"),
    "two streams": (
        "r.name, s.x, u.x AS y",
        "s [RANGE 2 SECONDS], u [RANGE 1 SECOND]",
        "s.k = u.k AND s.k = r.k AND u.x >= r.lo",
    ),
    "over both streams": (
        "r.id, s.x + u.x + r.lo AS n",
        "s [RANGE 1 SECOND], u [RANGE 2 SECONDS]",
        "s.k = u.k AND s.x - u.x > r.lo - 5",
    ),
    "two streams on no key": (
        "r.id, s.x, u.x AS y",
        "s [RANGE 1 SECOND], u [RANGE 2 SECONDS]",
        "s.x < u.x AND s.k <> r.k AND u.x - s.x < r.lo",
    ),
    "two streams that only the rule joins": (
        "r.id, s.x, u.x AS y",
        "s [RANGE 1 SECOND], u [RANGE 2 SECONDS]",
        "s.x - u.x = r.lo",
    ),
    "every pair of what the rule picks": (
        "r.id, s.x, u.k",
        "s [RANGE 1 SECOND], u [NOW]",
        "s.x = r.lo AND u.k = r.k",
    ),
    "three streams": (
        "r.id, u.x",
        "s [RANGE 1 SECOND], u [RANGE 1 SECOND], s [RANGE 2 SECONDS] AS t",
        "s.k = u.k AND u.k = t.k AND t.x > r.lo",
    ),
    "a key of which a part is the rule's": (
        "r.id, s.x, u.x AS y",
        "s [RANGE 1 SECOND], u [RANGE 2 SECONDS]",
        "s.k = u.k AND s.x + r.k = u.x",
    ),
    "a table": (
        "r.id, s.x, n.name",
        "s [RANGE 2 SECONDS], names AS n",
        "s.k = n.k AND s.x > r.lo AND n.name <> r.name",
    ),
    "distinct": (
        "r.id, d.k",
        "(SELECT DISTINCT k FROM s [RANGE 2 SECONDS]) AS d",
        "d.k >= r.k",
    ),
}
#: Those whose rows are taken back, which non-retroactive rules do not allow.
TAKEN_BACK = {
    "groups": (
        "r.id, g.k, g.n",
        "(SELECT k, COUNT(*) AS n FROM s [RANGE 2 SECONDS] GROUP BY k) AS g",
        "g.n > r.lo - 4 AND g.k <> r.k",
    ),
    "groups and a stream": (
        "r.id, s.x, g.n",
        "s [RANGE 1 SECOND], (SELECT k, COUNT(*) AS n FROM u [RANGE 2 SECONDS] GROUP BY k) AS g",
        "s.k = g.k AND g.n + s.x > r.lo + 2",
    ),
    "a window of rows": ("r.id, s.x", "s [ROWS 4]", "s.x > r.lo"),
    "negation": (
        "r.id, d.x",
        "(SELECT k, x FROM s [RANGE 1 SECOND] EXCEPT ALL ON (k) SELECT k, x FROM u [NOW]) AS d",
        "d.x > r.lo",
    ),
}
ALL = {**QUERIES, **TAKEN_BACK}


def created(kind: str) -> str:
    items, source, condition = ALL[kind]
    return (
        f"CREATE QUERY q FOR EACH ROW OF rules AS r AS SELECT {items} FROM {source}"
        f" WHERE {condition}"
    )


def joined(kind: str) -> str:
    items, source, condition = ALL[kind]
    return f"SELECT {items} FROM {source}, rules AS r WHERE {condition}"


def scripted(kind: str, updates: str, **options: Any) -> Script:
    """A script in which the query is compared with the join."""
    script = Script(
        f"{STREAMS} {TABLE} WITH (updates = '{updates}')",
        {},
        tables={"rules": FIRST, "names": NAMES},
        options=options,
    )
    script.engine.sql(created(kind))
    return script.follow("q", joined(kind))


class Changes:
    """Random changes of the rules: many are equal, and each that goes has come before."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._there = [(1, 0, 5, "a", True), (2, 1, None, "b", True)]

    def within(self, start: int, end: int, count: int) -> pa.Table:
        chance, found = self._chance, []
        for at in sorted(chance.randrange(start, end) * STEP for _ in range(count)):
            if self._there and chance.random() < 0.5:
                rule = self._there.pop(chance.randrange(len(self._there)))
                found.append((at, "-", *rule))
            else:
                lo = chance.choice([None, 2, 4, 5, 6])
                rule = (chance.randrange(3), chance.randrange(3), lo, "c", chance.random() < 0.7)
                self._there.append(rule)
                found.append((at, "+", *rule))
        names = ["_ts", "_op", "id", "k", "lo", "name", "live"]
        return pa.table(list(map(list, zip(*found, strict=True))), names=names)


def rows(chance: random.Random, start: int, end: int, count: int) -> pa.Table:
    times = sorted(chance.randrange(start, end) * STEP for _ in range(count))
    numbers = {c: [chance.randrange(n) for _ in times] for c, n in (("k", 3), ("x", 10))}
    return pa.table({"ts": times, **numbers})


class ChangesOfRules(Protocol):
    """Makes changes of the rules."""

    def within(self, start: int, end: int, count: int) -> pa.Table:
        """This number of changes between two steps."""


def play(script: Script, changes: ChangesOfRules, chance: random.Random, step: int) -> Script:
    """Let rules come and go while rows come, in parts of this number of steps, with two restarts;
    each part is compared with the oracle.
    """
    restarts = (step, 2 * step)
    for start in range(0, 4 * step, step):
        data = {name: rows(chance, start, start + step, step + 2) for name in "su"}
        changed = changes.within(start, start + step, step - 2)
        script.process(rules=changed, **data).check()
        if start in restarts:
            script.restart().check()
    return script.advance("20s").finish()


def engine(updates: str = "retroactive") -> Engine:
    out = Engine()
    out.sql(f"{STREAMS} {TABLE} WITH (updates = '{updates}')")
    out.table("rules", batch(FIRST))
    return out
