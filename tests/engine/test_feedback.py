"""Feedback between joins: what waits, what it waits for, and that nothing is lost.

The tree of most cases is ((A ⋈ B) ⋈ (C ⋈ D)) with a.p = b.p, c.q = d.q above which a.x = c.x,
b.z = c.z, a.y = d.y. In it the algorithm of the paper (Yang and Papadias 2008, Figure 6) loses
results, as each input of the join on top is judged by what the other has made: see
docs/decisions/0013.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from eddyline import Engine
from eddyline.bench.comparison.reactive import REACTIVE
from eddyline.testing.feeding import process_all
from eddyline.testing.script import Script
from feedback_cases import fan_out, keyed, stats, waiting

STREAMS = """
    CREATE STREAM a (ts TIMESTAMP, p BIGINT, x BIGINT, y BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, p BIGINT, z BIGINT) TIMESTAMP BY ts;
    CREATE STREAM c (ts TIMESTAMP, q BIGINT, x BIGINT, z BIGINT) TIMESTAMP BY ts;
    CREATE STREAM d (ts TIMESTAMP, q BIGINT, y BIGINT) TIMESTAMP BY ts;
"""
BUSHY = """
    SELECT l.p, l.z, r.q, r.y FROM
      (SELECT a.p, a.x, a.y, b.z FROM a [RANGE {a} SECONDS], b [RANGE 20 SECONDS]
       WHERE a.p = b.p) AS l,
      (SELECT c.q, c.x, c.z, d.y FROM c [RANGE {c} SECONDS], d [RANGE 20 SECONDS]
       WHERE c.q = d.q) AS r
    WHERE l.x = r.x AND l.z = r.z AND l.y = r.y
