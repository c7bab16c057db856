"""The example of docs/example.md: from Kafka to PostgreSQL, Kafka and Delta, through faults."""

from __future__ import annotations

import json
import random
import signal
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.verify import verify
from example_jobs import (
    DOCS,
    blocks,
    delivered,
    engine_of,
    interrupted,
    messages_of,
    run_to_the_end,
    script_of,
)

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker
    from postgres_server import PostgresServer

deltalake = pytest.importorskip("deltalake", reason="the extra 'delta' is not installed")
pytestmark = [pytest.mark.spark, pytest.mark.fault]

PAGE = "example.md"
NEW_YEAR = 1_767_225_600_000  # 2026, in milliseconds
PASSWORD = "s3cret of the shop"
ITEM = pa.struct([("sku", pa.string()), ("quantity", pa.int64()), ("price", pa.float64())])


@dataclass
class Example:
    """The script of the page with the servers of the tests, and what its sinks have."""

    spark: SparkSession
    kafka: KafkaBroker
    postgres: PostgresServer
    directory: Path
    text: str
    suffix: str
    sent: list[dict[str, Any]]

    @property
    def checkpoint(self) -> Path:
        return self.directory / "checkpoint"

    @property
    def file(self) -> Path:
        return self.directory / "orders.sql"

    def send(self, orders: list[dict[str, Any]]) -> None:
        self.sent += orders
        self.kafka.send(self.spark, f"orders{self.suffix}", [json.dumps(o) for o in orders])

    def run(self) -> None:
        run_to_the_end(self.spark, self.text, self.checkpoint)

    def check(self) -> None:
        """The sinks have what an engine says of all messages so far, up to the watermark."""
        engine = engine_of(self.text)
        changes = engine.process({"orders": orders_table(self.sent)})
        answer = engine.queries["revenue"].snapshot()
        assert Counter(self.revenue()) == Counter(tuple(r.values()) for r in answer.to_pylist())
        alerts, _ = delivered(self.spark, self.kafka, f"two_countries{self.suffix}")
        assert alerts == messages_of(changes["two_countries"])
        assert self.history() == bag(changes["history"])
        findings = verify(LocalDirectory(self.checkpoint))
        assert [f.text for f in findings if f.level == "error"] == []

    def revenue(self) -> list[tuple[Any, ...]]:
        columns = "country, orders, revenue"
        return self.postgres.rows(f"SELECT {columns} FROM revenue{self.suffix} ORDER BY country")

    def history(self) -> Counter[str]:
        return bag(deltalake.DeltaTable(self.directory / "lake" / "history").to_pyarrow_table())


def orders_table(orders: list[dict[str, Any]]) -> pa.Table:
    columns = {
        "id": pa.array([o["id"] for o in orders], pa.int64()),
        "customer": pa.array([o["customer"]["id"] for o in orders]),
        "country": pa.array([o["customer"].get("country") for o in orders]),
        "items": pa.array([o.get("items") for o in orders], pa.list_(ITEM)),
        "total": pa.array([o["total"] for o in orders], pa.float64()),
        "ms": pa.array([o["placed"]["ms"] for o in orders], pa.int64()),
    }
    return pa.table(columns)


def bag(changes: pa.Table) -> Counter[str]:
    return Counter(repr(list(row.items())) for row in changes.to_pylist())


def generated(n: int, begin: int) -> list[dict[str, Any]]:
    """Orders that are out of order by less than the lateness, and lack something now and then."""
    rng = random.Random(begin)
    orders: list[dict[str, Any]] = []
    for i in range(begin, begin + n):
        customer = {"id": f"c{rng.randrange(40)}"}
        if rng.random() < 0.95:
            customer["country"] = rng.choice(["NL", "DE", "BR", "JP"])
        items = [
            {"sku": rng.choice(["lamp", "desk", "sofa"]), "quantity": 1, "price": k / 4}
            for k in range(rng.randrange(4))
        ]
        order = {"id": i, "customer": customer, "total": rng.randrange(4000) / 4}
        if rng.random() < 0.95:
            order["items"] = items
        order["placed"] = {"ms": NEW_YEAR + 60_000 + i * 500 - rng.randrange(4000)}
        orders.append(order)
    return orders


@pytest.fixture
def example(
    spark: SparkSession,
    kafka: KafkaBroker,
    postgres: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Example:
    suffix = uuid.uuid4().hex[:12]
    text = script_of(PAGE, kafka, ("orders", "two_countries"), suffix)
    url = postgres.url.replace("postgres@", "locked@")
    postgres.execute(
        "DO $$ BEGIN CREATE ROLE locked LOGIN SUPERUSER; EXCEPTION WHEN duplicate_object THEN "
        "NULL; END $$",
        f"ALTER ROLE locked PASSWORD '{PASSWORD}'",
    )
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    for shown, own in (
        ("postgresql://shop@localhost/shop", url),
        ("table = 'revenue'", f"table = 'revenue{suffix}'"),
    ):
        assert shown in text
        text = text.replace(shown, own)
    made = Example(spark, kafka, postgres, tmp_path, text, suffix, [])
    made.file.write_text(text)
    return made


def test_the_results_that_the_page_shows(example: Example) -> None:
    messages, alert = blocks(PAGE, "json")
    example.send([json.loads(line) for line in messages.splitlines()])
    example.run()
    example.check()
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    shown = [" | ".join(map(str, row)) for row in example.revenue()]
    assert len(shown) == 3 and "\n".join(f"| {row} |" for row in shown) in page
    (message,) = example.kafka.messages(example.spark, f"two_countries{example.suffix}")
    assert (message["key"], message["value"]) == (b"c7", alert.strip().encode())
    assert example.history().total() == 4


def test_stopped_killed_and_started_again(example: Example) -> None:
    example.send(generated(500, 0))
    example.run()
    example.check()
    ends = (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)
    for number, ended in enumerate(ends, start=1):
        example.send(generated(600, 600 * number))
        code = interrupted(example.file, example.checkpoint, 2, ended)
        assert code == (0 if ended == signal.SIGTERM else -ended)
    example.send(generated(300, 600 * 4))
    example.run()
    example.check()
    assert example.history().total() > 2000
    secret = PASSWORD.encode()
    kept = [f for f in example.checkpoint.rglob("*") if f.is_file() and secret in f.read_bytes()]
    assert not kept, "the password is not in the checkpoint, nor in its log"
