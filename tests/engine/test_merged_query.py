"""Groups that are computed in parts by several engines and merged: as in one engine."""

from __future__ import annotations

import math
import struct
from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eddyline
from eddyline.engine.merged_query import MergedQuery
from eddyline.engine.query import Query
from eddyline.errors import UnsupportedError
from eddyline.sql.statements import in_parts_statement

DDL = (
    "CREATE STREAM s (ts TIMESTAMP, g BIGINT, f DOUBLE, n BIGINT, i INT, x DOUBLE, t STRING, "
    "d DECIMAL(12,2), b BOOLEAN) TIMESTAMP BY ts"
)
AGGREGATES = (
    "COUNT(*) AS c, COUNT(x) AS cx, SUM(n) AS sn, TRY_SUM(n) AS tn, SUM(i) AS si, SUM(x) AS sx, "
    "AVG(x) AS ax, AVG(n) AS an, MIN(x) AS lo, MAX(x) AS hi, MIN(t) AS lt, MAX(d) AS hd, "
    "MAX(b) AS hb, SUM(x) FILTER (WHERE b) AS fx, COUNT(*) FILTER (WHERE n > 0) AS fc, "
    "STDDEV(x) AS dx, STDDEV(n) AS dn, STDDEV(i) FILTER (WHERE b) AS di"
)
DISTINCT = (
    "COUNT(DISTINCT x) AS vx, COUNT(DISTINCT t) AS vt, COUNT(DISTINCT t) FILTER (WHERE b) AS vb, "
    "COUNT(DISTINCT d) AS vd, COUNT(DISTINCT n % 2) AS vn"
)
TYPES = {
    "ts": pa.int64(),
    "g": pa.int64(),
    "f": pa.float64(),
    "n": pa.int64(),
    "i": pa.int32(),
    "x": pa.float64(),
    "t": pa.string(),
    "d": pa.decimal128(12, 2),
    "b": pa.bool_(),
}
STEP = 1_000_000
FLOATS = [0.0, -0.0, 1.5, -1.5, 0.1, 1e-320, 5e-324, 1e300, -1e300, 1.7e308, 1e16, 1.0, 2.0**-60]
SPECIAL = [math.nan, math.inf, -math.inf]
INTEGERS = [0, 1, -1, 7, 2**63 - 1, -(2**63), 2**62, -(2**62)]


class Parts:
    """Engines with some rows each, the merger of their groups, and one engine with all rows."""

    def __init__(self, select: str, places: int) -> None:
        self.one = eddyline.Engine()
        self.one.sql(DDL)
        self.whole = self.one.query(select, name="q")
        self.places = [eddyline.Engine() for _ in range(places)]
        for place in self.places:
            place.sql(DDL)
            place.sql(in_parts_statement(f"CREATE QUERY q AS {select}"))
        self.merged = MergedQuery(self.whole)
        self.expected: list[pa.Table] = []
        self.found: list[pa.Table] = []
        self.bad: list[list[pa.Table]] = [[], []]
        self.bad_in_places: list[pa.Table] = []
        self.part_changes: list[int] = []

    def process(self, rows: list[dict[str, Any]], random: Random, watermark: int) -> None:
        dealt = [random.randrange(len(self.places)) for _ in rows]
        out = self.one.process({"s": table(rows)}, watermark=watermark)
        self.expected.append(out["q"])
        parts = []
        for number, place in enumerate(self.places):
            own = [row for row, to in zip(rows, dealt, strict=True) if to == number]
            changes = place.process({"s": table(own)}, watermark=watermark)
            parts.append(changes["q"])
            self.bad_in_places += [changes.bad["q"]] if "q" in changes.bad else []
        self.part_changes.append(sum(part.num_rows for part in parts))
        merged = self.merged.take_in(parts, watermark)
        self.found.append(merged["q"])
        for bad, changes in zip(self.bad, (out, merged), strict=True):
            bad += [changes.bad["q"]] if "q" in changes.bad else []

    def check(self) -> None:
        """Answers are equal at the end of each instant, bit by bit."""
        expected, found = (pa.concat_tables(t) for t in (self.expected, self.found))
        assert answers(found) == answers(expected)
        assert sorted(map(exact, rows_of(self.merged.query))) == sorted(
            map(exact, rows_of(self.whole))
        )


