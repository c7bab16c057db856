"""The job of deploy/compose.yaml: its command and its script, over a broker and a server."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession
from ruamel.yaml import YAML

from eddyline_process import eddyline_command

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker
    from postgres_server import PostgresServer

pytestmark = [pytest.mark.spark, pytest.mark.long]

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_orders_become_answers(
    spark: SparkSession, kafka: KafkaBroker, postgres: PostgresServer, tmp_path: Path
) -> None:
    suffix = uuid.uuid4().hex[:12]
    script = (DEPLOY / "orders.sql").read_text()
    for old, new in (
        ("kafka:9092", kafka.servers),
        ("host = 'postgres'", f"host = '{postgres.host}'"),
        ("user = 'eddyline', database = 'eddyline'", "user = 'postgres', database = 'postgres'"),
        ("subscribe = 'orders", f"subscribe = 'orders_{suffix}"),
        ("topic = 'large_orders", f"topic = 'large_orders_{suffix}"),
        ("table = 'spending", f"table = 'spending_{suffix}"),
    ):
        assert old in script
        script = script.replace(old, new)
    rows = [("ann", 1250.0, 0), ("bob", 20.0, 1), ("ann", 30.0, 2), ("cid", 1.0, 30)]
    orders = [
        {"id": i, "customer": c, "amount": a, "ts": f"2026-01-31T10:00:{second:02}Z"}
        for i, (c, a, second) in enumerate(rows)
    ]
    kafka.send(spark, f"orders_{suffix}", [json.dumps(order) for order in orders])

    services = YAML(typ="safe").load(DEPLOY / "compose.yaml")["services"]
    command = services["eddyline"]["command"]
    (tmp_path / "orders.sql").write_text(script)
    here = {
        "/scripts/orders.sql": str(tmp_path / "orders.sql"),
        "/checkpoints/orders": str(tmp_path / "checkpoint"),
        "0.0.0.0:8080": "127.0.0.1:0",
        "--continuous": "--once",
    }
    assert {*here} <= {*command}
    done = eddyline_command(
        *(here.get(word, word) for word in command),
        environment={"DB_PASSWORD": "unused", "HTTP_TOKEN": "secret"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (large,) = kafka.messages(spark, f"large_orders_{suffix}")
    assert large["key"] == b"ann" and json.loads(large["value"])["amount"] == 1250.0
    found = postgres.rows(f"SELECT customer, orders, amount FROM spending_{suffix}")
    assert sorted(found) == [("ann", 2, 1280.0), ("bob", 1, 20.0)]
