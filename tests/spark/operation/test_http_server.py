"""Health and metrics of running jobs, and answers of their queries, over HTTP."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from eddyline.cli.main import app
from eddyline.errors import DataError, StateError
from eddyline.spark import Restart, Run, Session
from eddyline.spark.exchange.packed_batches import unpack
from eddyline.testing.bags import rows_of
from short_lived_java import SHORT_LIVED_RUN
from spark_cases import Feed, wait

pytest.importorskip("prometheus_client")

from prometheus_client.parser import text_string_to_metric_families

from eddyline.spark.operation.http_server import HttpServer

#: By name of the sample and its labels ("stream=a,..."), the value.
Samples = Mapping[tuple[str, str], float]
SECOND = 1_000_000


def get(url: str, path: str, **headers: str) -> tuple[int, str]:
    """Status and text of the response."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def samples(url: str, **headers: str) -> Samples:
    status, text = get(url, "/metrics", **headers)
    assert status == 200, text
    return {
        (s.name, ",".join(f"{k}={v}" for k, v in sorted(s.labels.items()))): s.value
        for family in text_string_to_metric_families(text)
        for s in family.samples
    }


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


def script(feed: Feed) -> str:
    return f"""
        CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts LATENESS 5 SECONDS
          WITH ({feed.source});
        CREATE QUERY big AS SELECT k, v FROM a [RANGE 9 SECONDS] WHERE v >= 10
          WITH (sink = 'memory');
        CREATE QUERY rates AS SELECT 60 % k AS r FROM a [RANGE 9 SECONDS] WITH (sink = 'memory');
        CREATE QUERY sums AS SELECT k, SUM(v) AS s FROM a [RANGE 9 SECONDS] GROUP BY k
          WITH (sink = 'memory');
    """


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path) -> Iterator[tuple[Feed, Run]]:
    feed = Feed(tmp_path / "in")
    session = Session(spark, shards=2, checkpoint=tmp_path / "job")
    session.sql(script(feed))
    run = session.start()
    yield feed, run
    run.stop()


def test_health_and_metrics_of_a_job(job: tuple[Feed, Run]) -> None:
    feed, run = job
    server = run.serve_http("127.0.0.1:0")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", server.url)
    assert get(server.url, "/healthz") == (200, "ok\n")
    assert samples(server.url)["eddyline_batches_total", ""] == 0, "before the first batch"
    status, text = get(server.url, "/x?y=1")
    assert status == 404 and text.startswith(
        "there is no '/x', only / (the console), /healthz, /metrics and /queries/"
    )

    start = time.time() - 120
    feed.write(rows(start, 60), rows(start, 20))  # those of the second file are late
    wait(run, lambda: run.progress().rows_in == {"a": 80})
    found: Samples = {}

    def are_new() -> bool:
        nonlocal found
        found = samples(server.url)
        is_counted = ("eddyline_query_seconds_total", "query=big") in found
        return is_counted and found.get(("eddyline_rows_in_total", "stream=a")) == 80

    wait(run, are_new)
    progress = run.progress()
    assert found["eddyline_running", ""] == 1
    assert found["eddyline_batches_total", ""] == progress.delivery.batches >= 2
    assert found["eddyline_restarts_total", ""] == 0
    assert 0 < found["eddyline_last_batch_seconds", ""] < 90
    assert found["eddyline_late_rows_total", "stream=a"] == 18
    assert found["eddyline_bad_rows_total", "stream=a"] == 8
    assert found["eddyline_dropped_rows_total", "stream=a"] == 0
    watermark = found["eddyline_watermark_timestamp_seconds", "stream=a"]
    assert watermark == pytest.approx(start + 58 - 5, abs=1e-5)
    assert found["eddyline_watermark_lag_seconds", "stream=a"] == pytest.approx(
        time.time() - watermark, abs=30
    )
    groups = [group for report in run.shards() for group in report["groups"]]
    held = sum(group["held"] for group in groups)
    assert found["eddyline_held_rows", "streams=a"] == held > 0
    assert found["eddyline_held_bytes", "streams=a"] > 0
    for name in ("big", "rates", "sums"):
        out = found["eddyline_query_rows_out_total", f"query={name}"]
        assert out == progress.rows_out[name] > 0
        assert found["eddyline_query_set_aside", f"query={name}"] == 0
        assert found["eddyline_query_bad_rows_total", f"query={name}"] == progress.bad.get(name, 0)
    assert found["eddyline_query_bad_rows_total", "query=rates"] > 0, "a remainder of 0"
    assert found["eddyline_query_state_bytes", "query=big"] > 0
    p50, p99 = (
        found["eddyline_query_latency_seconds", f"quantile={q},query=big"] for q in ("0.5", "0.99")
    )
    assert 0 < p50 <= p99
    arrived = ("eddyline_query_delivery_seconds", "quantile=0.5,query=big")
    assert p50 < found[arrived] < 90
    ids = [str(report["shard"]) for report in run.shards()]
    assert len(ids) >= 2
    for shard in ids:
        assert found["eddyline_shard_phase_seconds", f"phase=process,shard={shard}"] > 0
        assert found["eddyline_shard_log_bytes", f"shard={shard}"] > 0
        assert found["eddyline_shard_snapshot_bytes", f"shard={shard}"] >= 0
        assert ("eddyline_shard_restore_seconds", f"shard={shard}") not in found
    assert found["eddyline_cores_available", ""] > 0
    assert ("eddyline_cores_needed", "") not in found, "it has not been computed"
    batches = found["eddyline_batch_delivery_seconds_bucket", "le=+Inf"]
    assert batches == found["eddyline_batch_delivery_seconds_count", ""] >= 2
    assert found["eddyline_batch_delivery_seconds_sum", ""] > 0
    assert found["eddyline_batch_delivery_seconds_bucket", "le=300.0"] == batches

    run.stop()
    with pytest.raises(ConnectionRefusedError):
        get(server.url, "/healthz")
    with pytest.raises(StateError, match="the job has ended"):
        run.serve_http()


