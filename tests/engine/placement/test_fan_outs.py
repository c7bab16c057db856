"""A join of three streams that is alone: a tree whose order follows what is measured."""

from __future__ import annotations

import re
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.engine.placement import fan_outs, reoptimizer
from eddyline.engine.placement.fan_outs import Steadiness
from eddyline.testing import difference, engine_with, rows_of
from eddyline.testing.feeding import process_all
from flow_cases import bags
from restarts import restarted

DDL = "".join(
    f"CREATE STREAM {s} (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;" for s in "abc"
)
CHAIN = (
    "SELECT a.k, a.x, b.x AS y, c.x AS z"
    " FROM a [RANGE 50 MILLISECONDS], b [RANGE 60 MILLISECONDS], c [RANGE 50 MILLISECONDS]"
    " WHERE a.k = b.k AND b.x = c.x AND c.k < 90"
)
ALONE = ("tree", "no other query has its sources and join keys")
#: Where few of ``b`` and ``c`` meet, and where few of ``a`` and ``b`` do: how many values there are
#: of a.k and b.k, and of b.x and c.x.
PHASES = {"bc": (5, 100), "ab": (100, 5)}
ROWS = 200  # of each stream in a call


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the fan-outs after few rows."""
    monkeypatch.setattr(reoptimizer, "_PERIOD_ROWS", 600)
    monkeypatch.setattr(reoptimizer, "_FIRST_ROWS", 1_500)
    monkeypatch.setattr(fan_outs, "_LEAST_ROWS", 30)


def engine(executor: Any, **options: Any) -> Engine:
    out = engine_with(executor=executor, **options)
    out.sql(DDL)
    return out


class Rows:
    """Random rows, a millisecond apart."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        self._start = 0

    def of(self, phase: str) -> dict[str, pa.Table]:
        keys, numbers = PHASES[phase]
        ts = (self._start + np.arange(ROWS)) * 1000
        self._start += ROWS
        return {
            s: pa.table(
                {
                    "ts": ts + i,
                    "k": self._random.integers(0, keys if s != "c" else 100, ROWS),
                    "x": self._random.integers(0, numbers if s != "a" else 100, ROWS),
                }
            )
            for i, s in enumerate("abc")
        }


def how(eng: Engine) -> tuple[str, str]:
    account = eng.stats()["queries"]["q"]
    assert account["why"] == eng.queries["q"].why
    return account["executor"], account["why"]


def first_pair(eng: Engine) -> set[str]:
    """The streams that a tree joins first, by the orders that ``why`` shows."""
    pair = re.search(r"\(?([abc]) ⋈ ([abc])\)", how(eng)[1])
    assert how(eng)[0] == "tree" and pair is not None
    return set(pair.groups())


@pytest.mark.parametrize("chunk_rows", [50, 1000])
def test_the_order_of_a_tree_follows_the_rows(chunk_rows: int) -> None:
    """With the answers of a tree whose order stays, call by call, and saved at every stage."""
    ours = engine("auto", chunk_rows=chunk_rows)
    other = engine("tree", chunk_rows=chunk_rows, replan=inf)
    for eng in (ours, other):
        eng.query(CHAIN, name="q")
    assert how(ours) == ALONE
    rows, stages = Rows(), [ALONE[1]]
    said = counted = 0
    for phase in ["bc"] * 8 + ["ab"] * 10:
        data = rows.of(phase)
        out, expected = process_all(ours, data), process_all(other, data)
        assert bags(out, ["q"]) == bags(expected, ["q"])
        answers = (rows_of(eng.queries["q"].snapshot()) for eng in (ours, other))
        assert difference(*answers) == ([], [])
        said, counted = said + out["q"].num_rows, counted + 3 * ROWS
        account = ours.stats()["queries"]["q"]
        assert (account["rows_out"], account["rows_seen"]) == (said, counted)
        if how(ours)[1] != stages[-1]:
            stages.append(how(ours)[1])
            assert first_pair(ours) == set(phase)
            loaded = restarted(ours)
            assert how(loaded) == how(ours)
            ours, said, counted = loaded, 0, 0
    assert said > 20
    assert len(stages) == 3


def test_a_query_joins_a_flow_and_leaves_it_again() -> None:
    eng = engine("auto")
    eng.query(CHAIN, name="q")
    rows = Rows()
    for _ in range(8):
        eng.process(rows.of("bc"))
    assert first_pair(eng) == set("bc")
    eng.query(CHAIN.replace("90", "80"), name="other")
    assert how(eng) == ("eddy", "it shares the flow of its signature")
    for _ in range(8):
        eng.process(rows.of("bc"))
    assert how(eng)[0] == "eddy"
    eng.drop("other")
    assert how(eng) == ALONE
    for _ in range(8):
        eng.process(rows.of("bc"))
    assert how(eng)[0] == "tree"
    eng.drop("q")
    assert not list(eng.parts.queries.execution.graph)


def test_new_queries_are_looked_at_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also beside others, and a few at a time."""
    monkeypatch.setattr(reoptimizer, "_PERIOD_ROWS", 1_000_000)
    monkeypatch.setattr(reoptimizer, "_AT_ONCE", 2)
    eng, rows = engine("auto", sharing=False), Rows()
    for name in ("p", "q", "r"):
        eng.query(CHAIN, name=name)
    orders = []
    for _ in range(6):
        eng.process(rows.of("bc"))
        queries = eng.stats()["queries"].values()
        orders.append(sum("expected to take" in query["why"] for query in queries))
    assert orders == [0, 0, 2, 2, 2, 3]


def test_measured_seconds_and_state_are_kept() -> None:
    eng = engine("auto")
    eng.query(CHAIN, name="q")
    rows, before = Rows(), 0.0
    for _ in range(10):
        eng.process(rows.of("bc"))
        seconds = eng.stats()["queries"]["q"]["seconds"]
        assert seconds > before
        before = seconds
    assert first_pair(eng) == set("bc")


# -- steadiness --------------------------------------------------------


def test_steadiness() -> None:
    watched = Steadiness(1.5)
    assert watched.look({"j": (300, 600)}) is None, "nothing to compare with"
    assert watched.look({"j": (600, 1100)}) is True
    assert watched.look({"j": (900, 1100 + 1000)}) is False, "twice as many"
    assert watched.look({"j": (1200, 1100 + 2000)}) is True, "compared with the last change"


def test_small_numbers_say_nothing() -> None:
    watched = Steadiness(1.5)
    assert watched.look({"j": (29, 600)}) is None
    assert watched.look({"j": (58, 1200)}) is None
    assert watched.look({"j": (88, 1300), "k": (30, 3)}) is None
    assert watched.look({"j": (118, 1400), "k": (60, 30)}) is False


def test_few_matches_may_be_chance() -> None:
    watched = Steadiness(2.0)
    assert watched.look({"j": (10_000, 3)}) is None
    assert watched.look({"j": (20_000, 3 + 11)}) is True
    assert watched.look({"j": (30_000, 14 + 0)}) is True
    assert watched.look({"j": (40_000, 14 + 40)}) is False
