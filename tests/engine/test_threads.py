"""Threads that call one engine wait for each other; no row is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import StateError

STREAM = "CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts"


def in_threads(count: int, work: Callable[[int], None]) -> None:
    failed: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # shown in the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def batch(first: int, rows: int) -> dict[str, pa.Table]:
    return {"a": pa.table({"ts": [0] * rows, "k": range(first, first + rows)})}


@pytest.mark.parametrize("threads", [2, 4])
def test_rows_of_several_threads_are_all_processed(threads: int) -> None:
    engine = Engine()
    engine.sql(STREAM)
    engine.query("SELECT k FROM a [RANGE 10 SECONDS]", name="q")
    calls, rows = 50, 40
    found: list[list[int]] = [[] for _ in range(threads)]

    def work(number: int) -> None:
        for call in range(calls):
            out = engine.process(batch((number * calls + call) * rows, rows))
            found[number] += out["q"]["k"].to_pylist()

    in_threads(threads, work)
    assert sorted(k for keys in found for k in keys) == list(range(threads * calls * rows))
    assert engine.stats()["streams"]["a"]["rows_in"] == threads * calls * rows


def test_answers_queries_and_listeners_beside_rows() -> None:
    engine = Engine()
    engine.sql(STREAM)
    query = engine.query("SELECT COUNT(*) AS n FROM a [RANGE 10 SECONDS]", name="q")
    heard: list[int] = []

    def work(number: int) -> None:
        for call in range(30):
            if number == 0:
                engine.process(batch(call * 10, 10))
            elif number == 1:
                heard.extend(len(t) for n, t in engine.stream(batch(call * 10, 10)) if n == "q")
            elif number == 2:
                assert query.snapshot().num_rows <= 1 and query.stats()["bad"] == 0
                engine.stats()
            else:
                engine.query("SELECT k FROM a [RANGE 9 SECONDS] WHERE k > 5", name=f"r{call}")
                engine.drop(f"r{call}")

    in_threads(4, work)
    assert query.snapshot()["n"].to_pylist() == [600]
    assert list(engine.queries) == ["q"]


@pytest.mark.parametrize("call", ["process", "advance", "snapshot", "stats"])
def test_a_function_cannot_call_the_engine_that_it_runs_in(call: str) -> None:
    engine = Engine()
    engine.sql(STREAM)
    tried: list[str] = []

    def nosy(k: int) -> int:
        calls: dict[str, Callable[[], Any]] = {
            "process": lambda: engine.process(batch(0, 1)),
            "advance": lambda: engine.advance(10),
            "snapshot": lambda: engine.queries["q"].snapshot(),
            "stats": engine.stats,
        }
        with pytest.raises(StateError, match="from inside one of its own calls"):
            calls[call]()
        tried.append(call)
        return k

    engine.function("nosy", nosy, args=["BIGINT"], returns="BIGINT", kind="python")
    engine.query("SELECT nosy(k) AS v FROM a [RANGE 10 SECONDS]", name="q")
    assert engine.process(batch(3, 1))["q"]["v"].to_pylist() == [3]
    assert tried == [call]


def test_an_input_iterator_may_call_the_engine() -> None:
    engine = Engine()
    engine.sql(STREAM)
    engine.query("SELECT k FROM a [RANGE 10 SECONDS]", name="q")

    def feed() -> Any:
        yield batch(0, 2)
        engine.query("SELECT k FROM a [RANGE 10 SECONDS] WHERE k > 2", name="r")
        yield batch(2, 2)

    heard = [name for name, _ in engine.stream(feed())]
    assert sorted(set(heard)) == ["q", "r"]
