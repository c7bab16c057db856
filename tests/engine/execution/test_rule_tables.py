"""FOR EACH ROW OF a table: what it refuses, and what stands beside it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import CatalogError, UnsupportedError
from eddyline.testing import batch
from rule_cases import TAKEN_BACK, created, engine

_ADVICE = r"join \(on keys, or two streams on any condition\).*above other operators"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s.x FROM s [NOW], u [NOW], u [NOW] AS w WHERE s.x > u.x + rules.lo AND u.k = w.k",
        "SELECT x FROM s [NOW] WHERE EXISTS (SELECT 1 FROM u [NOW] WHERE u.k > rules.k)",
        "SELECT x FROM s [NOW] WHERE x > rules.lo UNION ALL SELECT x FROM u [NOW]",
    ],
)
def test_what_cannot_share_a_flow(sql: str) -> None:
    eng = engine()
    with pytest.raises(UnsupportedError, match=_ADVICE):
        eng.sql(f"CREATE QUERY q FOR EACH ROW OF rules AS {sql}")
    assert not eng.queries
    assert not list(eng.parts.queries.execution.graph)


@pytest.mark.parametrize("kind", TAKEN_BACK)
def test_rows_that_are_taken_back_need_retroactive_rules(kind: str) -> None:
    with pytest.raises(UnsupportedError, match="'rules' is non-retroactive"):
        engine("non-retroactive").sql(created(kind))


def test_rules_that_are_read_cannot_be_dropped() -> None:
    eng = engine()
    eng.sql("CREATE QUERY q FOR EACH ROW OF rules AS SELECT x FROM s [NOW] WHERE x > rules.lo")
    with pytest.raises(CatalogError, match="'q'"):
        eng.sql("DROP TABLE rules")
    eng.sql("DROP QUERY q; DROP TABLE rules")
    assert not list(eng.parts.queries.execution.graph)


def test_rules_share_with_other_queries_and_among_themselves() -> None:
    eng = engine("static")
    for name in ("q", "r"):
        eng.sql(
            f"CREATE QUERY {name} FOR EACH ROW OF rules AS SELECT s.x FROM s [RANGE 1 SECOND]"
            " WHERE x > rules.lo"
        )
    eng.query("SELECT x, k FROM s [RANGE 2 SECONDS] WHERE x < 3", name="other")
    out = eng.process({"s": batch("ts | k:int | x:int\n1s | 0 | 7\n2s | 0 | 2")})
    assert out["q"].equals(out["r"])
    assert (out["q"]["x"].to_pylist(), out["other"]["x"].to_pylist()) == ([7], [2])
    assert sorted(out.active()) == ["other", "q", "r"]
    together = {t["_query"][0].as_py(): t.num_rows for t in out.batches()}
    assert together == {"q": 1, "r": 1, "other": 1}
    account = eng.stats()["queries"]["q"]
    assert account["executor"] == "eddy"
    assert account["why"] == "its rows share the flow of their signature"
    assert (account["shared_with"], account["rows_out"], account["checks_alone"]) == (2, 1, 4)
    assert 0 < account["checks"] < 4
    eng.drop("q")
    assert eng.process({"s": batch("ts | k:int | x:int\n3s | 0 | 9")})["r"].num_rows == 1


def test_rules_that_change_often_take_each_others_bits() -> None:
    eng = engine()
    eng.sql(
        "CREATE QUERY q FOR EACH ROW OF rules AS SELECT x, rules.id FROM s [RANGE 1 HOUR]"
        " WHERE s.k = rules.k"
    )
    times = list(range(100))
    there = {"id": 1, "k": 0, "lo": 5, "name": "a", "live": True}
    changes = pa.table(
        {"_ts": times, "_op": ["-", "+"] * 50, **{c: [v] * 100 for c, v in there.items()}}
    )
    out = eng.process({"s": pa.table({"ts": times, "k": [0] * 100, "x": times}), "rules": changes})
    assert out["q"].num_rows == 50 + sum(range(1, 101))
    (shared,) = eng.parts.queries.execution.flows.values()
    assert shared.flow.members == 2
    assert shared.metrics.rows_out.size == 64


@pytest.mark.parametrize("joined", [False, True])
def test_reading_an_answer_changes_no_state(joined: bool) -> None:
    """Results of a deleted row stay in the answer until they expire."""
    eng = engine("non-retroactive")
    other, on = (", u [RANGE 10 SECONDS]", " AND s.k = u.k") if joined else ("", "")
    eng.sql(
        f"CREATE QUERY q FOR EACH ROW OF rules AS SELECT s.x FROM s [RANGE 10 SECONDS]{other}"
        f" WHERE s.k = rules.k{on}"
    )
    new = batch("ts | k:int | x:int\n1s | 0 | 9\n2s | 1 | 8")
    eng.process({"s": new, "u": new})
    deleted = batch(
        "_op | _ts | id:int | k:int | lo:int | name:str | live:bool\n- | 3s | 1 | 0 | 5 | a | true"
    )
    eng.process({"s": batch("ts | k:int | x:int\n4s | 0 | 7"), "rules": deleted})
    eng.advance("1970-01-01T00:00:05Z")
    (shared,) = eng.parts.queries.execution.flows.values()
    for _ in range(3):
        assert sorted(eng.queries["q"].snapshot()["x"].to_pylist()) == [8, 9]
        assert shared.flow.members == 1
    eng.advance("1970-01-01T00:00:30Z")
    assert eng.queries["q"].snapshot().num_rows == 0
