"""The option ``latency``: what a call does not serve waits, and comes with a later call."""

from __future__ import annotations

import io
import random
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.engine.changes import Changes
from eddyline.optimizer.prices import TYPICAL
from eddyline.testing import batch, engine_with
from thinned import thinned
from window_joins import STREAMS, WINDOWS, join, last_second, random_input, random_query

SCHEDULES = ("lwo", "swf", "greedy")
#: From one step per call to all.
LATENCIES = ("1 microsecond", "100 microseconds", "200 microseconds", "1 hour")


def _engine(**options: Any) -> Engine:
    engine = engine_with(prices=TYPICAL, **options)
    engine.wall_clock = lambda: 0
    engine.sql(STREAMS)
    return engine


def _reloaded(engine: Engine) -> Engine:
    file = io.BytesIO()
    engine.save(file)
    file.seek(0)
    loaded = Engine.load(file)
    loaded.wall_clock = lambda: 0
    return loaded


class Pair:
    """An engine with a latency beside one without, with the same calls."""

    def __init__(self, latency: str, **options: Any) -> None:
        self.waits = _engine(latency=latency, **options)
        self.plain = _engine(**options)
        self.got: dict[str, list[pa.Table]] = {}
        self.expected: dict[str, list[pa.Table]] = {}

    def add(self, name: str, sql: str) -> None:
        for engine in (self.waits, self.plain):
            engine.query(sql, name=name)
        self.got[name], self.expected[name] = [], []

    def drop(self, name: str) -> None:
        for engine in (self.waits, self.plain):
            engine.drop(name)

    def process(self, rows: dict[str, pa.Table]) -> None:
        self._keep(self.waits.process(rows), self.plain.process(rows))

    def advance(self, to_us: int) -> None:
        self._keep(self.waits.advance(to_us), self.plain.advance(to_us))

    def _keep(self, waits: Changes, plain: Changes) -> None:
        for name in self.waits.queries:
            self.got[name].append(waits[name])
            self.expected[name].append(plain[name])

    @property
    def waiting(self) -> int:
        return sum(group["waiting"] for group in self.waits.groups())


def _steps(some: random.Random, pair: Pair, kind: str) -> int:
    """Feed rows, while queries are added and dropped and the engine restarts; returns the largest
    number of rows that waited.
    """
    clock, most = 0, 0
    pair.add("q0", join(3600, kind=kind))  # so what is held does not depend on what waits
    for number in range(some.randrange(4, 10)):
        for _ in range(some.choice((0, 0, 1, 4)) if number else 4):
            pair.add(f"q{len(pair.got)}", random_query(some, kind))
        if some.random() < 0.2:
            pair.drop(some.choice([name for name in pair.waits.queries if name != "q0"] or ["q0"]))
        if some.random() < 0.2:
            pair.waits = _reloaded(pair.waits)
        if some.random() < 0.1:
            pair.advance(clock * 1_000_000)
            assert not pair.waiting
        rows = random_input(some, some.randrange(25), clock)
        clock = last_second(rows, clock)
        pair.process(rows)
        most = max(most, pair.waiting)
        for name, query in pair.waits.queries.items():
            columns = [("v", "ascending"), ("w", "ascending")]
            found, expected = (e.queries[name].snapshot() for e in (pair.waits, pair.plain))
            assert (
                found.sort_by(columns)
                .select(["v", "w"])
                .equals(expected.sort_by(columns).select(["v", "w"]))
            ), query.sql
    pair.advance((clock + 1) * 1_000_000)
    return most


@pytest.mark.parametrize(("kind", "schedule", "seed"), thinned(3, WINDOWS, SCHEDULES, range(12)))
def test_all_changes_come_in_the_same_order(schedule: str, seed: int, kind: str) -> None:
    some = random.Random(seed)
    latency = some.choice(LATENCIES)
    options: dict[str, Any] = {
        "chunk_rows": some.choice((1, 3, 100)),
        "executor": some.choice(("eddy", "auto")),
        "selections": some.choice(("push", "pull")),
    }
    pair = Pair(latency, schedule=schedule, **options)
    most = _steps(some, pair, kind)
    assert not pair.waiting
    if latency == LATENCIES[0] and options["executor"] == "eddy" and options["chunk_rows"] < 100:
        assert most, "a call serves one step only"
    for name, parts in pair.expected.items():
        if not parts:  # it was dropped at once
            continue
        got, expected = pa.concat_tables(pair.got[name]), pa.concat_tables(parts)
        times = got["_ts"].cast(pa.int64()).to_pylist()
        assert times == sorted(times), name
        if name not in pair.waits.queries:  # what waited when it was dropped is not reported
            expected = expected.slice(0, got.num_rows)
        assert got.equals(expected), name


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("seed", range(4))
def test_a_repeated_call_stops_at_the_same_place(schedule: str, seed: int, kind: str) -> None:
    """One engine goes on, and one is loaded and gets the same calls."""
    some = random.Random(seed)
    engine = _engine(latency=some.choice(LATENCIES[:3]), schedule=schedule, chunk_rows=4)
    for number in range(5):
        engine.query(random_query(some, kind), name=f"q{number}")
    clock = 0
    for _ in range(3):
        rows = random_input(some, 20, clock)
        clock = last_second(rows, clock)
        engine.process(rows)
    again = _reloaded(engine)
    for number in range(5, 9):
        for each in (engine, again):
            each.query(random_query(random.Random(number), kind), name=f"q{number}")
        rows = random_input(some, 20, clock)
        clock = last_second(rows, clock)
        one, other = engine.process(rows), again.process(rows)
        for name in engine.queries:
            assert one[name].equals(other[name]), name
        counts = [[group["waiting"] for group in e.groups()] for e in (engine, again)]
        assert counts[0] == counts[1]


