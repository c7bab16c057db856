"""Conditions that call slow functions are applied to joined rows where that costs less."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import eddyline
from eddyline.runtime.eddy import deferral
from eddyline.runtime.predicates.filter_bank import FilterBank
from window_rows import rows

DDL = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM r (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts"""


@pytest.fixture
def moves(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Conditions change their place after each batch; counts how often."""
    found = {"off": 0, "forward": 0}
    off, forward = FilterBank.put_off, FilterBank.put_forward

    def counted_off(self: FilterBank, grouped: Any) -> None:
        found["off"] += 1
        off(self, grouped)

    def counted_forward(self: FilterBank, grouped: Any, until: int) -> None:
        found["forward"] += 1
        forward(self, grouped, until)

    monkeypatch.setattr(FilterBank, "put_off", counted_off)
    monkeypatch.setattr(FilterBank, "put_forward", counted_forward)
    monkeypatch.setattr(deferral, "_EXPENSIVE_S", 0.0)
    monkeypatch.setattr(deferral, "_BATCHES", 1)
    monkeypatch.setattr(deferral, "_CLEARLY", 1e12)
    return found


def engine(**options: Any) -> eddyline.Engine:
    made = eddyline.Engine(strategy=eddyline.StrategyOptions(**options))
    made.sql(DDL)
    made.function("twice", lambda x: pc.multiply(x, 2), args=["BIGINT"], returns="BIGINT")
    return made


def queries(random: Random, count: int) -> list[str]:
    """Joins with conditions on either side, of which most call the function."""
    found = []
    for _ in range(count):
        length = random.choice([1, 2, 5])
        where = random.choice(["twice(s.x) > {}", "twice(s.x) = {} AND s.x > 0", "s.x >= {}"])
        more = random.choice(["", " AND twice(r.x) < 5", " AND twice(s.x) + twice(r.x) > 2"])
        third = random.choice(["", "", ", s [RANGE 2 SECONDS] AS t"])
        found.append(
            f"SELECT s.k, s.x, r.x AS y FROM s [RANGE {length} SECONDS] AS s, "
            f"r [RANGE 2 SECONDS] AS r{third} WHERE s.k = r.k{' AND r.k = t.k' if third else ''} "
            f"AND {where.format(random.choice([0, 2, 4]))}{more} "
            f"EMIT {random.choice(['INSERTS', 'CHANGES'])}"
        )
    return found


def play(seed: int) -> None:
    """Queries that come and go, rows and restarts, beside an engine of trees."""
    random = Random(seed)
    engines = [engine(executor="eddy"), engine(sharing=False)]
    waiting, clock = queries(random, random.randint(3, 8)), 1_000_000
    names: list[str] = []
    for step in range(random.randint(6, 10)):
        while waiting and (step == 0 or random.random() < 0.3) and len(names) < 20:
            names.append(f"q{len(waiting)}")
            sql = waiting.pop()
            for each in engines:
                each.query(sql, name=names[-1])
        ends = [[clock], [clock]]
        tables = {
            name: rows(random, end, random.choice([0, 2, 6, 12]), "ab")
            for name, end in zip("sr", ends, strict=True)
        }
        clock = max(ends[0][0], ends[1][0])
        found, expected = (e.process(tables, watermark=clock) for e in engines)
        for name in names:
            mine, others = (sorted(map(repr, c[name].to_pylist())) for c in (found, expected))
            assert mine == others, name
        if len(names) > 1 and random.random() < 0.2:
            name = names.pop(random.randrange(len(names)))
            for each in engines:
                each.drop(name)


def test_answers_are_those_of_trees(moves: dict[str, int]) -> None:
    for seed in range(12):
        play(seed)
    assert moves["off"] and moves["forward"]


@pytest.mark.long
def test_many_answers_are_those_of_trees(moves: dict[str, int]) -> None:
    for seed in range(300):
        play(1_000 + seed)


@pytest.mark.parametrize("executor", ["auto", "eddy"])
def test_a_slow_function_waits_behind_a_selective_join(executor: Any) -> None:
    calls = {"push": 0, "auto": 0}
    results: dict[str, list[Any]] = {}
    for selections in ("push", "auto"):
        made = eddyline.Engine(
            strategy=eddyline.StrategyOptions(executor=executor, selections=selections)
        )
        made.sql(DDL)

        def slow(x: pa.Array, way: str = selections) -> pa.Array:
            calls[way] += len(x)
            until = time.thread_time() + 20e-6 * len(x)
            while time.thread_time() < until:
                pass
            return pc.multiply(x, 2)

        made.function("slow", slow, args=["BIGINT"], returns="BIGINT")
        query = made.query(
            "SELECT s.k, s.x FROM s [RANGE 5 SECONDS] AS s, r [RANGE 5 SECONDS] AS r "
            "WHERE s.k = r.k AND slow(s.x) > 4",
            name="q",
        )
        results[selections] = []
        for batch in range(40):
            ts = [1_000_000 * batch + 1_000 * i for i in range(200)]
            s = pa.table(
                {"ts": ts, "k": [f"{i}" for i in range(200)], "x": [i % 5 for i in range(200)]}
            )
            r = pa.table({"ts": ts[:5], "k": [f"{7 * i}" for i in range(5)], "x": [1] * 5})
            changes = made.process({"s": s, "r": r}, watermark=1_000_000 * (batch + 1))
            results[selections] += changes[query.name].to_pylist()
    assert results["auto"] == results["push"]
    assert calls["auto"] < calls["push"] / 2
