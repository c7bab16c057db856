"""FOR EACH ROW OF with columns of the rule in keys, aggregates, HAVING and DISTINCT: each rule
answers as a query with its constants does.
"""

from __future__ import annotations

import json
import random
from typing import Any, Final

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing.script import Script
from rule_cases import FIRST, STREAMS, TABLE, Changes, play

SOURCE: Final = "FROM s [RANGE 2 SECONDS]"
#: SELECTs; with what they are to be compared if the oracle does not read them.
QUERIES: Final = {
    "HAVING with both": f"SELECT r.id, k, SUM(x) AS x {SOURCE} GROUP BY k HAVING SUM(x) - r.lo > 3",
    "HAVING of two aggregates": f"SELECT r.id, k {SOURCE} WHERE x <> r.lo GROUP BY k "
    "HAVING SUM(x) > r.lo * COUNT(*)",
    "OR": f"SELECT r.id, k {SOURCE} GROUP BY k HAVING SUM(x) > 3 * r.lo OR COUNT(*) > r.k + 2",
    "a key in HAVING": f"SELECT k, COUNT(*) AS n {SOURCE} GROUP BY k HAVING k = r.k AND r.live",
    "texts": f"SELECT r.id, k {SOURCE} WHERE x > r.lo GROUP BY k "
    "HAVING MAX(CAST(k AS STRING)) < r.name",
    "CASE": f"SELECT r.id, COUNT(CASE WHEN x > r.lo THEN 1 END) AS n {SOURCE} GROUP BY k",
    "FILTER": f"SELECT r.id, SUM(x) FILTER (WHERE x > r.lo) AS x, COUNT(*) AS n {SOURCE} "
    "GROUP BY k",
    "an argument": f"SELECT r.name, k, SUM(x * r.lo) AS x {SOURCE} WHERE k = r.k GROUP BY k",
    "a key": f"SELECT r.id, x % (r.k + 1) AS g, COUNT(*) AS n {SOURCE} GROUP BY x % (r.k + 1)",
    "a key that is the rule's": f"SELECT k, r.lo, COUNT(*) AS n {SOURCE} GROUP BY k, r.lo",
    "no other key": f"SELECT r.name, MIN(x) AS x {SOURCE} GROUP BY r.name",
    "global": f"SELECT r.id, COUNT(CASE WHEN x > r.lo THEN 1 END) AS n {SOURCE} WHERE k = r.k "
    "HAVING SUM(x) > r.lo + 0.5",
    "DISTINCT": f"SELECT DISTINCT r.name, k {SOURCE} WHERE x > r.lo",
    "DISTINCT of both": f"SELECT DISTINCT x + r.k AS y {SOURCE} WHERE r.live",
    "joined": f"SELECT r.id, s.k, MAX(s.x - r.k) AS x {SOURCE} AS s, u [RANGE 1 SECOND] AS u "
    "WHERE s.k = u.k AND u.x > r.lo GROUP BY s.k",
}
EMITS: Final = ("", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 700 MILLISECONDS")


@pytest.mark.parametrize(
    "kind, emit", [(kind, EMITS[(i + n) % 3]) for i, kind in enumerate(QUERIES) for n in (0, 1)]
)
def test_each_rule_has_constants_of_its_own(kind: str, emit: str) -> None:
    chance = random.Random(f"{kind}{emit}")
    options: dict[str, Any] = {"chunk_rows": chance.choice([1, 3, 1000])}
    ddl = f"{STREAMS} {TABLE} WITH (updates = 'retroactive')"
    script = Script(ddl, {}, tables={"rules": FIRST}, options=options)
    text = f"FOR EACH ROW OF rules AS r AS {QUERIES[kind]}{emit}"
    script.engine.sql(f"CREATE QUERY q {text}")
    script.follow("q", text)
    assert play(script, Changes(chance), chance, 6).changes().num_rows


def test_rows_that_fail_for_one_rule() -> None:
    engine = Engine()
    engine.sql(f"{STREAMS} CREATE TABLE rules (id BIGINT, d BIGINT)")
    engine.table("rules", pa.table({"id": [1, 2], "d": [0, 2]}))
    engine.sql(
        "CREATE QUERY q FOR EACH ROW OF rules AS SELECT rules.id, COUNT(*) AS n FROM s [RANGE 1 "
        "MINUTE] GROUP BY x % rules.d"
    )
    out = engine.process({"s": pa.table({"ts": [0, 1], "k": [1, 1], "x": [4, 5]})})
    assert out["q"].select(["id", "n"]).to_pylist() == [{"id": 2, "n": 1}] * 2
    bad = out.bad["q"]
    assert json.loads(bad["_row"][1].as_py()).items() >= {"x": 5, "d": 0}.items()
    assert bad["_reason"].to_pylist() == [f"division by zero: {x} % 0" for x in (4, 5)]
