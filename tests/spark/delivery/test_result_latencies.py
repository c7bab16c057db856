"""Latencies of results, from the arrival of their rows until a sink has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.engine.ingest.ordered_rows import ARRIVALS_PER_CALL as CALL
from eddyline.spark.delivery.result_latencies import ResultLatencies
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.exchange.result_ages import ResultAges, age_buckets, ages_of

SECOND = 1_000_000
AT_ONCE = [(0.0, 1.0)]


def results(name: str, *ts: int) -> QueryRows:
    return QueryRows.whole(name, pa.table({"_ts": pa.array(ts).cast(pa.timestamp("us", "UTC"))}))


def report(now_s: float, out: dict[str, int], **ages: Any) -> dict[str, Any]:
    return {
        "now_us": now_s * 1e6,
        "out": out,
        "ages": {"now": AT_ONCE, "before": [], "of": {}} | ages,
    }


class Clocks:
    """A wall clock, and a monotonic one."""

    def __init__(self) -> None:
        self.now = 100.0
        self.latencies = ResultLatencies(lambda: self.now, lambda: self.now)

    def quantiles(self, query: str) -> tuple[float, float]:
        self.latencies.limiter.next_s = 0.0
        found = self.latencies.shown()[query]
        return found.p50_seconds, found.p99_seconds


def test_results_have_the_arrival_of_the_row_with_their_timestamp() -> None:
    ages = ResultAges()
    waiting = np.array([5, 7, 9]), np.array([CALL, 2 * CALL, 2 * CALL + 1])
    ages.note(1, 10 * SECOND, AT_ONCE, [waiting[1]])
    ages.note(2, 12 * SECOND, [(500.0, 0.25), (1000.0, 0.75)], [waiting[1]])
    found = ages.of(
        [results("q", 5, 5, 6, 7, 20), results("r", 6)], [waiting], 15 * SECOND, AT_ONCE
    )
    assert found["before"] == [[(5000.0, 1.0)], [(3500.0, 0.25), (4000.0, 0.75)]]
    assert found["of"] == {"q": {0: 2, 1: 1}}, "the others are from the rows of this batch"
    ages.note(3, 15 * SECOND, AT_ONCE, [np.array([2 * CALL + 1])])
    assert [number for number, _, _ in ages.calls] == [2, 3], "those with rows that wait"
    ages.note(4, 16 * SECOND, AT_ONCE, [])
    assert ages.calls == []
    assert ResultAges([(1, 2, AT_ONCE)]).calls == [(1, 2, AT_ONCE)]


def test_ages_of_rows_are_counted_in_buckets() -> None:
    now = 100 * SECOND
    arrived = pa.chunked_array([pa.array([now - SECOND, now - SECOND, now + 5, None])])
    buckets = age_buckets(arrived.cast(pa.timestamp("us")), now)
    assert sum(buckets.values()) == 4
    (at_once, half), (second, other) = ages_of(buckets)
    assert half == other == 0.5 and at_once < 2
    assert second == pytest.approx(1000, rel=0.1)
    assert ages_of({}) == ((0.0, 1.0),)


def test_quantiles_by_query() -> None:
    clocks = Clocks()
    many = {"before": [[(9000.0, 1.0)]], "of": {"q": {"0": 5}}}
    reports = [report(98, {"q": 95}), report(98, {"q": 5, "r": 1}, **many)]
    clocks.latencies.begin(1, reports, {"q": 100, "r": 1, "merged": 2})
    clocks.latencies.delivered(1, ["q"])
    clocks.now += 8
    clocks.latencies.end(1, waiting=[])
    assert clocks.quantiles("q") == pytest.approx((2, 11), rel=0.1)
    assert clocks.quantiles("r")[0] == pytest.approx(10, rel=0.1)
    assert clocks.quantiles("merged")[0] == pytest.approx(10, rel=0.1)


def test_results_that_wait_for_a_sink_are_counted_when_it_has_them() -> None:
    clocks = Clocks()
    clocks.latencies.begin(1, [report(99, {"q": 1, "r": 1})], {"q": 1, "r": 1})
    clocks.latencies.end(1, waiting=["q"])
    assert set(clocks.latencies.shown()) == {"r"}
    clocks.now += 59
    clocks.latencies.delivered(1, ["q"])
    clocks.latencies.delivered(1, ["q"])
    assert clocks.quantiles("q")[1] == pytest.approx(60, rel=0.1)
    assert not clocks.latencies.waiting


def test_memory_is_bounded_and_old_results_are_forgotten() -> None:
    clocks = Clocks()
    for batch in range(1_100):
        clocks.latencies.begin(batch, [report(99, {"q": 1})], {"q": 1})
        clocks.latencies.end(batch, waiting=["q"])
    assert len(clocks.latencies.waiting) == 1_000
    clocks.latencies.delivered(1_099, ["q"])
    assert clocks.quantiles("q")
    clocks.now += 301
    assert clocks.quantiles("q"), "of the period before"
    clocks.now += 601
    clocks.latencies.limiter.next_s = 0.0
    assert clocks.latencies.shown() == {}