def rows_of(query: Query) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in query.snapshot().to_pylist()]


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({n: pa.array([r[n] for r in rows], t) for n, t in TYPES.items()})


def exact(row: tuple[Any, ...]) -> tuple[str, ...]:
    """Floats by their bits; which zero and which NaN is that of the first row with it."""
    return tuple(
        struct.pack("<d", v + 0.0 if v == v else math.nan).hex() if isinstance(v, float) else str(v)
        for v in row
    )


def answers(changes: pa.Table) -> list[tuple[Any, Counter[tuple[str, ...]]]]:
    """The answer after each instant at which it changes; of EMIT CHANGES."""
    answer: Counter[tuple[str, ...]] = Counter()
    found: list[tuple[Any, Counter[tuple[str, ...]]]] = []
    before: Counter[tuple[str, ...]] = Counter()
    rows = [tuple(r.values()) for r in changes.to_pylist()]
    for place, (op, ts, _, *values) in enumerate(rows):
        answer[exact(tuple(values))] += 1 if op == "+" else -1
        if place + 1 == len(rows) or rows[place + 1][1] != ts:
            now = +answer
            assert not -answer, "what is taken back was there"
            if now != before:
                found.append((ts, now))
            before = now
    return found


def random_rows(random: Random, start: int, end: int, pool: list[float]) -> list[dict[str, Any]]:
    def some(values: list[Any]) -> Any:
        return None if random.random() < 0.1 else random.choice(values)

    times = sorted(random.randrange(start, end) for _ in range(random.randrange(8)))
    return [
        {
            "ts": ts * STEP,
            "g": some([1, 2]),
            "f": some([0.0, -0.0, math.nan, 1.0]),
            "n": some(INTEGERS),
            "i": some([1, -5, 2**31 - 1]),
            "x": some(pool),
            "t": some(["", "a", "ab", "ä" * 20]),
            "d": some([Decimal("-1.25"), Decimal("0.00"), Decimal("7.50")]),
            "b": some([True, False]),
        }
        for ts in times
    ]


SELECTS = (
    f"SELECT {AGGREGATES} FROM s [RANGE 4 SECONDS] EMIT CHANGES",
    f"SELECT g, f, {AGGREGATES} FROM s [RANGE 4 SECONDS] GROUP BY g, f EMIT CHANGES",
    "SELECT DISTINCT f, t FROM s [RANGE 4 SECONDS] EMIT CHANGES",
    "SELECT g + 1 AS h, SUM(n) AS s FROM s [RANGE 9 SECONDS] GROUP BY g HAVING COUNT(*) > 1 "
    "EMIT CHANGES",
    "SELECT SUM(x) AS s, AVG(x) AS a, STDDEV(x) AS d FROM s [RANGE 20 SECONDS] EMIT CHANGES",
    f"SELECT {DISTINCT} FROM s [RANGE 4 SECONDS] EMIT CHANGES",
    f"SELECT g, {AGGREGATES}, {DISTINCT} FROM s [RANGE 4 SECONDS] GROUP BY g EMIT CHANGES",
    "SELECT g, COUNT(DISTINCT x) AS c FROM s [RANGE 6 SECONDS] GROUP BY g EMIT CHANGES",
    "SELECT COUNT(DISTINCT f) AS c FROM s [RANGE 6 SECONDS] WHERE b EMIT CHANGES",
    "SELECT f, COUNT(*) AS c, COUNT(DISTINCT f) AS one FROM s [RANGE 6 SECONDS] GROUP BY f "
    "HAVING COUNT(DISTINCT t) > 1 EMIT CHANGES",
)


