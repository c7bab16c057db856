"""The embedded engine with one to a hundred thousand rules, on one core."""

from __future__ import annotations

import time
from typing import Any

import eddyline
from eddyline.bench.measure import Figure
from eddyline.bench.queries.rules import COLUMNS, RuleWorkload, points

_BATCH_ROWS = 100_000


def embedded(count: int, batches: int, *, sharing: bool = True) -> Figure:
    """Rows/s from Arrow to Arrow with a query per rule; all results are in hand at the end."""
    rules = RuleWorkload(count)
    engine = eddyline.Engine(strategy=eddyline.StrategyOptions(sharing=sharing))
    engine.sql(f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts")
    began = time.perf_counter()
    for name, select in rules.selects():
        engine.query(select, name=name)
    each_ms = (time.perf_counter() - began) / count * 1e3
    apart = "" if sharing else ", apart"
    note = f"{each_ms:.2g} ms to add a query"
    return _fed(f"engine, {count:,} queries{apart}", engine, batches, note)


def for_each_row(count: int, batches: int) -> Figure:
    """The same with one statement for all rules."""
    rules = RuleWorkload(count)
    engine = eddyline.Engine()
    engine.sql(f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts")
    engine.sql("CREATE TABLE rules (id BIGINT, x0 DOUBLE, x1 DOUBLE, y0 DOUBLE, y1 DOUBLE)")
    engine.table("rules", rules.table)
    began = time.perf_counter()
    engine.sql(rules.for_each())
    each_ms = (time.perf_counter() - began) / count * 1e3
    note = f"FOR EACH ROW OF rules, {each_ms:.2g} ms per rule"
    return _fed(f"engine, {count:,} rows of rules", engine, batches, note)


def _fed(name: str, engine: eddyline.Engine, batches: int, note: str) -> Figure:
    """Time batch after batch; the first ones fill the window and compile."""
    seconds, results = [], 0
    for number in range(batches + 2):
        rows = points(number * _BATCH_ROWS, _BATCH_ROWS)
        began = time.perf_counter()
        found = _found(engine.process({"s": rows}))
        if number >= 2:
            seconds.append(time.perf_counter() - began)
            results += found
    return Figure(name, _BATCH_ROWS, round(results / batches), tuple(seconds), note=note)


def _found(changes: Any) -> int:
    return sum(table.num_rows for table in changes.batches())