def test_answers_over_http(job: tuple[Feed, Run]) -> None:
    feed, run = job
    run.add("Größe 2", "SELECT ts, k, v FROM a [RANGE 9 SECONDS] WHERE v > 40", sink="noop")
    url = run.serve_http().url
    assert get(url, "/queries/sums/answer") == (200, "[]\n"), "no rows have come"
    feed.write(rows(1_700_000_000, 60))
    wait(run, lambda: run.progress().rows_in == {"a": 60})

    expected = sorted(run.answer("sums").to_pylist(), key=lambda row: row["k"])
    assert len(expected) == 3
    status, text = get(url, "/queries/SUMS/answer")
    assert status == 200 and sorted(json.loads(text), key=lambda row: row["k"]) == expected
    status, text = get(url, "/queries/sums/answer?timeout=60", Accept="text/csv, */*;q=0.1")
    assert status == 200 and sorted(text.splitlines()) == sorted(
        ['"k","s"', *(f"{row['k']},{row['s']}" for row in expected)]
    )
    path = f"/queries/{quote('Größe 2', safe='')}/answer"
    found = json.loads(get(url, path)[1])
    assert len(found) > 3 and found[0].keys() == {"ts", "k", "v"}
    assert found[0]["ts"].startswith("2023-11-14T22:1") and found[0]["ts"].endswith(".000000Z")
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request("GET", f"{path}?format=arrow")
    response = connection.getresponse()
    assert response.headers["Content-Type"] == "application/vnd.apache.arrow.stream"
    assert rows_of(unpack(response.read())) == rows_of(run.answer("Größe 2"))
    connection.close()

    for path, status, message in (
        ("/queries/sms/answer", 404, "there is no query 'sms'; did you mean 'sums'"),
        ("/queries/sums/answer?format=jsn", 406, "there is no format 'jsn'; did you mean 'json'"),
        ("/queries/sums/answer?timeout=never", 406, "is no number of seconds up to 600"),
        ("/queries/sums/answer?timeout=0.00001", 504, "has not answered for query 'sums' within"),
        ("/queries/sums", 404, "there is no '/queries/sums', only / (the console), /healthz"),
    ):
        found_status, text = get(url, path)
        assert (found_status, message in text) == (status, True), text
    assert get(url, "/queries/sums/answer", Accept="image/png")[0] == 406


def test_requests_need_the_token(job: tuple[Feed, Run]) -> None:
    _, run = job
    server = run.serve_http("0.0.0.0:0", token="s3cret")
    url = server.url.replace("0.0.0.0", "127.0.0.1")
    for path in ("/healthz", "/metrics", "/queries/big/answer", "/x"):
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic s3cret"}):
            assert get(url, path, **header) == (401, "the token is missing or wrong\n")
    assert get(url, "/healthz", Authorization="Bearer s3cret") == (200, "ok\n")
    assert samples(url, Authorization="bearer s3cret")["eddyline_running", ""] == 1


def test_pages_of_other_sites_are_refused_without_a_token() -> None:
    server = HttpServer("127.0.0.1:0")
    port = server.url.rpartition(":")[2]
    try:
        for host in ("evil.example", f"evil.example:{port}", "10.0.0.1", "[::", "127.0.0.1.evil"):
            assert get(server.url, "/healthz", Host=host) == (
                403,
                "without a token only requests for a loopback address are answered\n",
            )
        for host in (f"localhost:{port}", "LOCALHOST", "127.0.0.1", f"[::1]:{port}"):
            assert get(server.url, "/healthz", Host=host) == (503, "the job is starting\n")
    finally:
        server.close()


