"""EXISTS and NOT EXISTS of many queries with windows of their own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing.script import Script
from rule_cases import STREAMS, rows

LENGTHS: Final = (250, 500, 1000, 2500)
EMITS: Final = ("", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 700 MILLISECONDS")
#: SELECTs over ``s [A]`` and ``u [B]`` with a constant C.
KINDS: Final = {
    "absence": "SELECT s.x, s.k FROM s [A] AS s WHERE s.x > C AND NOT EXISTS "
    "(SELECT 1 FROM u [B] AS u WHERE u.k = s.k)",
    "presence": "SELECT s.x, s.k FROM s [A] AS s WHERE s.x > C AND s.k IN (SELECT k FROM u [B])",
    "any row": "SELECT s.x FROM s [A] AS s WHERE s.x > C AND NOT EXISTS (SELECT 1 FROM u [B])",
    "of some": "SELECT s.x FROM s [A] AS s WHERE s.x > C AND EXISTS "
    "(SELECT 1 FROM u [B] AS u WHERE u.k = s.k AND u.x > 5)",
    "of itself": "SELECT s.x FROM s [A] AS s WHERE s.k > 0 AND NOT EXISTS "
    "(SELECT 1 FROM s [B] AS t WHERE t.k = s.x)",
    "groups": "SELECT s.k, COUNT(*) AS n, SUM(s.x) AS x FROM s [A] AS s WHERE s.x > C AND NOT "
    "EXISTS (SELECT 1 FROM u [B] AS u WHERE u.k = s.k) GROUP BY s.k HAVING COUNT(*) > 1",
    "distinct": "SELECT DISTINCT s.k FROM s [A] AS s WHERE s.x > C AND EXISTS "
    "(SELECT 1 FROM u [B] AS u WHERE u.k = s.k)",
}


def _queries(kind: str, chance: random.Random, emit: str) -> Iterator[str]:
    while True:
        windows = [f"RANGE {chance.choice(LENGTHS)} MILLISECONDS" for _ in "AB"]
        text = KINDS[kind].replace("[A]", f"[{windows[0]}]").replace("[B]", f"[{windows[1]}]")
        yield text.replace("> C", f"> {chance.randrange(5)}") + emit


@pytest.mark.parametrize(
    "kind, emit", [(kind, EMITS[(i + n) % 3]) for i, kind in enumerate(KINDS) for n in (0, 1)]
)
def test_queries_with_other_windows(kind: str, emit: str) -> None:
    """They are added and dropped, and the engine is saved and loaded, while rows come."""
    chance = random.Random(f"{kind}{emit}")
    texts = _queries(kind, chance, emit)
    first = {f"q{i}": next(texts) for i in range(4)}
    script = Script(STREAMS, first, options={"chunk_rows": chance.choice([1, 3, 1000])})
    for start in range(0, 40, 8):
        data = {name: rows(chance, start, start + 8, 10) for name in "su"}
        script.process(**data).check()
        if start in (8, 16):
            script.add(f"more{start}", next(texts)).drop(f"q{start // 8}")
        if start in (16, 24):
            script.restart().check()
    script.advance("20s").finish()
    assert any(script.changes(name).num_rows for name in script.tracked)
    made = {o["operator"] for o in script.engine.stats()["operators"]}
    assert ("Matching" in made) == (kind == "distinct")  # which is made below EXISTS


@pytest.mark.parametrize("emit", EMITS)
@pytest.mark.parametrize("kind", ["absence", "presence", "groups"])
def test_windows_of_rules(kind: str, emit: str) -> None:
    chance = random.Random(f"{kind}{emit}")
    table = "CREATE TABLE rules (id BIGINT, a BIGINT, b BIGINT, c BIGINT)"
    script = Script(
        f"{STREAMS} {table} WITH (updates = 'retroactive')",
        {},
        tables={"rules": "id:int | a:int | b:int | c:int\n1 | 500 | 1000 | 3\n2 | 900 | 0 | 0"},
        options={"chunk_rows": chance.choice([1, 3, 1000])},
    )
    text = KINDS[kind].replace("> C", "> r.c")
    for name in "AB":
        window = f"[RANGE r.{name.lower()} MILLISECONDS AT MOST 2500 MILLISECONDS]"
        text = text.replace(f"[{name}]", window)
    text = f"FOR EACH ROW OF rules AS r AS {text.replace('SELECT', 'SELECT r.id,', 1)}{emit}"
    script.engine.sql(f"CREATE QUERY q {text}")
    script.follow("q", text)
    there: list[tuple[int | None, ...]] = [(1, 500, 1000, 3), (2, 900, 0, 0)]
    for start in range(0, 32, 8):
        data = {name: rows(chance, start, start + 8, 10) for name in "su"}
        changes = []
        for at in sorted(chance.randrange(start, start + 8) * 250_000 for _ in range(4)):
            if there and chance.random() < 0.4:
                changes.append((at, "-", *there.pop(chance.randrange(len(there)))))
            else:
                lengths = [chance.choice([None, 0, 250, 1000, 2500, 9999]) for _ in "ab"]
                there.append((chance.randrange(9), *lengths, chance.randrange(5)))
                changes.append((at, "+", *there[-1]))
        names = ["_ts", "_op", "id", "a", "b", "c"]
        columns = list(map(list, zip(*changes, strict=True)))
        script.process(rules=pa.table(columns, names=names), **data).check()
        if start == 16:
            script.restart().check()
    script.advance("20s").finish()
    assert script.changes().num_rows


def test_keys_that_are_gone_are_forgotten() -> None:
    engine = Engine()
    engine.sql(STREAMS)
    for i in range(3):
        engine.query(
            f"SELECT s.x FROM s [RANGE {i + 1} SECONDS] AS s WHERE s.x > {i} AND NOT EXISTS "
            f"(SELECT 1 FROM u [RANGE {i + 1} SECONDS] AS u WHERE u.k = s.k)",
            name=f"q{i}",
        )
    second = 1_000_000
    for call in range(60):
        at = [call * second + i for i in range(500)]
        keys = [call * 500 + i for i in range(500)]
        table = pa.table({"ts": at, "k": keys, "x": [5] * 500})
        engine.process({"s": table.slice(0, 1), "u": table}, watermark=at[-1])
    (above,) = (o for o in engine.stats()["operators"] if o["operator"] == "PerQuery")
    assert above["rows_kept"] < 6_000
