"""Any text gives a result or an EddylineError, within a bounded time.

The texts are statements of the project after some accidents: see ``mutations.py``. A text that
fails is printed, and belongs into ``FOUND``.
"""

from __future__ import annotations

import random
import time

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import EddylineError
from golden import SCHEMA
from mutations import mutated, statements

#: Seconds that a text may take on a machine that does other things as well.
MOST_S = 5.0

#: Texts that once raised something else, or took too long.
FOUND = [
    "SELECT symbol FROM trades [NOW] |>  MINUS SELECT symbol FROM quotes [NOW]",
    "SELECT 1 FROM trades " + "JOIN trades " * 60,
    "SELECT symbol FROM trades WHERE " + "NOT symbol(" * 60,
    "SELECT qty" + "[1]" * 2_000 + " FROM trades",
    "SELECT ts" + " AT TIME ZONE 'UTC'" * 2_000 + " FROM trades",
    "SELECT qty" + " := qty" * 2_000 + " FROM trades",
    "SELECT price FROM trades [RANGE 1e999999 DAYS]",
]


ROWS = {
    "trades": pa.table(
        {"ts": [1, 2], "symbol": ["a", None], "price": [1.5, None], "qty": [3, -(2**63)]}
    ),
    "quotes": pa.table({"ts": [1, 3], "symbol": ["a", "b"], "bid": [0.1, 1e308], "size": [1, 0]}),
    "orders": pa.table({"ts": [2, 3], "id": [1, 2], "symbol": ["a", "é"], "qty": [5, None]}),
}


def attempt(sql: str) -> str:
    """The outcome of a text; it is bounded in time, except for the compilation of kernels."""
    outcome, seconds = timed(sql)
    if seconds >= MOST_S:
        outcome, seconds = timed(sql)  # kernels are compiled now
    assert seconds < MOST_S, f"{seconds:.1f} s for {sql[:5_000]!r}"
    return outcome


def timed(sql: str) -> tuple[str, float]:
    """Run a text in an engine with some streams and tables, and rows through it."""
    engine = Engine()
    engine.sql(SCHEMA)
    engine.table("companies", pa.table({"symbol": ["a"], "sector": ["x"]}))
    engine.table("sectors", pa.table({"sector": ["x"], "country": ["y"]}))
    started = time.perf_counter()
    try:
        engine.sql(sql)
        for query in engine.queries.values():
            query.explain()
        engine.process(
            {name: rows for name, rows in ROWS.items() if name in engine.catalog.streams}
        )
        outcome = "runs"
    except EddylineError as e:
        str(e).encode()  # can be printed
        outcome = type(e).__name__
    except Exception as e:
        raise AssertionError(f"{type(e).__name__} from {sql[:5_000]!r}") from e
    return outcome, time.perf_counter() - started


@pytest.mark.parametrize("sql", FOUND)
def test_defects_that_were_found(sql: str) -> None:
    attempt(sql)


@pytest.fixture(scope="module")
def running() -> list[str]:
    """The statements of the project that run."""
    return [sql for sql in statements() if attempt(sql) == "runs"]


def test_statements_of_the_project(running: list[str]) -> None:
    assert len(running) > 150, "there is something to mutate"


@pytest.mark.parametrize("seed", range(4))
def test_accidents(seed: int, running: list[str]) -> None:
    rng = random.Random(seed)
    for _ in range(75):
        attempt(mutated(rng, running if rng.random() < 0.8 else statements()))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 220))
def test_many_accidents(seed: int, running: list[str]) -> None:
    rng = random.Random(seed)
    for _ in range(500):
        attempt(mutated(rng, running if rng.random() < 0.8 else statements()))