@pytest.mark.parametrize("updates", ["retroactive", "non-retroactive"])
def test_rows_that_wait_meet_the_rules_of_their_time(updates: str) -> None:
    sql = "SELECT a.v, b.v AS w FROM a [RANGE {} SECONDS], b [RANGE {} SECONDS]"
    changes: dict[str, list[dict[str, pa.Table]]] = {"waits": [], "plain": []}
    for name, found in changes.items():
        engine = _engine(latency="1 microsecond" if name == "waits" else None, schedule="swf")
        engine.sql(f"CREATE TABLE rules (least BIGINT) WITH (updates = '{updates}')")
        for seconds in (1, 60):
            select = f"{sql.format(seconds, seconds)} WHERE a.k = b.k AND a.v >= rules.least"
            engine.sql(f"CREATE QUERY q{seconds} FOR EACH ROW OF rules AS {select}")
        rules = batch("_ts | _op | least\n0s | + | 3\n0s | + | 5\n20s | - | 5\n20s | + | 1")
        b = batch("ts | k | v\n" + "\n".join(f"{i}s | 1 | {i}" for i in range(19)))
        a = batch("ts | k | v\n" + "\n".join(f"19s | 1 | {i}" for i in range(8)))
        calls: list[dict[str, Any]] = [
            {"rules": rules.slice(0, 2), "b": b, "a": a},
            {"rules": rules.slice(2), "a": batch("ts | k | v\n21s | 1 | 6")},
            {"a": batch("ts | k | v\n90s | 1 | 6")},
        ]
        results = [engine.process(rows) for rows in calls]
        results.append(engine.advance("1970-01-01T00:02:00Z"))
        found += [{query: r[query] for query in ("q1", "q60")} for r in results]
    assert any(
        w["q60"].num_rows < p["q60"].num_rows for w, p in zip(*changes.values(), strict=True)
    )
    for query in ("q1", "q60"):
        waits, plain = (pa.concat_tables([r[query] for r in c]) for c in changes.values())
        assert waits.equals(plain), query


def _burst(**options: Any) -> Engine:
    engine = _engine(executor="eddy", chunk_rows=4, **options)
    engine.query(join(1), name="small")
    engine.query(join(60), name="large")
    engine.process({"b": batch("ts | k | v\n" + "\n".join(f"{i}s | 1 | {i}" for i in range(20)))})
    return engine


ROWS = {"a": batch("ts | k | v\n" + "\n".join(f"19s | 1 | {i}" for i in range(8)))}


def test_results_of_small_windows_come_first() -> None:
    engine = _burst(schedule="swf", latency="75 microseconds")  # two steps of 50 us
    calls = [engine.process(rows) for rows in ({}, {}, {}, {}, {}, ROWS, {}, {})]
    counts = [(c["small"].num_rows, c["large"].num_rows) for c in calls]
    assert counts[-3] == (8, 0)
    assert sum(small for small, _ in counts) == 8
    assert sum(large for _, large in counts) == 8 * 20
    plain = _burst(schedule="swf").process(ROWS)
    assert (plain["small"].num_rows, plain["large"].num_rows) == (8, 160)


def test_what_waits_is_shown_and_finished_by_calls_without_rows() -> None:
    engine = _burst(schedule="swf", latency="1 microsecond")
    while engine.groups()[0]["waiting"]:
        engine.process({})
    engine.process(ROWS)
    waiting = [engine.stats()["groups"][0]["waiting"]]
    while waiting[-1]:
        engine.process({})
        waiting.append(engine.stats()["groups"][0]["waiting"])
    assert waiting == sorted(waiting, reverse=True) and waiting[0] == 8


def test_advance_finishes_what_waits() -> None:
    engine = _burst(schedule="swf", latency="1 microsecond")
    engine.process(ROWS)
    assert engine.groups()[0]["waiting"]
    assert engine.advance("1970-01-01T00:00:19Z")["large"].num_rows == 160
    assert not engine.groups()[0]["waiting"]


def test_a_stream_of_changes_finishes_what_waits() -> None:
    engine = _burst(schedule="swf", latency="1 microsecond")
    engine.process(ROWS)
    names = [name for name, _ in engine.stream({})]
    assert names[-1] == "large" and not engine.groups()[0]["waiting"]


def test_a_latency_is_a_duration() -> None:
    engine = Engine()
    engine.sql("SET latency = '500 ms'")
    assert engine.options.latency_us == 500_000
    engine.sql("SET latency = NULL")
    assert engine.options.latency_us is None
    with pytest.raises(ValueError, match="latency must be longer than zero, not '0 seconds'"):
        engine_with(latency="0 seconds")
