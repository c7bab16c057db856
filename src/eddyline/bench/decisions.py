"""What the decisions of an engine cost and save: feedback, drop boxes, the order of functions.

Of each case engines with the same rows take turns, call by call, in alternating order; the
processor time of their calls is compared. A ratio is asked to be at most a limit that is stated
with the case.
"""

from __future__ import annotations

import json as json_text
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from eddyline import Engine, EngineOptions, StrategyOptions
from eddyline.bench.feeding import process_all
from eddyline.physical.strategy import Feedback
from eddyline.types import TIMESTAMP

_STREAMS: Final = "abcd"
_WINDOW_S: Final = 4
#: Rows of a call and stream, a second of event time; calls, and how many of them are not measured.
_ROWS: Final = 2_000
_CALLS: Final = 30
_WARM: Final = 10
#: Rows of a call of the shedding cases.
_SHED_ROWS: Final = 20_000
#: Seconds per row and accepted share of the two functions: figure 1 of Ayad and Naughton 2004.
_FUNCTIONS: Final = {"f1": (0.0005, 4), "f2": (0.001, 2)}
_FUNCTION_ROWS: Final = 1_000

Rows = dict[str, pa.Table]


@dataclass(frozen=True)
class Case:
    """Engines that are compared.

    Attributes:
        engines: by name; the first one's time is divided by the second one's.
        rows: of a call. most: what is asked of the ratio.
        is_same: whether all have the same results.
    """

    name: str
    engines: Mapping[str, Callable[[], Engine]]
    rows: Callable[[int], Rows]
    most: float
    is_same: bool = True


@dataclass(frozen=True)
class Comparison:
    """What was measured: processor seconds of the calls, by engine."""

    case: Case
    seconds: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The time of the first engine as a multiple of the second one's."""
        first, second = self.seconds.values()
        return first / second

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "case": self.case.name,
            "seconds": {name: round(s, 4) for name, s in self.seconds.items()},
            "ratio": round(self.ratio, 3),
            "asked": self.case.most,
        }


def compared(case: Case, calls: int = _CALLS, warm: int = _WARM) -> Comparison:
    """Measure a case.

    Raises:
        AssertionError: the engines have different numbers of results.
    """
    engines = {name: make() for name, make in case.engines.items()}
    seconds, results = dict.fromkeys(engines, 0.0), dict.fromkeys(engines, 0)
    for call in range(calls):
        given = case.rows(call)
        turns = list(engines.items())[:: 1 if call % 2 else -1]  # the first one finds rows uncached
        for name, engine in turns:
            known = {s: rows for s, rows in given.items() if s in engine.catalog.streams}
            began = time.process_time()
            changes = process_all(engine, known)
            seconds[name] += (time.process_time() - began) * (call >= warm)
            results[name] += sum(table.num_rows for table in changes.batches())
    assert not case.is_same or len(set(results.values())) == 1, f"{case.name}: {results}"
    return Comparison(case, seconds)


# -- feedback ----------------------------------------------------------

_PLAIN: Final = "SELECT a.x, b.y FROM {a}, {b}, {c} WHERE a.x = b.x AND b.y = c.y"
#: By what is between joins: a query, and the joins that it contains as queries.
_BETWEEN: Final = {
    "UNION ALL": (
        "SELECT u.x, u.y FROM (SELECT a.x, b.y FROM {a}, {b} WHERE a.x = b.x UNION ALL "
        "SELECT x, y FROM {d}) AS u, {c} WHERE u.y = c.y",
        [_PLAIN, "SELECT d.x, d.y FROM {d}, {c} WHERE d.y = c.y"],
    ),
    "DISTINCT": (
        "SELECT u.x, u.y FROM (SELECT DISTINCT a.x, b.y FROM {a}, {b} WHERE a.x = b.x) "
        "AS u, {c} WHERE u.y = c.y",
        [_PLAIN],
    ),
}
_WAYS: Final[tuple[Feedback, ...]] = ("auto", "off")
#: Values of the columns, seconds of the windows, and what is joined.
_CLIQUES: Final = {
    "3 streams": (50, 4, "a.x = b.x AND a.y = c.x AND b.y = c.y"),
    "4 streams": (
        50,
        4,
        "a.x = b.x AND a.y = c.x AND a.z = d.x AND b.y = c.y AND b.z = d.y AND c.z = d.z",
    ),
    "4 streams, few values": (
        20,
        2,
        "a.x = b.x AND a.y = c.x AND a.z = d.x AND b.y = c.y AND b.z = d.y AND c.z = d.z",
    ),
}


