"""CACQ against the plans of NiagaraCQ: the selections on stocks below the join, or above it.

Every query joins stocks with articles and has its own selection of stocks::

    SELECT stocks.price, articles.id FROM stocks, articles
    WHERE stocks.symbol = articles.symbol AND stocks.price >= c

All plans run on the same operators and SteMs. CACQ is a flow that filters before it joins: one join
for all queries, by the lineage of the rows. Without lineage there are two ways: PullUp, the
shared join with a grouped filter above it, and PushDown, a filter and a join for each query over
shared articles. The paper's PushDown groups the selections and splits their output; here each query
filters by itself, and how much of the time that takes is counted.

Source: Madden et al. 2002, section 4.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

import eddyline
from eddyline.bench.figures.cacq.feeds import Feed, name_of
from eddyline.bench.figures.experiment import Speed, take_turns
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.stateless import Filter

CACQ: Final = "CACQ"
PULL_UP: Final = "PullUp"
PUSH_DOWN: Final = "PushDown"
PLANS: Final[Mapping[str, Mapping[str, Any]]] = {
    CACQ: {"executor": "eddy"},
    PULL_UP: {"executor": "eddy", "selections": "pull"},
    PUSH_DOWN: {"executor": "tree", "sharing": False},
}

BY_QUERIES: Final = "number of queries"
BY_ARTICLES: Final = "articles per stock"
BY_WANTED: Final = "stocks that any query wants"
FUNCTIONS: Final = "functions, articles per stock"

_STREAMS: Final = """
    CREATE STREAM stocks (ts TIMESTAMP, symbol VARCHAR, price BIGINT) TIMESTAMP BY ts;
    CREATE STREAM articles (ts TIMESTAMP, symbol VARCHAR, id BIGINT) TIMESTAMP BY ts
"""
_SELECT: Final = """
    SELECT stocks.price, articles.id FROM stocks [RANGE 1 HOUR], articles [RANGE 1 HOUR]
    WHERE stocks.symbol = articles.symbol AND
"""
_PERIOD_US: Final = 36_000_000_000
_DOMAIN: Final = 1_000_000
#: How long a function takes for a row, at least and at most.
_SPIN_S: Final = (10e-6, 50e-6)


@dataclass(frozen=True)
class Update:
    """A fixed size update of stocks and articles, and how many queries see it.

    Attributes:
        series: what is varied. articles: per stock.
        wanted: percentage of the stocks that any query selects; the paper's queries select all.
        functions: whether each query selects stocks by a function of its own, not by a constant.
    """

    series: str
    queries: int
    stocks: int
    articles: int
    wanted: int = 100
    functions: bool = False


@dataclass(frozen=True)
class PlanPoint:
    """A plan that has taken in an update.

    Attributes:
        filtering: share of its operators' time that was spent in filters, where that is known.
        calls: of all functions, for one update.
    """

    update: Update
    plan: str
    speed: Speed
    filtering: float
    calls: int


FULL: Final = (
    *(Update(BY_QUERIES, 2**n, 10_000, 1) for n in range(10)),
    *(Update(BY_ARTICLES, 64, 4_000, 2**n) for n in range(5)),
    *(Update(BY_WANTED, 16, 10_000, 4, wanted=p) for p in (1, 3, 10, 30, 100)),
    *(Update(FUNCTIONS, 8, 200, 2**n, functions=True) for n in range(6)),
)
QUICK: Final = (
    *(Update(BY_QUERIES, n, 4_000, 1) for n in (1, 8, 64)),
    *(Update(BY_ARTICLES, 64, 1_000, n) for n in (1, 8)),
    *(Update(BY_WANTED, 16, 2_500, 4, wanted=p) for p in (1, 100)),
    *(Update(FUNCTIONS, 4, 50, n, functions=True) for n in (1, 8)),
)


class Selection:
    """A user's function: it thinks for a random time, and selects by a constant."""

    def __init__(self, number: int, least: int) -> None:
        self.calls = 0
        self.least = least
        self._random = random.Random(number)

    def __call__(self, price: int) -> bool:
        end = time.perf_counter() + self._random.uniform(*_SPIN_S)
        self.calls += 1
        while time.perf_counter() < end:
            pass
        return price >= self.least


def measure(quick: bool) -> list[PlanPoint]:
    """Every plan, over every update."""
    return [p for update in (QUICK if quick else FULL) for p in measure_plans(update, quick)]


def measure_plans(update: Update, quick: bool) -> list[PlanPoint]:
    """Every plan, over one update.

    Raises:
        AssertionError: plans have different results.
    """
    rounds = 3 if quick else 5 if update.functions else 9
    rows = _rows(update)
    runs = {plan: _Run(plan, update, rows) for plan in PLANS}
    count = sum(table.num_rows for table in rows.values())
    speeds = take_turns({plan: run.feed.run for plan, run in runs.items()}, count, rounds)
    results = {plan: speed.results for plan, speed in speeds.items()}
    assert len(set(results.values())) == 1, f"{update}: answers differ: {results}"
    return [
        PlanPoint(update, plan, speeds[plan], run.filtering(), run.calls() // (rounds + 1))
        for plan, run in runs.items()
    ]


class _Run:
    """A plan at work."""

    def __init__(self, plan: str, update: Update, rows: Mapping[str, pa.Table]) -> None:
        engine = eddyline.Engine(strategy=eddyline.StrategyOptions(**PLANS[plan]))
        engine.sql(_STREAMS)
        self._functions = [Selection(n, least) for n, least in enumerate(_constants(update))]
        for number, function in enumerate(self._functions):
            condition = f"stocks.price >= {function.least}"
            if update.functions:
                condition = f"wants{number}(stocks.price)"
                engine.function(
                    f"wants{number}", function, args=["BIGINT"], returns="BOOLEAN", kind="python"
                )
            engine.query(_SELECT + condition, name=name_of(number))
        self.feed = Feed(engine, rows, _PERIOD_US)

    def filtering(self) -> float:
        """Share of the operators' time that was spent in filters."""
        operators = in_order(q.operator for q in self.feed.engine.queries.values())
        filters = sum(o.seconds for o in operators if isinstance(o, Filter))
        return filters / sum(o.seconds for o in operators)

    def calls(self) -> int:
        """Of all functions, in all turns."""
        return sum(function.calls for function in self._functions)


def _constants(update: Update) -> Iterator[int]:
    """By query, the least price that it selects; the first selects what all others do."""
    rng = np.random.default_rng(13)
    least = _DOMAIN - _DOMAIN * update.wanted // 100
    yield least
    yield from rng.integers(least, _DOMAIN, update.queries - 1).tolist()


def _rows(update: Update) -> dict[str, pa.Table]:
    """A quote per stock, and as many articles about each, evenly over the same span of time."""
    rng = np.random.default_rng(14)
    symbols = [f"S{n:05}" for n in range(update.stocks)]
    about = np.repeat(np.arange(update.stocks), update.articles)
    quoted, written = rng.permutation(update.stocks), rng.permutation(about)
    names = pa.array(symbols)
    return {
        "stocks": pa.table(
            {
                "ts": update.articles * np.arange(update.stocks),
                "symbol": names.take(pa.array(quoted)),
                "price": rng.integers(0, _DOMAIN, update.stocks),
            }
        ),
        "articles": pa.table(
            {
                "ts": np.arange(about.size),
                "symbol": names.take(pa.array(written)),
                "id": np.arange(about.size),
            }
        ),
    }
