"""Many queries that differ in constants, windows and EMIT: each answers as if it ran alone, while
queries come and go and the engine restarts.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alike_queries import DDL, EMITS, KINDS, alike, mixed
from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from thinned import more_when_long, thinned
from window_rows import rows, table


def play(random: Random, sets: list[list[str]], options: dict[str, Any]) -> Script:
    """Rows, queries that come and go, and restarts, compared with the oracle."""
    waiting = [sql for queries in sets for sql in queries]
    random.shuffle(waiting)
    first = random.randint(1, len(waiting))
    started, waiting = waiting[:first], waiting[first:]
    script = Script(DDL, {f"q{i}": q for i, q in enumerate(started)}, options=options)
    names = [f"q{i}" for i in range(first)]
    clock = 1_000_000
    for _ in range(random.randint(2, 4)):
        ends = [clock]
        for stream in random.choice([("s", "r"), ("r", "s")]):
            start = [clock]
            script.process(**{stream: rows(random, start, random.choice([1, 4, 9]), "ab")})
            ends.append(start[0])
        clock = max(ends)
        while waiting and random.random() < 0.5:
            name = f"late{len(waiting)}"
            script.add(name, waiting.pop())
            names.append(name)
        if len(names) > 1 and random.random() < 0.4:
            script.drop(names.pop(random.randrange(len(names))))
        if random.random() < 0.3:
            script.restart()
        if random.random() < 0.4:
            clock += random.choice([1, 700_000, 4_000_000])
            script.advance(clock)
    return script.advance(clock + random.choice([0, 900_000, 6_000_000])).finish()


@pytest.mark.parametrize(("kind", "emit"), thinned(4, KINDS, dict.fromkeys(EMITS)))
def test_each_kind(kind: str, emit: str) -> None:
    for seed in range(3):
        random = Random(f"{kind} {emit} {seed}")
        queries = [f"{q.partition(' EMIT ')[0]} EMIT {emit}" for q in alike(random, kind, 5)]
        play(random, [queries], {"chunk_rows": 3})


def played(seed: int, options: dict[str, Any]) -> None:
    """Play sets of queries of a few kinds."""
    random = Random(seed)
    sets = mixed(random, random.randint(1, 3), 4)
    play(random, sets, options | {"keep": {}})


def test_a_window_that_two_planners_have_opened() -> None:
    queries = [KINDS["LEFT JOIN, of a key"].format(v="[ROWS 3]", a="a")]
    queries.append(KINDS["join"].format(v="[ROWS 3]", w="[ROWS 3]", c=2))
    for seed in range(5):
        play(Random(seed), [queries], {"negative_tuples_from": 0.0})


@pytest.mark.parametrize("emit", dict.fromkeys(EMITS[1:]))
@pytest.mark.parametrize("executor", ["auto", "eddy", "tree"])
def test_an_added_absence_sees_the_first_row_of_its_stream(executor: str, emit: str) -> None:
    """Its row was not matched for the queries before, and has the number 0."""
    text = KINDS["absent, of a key"].format(v="[RANGE 4 SECONDS]", a="{a}") + " EMIT {emit}"
    first = text.format(a="a", emit=emit)
    script = Script(DDL, {"q": first}, options={"executor": executor, "keep": {}})
    came = [(1_000_001, "b", 1), (1_100_001, "b", 3), (1_400_001, "a", 1), (1_500_001, "a", 3)]
    left = [(1_099_999, "b", 3), (1_199_999, "b", 1), (1_200_000, "a", None), (1_700_000, "a", 0)]
    script.process(r=table(came)).process(s=table(left))
    script.add("late", text.format(a="b", emit="CHANGES"))
    script.advance(9_000_000).finish()


@pytest.mark.parametrize("window", ["[ROWS 3]", "[RANGE 9 SECONDS]"])
def test_an_added_absence_does_not_see_rows_of_one_that_was_dropped(window: str) -> None:
    """A row that left while no query asked for it."""
    text = KINDS["absent, of a key"].format(v=window, a="{a}") + " EMIT SNAPSHOT EVERY 1 SECOND"
    queries = {name: text.format(a=name) for name in "ab"}
    script = Script(DDL, queries, options={"keep": {}})
    script.process(s=table([(2_399_999, "b", 3), (2_399_999, "a", 1), (2_499_998, "b", 2)]))
    script.process(r=table([(4_000_002, "a", 1)])).drop("b")
    script.process(r=table([(12_400_000, "a", 0), (13_700_000, "a", 1)]))
    script.process(s=table([(7_000_000, "b", 1)])).add("late", text.format(a="b"))
    script.process(r=table([(13_700_000, "b", None), (17_900_000, "b", None)]))
    script.process(s=table([(14_299_999, "a", 0), (14_399_999, "a", 1), (14_699_999, "a", 2)]))
    script.finish()


def test_rows_that_expire_in_a_call_are_there_until_then_when_a_query_has_come() -> None:
    """After a restart, two tests of existence ask for rows anew."""
    text = (
        "SELECT DISTINCT s.k FROM s [RANGE 1 SECOND] AS s WHERE s.x > {} AND s.k IN (SELECT r.k "
        "FROM r [RANGE 1 SECOND] AS r WHERE r.x <> 2) AND NOT EXISTS (SELECT 1 FROM r [RANGE 1 "
        "SECOND] AS r WHERE r.k = s.k AND r.x = 1) EMIT CHANGES"
    )
    script = Script(DDL, {"q": text.format(0)}, options={"keep": {}})
    script.process(r=table([(5_199_999, "a", 3), (6_600_000, "a", 2)]))
    script.process(s=table([(5_299_999, "a", 3)])).add("late", text.format(1))
    script.restart().advance(10_600_000).finish()


def test_snapshots_that_have_read_the_groups_of_a_dropped_query_are_restored() -> None:
    text = "SELECT k, SUM(x) AS x FROM s [RANGE 1 SECOND] GROUP BY k HAVING SUM(x) > {} EMIT {}"
    emits = ["CHANGES", "SNAPSHOT EVERY 700 MILLISECONDS", "SNAPSHOT EVERY 1 SECOND"]
    queries = {f"q{i}": text.format(i, emit) for i, emit in enumerate(emits)}
    script = Script(DDL, queries, options={"keep": {}})
    script.process(s=table([(5_199_999, "a", 3), (6_600_000, "a", 2)])).drop("q0").restart()
    script.process(s=table([(7_199_999, "a", 3)])).restart().advance(10_600_000).finish()


@settings(max_examples=more_when_long(2))
@given(st.integers(0, 2**48), OPTIONS)
def test_sets_of_alike_queries(seed: int, options: dict[str, Any]) -> None:
    played(seed, options)