#: A chain of four streams in the order written.
_CHAIN: Final = (
    "SELECT a.x FROM {a}, {b}, {c}, {d} WHERE a.x = b.x AND b.z = c.z AND c.y = d.y AND d.z >= 0"
)


#: Joins above operators that take rows back.
_ABOVE: Final = {
    "GROUP BY": (
        "SELECT u.y, u.n FROM (SELECT b.y, COUNT(*) AS n FROM {a}, {b} WHERE a.x = b.x "
        "GROUP BY b.y) AS u, {c} WHERE u.y = c.y"
    ),
    "LEFT JOIN": (
        "SELECT u.y, u.x FROM (SELECT b.y, a.x FROM {b} LEFT JOIN {a} ON a.x = b.x) AS u, {c} "
        "WHERE u.y = c.y"
    ),
}


def _joining(
    *queries: str,
    feedback: Feedback = "auto",
    seconds: int = _WINDOW_S,
    window: str = "",
    optimize: bool = True,
) -> Engine:
    strategy = StrategyOptions(feedback=feedback, executor="tree", optimize=optimize)
    engine = Engine(strategy=strategy)
    read = [s for s in _STREAMS if any(f"{{{s}}}" in sql for sql in queries)]
    for stream in read:
        engine.sql(
            f"CREATE STREAM {stream} (ts TIMESTAMP, x BIGINT, y BIGINT, z BIGINT) TIMESTAMP BY ts"
        )
    window = window or f"RANGE {seconds} SECONDS"
    windows = {s: f"{s} [{window}] AS {s}" for s in _STREAMS}
    for number, sql in enumerate(queries):
        engine.query(sql.format(**windows), name=f"q{number}")
    return engine


