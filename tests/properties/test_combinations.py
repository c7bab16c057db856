"""Combinations that a consumer has no match for: none of their results is lost, or made twice.

(a ⋈ b) ⋈ c, where c is joined by a key of a and one of b. Windows differ, rows come in ties and
bursts, and with ``auto`` the joins may stop asking, and begin again, at any time.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from eddyline.runtime.feedback.trial import Trial
from eddyline.testing import pretty
from eddyline.testing.script import Script
from thinned import fewer

STREAMS = " ".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, x BIGINT, y BIGINT) TIMESTAMP BY ts;"
    for name in "abcd"
)
PAIRS = (
    "SELECT a.g, a.x, a.y AS ay, b.y, b.x AS bx FROM a [{0}], b [{1}] WHERE a.g = b.g"
    " AND a.y <= b.x + 2"
)
LEFT_DEEP = f"SELECT l.*, c.g AS cg FROM ({PAIRS}) AS l, c [{{2}}] WHERE l.x = c.x AND l.y = c.y"
BUSHY = (
    f"SELECT l.*, r.* FROM ({PAIRS}) AS l, (SELECT c.x AS cx, c.y AS cy, d.y AS dy FROM c [{{2}}],"
    " d [{3}] WHERE c.g = d.g) AS r WHERE l.x = r.cx AND l.y = r.dy"
)


def play(seed: int, **options: Any) -> Script:
    random = Random(seed)
    windows = [f"RANGE {random.choice([1, 2, 4, 8, 16])} SECONDS" for _ in "abcd"]
    if random.random() < 0.1:
        windows[random.randrange(4)] = "UNBOUNDED"
    sql = random.choice([LEFT_DEEP, LEFT_DEEP, BUSHY]).format(*windows)
    values, likely = random.choice([2, 3, 4]), random.choice(["abcd", "aabbcd", "aaabbbcd"])
    script = Script(STREAMS, sql, options={"executor": "tree", "combinations": True} | options)
    now = 0
    for _ in range(random.choice([5, 10, 20])):
        batch: dict[str, list[tuple[int, ...]]] = {name: [] for name in "abcd"}
        now += random.choice([1, 1, 2, 4])
        for _ in range(random.choice([1, 4, 8, 16])):
            now += random.choice([0, 0, 0, 1])
            keys: list[Any] = [random.choice([None, *list(range(values)) * 6]) for _ in "gxy"]
            batch[random.choice(likely)].append((now, *keys))
        script.process(**{name: table(rows) for name, rows in batch.items()})
        if random.random() < 0.2:
            now += random.choice([1, 5])
            script.advance(f"{now}s")
        if random.random() < 0.1:
            script.restart()
    return script.advance(f"{now + 40}s")


def table(rows: list[tuple[int, ...]]) -> pa.Table:
    ts = pa.array([r[0] * 1_000_000 for r in rows], pa.timestamp("us"))
    columns = {n: pa.array([r[i] for r in rows], pa.int64()) for i, n in enumerate("gxy", 1)}
    return pa.table({"ts": ts, **columns})


def in_order(changes: pa.Table) -> str:
    return pretty(changes.sort_by([(n, "ascending") for n in ["_ts", *changes.column_names]]))


def counted(script: Script, name: str) -> int:
    gates = [g for o in script.engine.stats()["operators"] for g in o.get("feedback", [])]
    return sum(int(g[name]) for g in gates if g["rows_of"].startswith("(a"))


@given(st.integers(0, 1 << 32), st.sampled_from(["jit", "auto"]), st.sampled_from([1, 3, 16_384]))
@settings(max_examples=fewer(2), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_result_is_made_once(
    monkeypatch: pytest.MonkeyPatch, seed: int, feedback: str, chunk_rows: int
) -> None:
    random = Random(seed)

    def wakes_up(trial: Trial, rows: int) -> bool:
        trial.asleep = trial.asleep and random.random() < 0.8
        return not trial.asleep

    monkeypatch.setattr(
        Trial, "spares_nothing", lambda trial: trial.asked > 0 and random.random() < 0.1
    )
    monkeypatch.setattr(Trial, "let_pass", wakes_up)
    expected = in_order(play(seed, feedback="off").changes())
    found = play(seed, feedback=feedback, chunk_rows=chunk_rows)
    event(f"refused: {counted(found, 'refused') > 0}, resumed: {counted(found, 'resumed') > 0}")
    assert in_order(found.changes()) == expected
