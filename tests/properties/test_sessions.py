"""SESSION windows: final and early results are those of the oracle, however the rows are cut into
batches and chunks, with restarts, under each strategy; closed sessions are forgotten all the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.runtime.stores import session_groups
from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from window_rows import rows

DDL: Final = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM r (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE VIEW some AS SELECT ts, k, x FROM s WHERE x > 0;
CREATE VIEW pairs AS SELECT s.k, s.x, r.x AS y FROM s [RANGE 1 SECOND] AS s,
  r [RANGE 700 MILLISECONDS] AS r WHERE s.k = r.k"""
#: Sessions with their keys.
SESSIONS: Final = (
    ("s [SESSION 500 MILLISECONDS BY k]", ("k",)),
    ("s [SESSION 300 MILLISECONDS BY k, x]", ("k", "x")),
    ("s [SESSION 400 MILLISECONDS]", ()),
    ("SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '300' MILLISECOND) AS s", ("k",)),
    (
        "TABLE(SESSION(TABLE(s) PARTITION BY (x, k), DESCRIPTOR(ts), INTERVAL '1' SECOND)) AS s",
        ("x", "k"),
    ),
    ("SESSION(s, ts, INTERVAL '500' MILLISECOND) PARTITION BY x AS s", ("x",)),
    ("SESSION(some, ts, INTERVAL '400' MILLISECOND) AS s", ()),
    ("TABLE(SESSION(TABLE some PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)) AS s", ("k",)),
)
#: Queries over sessions [S] with the keys [K].
QUERIES: Final = (
    "SELECT [K]window_start, window_end, COUNT(*) AS n, SUM(x) AS total, MIN(k) AS least, AVG(x) "
    "AS a FROM [S] GROUP BY [K]window_start, window_end",
    "SELECT [K]window_end, COUNT(DISTINCT x) AS n, STDDEV(x) AS d, MAX(x) AS most FROM [S] "
    "WHERE x > 1 GROUP BY window_end, [K]window_start",
    "SELECT [K]x % 2 AS odd, window_end, COUNT(*) AS n, MAX(k) AS most FROM [S] WHERE k = 'a' OR "
    "x > 0 GROUP BY [K]x % 2, window_end HAVING COUNT(*) > 1",
    "SELECT DISTINCT [K]x + 1 AS y, window_end FROM [S]",
    "SELECT [K]window_end, n FROM (SELECT [K]window_start, window_end, COUNT(*) FILTER (WHERE "
    "x > 1) AS n FROM [S] GROUP BY [K]window_start, window_end) AS q WHERE n > 0",
    "SELECT [K]window_end, SUM(y) AS y FROM (SELECT [K]2 * x AS y, window_end FROM [S]) AS q "
    "GROUP BY [K]window_end",
    "SELECT [K]x, ts, window_start, window_end FROM [S]",
    "SELECT window_end, [K]x + 1 AS y FROM [S] WHERE x > 1 AND k <> 'c'",
    "SELECT k, window_end FROM [S] WHERE window_end > ts + INTERVAL '500' MILLISECOND",
    "SELECT [K]window_end, COUNT(*) AS n FROM [S] GROUP BY [K]window_end UNION ALL "
    "SELECT [K]window_end, MAX(x) AS n FROM [S] GROUP BY [K]window_end",
)
#: What has early results alone.
EARLY: Final = (
    "SELECT [K]x, window_start, window_end FROM [S]",
    "SELECT x, COUNT(*) AS n, MAX(window_end) AS last FROM [S] WHERE x > 0 GROUP BY x",
    "SELECT n, COUNT(*) AS c FROM (SELECT [K]window_end, COUNT(*) AS n FROM [S] GROUP BY "
    "[K]window_end) AS q GROUP BY n",
    "SELECT COUNT(*) AS n, SUM(x) AS y FROM [S]",
    "SELECT q.window_end, r.k, r.x FROM (SELECT [K]window_end, MAX(x) AS y FROM [S] GROUP BY "
    "[K]window_end) AS q LEFT JOIN r [RANGE 1 SECOND] AS r ON q.y = r.x",
    "SELECT r.k, r.x FROM r [RANGE 1 SECOND] AS r WHERE EXISTS (SELECT 1 FROM [S] WHERE "
    "window_end > r.ts AND x = r.x)",
    "SELECT [K]window_start, SUM(x) AS y FROM [S] GROUP BY [K]window_start HAVING SUM(x) > 2",
    "SELECT [K]x, window_end, window_end - window_start AS d, 6 / x AS y FROM [S] "
    "WHERE 6 / x > 1 GROUP BY [K]x, 6 / x, window_end, window_start",
)
EMITS: Final = ("CHANGES", "CHANGES", "SNAPSHOT EVERY 300 MILLISECONDS", "INSERTS")
#: Other spellings, each beside one that the oracle reads.
SPELLINGS: Final = (
    (
        "SELECT k, session_window.end AS window_end, COUNT(*) AS n FROM s WHERE x > 0 "
        "GROUP BY k, session_window(ts, '500 milliseconds')",
        "SELECT k, window_end, COUNT(*) AS n FROM TABLE(SESSION(TABLE some PARTITION BY k, "
        "DESCRIPTOR(ts), INTERVAL '500' MILLISECOND)) GROUP BY k, window_start, window_end",
    ),
    (
        "SELECT SESSION_START(ts, INTERVAL '300' MILLISECOND) AS window_start, "
        "SESSION_END(ts, INTERVAL '300' MILLISECOND) AS window_end, MAX(x) AS x FROM s "
        "GROUP BY SESSION(ts, INTERVAL '300' MILLISECOND)",
        "SELECT window_start, window_end, MAX(x) AS x FROM s [SESSION 300 MILLISECONDS] "
        "GROUP BY window_start, window_end",
    ),
    (
        "SELECT s.k, w.end AS window_end, COUNT(*) AS n, SUM(r.x) AS y FROM s [RANGE 1 SECOND] AS "
        "s, r [RANGE 700 MILLISECONDS] AS r WHERE s.k = r.k GROUP BY s.k, session_window(_ts, "
        "'400 milliseconds') AS w",
        "SELECT k, window_end, COUNT(*) AS n, SUM(y) AS y FROM TABLE(SESSION(TABLE pairs PARTITION "
        "BY k, DESCRIPTOR(_ts), INTERVAL '400' MILLISECOND)) GROUP BY k, window_start, window_end",
    ),
)


