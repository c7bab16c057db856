"""Queries whose steps are known, over generated streams: what prices are fitted to.

Rates, windows, numbers of values and selectivities differ from case to case, so that each step's
part can be told from the others'. Predicates pass the share of rows that the cost model expects.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.optimizer.statistics import Statistics

#: ``x < 1/3`` and ``a.x < b.y`` are true for a third of the rows, or pairs.
SCHEMA: Final = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, m BIGINT, x DOUBLE, y DOUBLE) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, m BIGINT, x DOUBLE, y DOUBLE) TIMESTAMP BY ts;
CREATE STREAM c (ts TIMESTAMP, k BIGINT, m BIGINT, x DOUBLE, y DOUBLE) TIMESTAMP BY ts;
"""
#: Rows per second of each stream.
RATE: Final = 100_000
_THIRD: Final = 1 / 3
_LARGE: Final = 16_384
#: Values of ``m``: rows hardly ever meet by it.
_MANY: Final = 100_000_000


@dataclass(frozen=True)
class Case:
    """One query over some of the streams, or as many as share a flow.

    Attributes:
        sql: of each query; ``{n}`` is its number.
        values: that ``k`` takes. chunk_rows: how many rows run through the operators at once.
        queries: how many there are.
    """

    name: str
    sql: str
    values: int
    chunk_rows: int = _LARGE
    queries: int = 1

    @property
    def streams(self) -> tuple[str, ...]:
        """Those that it reads."""
        return tuple(name for name in "abc" if f" {name} [" in self.sql)

    @property
    def statistics(self) -> Statistics:
        """What the generated rows are like."""
        rates = {name: float(RATE) for name in self.streams}
        values = {(name, "k"): float(self.values) for name in self.streams}
        values |= {(name, "m"): float(_MANY) for name in self.streams}
        return Statistics(rates, {}, values)

    def calls(self, operators: int) -> float:
        """Calls of operators per second."""
        return operators * len(self.streams) * RATE / self.chunk_rows


def _join(length: str, where: str) -> str:
    return _join_of(f"[RANGE {length}]", where)


def _join_of(window: str, where: str) -> str:
    return f"SELECT a.k, b.x FROM a {window}, b {window} WHERE {where}"


def _three(length: str) -> str:
    window = f"[RANGE {length}]"
    return (
        f"SELECT a.k, b.x, c.y FROM a {window}, b {window}, c {window} "
        "WHERE a.k = b.k AND b.k = c.k"
    )


def _chain(length: str) -> str:
    """Pairs that meet no row of the third stream."""
    window = f"[RANGE {length}]"
    return f"SELECT a.k FROM a {window}, b {window}, c {window} WHERE a.k = b.k AND b.m = c.m"


def _rule(where: str) -> str:
    return f"SELECT k, x FROM a [RANGE 1 SECOND] WHERE {where}"


CASES: Final = (
    Case("rows that match nothing", _join("100 MILLISECONDS", "a.k = b.k"), 10_000_000),
    Case("rows as they are", "SELECT k, x FROM a [RANGE 1 SECOND]", 1_000),
    Case("a filter", f"SELECT k FROM a [RANGE 1 SECOND] WHERE x < {_THIRD}", 1_000),
    Case("a sum", "SELECT k, SUM(x) AS s FROM a [RANGE 200 MILLISECONDS] GROUP BY k", 1_000),
    Case(
        "many aggregates",
        "SELECT k, SUM(x) AS s, COUNT(*) AS n, AVG(y) AS m, SUM(y) AS t, COUNT(x) AS c "
        "FROM a [RANGE 200 MILLISECONDS] GROUP BY k",
        1_000,
    ),
    Case("many groups", "SELECT k, COUNT(*) AS n FROM a [RANGE 1 SECOND] GROUP BY k", 50_000),
    Case("few values", "SELECT DISTINCT k FROM a [RANGE 500 MILLISECONDS]", 100),
    Case("some values", "SELECT DISTINCT k FROM a [RANGE 100 MILLISECONDS]", 20_000),
    Case("many values", "SELECT DISTINCT k FROM a [RANGE 200 MILLISECONDS]", 1_000_000),
    Case("one match", _join("100 MILLISECONDS", "a.k = b.k"), 10_000),
    Case("ten matches", _join("100 MILLISECONDS", "a.k = b.k"), 1_000),
    Case("large windows", _join("1 SECOND", "a.k = b.k"), 500_000),
    Case("windows of rows", _join_of("[ROWS 20000]", "a.k = b.k"), 40_000),
    Case("three streams, half a match", _three("500 MILLISECONDS"), 100_000),
    Case("three streams, two matches", _three("100 MILLISECONDS"), 5_000),
    Case("ten matches, no results", _chain("100 MILLISECONDS"), 1_000),
    Case("a hundred matches, no results", _chain("10 MILLISECONDS"), 10),
    Case("a match in two, no results", _chain("100 MILLISECONDS"), 20_000),
    Case("a third of the matches", _join("100 MILLISECONDS", "a.k = b.k AND a.x < b.y"), 500),
    Case("nested loops", _join("300 MICROSECONDS", "a.x < b.y"), 1_000),
    Case(
        "rows without a match",
        "SELECT a.k FROM a [RANGE 100 MILLISECONDS] WHERE NOT EXISTS "
        "(SELECT * FROM b [RANGE 100 MILLISECONDS] WHERE b.k = a.k)",
        100_000,
    ),
    Case("rules, few results", _rule("k = {n}"), 100_000, queries=1_000),
    Case(
        "rules on three columns",
        _rule(f"k = {{n}} AND x < {_THIRD} AND y < {_THIRD * 2 / 3}"),
        1_000,
        queries=300,
    ),
    Case("rules, a result per row", _rule("k = {n}"), 1_000, queries=1_000),
    Case(
        "rules over pairs",
        _join("100 MILLISECONDS", "a.k = b.k AND a.k = {n}"),
        10_000,
        queries=1_000,
    ),
    Case("small chunks, a filter", f"SELECT k FROM a [RANGE 1 SECOND] WHERE x < {_THIRD}", 9, 256),
    Case("small chunks, a join", _join("100 MILLISECONDS", "a.k = b.k"), 100_000, 512),
)


@dataclass(frozen=True)
class Rows:
    """The generated rows of a case."""

    case: Case

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(1)

    def between(self, start_s: float, end_s: float) -> dict[str, pa.Table]:
        """The next rows, which are evenly spread over this time."""
        count = round((end_s - start_s) * RATE)
        ts = round(start_s * 1e6) + np.arange(count) * 1_000_000 // RATE
        return {name: self._table(ts + i) for i, name in enumerate(self.case.streams)}

    def _table(self, ts: np.ndarray) -> pa.Table:
        x, y = self._rng.random((2, ts.size))
        keys = self._rng.integers(0, self.case.values, ts.size)
        numbers = self._rng.integers(0, _MANY, ts.size)
        return pa.table({"ts": ts, "k": keys, "m": numbers, "x": x, "y": y * 2 * _THIRD})