def _uniform(call: int, *, values: int, partners: float = 1.0) -> Rows:
    """Rows of a second, of all streams, with columns of uniform values; of stream c a share of the
    values of y is among those of the others.
    """
    found = {}
    for number, stream in enumerate(_STREAMS):
        random = np.random.default_rng([call, number])
        ts = pa.array((np.arange(_ROWS) + call * _ROWS) * (1_000_000 // _ROWS)).cast(TIMESTAMP)
        x, y, z = random.integers(0, values, (3, _ROWS))
        if stream == "c":
            y = y + int(values * (1 - partners))
        found[stream] = pa.table({"ts": ts, "x": x, "y": y, "z": z})
    return found


def feedback_cases() -> Iterator[Case]:
    """Uniform joins, in which feedback saves nothing, with it and without; joins with a UNION or
    DISTINCT between them, beside those joins alone, where one row in a hundred is needed; a chain
    whose last two streams have no pairs, with feedback and without; and windows of rows beside
    windows over time that hold as many, each of whose results is taken back, too.
    """
    for name, (values, seconds, where) in _CLIQUES.items():
        read = ", ".join(f"{{{s}}}" for s in _STREAMS if f"{s}." in where)
        sql = f"SELECT a.x FROM {read} WHERE {where}"
        engines = {str(way): partial(_joining, sql, feedback=way, seconds=seconds) for way in _WAYS}
        rows = partial(_uniform, values=values)
        yield Case(f"feedback of a uniform clique, {name}", engines, rows, 1.03)
    rare = partial(_uniform, values=500, partners=0.01)
    for name, (sql, joins) in _BETWEEN.items():
        engines = {name: partial(_joining, sql), "plain": partial(_joining, *joins)}
        yield Case(f"{name} between joins", engines, rare, 1.2, is_same=name == "UNION ALL")
    for name, sql in _ABOVE.items():
        engines = {str(way): partial(_joining, sql, feedback=way, optimize=False) for way in _WAYS}
        yield Case(f"a join above {name}, few rows needed", engines, rare, 0.5)
        often = partial(_uniform, values=2_000)
        yield Case(f"a join above {name}, all rows needed", engines, often, 1.03)
    chain = partial(_joining, _CHAIN, optimize=False)
    apart = partial(_uniform, values=500, partners=0.0)
    engines = {str(way): partial(chain, feedback=way) for way in _WAYS}
    yield Case("a chain of 4 streams without pairs of the last two", engines, apart, 0.5)
    counted = f"ROWS {_WINDOW_S * _ROWS}"
    fixed = partial(_joining, _PLAIN, optimize=False)
    engines = {"ROWS": partial(fixed, window=counted), "RANGE": fixed}
    yield Case("a tree over windows of rows", engines, rare, 3.0, is_same=False)


# -- shedding ----------------------------------------------------------

_SHED: Final = {
    "a filter": ["SELECT k, v FROM s WHERE v > 0.9"],
    "1,000 rules": [f"SELECT k, v FROM s WHERE k = {i} AND v > 0.{i % 10}" for i in range(1_000)],
    "a join": [
        "SELECT s.k, s.v, t.v AS w FROM s [RANGE 10 SECONDS] AS s, t [RANGE 10 SECONDS] AS t "
        "WHERE s.k = t.k"
    ],
}
_WIDTHS: Final = {"narrow": 0, "wide": 20}


def _shedding(queries: list[str], width: int, keep: Mapping[str, float]) -> Engine:
    engine = Engine(EngineOptions(keep=keep))
    more = "".join(f", c{i} {('BIGINT', 'STRING')[i % 2]}" for i in range(width))
    for stream in "st" if "t." in queries[0] else "s":
        engine.sql(
            f"CREATE STREAM {stream} (ts TIMESTAMP, k BIGINT, v DOUBLE{more}) TIMESTAMP BY ts"
        )
    for i, sql in enumerate(queries):
        engine.query(f"{sql} ON OVERLOAD SHED", name=f"q{i}")
    return engine


def _shed_rows(call: int, *, width: int) -> Rows:
    found = {}
    for number, stream in enumerate("st"):
        random = np.random.default_rng([call, number])
        ts = pa.array((np.arange(_SHED_ROWS) + call * _SHED_ROWS) * 50).cast(TIMESTAMP)
        columns: dict[str, Any] = {
            "ts": ts,
            "k": random.integers(0, 5_000, _SHED_ROWS),
            "v": random.random(_SHED_ROWS),
        }
        for i in range(width):
            values = random.integers(0, 1_000_000, _SHED_ROWS)
            columns[f"c{i}"] = [f"text {v}" for v in values] if i % 2 else values
        found[stream] = pa.table(columns)
    return found


def shedding_cases() -> Iterator[Case]:
    """Half of the rows beside all of them."""
    for kind, queries in _SHED.items():
        for name, width in _WIDTHS.items():
            half = {"s": 0.5, "t": 0.5} if kind == "a join" else {"s": 0.5}
            engines = {
                "half": partial(_shedding, queries, width, half),
                "all": partial(_shedding, queries, width, {}),
            }
            rows = partial(_shed_rows, width=width)
            yield Case(f"half of the {name} rows, {kind}", engines, rows, 0.6, is_same=False)


# -- functions ---------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """The first example of Ayad and Naughton 2004: cores ``taken`` in the last seconds, ``judged``
    after ten, and ``expected`` in the better order of the two functions.
    """

    taken: float
    judged: float
    expected: float


def functions_example(seconds: int = 14) -> Example:
    """Two functions over a stream of 1,000 rows a second, written in the dearer order."""
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
    for name, (cost_s, _) in _FUNCTIONS.items():
        engine.function(name, partial(_slow, name, cost_s), args=["BIGINT"], returns="BOOLEAN")
    engine.query("SELECT x FROM s WHERE f2(x) AND f1(x)", name="q")
    taken = []
    for second in range(seconds):
        x = np.random.default_rng(second).integers(0, 1_000, _FUNCTION_ROWS)
        ts = pa.array(
            np.arange(_FUNCTION_ROWS) * (1_000_000 // _FUNCTION_ROWS) + second * 1_000_000
        )
        began = time.process_time()
        engine.process({"s": pa.table({"ts": ts.cast(TIMESTAMP), "x": x})})
        taken.append(time.process_time() - began)
    found = engine.verdict
    assert found is not None, "rates have been measured"
    expected = _FUNCTION_ROWS * (0.0005 + 0.001 / 4)
    return Example(sum(taken[10:]) / len(taken[10:]), found.needed, expected)


def _slow(name: str, cost_s: float, x: pa.Array) -> pa.Array:
    until = time.thread_time() + cost_s * len(x)
    while time.thread_time() < until:
        pass
    numbers = np.asarray(x)
    return pa.array(numbers % 4 == 0 if name == "f1" else (numbers // 4) % 2 == 0)


# -- feedback and drop boxes -------------------------------------------


@dataclass(frozen=True)
class Near:
    """A chain whose need feedback removes, declared above the capacity: the least share of a
    stream's rows ``kept`` in any call; cores ``taken`` in the last seconds, and ``judged`` then.
    """

    kept: float
    taken: float
    judged: float


def chain_example(seconds: int = 45) -> Near:
    """The chain of four streams without pairs of the last two; the model expects more cores than
    there are.
    """
    options = EngineOptions(capacity=0.5)
    strategy = StrategyOptions(executor="tree", optimize=False)
    engine = Engine(options, strategy=strategy)
    for stream in _STREAMS:
        engine.sql(
            f"CREATE STREAM {stream} (ts TIMESTAMP, x BIGINT, y BIGINT, z BIGINT) TIMESTAMP BY ts "
            f"WITH (rate = {_ROWS}, distinct = 'x: 500, y: 500, z: 500')"
        )
    windows = {s: f"{s} [RANGE {_WINDOW_S} SECONDS] AS {s}" for s in _STREAMS}
    engine.query(f"{_CHAIN.format(**windows)} ON OVERLOAD SHED", name="q")
    kept, taken = 1.0, []
    for second in range(seconds):
        rows = _uniform(second, values=500, partners=0.0)
        began = time.process_time()
        changes = engine.process(rows)
        taken.append(time.process_time() - began)
        for share in changes.kept.values():
            kept = min(kept, share.kept / max(share.seen, 1))
    found = engine.verdict
    assert found is not None, "rates are declared"
    last = taken[seconds // 2 :]
    return Near(kept, sum(last) / len(last), found.needed)


# -- all ---------------------------------------------------------------


def run_decisions(*, json: bool) -> None:
    """Measure and print all cases."""
    found = [compared(case) for case in (*feedback_cases(), *shedding_cases())]
    example, near = functions_example(), chain_example()
    if json:
        for comparison in found:
            print(json_text.dumps(comparison.as_dict()))
        print(json_text.dumps({"case": "functions", **vars(example)}))
        print(json_text.dumps({"case": "chain near capacity", **vars(near)}))
        return
    table = Table(title="Processor time of calls, as multiples")
    for column in ("case", "times", "asked at most"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for comparison in found:
        case = comparison.case
        table.add_row(case.name, f"{comparison.ratio:.2f}", f"{case.most:.2f}")
    console = Console()
    console.print(table)
    console.print(
        f"two functions: {example.taken:.3f} cores taken, {example.judged:.3f} judged, "
        f"{example.expected:.3f} in the better order"
    )
    console.print(
        f"a chain whose need feedback removes: {near.kept:.0%} of the rows kept, {near.taken:.4f} "
        f"cores taken, {near.judged:.4f} judged"
    )
