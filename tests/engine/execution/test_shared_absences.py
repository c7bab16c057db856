"""EXISTS, NOT EXISTS and LEFT JOIN of many queries with windows of their own."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pytest

from eddyline import Engine, StrategyOptions
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
    "values": "SELECT k FROM s [A] WHERE x > C EXCEPT SELECT k FROM u [B]",
    "values of three": "SELECT k FROM s [A] WHERE x > C EXCEPT SELECT k FROM u [B] WHERE x > 2 "
    "EXCEPT SELECT x FROM s [A]",
    "groups of present keys": "SELECT g.k, g.n FROM (SELECT k, COUNT(*) AS n FROM s [A] WHERE "
    "x > C GROUP BY k) AS g WHERE EXISTS (SELECT 1 FROM u [B] AS u WHERE u.k = g.k)",
    "pairs or NULL": "SELECT s.x, s.k, u.x AS ux FROM s [A] AS s LEFT JOIN u [B] AS u ON u.k = s.k "
    "WHERE s.x > C",
    "pairs of some": "SELECT s.x + u.x AS z, u.ts FROM s [A] AS s LEFT JOIN u [B] AS u "
    "ON u.k = s.k AND u.x > 5 WHERE s.x > C",
    "pairs in one stream": "SELECT s.x, t.x AS tx FROM s [A] AS s LEFT JOIN s [B] AS t "
    "ON t.k = s.x WHERE s.x > C",
    "groups of pairs": "SELECT s.k, COUNT(u.x) AS n, SUM(u.x) AS x FROM s [A] AS s LEFT JOIN "
    "u [B] AS u ON u.k = s.k WHERE s.x > C GROUP BY s.k HAVING COUNT(*) > 1",
}


def _queries(kind: str, chance: random.Random, emit: str) -> Iterator[str]:
    while True:
        windows = [f"RANGE {chance.choice(LENGTHS)} MILLISECONDS" for _ in "AB"]
        text = KINDS[kind].replace("[A]", f"[{windows[0]}]").replace("[B]", f"[{windows[1]}]")
        yield text.replace("> C", f"> {chance.randrange(5)}") + emit


def _noted(texts: Iterator[str], noted: list[str]) -> Iterator[str]:
    for text in texts:
        noted.append(text)
        yield text


@pytest.mark.parametrize(
    "kind, emit", [(kind, EMITS[(i + n) % 3]) for i, kind in enumerate(KINDS) for n in (0, 1)]
)
def test_queries_with_other_windows(kind: str, emit: str) -> None:
    """They are added and dropped, and the engine is saved and loaded, while rows come."""
    chance = random.Random(f"{kind}{emit}")
    made_texts: list[str] = []
    texts = _noted(_queries(kind, chance, emit), made_texts)
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
    windows = [re.findall(r"\[.*?\]", text) for text in made_texts]
    if len(set(map(tuple, windows))) == len(windows):
        assert not made & {"Matching", "Join"}


@pytest.mark.parametrize("emit", EMITS)
@pytest.mark.parametrize(
    "kind", ["absence", "presence", "groups", "pairs or NULL", "groups of present keys"]
)
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


@pytest.mark.parametrize("kind", ["absence", "pairs or NULL"])
def test_queries_that_do_not_share_keep_rows_of_their_own(kind: str) -> None:
    """One that is dropped takes no rows from the others."""
    text = KINDS[kind].replace("[A]", "[RANGE 4 SECONDS]").replace("[B]", "[RANGE 4 SECONDS]")
    first = {f"q{i}": text.replace("> C", f"> {i}") for i in range(2)}
    script = Script(STREAMS, first, options={"sharing": False, "executor": "eddy"})
    script.process(s="ts|k:int|x:int\n1500ms|1|5", u="ts|k:int|x:int\n1s|1|0").check()
    script.drop("q0").advance("3700ms")
    script.process(s="ts|k:int|x:int\n4800ms|2|5", u="ts|k:int|x:int\n4800ms|3|0")
    script.add("late", text.replace("> C", "> 2")).check()
    script.advance("20s").finish()


@pytest.mark.parametrize("kind", ["absence", "presence", "pairs or NULL"])
def test_rows_are_forgotten(kind: str) -> None:
    """Older left rows may be there longer than newer ones, for a query with a longer window."""
    texts = {
        "short": KINDS[kind].replace("> C", "> 0"),
        "long": KINDS[kind].replace("> C", "> 1"),
    }
    for name, a, b in (("short", 1, 2), ("long", 6, 5)):
        windows = {"[A]": f"[RANGE {a} SECONDS]", "[B]": f"[RANGE {b} SECONDS]"}
        for window, text in windows.items():
            texts[name] = texts[name].replace(window, text)
    engines = [Engine(strategy=StrategyOptions(executor=e)) for e in ("eddy", "tree")]
    for engine in engines:
        engine.sql(STREAMS)
        engine.query(texts["short"], name="short")
    chance = random.Random(1)
    for call in range(60):
        if call in (20, 44):
            for engine in engines:
                engine.query(texts["long"], name="long") if call == 20 else engine.drop("long")
        tables = {name: _some_rows(chance, 1_000_000 + call * 1_000_000) for name in "su"}
        at = 1_990_000 + call * 1_000_000
        found = [engine.process(tables, watermark=at) for engine in engines]
        for name in engines[0].queries:
            if call != 20 or name == "short":  # what is added reports the answer so far
                assert _bag(found[0][name]) == _bag(found[1][name]), (call, name)
            answers = [engine.queries[name].snapshot() for engine in engines]
            assert _bag(answers[0]) == _bag(answers[1]), (call, name)
        if call in (19, 30, 50):
            saved = io.BytesIO()
            engines[0].save(saved)
            saved.seek(0)
            engines[0] = Engine.load(saved)
    (above,) = (o for o in engines[0].stats()["operators"] if o["operator"] == "PerQuery")
    assert above["rows_kept"] < 6_000


def _some_rows(chance: random.Random, clock: int) -> pa.Table:
    """A hundred rows in a second."""
    columns = {
        "ts": [clock + i * 10_000 for i in range(100)],
        "k": [chance.randrange(40) for _ in range(100)],
        "x": [chance.randrange(9) for _ in range(100)],
    }
    return pa.table(columns)


def _bag(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))
