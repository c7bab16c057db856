"""Cases of the mix with thousands of queries: adding them, and running them beside one."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import pyarrow as pa

import eddyline
from eddyline.bench.measure import Figure
from eddyline.bench.mix.calls import CALL_ROWS, fed, measured_calls
from eddyline.bench.mix.queries import CLASSES, DDL, MACHINES, queries, rows

#: Queries that are added, by class: of ten.
_ADDED: Final = {
    "filter": 4,
    "filter, CHANGES": 2,
    "alerts": 2,
    "join": 1,
    "HAVING threshold": 1,
}
_RULES: Final = (
    "CREATE TABLE rules (id BIGINT, machine BIGINT, most DOUBLE, seconds BIGINT) "
    "WITH (updates = 'retroactive')"
)


#: Queries over windows of {0} seconds with a constant {1}.
WINDOWS: Final = {
    "join": "SELECT r.ts, r.machine, b.volts FROM readings [RANGE {0} SECONDS] AS r, beats "
    "[RANGE {0} SECONDS] AS b WHERE r.machine = b.machine AND r.machine = {1} AND r.temp > 35",
    "filter": "SELECT ts, machine, temp FROM readings [RANGE {0} SECONDS] WHERE machine = {1} "
    "AND temp > 32 EMIT CHANGES",
    "groups": "SELECT site, AVG(temp) AS t FROM readings [RANGE {0} SECONDS] WHERE load > {1} "
    "GROUP BY site HAVING AVG(temp) > 30",
}


def added(count: int) -> Iterator[tuple[str, str]]:
    """Names and texts of queries to add."""
    kinds = [kind for kind, often in _ADDED.items() for _ in range(often)]
    texts = {kind: queries(kind, count) for kind in _ADDED}
    for i in range(count):
        yield next(texts[kinds[i % len(kinds)]])


def _engine() -> eddyline.Engine:
    """An engine with the streams, in a process that has compiled what queries need."""
    engine = eddyline.Engine()
    engine.sql(DDL)
    for name, sql in added(100):
        engine.query(sql, name=name)
    fed(engine, 0, CALL_ROWS)
    engine = eddyline.Engine()
    engine.sql(DDL)
    gc.collect()
    return engine


def script(count: int) -> Figure:
    """All in one script."""
    engine = _engine()
    text = "".join(f"CREATE QUERY {name} AS {sql};\n" for name, sql in added(count))
    began = time.perf_counter()
    engine.sql(text)
    return Figure("add a script", count, 0, (time.perf_counter() - began,))


def one_by_one(count: int) -> Figure:
    """Each in a call of its own."""
    engine = _engine()
    selects = list(added(count))
    began = time.perf_counter()
    for name, sql in selects:
        engine.query(sql, name=name)
    return Figure("add one by one", count, 0, (time.perf_counter() - began,))


def over_windows(count: int) -> Figure:
    """Each in a call of its own; windows have 60 lengths, in turn."""
    engine, kinds = _engine(), list(WINDOWS)
    selects = [WINDOWS[kinds[i % 3]].format(1 + i // 3 % 60, i) for i in range(count)]
    began = time.perf_counter()
    for i, sql in enumerate(selects):
        engine.query(sql, name=f"q{i}")
    return Figure("add over windows", count, 0, (time.perf_counter() - began,))


def one_more(count: int) -> Figure:
    """Single ones, to an engine that runs the others; rows are processed in between."""
    engine = _engine()
    selects = list(added(count + 30))
    engine.sql("".join(f"CREATE QUERY {name} AS {sql};" for name, sql in selects[:count]))
    gc.collect()
    seconds = []
    for call, (name, sql) in enumerate(selects[count:]):
        fed(engine, call * CALL_ROWS, CALL_ROWS)
        began = time.perf_counter()
        engine.query(sql, name=name)
        seconds.append(time.perf_counter() - began)
    return Figure("add one more", 1, 0, tuple(seconds))


def to_windows(kind: str, readings: int) -> Figure:
    """Single queries to windows that hold this many rows, with others of their class."""
    engine, span = _engine(), readings // 1_000 + 60  # a row each millisecond
    for i in range(10):
        engine.query(WINDOWS[kind].format(span, i + 1), name=f"known{i}")
    step = 100_000
    for first in range(0, readings, step):
        fed(engine, first, min(step, readings - first))
    seconds = []
    for i in range(10):
        sql = WINDOWS[kind].format(span, i + 20)
        began = time.perf_counter()
        engine.query(sql, name=f"new{i}")
        seconds.append(time.perf_counter() - began)
    return Figure(f"add to windows, {kind}", readings, 0, tuple(seconds))


def _rare(i: int) -> str:
    return f"SELECT ts, machine, load FROM readings WHERE site = {i % 20} AND load > {12 + i / 1e4}"


def _keyed(i: int) -> str:
    return CLASSES["join"](i)


def _threshold(i: int) -> str:
    return (
        "SELECT machine, AVG(temp) AS t FROM readings [RANGE 60 SECONDS] GROUP BY machine "
        f"HAVING AVG(temp) > {23 + i / 10_000}"
    )


#: Most seconds that adding may take, and what is wanted.
LIMITS_S: Final = {"add a script": 3.0, "add one by one": 3.0, "add one more": 0.001}
#: By class: the text of query ``i``, and how many of them run.
LARGE: Final[dict[str, tuple[Callable[[int], str], int]]] = {
    "joins by key": (_keyed, 1_000),
    "thresholds": (_threshold, 10_000),
    "rare rows": (_rare, 10_000),
}
#: By class: the query for each rule, and how many rules there are.
RULES: Final[dict[str, tuple[str, int]]] = {
    "FOR EACH, AVG": (
        "SELECT rules.id, AVG(temp) AS t FROM readings [RANGE 60 SECONDS] WHERE machine = "
        "rules.machine GROUP BY machine HAVING AVG(temp) > rules.most",
        10_000,
    ),
    "FOR EACH, windows": (
        "SELECT rules.id, machine, AVG(temp) AS t FROM readings [RANGE rules.seconds SECONDS AT "
        "MOST 2 MINUTES] GROUP BY machine HAVING AVG(temp) > rules.most",
        1_000,
    ),
}
#: The class of rules that come while others run: their query, how many run, and rows of a call.
_COME: Final = "FOR EACH, a rule more"
_OF_ROWS: Final = (
    "SELECT rules.id, ts, temp FROM readings [NOW] WHERE machine = rules.machine "
    "AND temp > rules.most"
)
_MANY_RULES: Final = 32_000
_FEW_ROWS: Final = 64


def many(kind: str, *, only_one: bool, quick: bool, calls: int) -> Figure:
    """One query of a class of :data:`LARGE`, or many."""
    text, count = LARGE[kind]
    count = 1 if only_one else count // 10 if quick else count
    engine = eddyline.Engine()
    engine.sql(DDL + ";" + ";".join(f"CREATE QUERY q{i} AS {text(i)}" for i in range(count)))
    return measured_calls(
        engine, f"{kind}, {1 if only_one else 'many'}", calls, f"{count:,} queries"
    )


def for_each(kind: str, *, only_one: bool, quick: bool, calls: int) -> Figure:
    """One rule of a class of :data:`RULES`, or many."""
    text, count = RULES[kind]
    count = 1 if only_one else count // 10 if quick else count
    engine = _with_rules(text, count)
    return measured_calls(engine, f"{kind}, {1 if only_one else 'many'}", calls, f"{count:,} rules")


def rules_that_come(*, only_one: bool, quick: bool, calls: int) -> Figure:
    """Calls with few rows, each with a rule more, where one rule runs, or many."""
    count = 1 if only_one else _MANY_RULES // 100 if quick else _MANY_RULES
    engine = _with_rules(_OF_ROWS, count)
    seconds, results = [], 0
    for call in range(2 * calls):
        given = rows(call * _FEW_ROWS, _FEW_ROWS).readings
        rule = _rules([count + call])
        rule = rule.append_column("_ts", given["ts"][:1]).append_column("_op", pa.array(["+"]))
        began = time.perf_counter()
        changes = engine.process({"rules": rule, "readings": given})
        results += sum(table.num_rows for table in changes.batches())
        seconds.append(time.perf_counter() - began)
    name = f"{_COME}, {1 if only_one else 'many'}"
    found = tuple(seconds[calls:])
    return Figure(name, _FEW_ROWS, round(results / 2 / calls), found, note=f"{count:,} rules")


def _with_rules(text: str, count: int) -> eddyline.Engine:
    """An engine with a query for each of these rules."""
    engine = eddyline.Engine()
    engine.sql(f"{DDL}; {_RULES}")
    engine.table("rules", _rules(range(count)))
    engine.sql(f"CREATE QUERY q FOR EACH ROW OF rules AS {text}")
    return engine


def _rules(ids: Sequence[int]) -> pa.Table:
    """The rules of these numbers."""
    given = {
        "id": list(ids),
        "machine": [7 * i % MACHINES for i in ids],
        "most": [28 + i / 1e4 for i in ids],
        "seconds": [10 * (i % 10 + 1) for i in ids],
    }
    return pa.table({name: pa.array(values) for name, values in given.items()})


def cases(*, quick: bool, calls: int) -> dict[str, dict[str, Callable[[], Figure]]]:
    """By class, the cases by name."""
    count, readings = (1_000, 50_000) if quick else (10_000, 1_000_000)
    found: dict[str, dict[str, Callable[[], Figure]]] = {
        "add a script": {"add a script": partial(script, count)},
        "add one by one": {"add one by one": partial(one_by_one, count)},
        "add over windows": {"add over windows": partial(over_windows, count)},
        "add one more": {"add one more": partial(one_more, count)},
        "add to windows": {
            f"add to windows, {kind}": partial(to_windows, kind, readings) for kind in WINDOWS
        },
    }
    for kind in LARGE:
        run = partial(many, kind, quick=quick, calls=calls)
        found[kind] = _beside_one(kind, run)
    for kind in RULES:
        found[kind] = _beside_one(kind, partial(for_each, kind, quick=quick, calls=calls))
    found[_COME] = _beside_one(_COME, partial(rules_that_come, quick=quick, calls=calls))
    return found


def _beside_one(kind: str, run: Callable[..., Figure]) -> dict[str, Callable[[], Figure]]:
    return {
        f"{kind}, {1 if only_one else 'many'}": partial(run, only_one=only_one)
        for only_one in (True, False)
    }
