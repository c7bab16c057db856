"""The sink ``webhook`` over a server on the loopback address."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, Engine
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.sinks.failure_policy import RefusedError, UnavailableError
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.webhook_sink import WebhookSink

STREAM = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, w STRING) TIMESTAMP BY ts"


class Server:
    """Keeps what is posted; ``answers``: the status codes of the next answers."""

    def __init__(self) -> None:
        self.posts: list[tuple[str, list[dict[str, Any]]]] = []
        self.answers: list[int] = []
        self.slow = threading.Event()
        self.slow.set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                server.slow.wait(5)
                status = server.answers.pop(0) if server.answers else 204
                if status < 300:
                    server.posts.append((self.headers["Idempotency-Key"], json.loads(content)))
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                if status >= 400:
                    self.wfile.write(b"try\nelse")

            def do_GET(self) -> None:
                raise AssertionError("a redirect was followed")

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/alerts"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


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


def test_a_batch_is_one_array(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALERTS", server.url)
    engine, sink = opened("url_env = 'ALERTS'")
    sink.deliver(7, parts(engine), {})
    sink.deliver(8, [], {})
    ((key, rows),) = server.posts
    assert key == "job-low-7"
    found = sorted((row["_query"], row["_op"], row["k"], row["w"]) for row in rows)
    assert found == [("high", "+", 3, "c"), ("low", "+", 1, 'a"\n')]
    assert rows[0].keys() >= {"_ts", "_exp"}


def test_which_answers_are_temporary(server: Server) -> None:
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
    sink.deliver(1, rows, {})
    assert server.posts[-1][0] == "job-low-1"


def test_no_server_and_wrong_options(server: Server) -> None:
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
