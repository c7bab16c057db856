"""ASOF joins: each row with the latest row of its key, compared with DuckDB's ASOF JOIN.

Rows that may have the same time are decided when time has passed it: the answer at an instant is
that of a microsecond before.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import duckdb
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.runtime.operators import asof
from eddyline.testing.bags import Row, rows_of
from eddyline.testing.changes import check_changes, compare
from eddyline.testing.engines import engine_with
from eddyline.testing.strategies import OPTIONS
from thinned import fewer
from window_rows import rows

DDL: Final = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;" for name in "abc"
)
#: All streams are in one group.
READER: Final = "SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.x = b.x AND b.x = c.x"
WINDOWS: Final = {
    None: "",
    1: " [NOW]",
    300_000: " [RANGE 300 MILLISECONDS]",
    10**6: " [RANGE 1 SECOND]",
}


@dataclass(frozen=True)
class Case:
    """``a [left] ASOF JOIN b [right]``, and c if ``second``.

    Attributes:
        left, right: lengths of windows in us; None: no window.
        sign: ``>=`` or ``>``. second: that of the join with c.
    """

    left: int | None
    right: int | None
    sign: str
    outer: bool
    keyed: bool
    second: str | None
    spelled: int

    @property
    def delay(self) -> int:
        """How much later than in the definition the answer is there."""
        return int(">=" in (self.sign, self.second))

    @property
    def sql(self) -> str:
        left, right = WINDOWS[self.left], WINDOWS[self.right]
        side = "LEFT " * self.outer
        keys = "a.k = b.k AND " if self.keyed else ""
        if self.spelled == 1 and self.keyed and self.sign == ">=" and not right:
            first = f"{side}JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k"
        elif self.spelled == 2 and self.keyed:
            first = f"ASOF {side}JOIN b{right} MATCH_CONDITION (a.ts {self.sign} b.ts) ON a.k = b.k"
        elif self.spelled == 3 and self.keyed and self.sign == ">=":
            first = f"ASOF {side}JOIN b{right} USING (k, ts)"
        else:
            flipped = {">=": "<=", ">": "<"}[self.sign]
            first = f"ASOF {side}JOIN b{right} ON {keys}b.ts {flipped} a.ts"
        columns = "a.ts AS at, a.x, b.x AS y, b.ts AS bt"
        if self.second is None:
            return f"SELECT {columns} FROM a{left} {first}"
        return (
            f"SELECT {columns}, c.x AS z FROM a{left} {first} ASOF LEFT JOIN c "
            f"ON a.k = c.k AND a.ts {self.second} c.ts"
        )


def make(random: Random) -> Case:
    return Case(
        random.choice(list(WINDOWS)),
        random.choice(list(WINDOWS)),
        random.choice([">=", ">"]),
        random.random() < 0.5,
        random.random() < 0.8,
        random.choice([None, None, ">=", ">"]),
        random.randrange(4),
    )


def definition(case: Case, tables: dict[str, pa.Table]) -> list[tuple[int, int, Row]]:
    """From when until when each result is there, and its columns; by brute force in DuckDB."""
    database = duckdb.connect()
    for name, table in tables.items():
        number = pa.array(range(table.num_rows), pa.int64())
        database.register(name, table.append_column("n", number))

    def latest(name: str, sign: str, window: int | None, keyed: bool) -> str:
        length = 10**15 if window is None else window
        key = f"{name}.k = a.k AND " if keyed else ""
        return (
            f"LEFT JOIN LATERAL (SELECT {name}.x, {name}.ts, TRUE AS there FROM {name} WHERE {key}"
            f"{name}.ts {'<=' if sign == '>=' else '<'} a.ts "
            f"ORDER BY {name}.ts DESC, {name}.n DESC LIMIT 1) AS l{name} "
            f"ON a.ts < l{name}.ts + {length} "
        )

    second = "" if case.second is None else latest("c", case.second, None, True)
    shown = "" if case.second is None else ", lc.x"
    where = "" if case.outer else "WHERE lb.there"
    found = database.execute(
        f"SELECT a.ts, a.ts, a.x, lb.x, lb.ts{shown} FROM a "
        f"{latest('b', case.sign, case.right, case.keyed)}{second}{where}"
    ).fetchall()
    lives = 10**15 if case.left is None else case.left
    return [(ts + case.delay, ts + lives + case.delay, tuple(row)) for ts, *row in found]


def play(random: Random, cases: list[Case], options: dict[str, Any]) -> int:
    """Rows and restarts, compared with the definition; the number of results."""
    engine = engine_with(**options)
    engine.sql(DDL)
    engine.query(READER, name="reader")
    modes = [random.choice(["inserts", "changes"]) for _ in cases]
    for number, (case, mode) in enumerate(zip(cases, modes, strict=True)):
        engine.query(f"{case.sql} EMIT {mode}", name=f"q{number}")
    found: dict[str, list[pa.Table]] = {f"q{number}": [] for number in range(len(cases))}
    given: dict[str, list[pa.Table]] = {name: [rows(random, [0], 0, "ab")] for name in "abc"}
    now = random.choice([-3_200_000, 1_000_000])
    for _ in range(random.randint(1, 6)):
        ends = [now]
        for stream in random.sample("abc", 3):
            clock = [now]
            table = rows(random, clock, random.choice([1, 4, 9]), "ab")
            given[stream].append(table)
            _collect(found, engine.process({stream: table}))
            ends.append(clock[0])
        now = max(ends)
        if random.random() < 0.4:
            engine = _restarted(engine)
        if random.random() < 0.4:
            now += random.choice([1, 300_000, 500_000, 4_000_000])
            _collect(found, engine.advance(now))
    now += random.choice([1, 500_000, 6_000_000])
    _collect(found, engine.advance(now))
    tables = {name: pa.concat_tables(several) for name, several in given.items()}
    total = 0
    for (name, changes), case, mode in zip(found.items(), cases, modes, strict=True):
        results = definition(case, tables)
        times = {t for start, end, _ in results for t in (start, end) if t <= now}
        instants = sorted({t + d for t in times for d in (-1, 0)} | {now})

        def answer(tau: int, results: list[tuple[int, int, Row]] = results) -> list[Row]:
            return [row for start, end, row in results if start <= tau < end]

        emitted = pa.concat_tables(changes)
        check_changes(emitted, answer, instants, mode=mode)
        if engine.queries[name].keeps_answer:
            compare(answer(now), rows_of(engine.queries[name].snapshot()), "in snapshot()")
        total += emitted.num_rows
    return total


def _collect(found: dict[str, list[pa.Table]], out: Any) -> None:
    for name, tables in found.items():
        tables.append(out[name])


def _restarted(engine: Engine) -> Engine:
    saved = io.BytesIO()
    engine.save(saved)
    saved.seek(0)
    return Engine.load(saved)


@pytest.fixture(autouse=True, scope="module")
def forgotten_at_once() -> Iterator[None]:
    """Rows are forgotten as soon as they are twice as many as the others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asof, "_LEAST_FORGOTTEN", 0)
        yield


@pytest.mark.parametrize("state", ["upa", "direct", "negative-tuple"])
def test_asof_joins(state: str) -> None:
    total = 0
    for seed in range(8):
        random = Random(f"{state} {seed}")
        options = {"state": state, "chunk_rows": random.choice([1, 3, 1000])}
        total += play(random, [make(random) for _ in range(3)], options)
    assert total > 100


@settings(max_examples=fewer(2))
@given(st.integers(0, 2**48), OPTIONS)
def test_asof_joins_match_the_definition(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    random = Random(seed)
    play(random, [make(random) for _ in range(3)], options | {"keep": {}})
