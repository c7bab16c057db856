"""FOR EACH ROW OF with windows whose lengths are in the rules: each rule answers as a query with
its window does.
"""

from __future__ import annotations

import random
from typing import Final

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing.script import Script
from rule_cases import STREAMS, play

TABLE: Final = "CREATE TABLE rules (id BIGINT, k BIGINT, lo BIGINT, n DOUBLE)"
FIRST: Final = "id:int | k:int | lo:int | n:float\n1 | 0 | 5 | 1.5\n2 | 1 | . | .\n3 | 2 | 4 | 3.0"
STEP: Final = 250_000
WINDOW: Final = "[RANGE r.n SECONDS AT MOST 3 SECONDS]"
MORE: Final = "[RANGE r.lo SECOND AT MOST 2500 MILLISECONDS]"
QUERIES: Final = {
    "rows": f"SELECT r.id, s.x FROM s {WINDOW} WHERE s.k = r.k",
    "all rows": f"SELECT r.id, s.x FROM s {WINDOW}",
    "two streams": f"SELECT r.id, s.x, u.x AS y FROM s {WINDOW} AS s, u {MORE} AS u "
    "WHERE s.k = u.k AND u.x >= r.lo",
    "one of two": f"SELECT s.x, u.x AS y FROM s [NOW] AS s, u {MORE} AS u WHERE s.k = u.k",
    "three streams": f"SELECT r.id, t.x FROM s {WINDOW} AS s, u [RANGE 1 SECOND] AS u, "
    f"s {MORE} AS t WHERE s.k = u.k AND u.k = t.k AND t.x > 5",
    "on no key": f"SELECT r.id, s.x FROM s {WINDOW} AS s, u {MORE} AS u WHERE s.x < u.x - 5",
    "groups": f"SELECT r.id, k, COUNT(*) AS n FROM s {WINDOW} WHERE x > r.lo GROUP BY k",
    "thresholds": f"SELECT r.id, k, SUM(x) AS x FROM s {WINDOW} GROUP BY k HAVING SUM(x) > r.lo",
    "largest": f"SELECT r.id, k, MAX(x) AS x FROM s {WINDOW} GROUP BY k HAVING MAX(x) > r.lo",
    "distinct": f"SELECT DISTINCT k FROM s {WINDOW} WHERE x > 4",
    "global": f"SELECT r.id, SUM(x) AS x FROM s {WINDOW} WHERE k = r.k HAVING SUM(x) > r.lo",
    "joined groups": f"SELECT r.id, s.k, COUNT(*) AS n FROM s {WINDOW} AS s, u {MORE} AS u "
    "WHERE s.k = u.k GROUP BY s.k HAVING COUNT(*) > r.lo",
    "trailing": "SELECT r.id, s.x, u.x AS y FROM s, u WHERE s.k = u.k "
    "WINDOW RANGE r.n SECONDS AT MOST 2 SECONDS",
    "cut": f"SELECT r.id, s.x FROM s {WINDOW} WHERE s.ts > now() - INTERVAL 2 SECONDS",
}
#: What a query means that the oracle does not read.
MEANT: Final = {"cut": "SELECT r.id, s.x FROM s [RANGE r.n SECONDS AT MOST 2 SECONDS]"}
EMITS: Final = ("", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 700 MILLISECONDS")


class _Changes:
    """Random changes of the rules."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._there = [(1, 0, 5, 1.5), (2, 1, None, None), (3, 2, 4, 3.0)]

    def within(self, start: int, end: int, count: int) -> pa.Table:
        chance, found = self._chance, []
        for at in sorted(chance.randrange(start, end) * STEP for _ in range(count)):
            if self._there and chance.random() < 0.5:
                found.append((at, "-", *self._there.pop(chance.randrange(len(self._there)))))
            else:
                length = chance.choice([None, -1.0, 0.0, 0.75, 1.5, 3.0, 3.000001, 1e30])
                lo = chance.choice([None, 0, 2, 4, 6])
                rule = (chance.randrange(3), chance.randrange(3), lo, length)
                self._there.append(rule)
                found.append((at, "+", *rule))
        names = ["_ts", "_op", "id", "k", "lo", "n"]
        return pa.table(list(map(list, zip(*found, strict=True))), names=names)


def _script(kind: str, emit: str, *, chunk_rows: int) -> Script:
    ddl = f"{STREAMS} {TABLE} WITH (updates = 'retroactive')"
    script = Script(ddl, {}, tables={"rules": FIRST}, options={"chunk_rows": chunk_rows})
    for_each = "FOR EACH ROW OF rules AS r AS"
    script.engine.sql(f"CREATE QUERY q {for_each} {QUERIES[kind]}{emit}")
    return script.follow("q", f"{for_each} {MEANT.get(kind, QUERIES[kind])}{emit}")


@pytest.mark.parametrize(
    "kind, emit", [(kind, EMITS[(i + n) % 3]) for i, kind in enumerate(QUERIES) for n in (0, 1)]
)
def test_each_rule_has_a_window_of_its_own(kind: str, emit: str) -> None:
    chance = random.Random(f"{kind}{emit}")
    script = _script(kind, emit, chunk_rows=chance.choice([1, 3, 1000]))
    assert play(script, _Changes(chance), chance, 6).changes().num_rows > 2


@pytest.mark.parametrize("kind", ["rows", "two streams"])
def test_later_rows_only(kind: str) -> None:
    """Rules of a non-retroactive table: rows before a rule, or after it, are not in its answer."""
    engine = Engine()
    engine.sql(f"{STREAMS} {TABLE} WITH (updates = 'non-retroactive')")
    engine.sql(f"CREATE QUERY q FOR EACH ROW OF rules AS r AS {QUERIES[kind]}")
    names = ["_ts", "_op", "id", "k", "lo", "n"]
    rule = [[1_000_000, 3_000_000], ["+", "-"], [7, 7], [1, 1], [2, 2], [2.5, 2.5]]
    at = [500_000, 1_500_000, 2_500_000, 3_500_000]
    ones = pa.table({"ts": at, "k": [1] * 4, "x": [5, 6, 7, 8]})
    twos = pa.table({"ts": [200_000], "k": [1], "x": [3]})
    data = {"rules": pa.table(rule, names=names), "s": ones, "u": twos}
    found = engine.process(data, watermark=6_000_000)["q"]
    expected = [(6, 4_000_000), (7, 5_000_000)]
    if kind == "two streams":
        expected = [(6, 2_200_000)]
    assert (
        list(zip(found["x"].to_pylist(), (e.value for e in found["_exp"]), strict=True)) == expected
    )


def test_rules_with_few_lengths_share_their_groups() -> None:
    engine = Engine()
    engine.sql(f"{STREAMS} {TABLE} WITH (updates = 'retroactive')")
    many = range(300)
    rules = {"id": many, "k": [0] * 300, "lo": many, "n": [1.0 + i % 3 for i in many]}
    engine.table("rules", pa.table({name: list(values) for name, values in rules.items()}))
    engine.sql(f"CREATE QUERY q FOR EACH ROW OF rules AS r AS {QUERIES['thresholds']}")
    some = pa.table({"ts": [0, 1, 2], "k": [1] * 3, "x": [100, 90, 1]})
    out = engine.process({"s": some})["q"]
    assert set(out["id"].to_pylist()) == set(range(191))  # the sum is 191
    assert [o["operator"] for o in engine.stats()["operators"]] == ["Scan", "Flow", "PerQuery"]
