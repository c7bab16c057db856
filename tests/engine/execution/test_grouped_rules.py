"""FOR EACH ROW OF with groups and EMIT: each rule answers as a query with its constants does."""

from __future__ import annotations

import io
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest

from eddyline import Engine, UnsupportedError
from eddyline.types import TIMESTAMP

STREAM: Final = """
CREATE STREAM s (ts TIMESTAMP, k BIGINT, x BIGINT, v DOUBLE) TIMESTAMP BY ts;
CREATE STREAM u (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;"""
RULES: Final = """
CREATE TABLE rules (id BIGINT, k BIGINT, lo BIGINT, most DOUBLE) WITH (updates = 'retroactive')"""
#: SELECTs with the columns of a rule in braces.
KINDS: Final[dict[str, str]] = {
    "thresholds": "SELECT {id} AS id, k, AVG(v) AS v FROM s [RANGE 2 SECONDS] GROUP BY k "
    "HAVING AVG(v) > {most}",
    "rows and thresholds": "SELECT {id} AS id, k + {lo} AS k, SUM(x) AS x FROM s [RANGE 2 SECONDS] "
    "WHERE k = {k} AND x >= {lo} GROUP BY k HAVING SUM(x) < {most} AND COUNT(*) > 0",
    "largest": "SELECT k, MAX(x) AS x, {id} AS id FROM s [RANGE 1 SECOND] WHERE x <> {lo} "
    "GROUP BY k",
    "texts": "SELECT {id} AS id, MAX(CAST(x AS STRING)) AS t, COUNT(DISTINCT k) AS n FROM s "
    "[RANGE 1 SECOND] WHERE x > {lo} GROUP BY x HAVING COUNT(DISTINCT k) >= {lo}",
    "joined": "SELECT {id} AS id, s.k, COUNT(*) AS n FROM s [RANGE 2 SECONDS] AS s, u [RANGE 1 "
    "SECOND] AS u WHERE s.k = u.k AND u.x >= {lo} GROUP BY s.k HAVING COUNT(*) > {lo}",
    "distinct": "SELECT DISTINCT x FROM s [RANGE 2 SECONDS] WHERE k = {k}",
    "rows": "SELECT {id} AS id, x + {lo} AS y FROM s [RANGE 1 SECOND] WHERE k = {k} AND x > {lo}",
    "global": "SELECT {id} AS id, SUM(x) AS x FROM s [RANGE 2 SECONDS] WHERE k = {k} "
    "HAVING SUM(x) > {lo}",
}
EMITS: Final = ("INSERTS", "CHANGES", "SNAPSHOT EVERY 700 MILLISECONDS")


class Rules:
    """An engine with one query for each rule, and one with a query per rule."""

    def __init__(self, select: str, emit: str) -> None:
        self._select, self._emit = select, emit
        self.engines = [Engine(), Engine()]
        for engine in self.engines:
            engine.sql(STREAM)
            for stream in "su":  # rows are there for queries that come later
                engine.query(f"SELECT k FROM {stream} [RANGE 5 SECONDS]", name=f"all_{stream}")
        self.engines[0].sql(RULES)
        names = {c: f"rules.{c}" for c in ("id", "k", "lo", "most")}
        text = f"FOR EACH ROW OF rules AS {select.format(**names)} EMIT {emit}"
        self.engines[0].sql(f"CREATE QUERY q {text}")
        self.rules: dict[int, dict[str, Any]] = {}

    def process(self, chance: Random, clock: int, changes: list[tuple[str, dict[str, Any]]]) -> int:
        """Changes of the rules, then rows of the streams; returns the number of results."""
        columns = {c: [r[c] for _, r in changes] for c in ("id", "k", "lo", "most")}
        at = pa.array([clock] * len(changes), pa.int64()).cast(TIMESTAMP)
        table = pa.table({"_ts": at, "_op": [op for op, _ in changes], **columns})
        self.engines[0].process({"rules": table}, watermark=clock)
        self.engines[1].advance(clock)
        for op, rule in changes:
            name = f"q{rule['id']}"
            if op == "+":
                constants = {c: str(v) for c, v in rule.items()}
                text = f"{self._select.format(**constants)} EMIT {self._emit}"
                self.engines[1].query(text, name=name)
                self.rules[rule["id"]] = rule
            else:
                self.engines[1].drop(name)
                del self.rules[rule["id"]]
        self.check()
        rows = {"s": _rows(chance, clock, 4), "u": _rows(chance, clock, 3)}
        newest = max(t["ts"][-1].value for t in rows.values())
        shared, alone = (e.process(rows, watermark=newest) for e in self.engines)
        new = {f"q{r['id']}" for op, r in changes if op == "+"}
        if not new:  # these report their answers in another way
            theirs = [row for n in self.rules for row in alone[f"q{n}"].to_pylist()]
            mine = shared["q"].to_pylist()
            if self._emit == "INSERTS":  # a group's row replaces the one before, or takes it back
                mine, theirs = ([c for c in cs if c["_op"] == "+"] for cs in (mine, theirs))
            assert sorted(map(repr, mine)) == sorted(map(repr, theirs))
        self.check()
        return int(shared["q"].num_rows)

    def check(self) -> None:
        """Compare the answers."""
        mine = self.engines[0].queries["q"].snapshot().to_pylist()
        of = self.engines[1].queries
        theirs = [row for n in self.rules for row in of[f"q{n}"].snapshot().to_pylist()]
        assert sorted(map(repr, mine)) == sorted(map(repr, theirs))

    def restart(self) -> None:
        for i, engine in enumerate(self.engines):
            saved = io.BytesIO()
            engine.save(saved)
            self.engines[i] = Engine.load(io.BytesIO(saved.getvalue()))


