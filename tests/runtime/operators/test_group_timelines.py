"""Operators that group the same rows by the same keys share what happens to the groups."""

from __future__ import annotations

import gc
import io
import weakref
from random import Random

import pyarrow as pa
import pytest

import eddyline
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.group import GroupBy
from eddyline.runtime.operators.shared_timelines import PartOfTimeline, SharedTimeline
from eddyline.types import TIMESTAMP

DDL = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, t STRING, v DOUBLE, i BIGINT) TIMESTAMP BY ts"
AGGREGATES = (
    *("AVG(v)", "MIN(v)", "SUM(i)", "MAX(i)", "COUNT(*)", "STDDEV(v)", "MEDIAN(v)"),
    *("COUNT(DISTINCT i)", "ARRAY_AGG(i)", "FIRST(v)", "SUM(6 / i)"),
)


def queries(random: Random, count: int) -> list[str]:
    """They group by one key or two, in windows of two lengths."""
    found = []
    for _ in range(count):
        key = random.choice(["k", "k", "t, k"])
        what = random.choice(AGGREGATES)
        having = random.choice(["", "", f" HAVING {what} > 2"]) if "ARRAY" not in what else ""
        found.append(
            f"SELECT {key}, {what} AS x FROM s [RANGE {random.choice([3, 3, 3, 5])} SECONDS] "
            f"WHERE v > 0 GROUP BY {key}{having} EMIT CHANGES"
        )
    return found


class Beside:
    """An engine with all queries, beside one engine for each."""

    def __init__(self) -> None:
        self.together = _engine()
        self.alone: dict[str, eddyline.Engine] = {}
        self.history: list[pa.Table] = []
        self.new: set[str] = set()  # they report the answer so far, each in its own way

    def add(self, name: str, sql: str) -> None:
        self.new.add(name)
        self.alone[name] = _engine()
        self.alone[name].query("SELECT ts FROM s [RANGE 9 SECONDS]", name="all")
        for table in self.history:
            _process(self.alone[name], table)
        self.alone[name].query(sql, name=name)
        self.together.query(sql, name=name)

    def drop(self, name: str) -> None:
        del self.alone[name]
        self.together.drop(name)

    def restart(self) -> None:
        saved = io.BytesIO()
        self.together.save(saved)
        saved.seek(0)
        self.together = eddyline.Engine.load(saved)

    def process(self, table: pa.Table) -> None:
        self.history.append(table)
        found = _process(self.together, table)
        for name, engine in self.alone.items():
            expected = _process(engine, table)
            if name not in self.new:
                assert found[name].to_pylist() == expected[name].to_pylist(), name
            answers = [e.queries[name].snapshot().to_pylist() for e in (self.together, engine)]
            assert sorted(map(repr, answers[0])) == sorted(map(repr, answers[1])), name
            bad = [_bad(changes, name) for changes in (found, expected)]
            assert bad[0] == bad[1], name
        self.new.clear()


def _bad(changes: eddyline.Changes, name: str) -> list[str]:
    rows = changes.bad.get(name)
    return [] if rows is None else sorted(map(repr, rows.to_pylist()))


def _engine() -> eddyline.Engine:
    engine = eddyline.Engine()
    engine.sql(DDL)
    return engine


def _process(engine: eddyline.Engine, table: pa.Table) -> eddyline.Changes:
    return engine.process({"s": table}, watermark=table["ts"][-1].value)


def rows(random: Random, clock: int) -> pa.Table:
    ts = sorted(clock + random.randint(0, 2_000_000) for _ in range(random.choice([1, 5, 30])))
    return pa.table(
        {
            "ts": pa.array(ts, pa.int64()).cast(TIMESTAMP),
            "k": [random.randrange(4) for _ in ts],
            "t": [random.choice(["a", "b", None]) for _ in ts],
            "v": pa.array([random.choice([1.0, 2.0, 3.5, -1.0, None]) for _ in ts], pa.float64()),
            "i": [random.choice([1, 2, 3, 0]) for _ in ts],
        }
    )


def play(seed: str) -> None:
    random = Random(seed)
    beside = Beside()
    beside.together.query("SELECT ts FROM s [RANGE 9 SECONDS]", name="all")
    waiting = queries(random, 9)
    for i in range(random.randint(2, 5)):
        beside.add(f"q{i}", waiting.pop())
    clock = 0
    for _ in range(random.randint(5, 9)):
        beside.process(rows(random, clock))
        clock += random.choice([500_000, 2_000_000, 8_000_000])
        if waiting and random.random() < 0.4:
            beside.add(f"late{len(waiting)}", waiting.pop())
        if len(beside.alone) > 1 and random.random() < 0.2:
            beside.drop(random.choice(list(beside.alone)))
        if random.random() < 0.2:
            beside.restart()


@pytest.mark.parametrize("part", range(4))
def test_groups_are_the_same_with_and_without_others(part: int) -> None:
    for seed in range(2):
        play(f"{part} {seed}")


@pytest.mark.long
def test_many_groups_are_the_same_with_and_without_others() -> None:
    for seed in range(300):
        play(f"many {seed}")