@given(st.integers(0, 2**48), st.sampled_from(SELECTS), st.integers(1, 4), st.booleans())
def test_parts_merged_are_as_in_one_engine(
    seed: int, select: str, places: int, special: bool
) -> None:
    random = Random(seed)
    pool = FLOATS + SPECIAL * special + [random.gauss(0, 1) * 10.0 ** random.randrange(-30, 30)]
    parts = Parts(select, places)
    for batch in range(6):
        rows = random_rows(random, 5 * batch, 5 * batch + 5, pool)
        parts.process(rows, random, (5 * batch + 4) * STEP)
    parts.process([], random, 100 * STEP)
    parts.check()


def row(ts: int, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(TYPES), "ts": ts * STEP, **values}


def test_a_sum_that_is_no_bigint_is_a_bad_row_as_in_one_engine() -> None:
    parts = Parts("SELECT g, SUM(n) AS s FROM s [RANGE 3 SECONDS] GROUP BY g EMIT CHANGES", 2)
    rows = [row(0, g=1, n=2**63 - 1), row(1, g=1, n=2**62), row(1, g=2, n=1), row(2, g=1, n=-5)]
    for seed, some in enumerate(rows):
        parts.process([some], Random(seed), some["ts"])
    parts.process([], Random(), 10 * STEP)
    parts.check()
    one, merged = (pa.concat_tables(bad) for bad in parts.bad)
    assert one.num_rows and merged.equals(one)


def test_rows_that_fail_are_bad_where_they_are() -> None:
    parts = Parts("SELECT COUNT(*) AS n, SUM(n * 2) AS s FROM s [RANGE 3 SECONDS] EMIT CHANGES", 2)
    parts.process([row(0, n=2**62), row(1, n=3)], Random(1), 2 * STEP)
    parts.check()
    assert not parts.bad[1], "the merger has no row of which the argument fails"


def test_a_row_of_which_one_argument_fails_is_in_no_part_and_bad_once() -> None:
    parts = Parts(
        "SELECT COUNT(DISTINCT n * 2) AS n, COUNT(DISTINCT t) AS t, SUM(i) AS i, STDDEV(x) AS d, "
        "COUNT(DISTINCT CAST(x AS INT)) FILTER (WHERE b) AS x FROM s [RANGE 3 SECONDS] "
        "EMIT CHANGES",
        2,
    )
    rows = [row(0, n=2**62, t="a", i=1), row(0, n=3, t="b", x=1.5), row(1, x=1e300, b=True, i=2)]
    rows += [row(1, x=1e300, b=False, t="c"), row(2, n=-(2**63), x=2.0, i=3), row(2, i=4)]
    parts.process(rows, Random(1), 2 * STEP)
    parts.process([], Random(), 10 * STEP)
    parts.check()
    one, places = (pa.concat_tables(bad) for bad in (parts.bad[0], parts.bad_in_places))
    assert one.num_rows == 3
    assert sorted(map(str, places.to_pylist())) == sorted(map(str, one.to_pylist()))


@pytest.mark.parametrize("count", ["COUNT(*)", "COUNT(DISTINCT x)"])
def test_the_first_row_without_groups_is_not_repeated_when_parts_have_none(count: str) -> None:
    parts = Parts(f"SELECT {count} AS n FROM s [RANGE 3 SECONDS] WHERE x > 1 EMIT CHANGES", 2)
    for ts in (4, 5):
        parts.process([row(ts, x=1.0) for _ in range(4)], Random(1), ts * STEP)
    expected, found = (pa.concat_tables(t) for t in (parts.expected, parts.found))
    assert expected.num_rows == 1 and found.equals(expected)