@pytest.fixture(autouse=True, scope="module")
def forgotten_at_once() -> Iterator[None]:
    """Closed sessions are forgotten as soon as they have more rows than the open ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_groups, "_LEAST_FORGOTTEN", 0)
        yield


def play(
    random: Random,
    queries: dict[str, str],
    options: dict[str, Any],
    spelled: Sequence[tuple[str, str]] = (),
) -> Script:
    """Rows and restarts, compared with the oracle.

    Args:
        spelled: queries, each beside its text for the oracle.
    """
    script = Script(DDL, queries, options=options)
    for number, (sql, same) in enumerate(spelled):
        script.engine.query(sql, name=f"s{number}")
        script.follow(f"s{number}", f"{same} EMIT FINAL")
    now = random.choice([-3_200_000, 1_000_000])
    for _ in range(random.randint(1, 5)):
        ends = [now]
        for stream in random.choice([("s", "r"), ("r", "s")]):
            clock = [now]
            script.process(**{stream: rows(random, clock, random.choice([1, 4, 12]), "abc")})
            ends.append(clock[0])
        now = max(ends)
        if random.random() < 0.4:
            script.restart()
        if random.random() < 0.4:
            now += random.choice([1, 300_000, 500_000, 4_000_000])
            script.advance(now)
    return script.advance(now + random.choice([0, 500_000, 6_000_000])).finish()


def text(query: str, sessions: tuple[str, tuple[str, ...]]) -> str:
    source, keys = sessions
    return query.replace("[K]", "".join(f"{k}, " for k in keys)).replace("[S]", source)


@pytest.mark.parametrize("sessions", SESSIONS, ids=lambda s: str(s[0]))
def test_final_results(sessions: tuple[str, tuple[str, ...]]) -> None:
    queries = {f"q{i}": f"{text(q, sessions)} EMIT FINAL" for i, q in enumerate(QUERIES)}
    for seed in range(2):
        script = play(Random(seed), queries, {"chunk_rows": 3})
        assert script.changes("q0").num_rows


def test_sessions_in_group_by() -> None:
    queries = {"q": f"{text(QUERIES[0], SESSIONS[0])} EMIT FINAL"}
    for seed in range(4):
        script = play(Random(seed), queries, {}, SPELLINGS)
        assert script.changes("s0").num_rows


@pytest.mark.parametrize("sessions", SESSIONS, ids=lambda s: str(s[0]))
def test_early_results(sessions: tuple[str, tuple[str, ...]]) -> None:
    queries = {f"q{i}": f"{text(q, sessions)} EMIT CHANGES" for i, q in enumerate(QUERIES + EARLY)}
    queries |= {"at": f"{text(QUERIES[0], sessions)} EMIT SNAPSHOT EVERY 200 MILLISECONDS"}
    script = play(Random(0), queries, {"chunk_rows": 3})
    assert script.changes("q0").num_rows


@given(st.integers(0, 2**48), OPTIONS)
def test_early_results_match_the_oracle(seed: int, options: dict[str, Any]) -> None:
    random = Random(seed)
    queries = {
        f"q{i}": f"{text(random.choice(QUERIES + EARLY), random.choice(SESSIONS))} "
        f"EMIT {random.choice(EMITS)}"
        for i in range(4)
    }
    play(random, queries, options | {"keep": {}})


@given(st.integers(0, 2**48), OPTIONS)
def test_sessions_match_the_oracle(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    random = Random(seed)
    queries = {
        f"q{i}": f"{text(random.choice(QUERIES), random.choice(SESSIONS))} EMIT FINAL"
        for i in range(4)
    }
    play(random, queries, options | {"keep": {}}, [random.choice(SPELLINGS)])