def test_the_name_that_the_server_was_given_is_no_other_site(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 0))]
    with monkeypatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        server = HttpServer("Monitor.example:0")
    try:
        assert get(server.url, "/healthz", Host="monitor.example:80")[0] == 503
        assert get(server.url, "/healthz", Host="other.example")[0] == 403
    finally:
        server.close()


def test_the_health_names_the_failure(spark: SparkSession, tmp_path: Path) -> None:
    def fail(x: int) -> int:  # sent to the workers by value
        import os

        os._exit(1)

    feed = Feed(tmp_path / "in")
    restart = Restart(limit=1, first_s=60)
    session = Session(spark, shards=1, checkpoint=tmp_path / "job", restart=restart)
    session.function("fail", fail, args=["BIGINT"], returns="BIGINT", kind="python")
    session.sql(script(feed))
    session.query("failing", "SELECT fail(v) AS v FROM a [NOW]", sink="noop")
    run = session.start()
    try:
        server = run.serve_http()
        assert get(server.url, "/healthz") == (200, "ok\n")
        feed.write(rows(0, 20))
        end = time.monotonic() + 120
        while (answer := get(server.url, "/healthz"))[0] == 200:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert answer[0] == 503
        assert answer[1].startswith("the job failed, and will be restarted: "), answer
        assert samples(server.url)["eddyline_running", ""] == 0
    finally:
        run.stop()


def test_addresses_that_are_refused() -> None:
    for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:9090"):
        with pytest.raises(DataError, match=r"can be reached from other machines: give a token"):
            HttpServer(address)
    for address in ("9090", ":9090", "localhost:", "localhost:x", "localhost:65536", "localhost"):
        with pytest.raises(DataError, match=r"is not HOST:PORT, such as 127\.0\.0\.1:9090"):
            HttpServer(address)
    with pytest.raises(DataError, match="the token for HTTP is empty"):
        HttpServer("127.0.0.1:0", token=" \n")
    with pytest.raises(StateError, match=r"cannot listen on '192\.0\.2\.1:0'"):
        HttpServer("192.0.2.1:0", token="t")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(StateError, match=f"'localhost:{port}': the port is in use; choose"):
            HttpServer(f"localhost:{port}")


def test_a_job_that_is_starting_is_not_healthy() -> None:
    server = HttpServer("localhost:0")
    try:
        for path in ("/healthz", "/metrics", "/queries/q/answer"):
            assert get(server.url, path) == (503, "the job is starting\n")
    finally:
        server.close()


def test_the_command_refuses_wrong_options(tmp_path: Path) -> None:
    file = tmp_path / "s.sql"
    file.write_text("")
    for options, message in {
        ("--http", "0.0.0.0:9"): "can be reached from other machines",
        ("--http-token-env", "T"): "of no use without --http HOST:PORT",
        ("--http", "127.0.0.1:0", "--http-token-env", "NO_SUCH_NAME"): "'NO_SUCH_NAME'",
        ("--http", "127.0.0.1:0", "--http-token-file", str(tmp_path / "t")): "cannot be read",
    }.items():
        result = CliRunner().invoke(app, ["run", str(file), *options])
        assert result.exit_code == 2 and message in result.output.replace("\n", " ")


@pytest.mark.spark
def test_eddyline_run_serves_its_job(tmp_path: Path) -> None:
    feed = Feed(tmp_path / "in")
    (tmp_path / "s.sql").write_text(script(feed).replace("memory", "noop"))
    (tmp_path / "token").write_text("s3cret\n")
    words = ["run", str(tmp_path / "s.sql"), "--continuous", "--shards", "1", "--json"]
    words += ["--checkpoint", str(tmp_path / "job"), "--http", "127.0.0.1:0"]
    words += ["--http-token-file", str(tmp_path / "token"), *SHORT_LIVED_RUN]
    with subprocess.Popen(
        [sys.executable, "-m", "eddyline", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            lines = (json.loads(line) for line in process.stdout)
            url = next(line["at"] for line in lines if line["event"] == "http")
            bearer = "Bearer s3cret"
            assert get(url, "/healthz")[0] == 401
            assert get(url, "/healthz", Authorization=bearer) == (503, "the job is starting\n")
            feed.write(rows(0, 20))
            next(line for line in lines if line["event"] == "progress" and line["rows_in"])
            assert get(url, "/healthz", Authorization=bearer) == (200, "ok\n")
            assert samples(url, Authorization=bearer)["eddyline_rows_in_total", "stream=a"] == 20
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()
    with pytest.raises(ConnectionRefusedError):
        get(url, "/healthz")