@pytest.mark.parametrize(
    ("columns", "having"),
    [
        ("SUM(x) AS s", "SUM(x) > 1"),
        ("COUNT(DISTINCT i) AS c", "COUNT(DISTINCT i) > 1"),
        ("COUNT(DISTINCT i) AS c, STDDEV(x) AS d, COUNT(DISTINCT n) AS m", "STDDEV(x) > 0.1"),
    ],
)
def test_forms_of_emit_are_those_of_the_query(columns: str, having: str) -> None:
    select = f"SELECT g, {columns} FROM s [RANGE 5 SECONDS] GROUP BY g HAVING {having}"
    for emit in ("EMIT INSERTS", "EMIT CHANGES", "EMIT SNAPSHOT EVERY 2 SECONDS"):
        parts = Parts(f"{select} {emit}", 3)
        random = Random(4)
        for ts in range(0, 40, 2):
            i, n = random.randrange(3), random.randrange(2)
            rows = [row(ts, g=random.choice([1, 2]), x=random.random() + 0.4, i=i, n=n)]
            parts.process(rows, random, ts * STEP)
        parts.process([], random, 60 * STEP)
        expected, found = (pa.concat_tables(t) for t in (parts.expected, parts.found))
        assert expected.num_rows > 5
        assert sorted(map(str, found.to_pylist())) == sorted(map(str, expected.to_pylist()))


def test_what_has_no_parts_says_why() -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    with pytest.raises(UnsupportedError, match="its rows are not grouped"):
        engine.sql(in_parts_statement("CREATE QUERY q AS SELECT x FROM s"))


KEYS = (
    "f", "CAST(f AS FLOAT)", "i", "CAST(i AS SMALLINT)", "t", "CAST(t AS BINARY)", "d", "b", "ts",
    "CAST(ts AS DATE)", "ts - TIMESTAMP '2020-01-01'", "g = 1 AND NULL",
    "CAST(n AS DECIMAL(38, 3))",
)  # fmt: skip


def test_a_change_does_not_depend_on_the_number_of_distinct_values() -> None:
    """A row changes its own parts: those of its values, and that of its group."""
    parts = Parts(
        "SELECT g, COUNT(DISTINCT n) AS n, COUNT(DISTINCT x) AS x, STDDEV(x) AS d, COUNT(*) AS c "
        "FROM s [RANGE 1 HOUR] GROUP BY g EMIT CHANGES",
        2,
    )
    for batch in range(3):
        start = 1000 * batch
        rows = [row(batch, g=1, n=n, x=n / 7) for n in range(start, start + 1000)]
        parts.process(rows, Random(batch), batch * STEP)
        parts.process([row(batch, g=1, n=-batch - 1, x=0.5)], Random(2), batch * STEP)
        parts.process([row(batch, g=1, n=start, x=start / 7)], Random(3), batch * STEP)
    of_new, of_known = parts.part_changes[1::3], parts.part_changes[2::3]
    assert of_new == [4, 3, 3], (
        "two values, once only, and the group of which there was another part"
    )
    assert all(2 <= n <= 4 for n in of_known), "values may be new where the row is"
    parts.check()


@pytest.mark.parametrize("key", KEYS)
def test_distinct_values_of_any_type(key: str) -> None:
    select = f"SELECT COUNT(DISTINCT {key}) AS k, COUNT(*) AS n FROM s [RANGE 7 SECONDS]"
    parts = Parts(f"{select} EMIT CHANGES", 3)
    random = Random(8)
    pool = [*FLOATS, *SPECIAL]
    rows = [r for start in range(0, 20, 5) for r in random_rows(random, start, start + 5, pool)]
    parts.process(rows, random, 30 * STEP)
    parts.check()


@pytest.mark.parametrize("key", KEYS)
def test_groups_by_keys_of_any_type(key: str) -> None:
    parts = Parts(f"SELECT {key} AS k, COUNT(*) AS n FROM s [NOW] GROUP BY {key} EMIT CHANGES", 2)
    random = Random(7)
    rows = [r for start in range(0, 20, 5) for r in random_rows(random, start, start + 5, FLOATS)]
    parts.process(rows, random, 30 * STEP)
    parts.check()