def _rows(chance: Random, clock: int, columns: int) -> pa.Table:
    ts = sorted(clock + chance.randint(1, 900_000) for _ in range(chance.randint(1, 12)))
    table = {
        "ts": pa.array(ts, pa.int64()).cast(TIMESTAMP),
        "k": [chance.randint(0, 2) for _ in ts],
        "x": pa.array([chance.choice([None, 0, 1, 2, 3]) for _ in ts], pa.int64()),
        "v": [chance.choice([0.5, 1.5, 2.5]) for _ in ts],
    }
    return pa.table(dict(list(table.items())[:columns]))


@pytest.mark.parametrize("emit", EMITS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_rule_answers_as_a_query_does(kind: str, emit: str) -> None:
    chance = Random(f"{kind} {emit}")
    rules, clock, found, number = Rules(KINDS[kind], emit), 1_000_000, 0, 0
    for _ in range(14):
        some = chance.sample(list(rules.rules.values()), min(len(rules.rules), 2))
        changes = [("-", rule) for rule in some if chance.random() < 0.3]
        for _ in range(chance.choice([0, 0, 1, 2])):
            number += 1
            most = chance.choice([1.0, 1.5, 2.0, 5.0])
            lo = chance.choice([0, 1])
            changes.append(("+", {"id": number, "k": number % 3, "lo": lo, "most": most}))
        found += rules.process(chance, clock, changes)
        clock += 1_000_000
        if chance.random() < 0.25:
            rules.restart()
    assert found


def test_a_static_table_of_thresholds() -> None:
    engine = Engine()
    engine.sql(STREAM + "CREATE TABLE rules (id BIGINT, most DOUBLE)")
    engine.table("rules", pa.table({"id": [1, 2, 3], "most": [1.0, 2.0, None]}))
    engine.sql(
        "CREATE QUERY q FOR EACH ROW OF rules AS SELECT rules.id, k, AVG(v) AS v FROM s "
        "[RANGE 1 MINUTE] GROUP BY k HAVING AVG(v) > rules.most"
    )
    out = engine.process({"s": pa.table({"ts": [0, 1], "k": [7, 8], "x": [1, 1], "v": [1.5, 3.0]})})
    assert out["q"].select(["id", "k", "v"]).to_pylist() == [
        {"id": 1, "k": 7, "v": 1.5},
        {"id": 1, "k": 8, "v": 3.0},
        {"id": 2, "k": 8, "v": 3.0},
    ]


def test_groups_need_retroactive_rules() -> None:
    engine = Engine()
    engine.sql(STREAM + RULES.replace("retroactive", "non-retroactive"))
    with pytest.raises(UnsupportedError, match="updates = 'retroactive'"):
        engine.sql(
            "CREATE QUERY q FOR EACH ROW OF rules AS SELECT k, COUNT(*) AS n FROM s [RANGE 1 "
            "SECOND] GROUP BY k HAVING COUNT(*) > rules.lo"
        )
