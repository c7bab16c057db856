"""The console of an embedded engine, over HTTP."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest

from console_client import ConsoleClient
from eddyline import DataError, Engine
from eddyline.console.console import Console
from eddyline.console.followed import FollowedQueries
from eddyline.console.source import Look, Source
from eddyline.engine.console_source import EngineSource
from eddyline.engine.options import EngineOptions

SECOND = 1_000_000
TRADES = "CREATE STREAM trades (ts TIMESTAMP, symbol TEXT, price DOUBLE) TIMESTAMP BY ts"


def trades(first_s: int, n: int) -> pa.Table:
    ts = [(first_s + i) * SECOND for i in range(n)]
    symbols = [f"<b>{i % 3}</b>" for i in range(n)]
    return pa.table({"ts": ts, "symbol": symbols, "price": [float(i % 10) for i in range(n)]})


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.sql(TRADES)
    engine.query("SELECT ts, symbol, price FROM trades [RANGE 20 SECONDS] WHERE price > 4", "high")
    engine.query("SELECT symbol, COUNT(*) AS n FROM trades [ROWS 9] GROUP BY symbol", "counts")
    return engine


@pytest.fixture
def console(engine: Engine) -> Iterator[Console]:
    with engine.console() as console:
        yield console


@pytest.fixture
def client(console: Console) -> ConsoleClient:
    return ConsoleClient(console.url)


def test_the_page_needs_no_token_and_has_no_data(client: ConsoleClient) -> None:
    assert len(client.token) >= 32
    client.token = ""
    for path, kind in {"/": "text/html", "/console.js": "text/javascript"}.items():
        status, headers, text = client.request("GET", path)
        assert status == 200 and headers["content-type"].startswith(kind)
        assert "trades" not in text
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    _, _, page = client.request("GET", "/")
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|https?://", page)


def test_everything_else_needs_the_token(client: ConsoleClient) -> None:
    client.token = "wrong"
    for path in ("/settings", "/parts/head", "/parts/queries", "/parts/answer?name=high"):
        status, headers, _ = client.request("GET", path)
        assert status == 401 and headers["www-authenticate"] == "Bearer"
    assert client.post("/statements", "DROP QUERY high")[0] == 401


def test_plan_streams_and_health(engine: Engine, client: ConsoleClient) -> None:
    engine.process({"trades": trades(0, 100)})
    engine.process({"trades": trades(0, 1)})  # late
    head = client.part("head")
    assert "running" in head and "2 queries" in head and "101 rows so far" in head
    plan = client.part("plan")
    assert plan.startswith("<svg") and "RANGE 20 SECONDS".removeprefix("RANGE ").lower() in plan
    assert "price &gt; 4" in plan and "counts" in plan and "SteM" in plan
    streams = client.part("streams")
    assert "<b>trades</b>" in streams and "1970-01-01 00:01:39" in streams
    assert re.search(r'<td class="number"><span class="concern">1</span></td>', streams), "late"
    assert "CPU cores" in client.part("health")
    engine.process({"trades": pa.table({"ts": ["x"], "symbol": ["x"], "price": [1.0]})})
    client.post("/statements", "DROP QUERY counts")  # and the next look is a new one
    streams = client.part("streams")
    assert "the last bad row: " in streams and "ts" in streams.partition("last bad row")[2]


def test_a_path_shows_one_query_only(engine: Engine, client: ConsoleClient) -> None:
    plan = client.part("plan?query=high")
    assert "high" in plan and "counts" not in plan


def test_a_query_with_its_plan_and_answer(engine: Engine, client: ConsoleClient) -> None:
    engine.process({"trades": trades(0, 100)})
    found = client.part("query?name=high")
    assert (
        "SELECT ts, symbol, price" in found and "price &gt; 4" in found and "latency p99" in found
    )
    assert "EMIT INSERTS" in client.part("explain?name=high")
    answer = client.part("answer?name=high")
    assert "10 rows" in answer and "&lt;b&gt;" in answer and "<b>" not in answer
    assert "<polyline" in answer, "prices over time"
    counts = client.part("answer?name=counts")
    assert "3 rows" in counts and "<polyline" not in counts, "no time series"
    missing = client.part("answer?name=hihg", 404)
    assert "no query &#x27;hihg&#x27;" in missing and "did you mean &#x27;high&#x27;" in missing
    assert "the name of the query is missing" in client.part("explain", 409)


def test_the_last_changes_are_followed_from_the_first_look_on(
    engine: Engine, client: ConsoleClient
) -> None:
    engine.process({"trades": trades(0, 100)})
    listeners = engine.parts.queries.listeners.by_query
    assert not listeners, "nothing is followed without a viewer"
    assert "No changes since you look" in client.part("changes?name=high")
    engine.process({"trades": trades(100, 30)})
    found = client.part("changes?name=high")
    assert "15 changes since you look" in found and "1970-01-01 00:02:09" in found
    assert found.index("00:02:09") < found.index("00:02:05"), "the newest first"
    assert list(listeners) == ["high"]


def test_what_no_page_shows_is_not_followed_any_more(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = FollowedQueries(EngineSource(engine.parts, engine.lock, engine.wall_clock))
    followed.changes("high")
    engine.process({"trades": trades(0, 10)})
    rows, count = followed.changes("high")
    assert rows is not None and rows.num_rows == count == 5
    now = time.monotonic() + 60
    monkeypatch.setattr("eddyline.console.followed.time.monotonic", lambda: now)
    engine.process({"trades": trades(10, 10)})
    assert not engine.parts.queries.listeners.by_query
    assert followed.changes("high") == (None, 0), "it begins again"
    followed.close()
    assert not engine.parts.queries.listeners.by_query


def test_only_the_last_changes_are_kept(engine: Engine) -> None:
    followed = FollowedQueries(EngineSource(engine.parts, engine.lock, engine.wall_clock))
    followed.changes("high")
    for i in range(50):
        engine.process({"trades": trades(10 * i, 10)})
    rows, count = followed.changes("high")
    assert rows is not None and 200 <= rows.num_rows < 210 and count == 250
    followed.close()


def test_many_queries_page_by_page() -> None:
    engine = Engine()
    engine.sql(TRADES)
    for i in range(120):
        engine.query(
            f"SELECT price FROM trades [RANGE 9 SECONDS] WHERE price = {i}", f"rule_{i:03}"
        )
    engine.process({"trades": trades(0, 50)})
    with engine.console(read_only=True) as console:
        client = ConsoleClient(console.url)
        first = client.part("queries")
        assert "page 1 of 3, 120 queries" in first and first.count("<tr>") == 51
        assert "rule_049" in first and "rule_050" not in first and "Drop" not in first
        assert "rule_119" in client.part("queries?page=3")
        assert "page 3 of 3" in client.part("queries?page=99")
        found = client.part("queries?search=price+%3D+11")
        assert "11 queries" in found and "rule_011" in found and "rule_119" in found
        assert "There is no such query" in client.part("queries?search=nothing")
        by_rows = client.part("queries?order=rows+out")
        assert by_rows.index("rule_009") < by_rows.index("rule_010"), "prices are below 10"
        assert "the order is one of name" in client.part("queries?order=x", 409)
        assert "no number of a page" in client.part("queries?page=x", 409)
        plan = client.part("plan")
        assert "flow of filters" in plan and "120 queries" in plan and "rule_" not in plan
        assert "120 queries" in client.part("plan?query=rule_007")


def test_a_mistake_is_shown_where_it_is(engine: Engine, client: ConsoleClient) -> None:
    status, found = client.post("/check", "CREATE QUERY q AS\n  SELECT prise FROM trades")
    assert status == 422
    assert (found["error"]["line"], found["error"]["column"]) == (2, 10)
    assert found["error"]["text"].endswith("\n    SELECT prise FROM trades\n           ^")
    assert "did you mean 'price'?" in found["error"]["text"]
    assert client.post("/check", "CREATE QUERY q AS SELECT price FROM trades") == (
        200,
        {"ok": True},
    )
    assert list(engine.queries) == ["high", "counts"], "a check changes nothing"


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("CREATE QUERY high AS SELECT price FROM trades", "high"),
        ("DROP QUERY hihg", "did you mean 'high'?"),
        ("CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts", "the console accepts CREATE QUERY"),
        ("SET capacity = 4", "the console accepts CREATE QUERY"),
        ("SELECT price FROM trades WHERE", "line 1"),
    ],
)
def test_checked_statements_fail_as_they_would_when_run(
    engine: Engine, client: ConsoleClient, sql: str, part: str
) -> None:
    checked, run = client.post("/check", sql), client.post("/statements", sql)
    assert checked == run and checked[0] == 422
    assert part in checked[1]["error"]["text"]


def test_queries_are_added_and_dropped(engine: Engine, client: ConsoleClient) -> None:
    sql = "CREATE QUERY low AS SELECT price FROM trades [ROWS 3] WHERE price < 2; DROP QUERY high"
    assert client.post("/statements", sql) == (200, {"done": ["low", "high"]})
    assert sorted(engine.queries) == ["counts", "low"]
    assert "low" in client.part("queries") and "high" not in client.part("queries")
    assert "low" in client.part("plan"), "the next look is a new one"


def test_a_console_that_shows_only(engine: Engine) -> None:
    with engine.console(read_only=True) as console:
        assert "#" not in console.url
        client = ConsoleClient(console.url)
        assert '"can_change": false' in client.request("GET", "/settings")[2]
        for path in ("/check", "/statements"):
            assert client.post(path, "DROP QUERY high") == (403, "this console only shows\n")
        assert "high" in client.part("queries")
        status, _, text = client.request("GET", "/parts/queries", Host="attacker.example")
        assert status == 403 and "loopback" in text, "a name that leads here"
    assert list(engine.queries) == ["high", "counts"]


def test_changes_come_from_the_page_itself(engine: Engine, client: ConsoleClient) -> None:
    drop = "DROP QUERY high"
    for headers in (
        {"Origin": "http://attacker.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site", "Origin": f"http://{client.netloc}"},
    ):
        assert client.post("/statements", drop, **headers)[0] == 403, headers
    status, text = client.post("/statements", drop, Content_Type="text/plain")
    assert status == 415 and "application/json" in text
    assert client.request("GET", "/statements")[0] == 405
    assert client.post("/statements", 7)[0] == 400
    assert list(engine.queries) == ["high", "counts"]
    same = {"Origin": f"http://{client.netloc}", "Sec_Fetch_Site": "same-origin"}
    assert client.post("/statements", drop, **same)[0] == 200


@pytest.mark.parametrize("length", ["", "Content-Length: 2000000\r\n", "Content-Length: x\r\n"])
def test_too_large_and_endless_requests_are_refused(client: ConsoleClient, length: str) -> None:
    host, _, port = client.netloc.partition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"POST /check HTTP/1.1\r\nHost: localhost\r\n{length}\r\n".encode())
        assert b" 413 " in connection.recv(200)


def test_texts_of_queries_are_escaped(engine: Engine, client: ConsoleClient) -> None:
    engine.query("""SELECT '"><img src=x>' AS "<i>" FROM trades [ROWS 1]""", name="odd one")
    engine.process({"trades": trades(0, 3)})
    for path in ("queries", "plan", "query", "explain", "answer"):
        found = client.part(f"{path}?name=odd+one")
        assert "<img" not in found and "<i>" not in found
        assert "&lt;img src=x&gt;" in found or path == "plan"


def test_a_query_that_is_set_aside(engine: Engine, client: ConsoleClient) -> None:
    engine.parts.queries.set_aside("high", "it <failed>")
    assert "set aside: it &lt;failed&gt;" in client.part("query?name=high")
    assert "set aside" in client.part("queries")
    assert "is set aside" in client.part("answer?name=high", 409)


def test_an_overloaded_engine_says_so() -> None:
    engine = Engine(EngineOptions(capacity=1e-6, costs="modelled", decide_every="1 second"))
    engine.sql(TRADES)
    engine.sql(
        "CREATE QUERY pairs AS SELECT a.price FROM trades [RANGE 1 MINUTE] AS a, trades "
        "[RANGE 1 MINUTE] AS b WHERE a.symbol = b.symbol ON OVERLOAD SHED"
    )
    for i in range(20):
        engine.process({"trades": trades(50 * i, 50)})
    assert engine.shedding["trades"]["keep"] < 1
    with engine.console(read_only=True) as console:
        client = ConsoleClient(console.url)
        assert "load shedding: trades" in client.part("head")
        assert "keeps" in client.part("streams") and "dropped" in client.part("plan")
        assert "needs" in client.part("health")


def test_nothing_is_read_without_a_viewer(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    look = EngineSource.look

    def counted(source: EngineSource) -> Look:
        looks.append(time.monotonic())
        return look(source)

    monkeypatch.setattr(EngineSource, "look", counted)
    with engine.console() as console:
        engine.process({"trades": trades(0, 100)})
        time.sleep(0.2)
        assert not looks
        client = ConsoleClient(console.url)
        for _ in range(5):  # several viewers see the same
            client.part("head")
            client.part("plan")
        assert len(looks) == 1


def test_many_threads_look_while_rows_come(engine: Engine, console: Console) -> None:
    failed: list[str] = []

    def view() -> None:
        client = ConsoleClient(console.url)
        for path in (
            "plan",
            "queries",
            "query?name=high",
            "changes?name=high",
            "explain?name=high",
        ):
            status, _, text = client.request("GET", f"/parts/{path}")
            if status != 200:
                failed.append(text)

    threads = [threading.Thread(target=view) for _ in range(6)]
    for thread in threads:
        thread.start()
    for i in range(100):
        engine.process({"trades": trades(10 * i, 10)})
        if i % 10 == 0:
            engine.query(f"SELECT price FROM trades [ROWS {i + 1}]", name=f"more_{i}")
    for thread in threads:
        thread.join()
    assert not failed


def test_the_source_of_an_engine_is_one() -> None:
    engine = Engine()
    source: Source = EngineSource(engine.parts, engine.lock, engine.wall_clock)
    assert source.look().nodes == [] and list(source.names()) == []


def test_the_console_can_be_shown_in_a_notebook(console: Console) -> None:
    assert console._repr_html_().startswith(f'<a href="{console.url}"')
    assert "token" not in repr(console)


def test_addresses_of_other_machines_need_a_token(engine: Engine) -> None:
    with pytest.raises(DataError, match="can be reached from other machines: give a token"):
        engine.console("0.0.0.0:0", read_only=True)
