"""Aggregates over windows that slide are those of the rows alive, computed anew at every instant;
computed whole, by several queries together, and from parts that are merged.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest

from aggregate_model import CLOSE, EXPECTED, STEP, Row, Rows, present, row
from eddyline import Engine
from eddyline.engine.merged_query import MergedQuery
from eddyline.sql.statements import in_parts_statement
from eddyline.testing import engine_with

DDL: Final = (
    "CREATE STREAM s (ts TIMESTAMP, k BIGINT, x DOUBLE, y DOUBLE, n INT, d DECIMAL(10, 2), "
    "w DECIMAL(38, 4), t STRING, b BOOLEAN, u TIMESTAMP) TIMESTAMP BY ts"
)


def table(rows: Rows, engine: Engine) -> pa.Table:
    fields = engine.catalog.streams["s"].schema
    schema = pa.schema([(f.name, pa.int64() if f.name in ("ts", "u") else f.type) for f in fields])
    rows = [{name: r[name] for name in schema.names} for r in rows]
    found = pa.Table.from_pylist(rows, schema=schema)
    return found.set_column(
        schema.get_field_index("u"), "u", found["u"].cast(pa.timestamp("us", "UTC"))
    )


def declared(**options: Any) -> Engine:
    engine = engine_with(**options)
    engine.sql(DDL)
    return engine


def batches(random: Random) -> list[Rows]:
    found, ts = [], STEP
    for _ in range(4):
        rows = []
        ts += STEP // 2
        for _ in range(random.choice([1, 4, 12])):
            ts += random.choice([0, 100_000, 700_000])
            rows.append(row(random, ts))
        found.append(rows)
    return found


def alive(rows: Rows, window: str, clock: int) -> Rows:
    if window.startswith("RANGE"):
        return [r for r in rows if r["ts"] + 2 * STEP > clock]
    if window.startswith("ROWS"):
        return rows[-7:]
    last = defaultdict(list)
    for r in rows:
        last[r["k"]].append(r)
    return [r for of_key in last.values() for r in of_key[-3:]]


WINDOWS: Final = ("RANGE 2 SECONDS", "ROWS 7", "PARTITION BY k ROWS 3")
NAMES: Final = {f"a{i}": sql for i, sql in enumerate(EXPECTED)}
LIST: Final = ", ".join(f"{sql} AS {name}" for name, sql in NAMES.items())


def check(found: list[Row], rows: Rows) -> None:
    groups = defaultdict(list)
    for r in rows:
        groups[r["k"]].append(r)
    assert sorted(f["k"] for f in found) == sorted(groups)
    for f in found:
        for name, sql in NAMES.items():
            expected = EXPECTED[sql](groups[f["k"]])
            value = f[name]
            if sql.startswith("SUM(u") and value is not None:
                value = round(value.total_seconds() * STEP)
            if sql.startswith(CLOSE) and expected is not None:
                value, expected = value, pytest.approx(expected, rel=1e-12, abs=1e-300)
                if sql.startswith("REGR_INTERCEPT"):  # a difference of rounded numbers
                    expected = pytest.approx(expected.expected, rel=1e-9, abs=1e-6)
            assert value == expected, (sql, groups[f["k"]])


@pytest.mark.parametrize(
    ("window", "state"),
    [(w, "upa") for w in WINDOWS] + [(WINDOWS[0], "negative-tuple"), (WINDOWS[0], "direct")],
)
def test_they_follow_the_rows_alive(window: str, state: str, tmp_path: Any) -> None:
    random = Random(f"{window} {state}")
    engine = declared(state=state, chunk_rows=3)
    engine.query(f"SELECT k, {LIST} FROM s [{window}] GROUP BY k", name="q")
    if window == WINDOWS[0]:  # a flow that both share
        engine.query(f"SELECT k, {LIST} FROM s [{window}] WHERE k < 2 GROUP BY k", name="some")
    rows: Rows = []
    for number, batch in enumerate(batches(random)):
        engine.process({"s": table(batch, engine)})
        rows += batch
        for clock in (rows[-1]["ts"], rows[-1]["ts"] + STEP // 4):
            engine.advance(clock)
            check(engine.queries["q"].snapshot().to_pylist(), alive(rows, window, clock))
        if window == WINDOWS[0]:
            expected = [r for r in alive(rows, window, clock) if r["k"] < 2]
            check(engine.queries["some"].snapshot().to_pylist(), expected)
        if number == 1:
            engine.save(tmp_path / "saved")
            engine = Engine.load(tmp_path / "saved")


@pytest.mark.parametrize(
    ("window", "size", "step"),
    [("TUMBLE 3 SECONDS", 3, 3), ("HOP 4 SECONDS EVERY 2 SECONDS", 4, 2)],
)
def test_they_are_final_in_fixed_windows(window: str, size: int, step: int, tmp_path: Any) -> None:
    random = Random(window)
    engine = declared(chunk_rows=5)
    keys = "k, window_start, window_end"
    engine.query(f"SELECT {keys}, {LIST} FROM s [{window}] GROUP BY {keys}", name="q")
    rows: Rows = []
    found: list[Row] = []
    for number, batch in enumerate(batches(random)):
        found += engine.process({"s": table(batch, engine)})["q"].to_pylist()
        rows += batch
        if number == 1:
            engine.save(tmp_path / "saved")
            engine = Engine.load(tmp_path / "saved")
    found += engine.advance(rows[-1]["ts"] + 10 * STEP)["q"].to_pylist()
    of_end = defaultdict(list)
    for f in found:
        of_end[round(f["window_end"].timestamp()) * STEP].append(f)
    for end in range(0, rows[-1]["ts"] + 10 * STEP, step * STEP):
        check(of_end.pop(end, []), [r for r in rows if end - size * STEP <= r["ts"] < end])
    assert not of_end


def test_they_are_final_in_sessions(tmp_path: Any) -> None:
    random = Random(11)
    engine = declared(chunk_rows=5)
    keys, gap = "k, window_start, window_end", 650_000  # no two rows are that far apart
    sql = f"SELECT {keys}, {LIST} FROM s [SESSION 650 MILLISECONDS BY k] GROUP BY {keys}"
    engine.query(sql, name="q")
    rows: Rows = []
    found: list[Row] = []
    for number, batch in enumerate(batches(random)):
        found += engine.process({"s": table(batch, engine)})["q"].to_pylist()
        rows += batch
        if number == 1:
            engine.save(tmp_path / "saved")
            engine = Engine.load(tmp_path / "saved")
    found += engine.advance(rows[-1]["ts"] + 10 * STEP)["q"].to_pylist()
    sessions: list[Rows] = []
    for k in range(3):
        last = None
        for r in rows:
            if r["k"] == k:
                if last is None or r["ts"] > last + gap:
                    sessions.append([])
                sessions[-1].append(r)
                last = r["ts"]
    of_end = {(f["k"], round(f["window_end"].timestamp() * STEP)): f for f in found}
    assert len(of_end) == len(found) == len(sessions)
    for session in sessions:
        check([of_end[session[0]["k"], session[-1]["ts"] + gap]], session)


def test_groups_are_chosen_by_them() -> None:
    random = Random(5)
    engine = declared()
    having = "BOOL_OR(b) AND COUNT(DISTINCT n, t) > 1 AND SUM(d) > 0.5"
    engine.query(
        f"SELECT k, MAX_BY(w, t) AS v FROM s [RANGE 2 SECONDS] GROUP BY k HAVING {having}", name="q"
    )
    rows: Rows = []
    chosen = 0
    for batch in batches(random):
        engine.process({"s": table(batch, engine)})
        rows += batch
        groups = defaultdict(list)
        for r in alive(rows, WINDOWS[0], rows[-1]["ts"]):
            groups[r["k"]].append(r)
        expected = {
            (k, EXPECTED["MAX_BY(w, t)"](of))
            for k, of in groups.items()
            if any(present(of, "b"))
            and EXPECTED["COUNT(DISTINCT n, t)"](of) > 1
            and (EXPECTED["SUM(d)"](of) or 0) > Decimal("0.5")
        }
        found = {(r["k"], r["v"]) for r in engine.queries["q"].snapshot().to_pylist()}
        assert found == expected
        chosen += len(found)
    assert chosen


@pytest.mark.parametrize("seed", range(2))
def test_they_are_merged_from_parts(seed: int) -> None:
    random = Random(seed)
    select = f"SELECT k, {LIST} FROM s [RANGE 2 SECONDS] GROUP BY k"
    one = declared()
    merged = MergedQuery(one.query(select, name="q"))
    places = [declared(), declared()]
    for place in places:
        place.sql(in_parts_statement(f"CREATE QUERY q AS {select}"))
    rows: Rows = []
    for batch in batches(random):
        rows += batch
        clock = rows[-1]["ts"]
        dealt = [random.randrange(2) for _ in batch]
        changes = []
        for number, place in enumerate(places):
            own = [r for r, to in zip(batch, dealt, strict=True) if to == number]
            changes.append(place.process({"s": table(own, place)}, watermark=clock)["q"])
        merged.take_in(changes, clock)
        check(merged.query.snapshot().to_pylist(), alive(rows, WINDOWS[0], clock))
