"""Interval joins: the answer at every instant is that over windows which are computed here, each by
its formula; all that is inserted is the join of all rows ever, as in Flink.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.testing.bags import difference, rows_of
from eddyline.testing.oracle import Oracle
from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from window_rows import rows

DDL = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;" for name in "abc"
)
#: All streams are in the same group.
READER = "SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.x = b.x AND b.x = c.x"
STEPS = (0, 1, 99_999, 100_000, 300_000, 800_001)


@dataclass(frozen=True)
class Case:
    """A query without windows; with the windows [A], [B] and [C]; and these, in us."""

    sql: str
    windowed: str
    windows: dict[str, int]

    @property
    def same(self) -> str:
        found = self.windowed
        for name, us in self.windows.items():
            found = found.replace(f"[{name}]", f"[RANGE {us} MICROSECONDS]")
        return found

    @property
    def ever(self) -> str:
        """Over all rows."""
        found = self.windowed
        for name in "ABC":
            found = found.replace(f"[{name}]", "[UNBOUNDED]")
        return found


def _case(text: str, **windows: int) -> Case:
    plain = text
    for name in "ABC":
        plain = plain.replace(f" [{name}]", "")
    return Case(plain, text, windows)


def _us(us: int) -> str:
    return f"INTERVAL '{us}' MICROSECOND"


def two(random: Random) -> Case:
    """a is between ``low`` before b and ``high`` after."""
    low, high = random.choice(STEPS), random.choice(STEPS)
    form = random.randrange(6)
    strict = form in (1, 3)
    signs = ("<", ">") if strict else ("<=", ">=")
    terms = {
        0: f"a.ts BETWEEN b.ts - {_us(low)} AND b.ts + {_us(high)}",
        1: f"a.ts > b.ts - {_us(low)} AND a.ts < b.ts + {_us(high)}",
        2: f"a.ts - b.ts <= {_us(high)} AND b.ts <= {_us(low)} + a.ts",
        3: f"b.ts - {_us(low)} < a.ts AND {_us(high)} > a.ts - b.ts",
        4: f"b.ts >= a.ts - {_us(high)} AND a.ts + {_us(low)} >= b.ts",
        5: f"b.ts {signs[1]} a.ts - {_us(high)} AND NOT a.ts < b.ts - {_us(low)} AND b.ts - a.ts "
        f"<= {_us(low)}",
    }[form]
    joined = random.choice(
        [
            "FROM a [A], b [B] WHERE a.k = b.k AND ",
            "FROM a [A] JOIN b [B] ON a.k = b.k AND ",
            "FROM a [A] JOIN b [B] USING (k) WHERE ",
            "FROM (a [A] JOIN b [B] ON a.k = b.k) WHERE b.x > 0 AND ",
            "FROM (SELECT k, ts, x + 1 AS x FROM a [A] WHERE x > 0) AS a, b [B] WHERE ",
        ]
    )
    return _case(
        f"SELECT a.x, b.x AS y, a.ts AS at, b.ts AS bt {joined}{terms}",
        A=max(low + (not strict), 1),
        B=max(high + (not strict), 1),
    )


def three(random: Random) -> Case:
    """b follows a, c follows b."""
    first, second = random.choice(STEPS), random.choice(STEPS)
    back = random.choice(STEPS)
    text = (
        "SELECT a.x, b.x AS y, c.x AS z FROM a [A] JOIN b [B] ON a.k = b.k AND b.ts BETWEEN a.ts - "
        f"{_us(back)} AND a.ts + {_us(first)} JOIN c [C] ON c.k = b.k AND c.ts >= b.ts AND c.ts - "
        f"b.ts <= {_us(second)}"
    )
    return _case(text, A=first + second + 1, B=max(back, second) + 1, C=back + 1)


def other(random: Random) -> Case:
    """An equality of times; a stream with itself; one with a window of its own."""
    us = random.choice(STEPS[1:])
    return random.choice(
        [
            _case("SELECT a.x, b.x AS y FROM a [A] JOIN b [B] USING (k, ts)", A=1, B=1),
            _case(
                "SELECT p.x, q.x AS y FROM a [A] AS p, a [B] AS q WHERE p.k = q.k AND q.ts > p.ts "
                f"AND q.ts <= p.ts + {_us(us)}",
                A=us + 1,
                B=1,
            ),
            _case(
                f"SELECT a.x, b.x AS y FROM a [RANGE 1 SECOND], b [B] WHERE a.k = b.k AND a.ts <= "
                f"b.ts + {_us(us)}",
                B=us + 1,
            ),
            _case(
                "SELECT q.x, q.y, c.x AS z FROM (SELECT a.k, a.x, b.x AS y FROM a [A], b [B] WHERE "
                f"a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + {_us(us)}) AS q, c [RANGE 300000 "
                "MICROSECONDS] WHERE c.k = q.k",
                A=us + 1,
                B=1,
            ),
            _case(
                "SELECT a.k, COUNT(*) AS n, MAX(b.x) AS y FROM a [A], b [B] WHERE a.k = b.k AND "
                f"b.ts BETWEEN a.ts AND a.ts + {_us(us)} GROUP BY a.k",
                A=us + 1,
                B=1,
            ),
            _case(
                f"SELECT a.k, b.x FROM a [A], b [B] WHERE a.k = b.k AND a.ts <= b.ts + {_us(us)} "
                "AND b.ts = a.ts AND EXISTS (SELECT 1 FROM c [RANGE 1 SECOND] WHERE c.k = a.k)",
                A=1,
                B=1,
            ),
        ]
    )


def play(
    random: Random, cases: list[Case], options: dict[str, Any], emit: str = ""
) -> tuple[Script, dict[str, pa.Table]]:
    """Rows and restarts, compared with the oracle; all the rows."""
    script = Script(DDL, {"reader": READER}, options=options)
    for number, case in enumerate(cases):
        script.engine.query(f"{case.sql} {emit}", name=f"q{number}")
        script.follow(f"q{number}", f"{case.same} {emit}")
    now = random.choice([-3_200_000, 1_000_000])
    given: dict[str, list[pa.Table]] = {name: [] for name in "abc"}
    for _ in range(random.randint(1, 5)):
        ends = [now]
        for stream in random.sample("abc", 3):
            clock = [now]
            table = rows(random, clock, random.choice([1, 4, 9]), "ab")
            given[stream].append(table)
            script.process(**{stream: table})
            ends.append(clock[0])
        now = max(ends)
        if random.random() < 0.4:
            script.restart()
        if random.random() < 0.4:
            now += random.choice([1, 300_000, 500_000, 4_000_000])
            script.advance(now)
    script.advance(now + random.choice([0, 500_000, 6_000_000])).finish()
    return script, {name: pa.concat_tables(tables) for name, tables in given.items()}


def _timed(table: pa.Table) -> pa.Table:
    return table.set_column(0, "ts", table.column("ts").cast(pa.timestamp("us")))


@pytest.mark.parametrize("make", [two, three])
def test_inserts_are_the_join_of_all_rows(make: Any) -> None:
    found = 0
    for seed in range(8):
        random = Random(seed)
        cases = [make(random) for _ in range(2)]
        script, given = play(random, cases, {"chunk_rows": 3})
        oracle = Oracle({name: _timed(table) for name, table in given.items()})
        for number, case in enumerate(cases):
            changes = script.changes(f"q{number}")
            assert set(changes["_op"].to_pylist()) <= {"+"}
            expected = oracle.answer(case.ever, 10**12)
            found += len(expected)
            assert difference(expected, rows_of(changes.drop_columns(["_op", "_ts", "_exp"]))) == (
                [],
                [],
            )
    assert found > 20


@pytest.mark.parametrize("state", ["upa", "direct", "negative-tuple"])
@pytest.mark.parametrize("emit", ["", "EMIT CHANGES"])
def test_answers_are_those_of_windows(state: str, emit: str) -> None:
    for seed in range(3):
        random = Random(seed)
        play(random, [two(random), three(random), other(random)], {"state": state}, emit)


@given(st.integers(0, 2**48), OPTIONS)
def test_interval_joins_match_the_oracle(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    random = Random(seed)
    cases = [random.choice([two, three, other])(random) for _ in range(3)]
    play(random, cases, options | {"keep": {}}, random.choice(["", "EMIT CHANGES"]))
