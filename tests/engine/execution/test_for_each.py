"""FOR EACH ROW OF a table: the answer is that of a join with the table."""

from __future__ import annotations

import random
from typing import Any

import pytest

from eddyline.testing import rows_of
from eddyline.testing.script import Script
from rule_cases import (
    ALL,
    FIRST,
    NAMES,
    QUERIES,
    STREAMS,
    TABLE,
    Changes,
    created,
    joined,
    play,
    rows,
    scripted,
)
from thinned import thinned


@pytest.mark.parametrize(
    ("kind", "updates", "chunk_rows"),
    [
        *thinned(2, ALL, ["retroactive"], [1, 3, 1000]),
        # not DISTINCT, a limit of the oracle
        *thinned(2, [k for k in QUERIES if k != "distinct"], ["non-retroactive"], [1, 3, 1000]),
    ],
)
def test_a_query_for_each_rule_is_a_join_with_the_rules(
    kind: str, updates: str, chunk_rows: int
) -> None:
    """Rules come and go, some of them twice; the engine is saved and loaded in between."""
    chance = random.Random(f"{kind} {updates}")
    script, changes = scripted(kind, updates, chunk_rows=chunk_rows), Changes(chance)
    assert play(script, changes, chance, 10).changes().num_rows > 2


@pytest.mark.parametrize(
    "options",
    [{"sharing": False}, {"executor": "eddy", "policy": "random"}, {"selections": "pull"}],
)
def test_options_do_not_matter(options: dict[str, Any]) -> None:
    chance = random.Random(3)
    script, changes = scripted("two streams", "retroactive", **options), Changes(chance)
    for start in (0, 8, 16):
        data = {name: rows(chance, start, start + 8, 8) for name in "su"}
        script.process(rules=changes.within(start, start + 8, 6), **data).check()
    script.advance("20s").finish()


@pytest.mark.parametrize(
    ("kind", "updates"),
    thinned(
        3, [k for k in ALL if k in QUERIES and k != "distinct"], ["retroactive", "non-retroactive"]
    ),
)
def test_materialised_answers(kind: str, updates: str) -> None:
    """Rules come and go, and those of a non-retroactive table stay in the answer for a while."""
    chance = random.Random(f"{kind} {updates}")
    script = scripted(kind, updates, views=True, chunk_rows=5)
    assert play(script, Changes(chance), chance, 10).changes().num_rows > 2


@pytest.mark.parametrize("kind", ALL)
def test_a_static_table(kind: str) -> None:
    script = Script(STREAMS + TABLE, {}, tables={"rules": FIRST, "names": NAMES})
    script.engine.sql(created(kind))
    script.follow("q", joined(kind))
    chance = random.Random(kind)
    for start in (0, 8, 16):
        script.process(
            **{name: rows(chance, start, start + 8, 8) for name in "su"}
        ).check().restart()
    script.advance("20s").finish()


@pytest.mark.parametrize("updates", ["retroactive", "non-retroactive"])
def test_a_late_query_is_answered_over_rows_and_rules_that_there_were(updates: str) -> None:
    script = Script(
        f"{STREAMS} {TABLE} WITH (updates = '{updates}')",
        {"keep": "SELECT x FROM s [RANGE 9 SECONDS]", "and the rules": joined("one stream")},
        tables={"rules": FIRST, "names": NAMES},
    )
    chance = random.Random(updates)
    changes = Changes(chance)
    for start in (0, 8, 16):
        data = rows(chance, start, start + 8, 12)
        script.process(rules=changes.within(start, start + 8, 5), s=data)
    expected = rows_of(script.engine.queries["and the rules"].snapshot())
    script.engine.sql(created("one stream"))
    said = rows_of(script.engine.process({})["q"])
    assert sorted(row[3:] for row in said) == sorted(expected)
    assert {row[0] for row in said} == {"+"}
    assert sorted(rows_of(script.engine.queries["q"].snapshot())) == sorted(expected)


def test_a_rule_and_its_end_in_the_middle() -> None:
    script = Script(f"{STREAMS} {TABLE} WITH (updates = 'retroactive')", {})
    script.engine.sql(created("one stream"))
    script.follow("q", joined("one stream"))
    script.process(
        s="ts | k:int | x:int\n1s | 0 | 7\n2s | 0 | 3\n3s | 0 | 9",
        rules="""_ts | _op | id:int | k:int | lo:int | name:str | live:bool
                 2s  | +   | 1      | 0     | 5      | a        | true
                 3s  | +   | 2      | 0     | 8      | b        | true
                 3s  | -   | 1      | 0     | 5      | a        | true""",
    ).advance("4s")
    script.expect(
        """_op | _ts | _exp | id:int | x:int | d:int
           +   | 2s  | 3s   | 1      | 7     | 2
           +   | 3s  | 5s   | 1      | 9     | 4
           +   | 3s  | 5s   | 2      | 9     | 1
           -   | 3s  | 5s   | 1      | 9     | 4"""
    ).finish()
