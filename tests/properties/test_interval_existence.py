"""EXISTS, NOT EXISTS and IN of streams without windows, by conditions on their event times: each
row comes once, when it is certain, or with its first match; computed here from all rows ever.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from eddyline import Engine, SqlError
from eddyline.testing.engines import engine_with
from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from interval_runs import DDL, STEPS, run
from thinned import fewer
from window_rows import rows

TERMS: Final = {
    "EXISTS": "EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.x > 0 AND {times})",
    "NOT EXISTS": "NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.x > 0 AND {times})",
    "IN": "a.x IN (SELECT x FROM b WHERE b.k = a.k AND b.x > 0 AND {times})",
    "NOT IN": "a.x NOT IN (SELECT x FROM b WHERE {times})",
}
#: A row of a, or of b: (ts, k, x). A result: its instant, and a row of a.
Row = tuple[int, str, int | None]
Result = tuple[int, Row]


def term(kind: str, back: int, ahead: int) -> str:
    """b is between ``back`` before a and ``ahead`` after."""
    start, end = (f"INTERVAL '{us}' MICROSECOND" for us in (back, ahead))
    return TERMS[kind].format(times=f"b.ts BETWEEN a.ts - {start} AND a.ts + {end}")


def is_match(kind: str, a: Row, b: Row) -> bool:
    """Whether a row of b in the bounds counts: for NOT IN, whether it excludes the row of a."""
    if kind == "NOT IN":
        return a[2] is None or b[2] is None or a[2] == b[2]
    same = a[1] == b[1] and b[2] is not None and b[2] > 0
    return same and (kind != "IN" or a[2] == b[2])


def expected(
    terms: list[tuple[str, int, int]], given_rows: dict[str, list[Any]], until: int
) -> list[Result]:
    """The results of a row of a that satisfies all terms."""
    wait = max(0, *(ahead for _, _, ahead in terms)) + 1
    early = wait > 1 and not any(kind.startswith("NOT") for kind, *_ in terms)
    found: list[Result] = []
    for a in given_rows["a"]:
        at, holds = a[0], True
        for kind, back, ahead in terms:
            times = [
                b[0]
                for b in given_rows["b"]
                if -back <= b[0] - a[0] <= ahead and is_match(kind, a, b)
            ]
            holds = holds and bool(times) != kind.startswith("NOT")
            at = max([at, *([min(times)] if times else [])])
        if holds:
            found.append((at if early else a[0] + wait, a))
    return sorted((r for r in found if r[0] <= until), key=repr)


#: Queries that read terms as values: the text, with some terms; and the row of a that they make of
#: one, by whether it has a match of each, or None.
READERS: Final[dict[str, Any]] = {
    "SELECT a.ts, a.k, a.x FROM a WHERE a.x > 2 OR {0}": lambda a, p, q: (
        a if p or (a[2] is not None and a[2] > 2) else None
    ),
    "SELECT a.ts, a.k, a.x FROM a WHERE {0} OR {1}": lambda a, p, q: a if p or q else None,
    "SELECT a.ts, a.k, a.x FROM a WHERE COALESCE({0}, FALSE) <> COALESCE({1}, FALSE)": (
        lambda a, p, q: None if p == q else a
    ),
    "SELECT a.ts, a.k, CASE WHEN {0} THEN a.x WHEN {1} THEN -1 ELSE -2 END AS x FROM a": (
        lambda a, p, q: (*a[:2], a[2] if p else -1 if q else -2)
    ),
    "SELECT a.ts, a.k, IF({0}, 1, 0) AS x FROM a WHERE a.k <> 'b'": lambda a, p, q: (
        (*a[:2], int(p)) if a[1] != "b" else None
    ),
    "SELECT ts, k, x FROM (SELECT a.*, {0} AS p FROM a) AS c WHERE NOT COALESCE(p, FALSE)": (
        lambda a, p, q: None if p else a
    ),
}


def expected_values(
    reader: str, terms: list[tuple[str, int, int]], fed: dict[str, list[Any]], until: int
) -> list[Result]:
    """The results of each row of a, once no row of b can be a match any more."""
    wait = max(0, *(ahead for i, (_, _, ahead) in enumerate(terms) if f"{{{i}}}" in reader)) + 1
    found: list[Result] = []
    for a in fed["a"]:
        held = []
        for kind, back, ahead in terms:
            there = any(-back <= b[0] - a[0] <= ahead and is_match(kind, a, b) for b in fed["b"])
            held.append(there != kind.startswith("NOT"))
        row = READERS[reader](a, *held)
        if row is not None and a[0] + wait <= until:
            found.append((a[0] + wait, row))
    return sorted(found, key=repr)


def results(tables: list[pa.Table]) -> list[Result]:
    found: list[Result] = []
    for table in tables:
        assert set(table["_op"].to_pylist()) <= {"+"}
        at, ts = (table[n].cast(pa.int64()).to_pylist() for n in ("_ts", "ts"))
        assert at == sorted(at)
        values = (table[n].to_pylist() for n in ("k", "x"))
        found += zip(at, zip(ts, *values, strict=True), strict=True)
    return sorted(found, key=repr)


def bounded(random: Random) -> tuple[str, int, int]:
    back = random.choice(STEPS)
    return random.choice([*TERMS]), back, random.choice([s for s in STEPS if s >= -back])


def play(random: Random, options: dict[str, Any]) -> int:
    """Rows and restarts; returns the number of results."""
    engine = engine_with(**options)
    engine.sql(DDL)
    cases = {f"q{i}": [bounded(random) for _ in range(random.choice([1, 1, 2]))] for i in range(4)}
    for name, terms in cases.items():
        where = " AND ".join(term(*t) for t in terms)
        engine.query(f"SELECT a.ts, a.k, a.x FROM a WHERE {where}", name=name)
    readers = {f"v{i}": random.choice([*READERS]) for i in range(2)}
    for name, reader in readers.items():
        cases[name] = [bounded(random) for _ in range(2)]
        engine.query(reader.format(*(term(*t) for t in cases[name])), name=name)
    ran = run(random, engine)
    total = 0
    for name, terms in cases.items():
        found = results(ran.out[name])
        if name in readers:
            wanted = expected_values(readers[name], terms, ran.given, ran.until)
        else:
            wanted = expected(terms, ran.given, ran.until)
        assert found == wanted, (readers.get(name), terms, ran.given)
        total += len(found)
    return total


@pytest.mark.parametrize("chunk_rows", [1, pytest.param(3, marks=pytest.mark.long), 1000])
def test_results_come_once(chunk_rows: int) -> None:
    found = [play(Random(f"{seed} {chunk_rows}"), {"chunk_rows": chunk_rows}) for seed in range(10)]
    assert sum(found) > 90


@settings(max_examples=fewer(2))
@given(st.integers(0, 2**48), OPTIONS)
def test_results_come_once_under_each_strategy(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    play(Random(seed), options | {"keep": {}})


@given(random=st.randoms(use_true_random=False), options=OPTIONS)
def test_beside_windows_the_answer_is_that_of_all_rows(
    random: Random, options: dict[str, Any]
) -> None:
    """Without its window the sub-query has all rows, as the oracle reads it."""
    source = random.choice(["a [RANGE 1 SECOND]", "a [RANGE 300 MILLISECONDS]", "a [NOW]"])
    read = term(*bounded(random))
    text = random.choice(
        [
            "SELECT k, x FROM {0} AS a WHERE {1}",
            "SELECT k, x FROM {0} AS a WHERE a.x > 2 OR {1}",
            "SELECT k, x, {1} AS y FROM {0} AS a",
            "SELECT k, x FROM {0} AS a WHERE CASE WHEN a.x = 1 THEN {1} ELSE a.k = 'b' END",
        ]
    ).format(source, read)
    emit = random.choice(["CHANGES", "INSERTS", "SNAPSHOT EVERY 700 MILLISECONDS"])
    script = Script(DDL, {"q": f"{text} EMIT {emit}"}, options=options)
    clock = 1_000_000
    for _ in range(random.randint(1, 3)):
        ends = {name: [clock] for name in "ab"}
        fed = {n: rows(random, end, random.choice([1, 4, 9]), "ab") for n, end in ends.items()}
        script.process(**fed)
        clock = max(end for (end,) in ends.values())
        if random.random() < 0.3:
            script.restart()
    script.advance(clock + random.choice([0, 1, 900_000, 6_000_000])).finish()


def test_windows_over_what_is_certain() -> None:
    engine = Engine()
    engine.sql(DDL)
    alone = f"SELECT a.k FROM a WHERE {term('NOT EXISTS', 0, 300_000)}"
    engine.query(
        f"SELECT k, COUNT(*) AS n FROM TUMBLE(({alone}), DESCRIPTOR(_ts), INTERVAL '1' SECOND) "
        "GROUP BY k, window_start, window_end",
        name="n",
    )
    a = pa.table({"ts": [0, 100_000, 800_000], "k": ["a"] * 3, "x": [1, 1, 1]})
    b = pa.table({"ts": [150_000], "k": ["a"], "x": [1]})
    out = engine.process({"a": a, "b": b}, watermark=3_000_000)["n"]
    assert out["n"].to_pylist() == [1]  # the one at 800 is alone from 1.1 s on


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("EXISTS (SELECT 1 FROM b WHERE b.k = a.k)", "bound the times of the rows that match"),
        (
            "EXISTS (SELECT 1 FROM b WHERE b.ts >= a.ts - INTERVAL '1' SECOND)",
            "bound the times of the rows that match on both sides",
        ),
        (
            "EXISTS (SELECT 1 FROM b [RANGE 1 HOUR] WHERE b.ts <= a.ts)",
            "EXISTS needs a window on stream 'a'",
        ),
        (
            "a.x > 1 OR EXISTS (SELECT 1 FROM b WHERE b.ts >= a.ts - INTERVAL '1' SECOND)",
            "bound the times of the rows that match on both sides",
        ),
        (
            f"a.x > 1 OR {term('EXISTS', 5, 0)} QUALIFY LAG(a.x) OVER (ORDER BY a.ts) > 1",
            "put a window over them",
        ),
        (
            f"{term('NOT EXISTS', 5, 0)} QUALIFY SUM(a.x) OVER (PARTITION BY a.k) > 1",
            "put a window over them",
        ),
    ],
)
def test_without_bounds_windows_are_needed(where: str, message: str) -> None:
    engine = Engine()
    engine.sql(DDL)
    with pytest.raises(SqlError, match=message):
        engine.query(f"SELECT a.k FROM a WHERE {where}", name="q")
