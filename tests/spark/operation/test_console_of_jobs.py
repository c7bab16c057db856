"""The console of a running job, over HTTP."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from console_client import ConsoleClient
from eddyline.spark import Run, Session
from spark_cases import Feed, wait

pytest.importorskip("prometheus_client")

SECOND = 1_000_000
TOKEN = "a token of a test"


def rows(first_s: float, n: int) -> pa.Table:
    """One row per second; every 10th has no timestamp."""
    ts = [int((first_s + i) * SECOND) if i % 10 != 9 else None for i in range(n)]
    return pa.table(
        {
            "ts": pa.array(ts, pa.timestamp("us", "UTC")),
            "k": pa.array([i % 3 for i in range(n)]),
            "v": pa.array(list(range(n))),
        }
    )


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path) -> Iterator[tuple[Feed, Run]]:
    feed = Feed(tmp_path / "in")
    session = Session(spark, shards=2, checkpoint=tmp_path / "job")
    session.sql(
        f"""
        CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts LATENESS 5 SECONDS
          WITH ({feed.source});
        CREATE QUERY big AS SELECT ts, k, v FROM a [RANGE 9 SECONDS] WHERE v >= 10
          WITH (sink = 'memory');
        CREATE QUERY sums AS SELECT k, SUM(v) AS s FROM a [RANGE 9 SECONDS] GROUP BY k
          WITH (sink = 'memory');
        """
    )
    run = session.start()
    yield feed, run
    run.stop()


def test_the_console_of_a_job(job: tuple[Feed, Run]) -> None:
    feed, run = job
    server = run.serve_http(token=TOKEN)
    client = ConsoleClient(server.console_url)
    client.token = TOKEN
    assert '"can_change": true' in client.request("GET", "/settings")[2]
    start = time.time() - 300
    feed.write(rows(start, 60))
    wait(run, lambda: "60 rows so far" in client.part("head"))
    streams = client.part("streams")
    assert "<b>a</b>" in streams and re.search(r'class="concern">6</span>', streams), "bad rows"
    feed.write(rows(start + 60, 20))  # from now on the shards report their plans
    wait(run, lambda: "big" in client.part("plan") and "SteM" in client.part("plan"))
    assert "sums" not in client.part("plan?query=big")
    health = client.part("health")
    assert "Shards" in health and "Spark and delivery" in health and "restarts" in health
    listed = client.part("queries")
    assert "page 1 of 1, 2 queries" in listed and "memory" in client.part("query?name=big")
    assert "StreamScan" in client.part("explain?name=big")
    assert "rows" in client.part("answer?name=sums")

    assert "No changes" in client.part("changes?name=big")
    feed.write(rows(start + 80, 20))
    wait(run, lambda: "changes since you look" in client.part("changes?name=big"))


def test_queries_of_a_job_are_checked_added_and_dropped(job: tuple[Feed, Run]) -> None:
    feed, run = job
    client = ConsoleClient(run.serve_http(token=TOKEN).console_url)
    client.token = TOKEN
    feed.write(rows(time.time() - 300, 20))
    wait(run, lambda: run.progress().batch_id is not None)
    status, found = client.post("/check", "CREATE QUERY q AS\n  SELECT vv FROM a [RANGE 9 SECONDS]")
    assert status == 422
    assert (found["error"]["line"], found["error"]["column"]) == (2, 10)
    wrong = {
        "CREATE QUERY big AS SELECT v FROM a [ROWS 3]": "a query of this name exists",
        "DROP QUERY bgi": "did you mean 'big'?",
        "SET shards = 3": "a running job accepts CREATE QUERY",
        "CREATE QUERY q AS SELECT v FROM a [ROWS 3] WITH (sink = 'memoyr')": "memory",
    }
    for sql, part in wrong.items():
        checked, executed = client.post("/check", sql), client.post("/statements", sql)
        assert checked == executed and part in checked[1]["error"]["text"], sql
    create = "CREATE QUERY low AS SELECT v FROM a [RANGE 9 SECONDS] WHERE v < 5"
    for _ in range(2):
        assert client.post("/check", create) == (200, {"ok": True})
    assert sorted(run.queries) == ["big", "sums"], "a check changes nothing"
    assert client.post("/statements", create) == (200, {"done": ["low"]})
    assert client.post("/statements", "DROP QUERY big") == (200, {"done": ["big"]})
    assert sorted(run.queries) == ["low", "sums"]
    again = client.post("/check", "CREATE QUERY big AS SELECT v FROM a [ROWS 3]")
    assert "the name of a dropped query" in again[1]["error"]["text"]


def test_without_a_token_the_console_of_a_job_only_shows(job: tuple[Feed, Run]) -> None:
    _, run = job
    for server in (run.serve_http(), run.serve_http(token=TOKEN, read_only=True)):
        client = ConsoleClient(server.console_url)
        client.token = TOKEN
        assert client.post("/statements", "DROP QUERY big") == (403, "this console only shows\n")
        assert "2 queries" in client.part("head")
    assert sorted(run.queries) == ["big", "sums"]


def test_without_a_viewer(job: tuple[Feed, Run]) -> None:
    feed, run = job
    run.serve_http(token=TOKEN)
    feed.write(rows(time.time() - 300, 20))
    wait(run, lambda: run.progress().rows_in == {"a": 20})
    assert not run._tracker.is_watched and not run._tracker._graphs
