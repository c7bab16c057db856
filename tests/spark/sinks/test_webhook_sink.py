"""The sink ``webhook`` over a server on the loopback address."""

from __future__ import annotations

import time
from typing import cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, Engine
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.sinks.failure_policy import RefusedError, UnavailableError
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.webhook_sink import WebhookSink
from webhook_server import WebhookServer

STREAM = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, w STRING) TIMESTAMP BY ts"


def opened(url: str, more: str = "") -> tuple[Engine, WebhookSink]:
    engine = Engine()
    engine.sql(STREAM)
    for name in ("low", "high"):
        sign = "<" if name == "low" else ">"
        select = f"SELECT k, w FROM s [NOW] WHERE k {sign} 2"
        engine.sql(f"CREATE QUERY {name} AS {select} WITH (sink = 'webhook', {url}{more})")
    sinks = SinkFactory(cast(SparkSession, None), None, print, "job")
    sinks.open_first(engine.queries.values())
    sink = sinks.by_key["changes", route_of(engine.queries["low"]).key]
    assert isinstance(sink, WebhookSink)
    return engine, sink


def parts(engine: Engine) -> list[QueryRows]:
    rows = {"ts": pa.array([0, 1_000_000, 2_000_000]), "k": [1, 2, 3], "w": ['a"\n', None, "c"]}
    return [QueryRows.of(table) for table in engine.process({"s": pa.table(rows)}).batches()]


def test_a_batch_is_one_array(server: WebhookServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALERTS", server.url)
    engine, sink = opened("url_env = 'ALERTS'")
    sink.deliver(7, parts(engine), {})
    sink.deliver(8, [], {})
    ((key, rows),) = server.posts
    assert key == "job-low-7"
    found = sorted((row["_query"], row["_op"], row["k"], row["w"]) for row in rows)
    assert found == [("high", "+", 3, "c"), ("low", "+", 1, 'a"\n')]
    assert rows[0].keys() >= {"_ts", "_exp"}


def test_which_answers_are_temporary(server: WebhookServer) -> None:
    engine, sink = opened(f"url = '{server.url}'", ", timeout = '0.5'")
    rows = parts(engine)
    for status, kind in {
        503: UnavailableError,
        429: UnavailableError,
        400: RefusedError,
        301: RefusedError,
    }.items():
        server.answers.append(status)
        with pytest.raises(
            kind, match=rf"^'low': sink 'webhook': the server answers {status} "
        ) as e:
            sink.deliver(0, rows, {})
        assert ("try else" in str(e.value)) is (status >= 400)
    assert not server.posts
    server.slow.clear()
    with pytest.raises(UnavailableError, match="'low': sink 'webhook': no answer: timed out"):
        sink.deliver(0, rows, {})
    server.slow.set()
    server.trickles = True
    began = time.monotonic()
    with pytest.raises(UnavailableError, match="'low': sink 'webhook': no answer: timed out"):
        sink.deliver(0, rows, {})
    assert time.monotonic() - began < 1.5, "not the time of each piece of the answer"
    server.trickles = False
    sink.deliver(1, rows, {})
    assert server.posts[-1][0] == "job-low-1"


def test_no_server_and_wrong_options(server: WebhookServer) -> None:
    engine, sink = opened("url = 'http://127.0.0.1:9/x'")
    with pytest.raises(UnavailableError, match=r"no answer: .*refused"):
        sink.deliver(0, parts(engine), {})
    for options, message in {
        "url = 'ftp://host/x'": "url is not of the form https://host/path",
        "url = 'http://host/x', timeout = '0'": "timeout = '0' is not a number of seconds",
        "url_env = 'NONE_SUCH'": "there is no environment variable 'NONE_SUCH'",
        "timeout = '3'": "needs the option 'url' or 'url_env'",
    }.items():
        with pytest.raises(DataError, match=message):
            opened(options)