"""
WAYS: list[dict[str, Any]] = [
    {"feedback": feedback, "nested_loops": loops, "chunk_rows": chunk_rows}
    for feedback in ("jit", "auto", "doe")
    for loops in (False, True)
    for chunk_rows in (1, 2, 100)
]
WAYS += [{"feedback": "jit", "feedback_form": REACTIVE, "chunk_rows": n} for n in (1, 100)]


def bushy(options: dict[str, Any], *, a: int = 20, c: int = 20) -> Script:
    return Script(STREAMS, BUSHY.format(a=a, c=c), options={"executor": "tree"} | options)


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_both_inputs_of_a_join_may_have_rows_that_wait(options: dict[str, Any]) -> None:
    """a is fruitless with b1; b2 comes; c fits a and b2, but not what was made; d2 makes it all."""
    script = bushy(options)
    script.process_all(a="ts | p | x | y\n1s | 1 | 5 | 7", b="ts | p | z\n2s | 1 | 1")
    script.process_all(b="ts | p | z\n3s | 1 | 2")
    script.process_all(c="ts | q | x | z\n4s | 3 | 5 | 2", d="ts | q | y\n5s | 3 | 0")
    script.process_all(d="ts | q | y\n6s | 3 | 7")
    script.finish().expect("""
        _op | _ts | _exp | p | z | q | y
        +   | 6s  | 21s  | 1 | 2 | 3 | 7
    """)


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_the_row_that_suspended_or_resumed_others_expires(options: dict[str, Any]) -> None:
    """c lives for 2 seconds: a and d go on waiting, until another c comes."""
    script = bushy(options, c=2)
    script.process_all(a="ts | p | x | y\n1s | 1 | 5 | 7", b="ts | p | z\n2s | 1 | 2")
    script.process_all(c="ts | q | x | z\n3s | 3 | 5 | 2")
    script.advance("5s").restart()
    script.process_all(d="ts | q | y\n6s | 3 | 7", b="ts | p | z\n7s | 1 | 2")
    script.process_all(c="ts | q | x | z\n8s | 3 | 5 | 2")
    script.finish().expect("""
        _op | _ts | _exp | p | z | q | y
        +   | 8s  | 10s  | 1 | 2 | 3 | 7
        +   | 8s  | 10s  | 1 | 2 | 3 | 7
    """)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("order", list(permutations("abcd")), ids="".join)
def test_rows_may_arrive_in_any_order(order: tuple[str, ...], loops: bool) -> None:
    """One row of each stream that fits, and one that only the other side of its join fits."""
    payload = {"a": "1 | 5 | 7", "b": "1 | 2", "c": "3 | 5 | 2", "d": "3 | 7"}
    astray = {"a": "1 | 0 | 0", "b": "1 | 0", "c": "3 | 9 | 9", "d": "3 | 9"}
    columns = {"a": "p | x | y", "b": "p | z", "c": "q | x | z", "d": "q | y"}
    script = bushy({"feedback": "jit", "nested_loops": loops})
    for second, name in enumerate(order, 1):
        head = f"ts | {columns[name]}"
        script.process_all(
            **{name: f"{head}\n{second}s | {astray[name]}\n{second}s | {payload[name]}"}
        )
    script.finish().expect("""
        _op | _ts | _exp | p | z | q | y
        +   | 4s  | 21s  | 1 | 2 | 3 | 7
    """)


def test_who_waits_is_not_joined() -> None:
    """Of 100 rows of a, each of which finds 20 of b, three find one of c."""
    engine = fan_out("jit")
    process_all(engine, {"a": keyed(range(100)), "b": keyed([0] * 20)})
    assert waiting(engine) == {"refused": 100, "resumed": 0, "waiting": 100}
    assert rows_made(engine) == 0
    out = process_all(engine, {"c": keyed([7, 8, 9, 500])})
    assert out["q"].num_rows == 60
    assert waiting(engine) == {"refused": 100, "resumed": 3, "waiting": 97}
    assert rows_made(engine) == 60
    counters = engine.queries["q"].stats()
    assert (counters["rows_suspended"], counters["rows_released"]) == (120, 23)


def test_rows_below_distinct_wait_for_what_joins_its_values() -> None:
    """Of 100 values of a ⋈ b, each by 20 rows, three find one of c."""
    engine = fan_out("jit", optimize=False)
    inner = "SELECT DISTINCT a.k FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.g = b.g"
    engine.drop("q")
    engine.query(f"SELECT d.k FROM ({inner}) AS d, c [RANGE 1 HOUR] WHERE d.k = c.k", name="q")
    process_all(engine, {"a": keyed(range(100)), "b": keyed([0] * 20)})
    assert waiting(engine) == {"refused": 100, "resumed": 0, "waiting": 100}
    out = process_all(engine, {"c": keyed([7, 8, 9, 500])})
    assert sorted(out["q"]["k"].to_pylist()) == [7, 8, 9]
    assert rows_made(engine) == 60


def test_without_feedback_all_are_joined() -> None:
    engine = fan_out("off")
    process_all(engine, {"a": keyed(range(100)), "b": keyed([0] * 20)})
    assert rows_made(engine) == 2_000


def test_doe_waits_for_any_row() -> None:
    engine = fan_out("doe")
    engine.process({"a": keyed(range(100)), "b": keyed([0] * 20)})
    assert rows_made(engine) == 0
    out = engine.process({"c": keyed([7])})
    assert out["q"].num_rows == 20
    assert rows_made(engine) == 2_000


def test_auto_ends_feedback_where_every_row_matches_and_begins_again() -> None:
    engine = fan_out("auto")
    process_all(engine, {"c": keyed(range(1_000))})
    for _ in range(10):
        process_all(engine, {"a": keyed(range(1_000))})
    asked = stats(engine, "asked")
    assert 0 < asked < 10_000
    process_all(engine, {"a": keyed(range(1_000))})
    assert stats(engine, "asked") == asked
    for _ in range(150):
        process_all(engine, {"a": keyed(range(5_000, 6_000))})
    assert stats(engine, "asked") > asked
    assert stats(engine, "refused") > 1_000


def rows_made(engine: Engine) -> int:
    """Rows of a ⋈ b that have been made."""
    joins = [o for o in engine.stats()["operators"] if o["operator"].endswith("Join")]
    return int(joins[0]["rows_out"])