def test_what_a_dropped_query_knew_is_not_used() -> None:
    """It may still be in memory: after a restart operators are in cycles."""
    engine = _engine()
    texts = {
        "count": "SELECT k, COUNT(DISTINCT i) AS x FROM s [RANGE 3 SECONDS] GROUP BY k",
        "max": "SELECT k, MAX(i) AS x FROM s [RANGE 3 SECONDS] GROUP BY k",
    }
    for name, text in texts.items():
        engine.query(text, name=name)
    saved = io.BytesIO()
    engine.save(saved)
    saved.seek(0)
    engine = eddyline.Engine.load(saved)
    one = rows(Random(1), 0).slice(0, 1)

    def at(second: int, i: int) -> pa.Table:
        ts = pa.array([second * 1_000_000], pa.int64()).cast(TIMESTAMP)
        return one.set_column(0, "ts", ts).set_column(4, "i", pa.array([i]))

    gc.disable()
    try:
        _process(engine, at(1, 1))
        engine.drop("max")
        _process(engine, at(9, 2))
        engine.query(texts["max"], name="max")
        _process(engine, at(10, 1))
    finally:
        gc.enable()
    (group,) = engine.queries["max"].snapshot().to_pylist()
    assert group["x"] == 2


def test_keys_are_looked_up_once() -> None:
    """Also those of a query that comes later, and after a restart."""
    engine = _engine()
    for i, what in enumerate(("AVG(v)", "MIN(v)", "SUM(i)")):
        engine.query(f"SELECT k, {what} FROM s [RANGE 3 SECONDS] GROUP BY k", name=f"q{i}")
    random = Random(1)
    _process(engine, rows(random, 0))
    engine.query("SELECT k, MAX(v) FROM s [RANGE 3 SECONDS] GROUP BY k", name="late")
    for restarted in (False, True):
        if restarted:
            saved = io.BytesIO()
            engine.save(saved)
            saved.seek(0)
            engine = eddyline.Engine.load(saved)
        _process(engine, rows(random, 2_000_000 + 2_000_000 * restarted))
        assert len({id(timeline.shared) for timeline in _timelines(engine)}) == 1
        assert len(_timelines(engine)) == 4


def test_a_late_operator_over_rows_that_tie() -> None:
    """Its input may hold rows of the same time in another order than they came in."""
    union = "(SELECT k, v FROM s [RANGE 3 SECONDS] UNION ALL SELECT k, v FROM r [RANGE 3 SECONDS])"
    text = f"SELECT k, {{}}(v) AS x FROM {union} AS q GROUP BY k EMIT CHANGES"
    engines = [_engine() for _ in range(2)]
    for engine in engines:
        engine.sql(DDL.replace("STREAM s", "STREAM r"))
        engine.query(text.format("SUM"), name="sum")
    engines[1].query(text.format("MIN"), name="late")  # there from the beginning
    random, found = Random(3), []
    for batch in range(6):
        tables = {name: _tied(random, batch * 1_000_000) for name in "rs"}
        if batch == 3:
            engines[0].query(text.format("MIN"), name="late")
        out = [e.process(tables, watermark=batch * 1_000_000 + 500_000) for e in engines]
        found.append(out[0]["sum"].to_pylist() == out[1]["sum"].to_pylist())
        if batch > 3:
            found.append(out[0]["late"].to_pylist() == out[1]["late"].to_pylist())
            answers = [e.queries["late"].snapshot().to_pylist() for e in engines]
            found.append(sorted(map(repr, answers[0])) == sorted(map(repr, answers[1])))
    assert all(found), found


def test_a_timeline_goes_with_its_last_query() -> None:
    engine = _engine()
    gone: list[weakref.ref[SharedTimeline]] = []
    for what in ("AVG", "MIN"):
        engine.query(f"SELECT k, {what}(v) FROM s [RANGE 3 SECONDS] GROUP BY k", name=what)
        _process(engine, rows(Random(2), 2_000_000 * len(gone)))
        gone.append(weakref.ref(_timelines(engine)[-1].shared))
        assert gone[-1]() is gone[0]()
    engine.query("SELECT k FROM s [RANGE 3 SECONDS]", name="other")
    for what in ("AVG", "MIN"):
        engine.drop(what)
    _process(engine, rows(Random(2), 6_000_000))
    gc.collect()
    assert gone[0]() is None


def _tied(random: Random, clock: int) -> pa.Table:
    """Eight rows at two instants."""
    ts = pa.array([clock + i // 4 for i in range(8)], pa.int64()).cast(TIMESTAMP)
    values = [float(random.randrange(9)) for _ in range(8)]
    keys = [random.randrange(3) for _ in range(8)]
    return pa.table({"ts": ts, "k": keys, "t": ["a"] * 8, "v": values, "i": [1] * 8})


def _timelines(engine: eddyline.Engine) -> list[PartOfTimeline]:
    groups = [o for o in in_order(engine.parts.queries.operators()) if isinstance(o, GroupBy)]
    return [g.timeline for g in groups if isinstance(g.timeline, PartOfTimeline)]
