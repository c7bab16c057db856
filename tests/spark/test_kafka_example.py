"""The example of docs/kafka.md over a broker, stopped, killed and started again."""

from __future__ import annotations

import json
import random
import signal
import uuid
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.verify import verify
from example_jobs import (
    delivered,
    engine_of,
    interrupted,
    messages_of,
    run_to_the_end,
    script_of,
)

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = [pytest.mark.spark, pytest.mark.fault]

NEW_YEAR = 1_767_225_600_000  # 2026, in milliseconds
QUERIES = ("highest", "both_sides")
PARTS = 3
MESSAGES = 400


def trades() -> list[dict[str, Any]]:
    """Out of order by less than the lateness; with rows that lack something."""
    rng = random.Random(7)
    found: list[dict[str, Any]] = []
    for i in range(PARTS * MESSAGES):
        order = {"symbol": rng.choice("ABC"), "price": rng.randrange(400) / 8}
        if rng.random() < 0.8:
            order["tags"] = ["limit", "day"][: rng.randrange(3)]
        ms = NEW_YEAR + i * 50 - rng.randrange(2000)
        found.append({"id": i, "order": order, "at": {"ms": ms}, "account": f"a{rng.randrange(9)}"})
    return found


def send(spark: SparkSession, kafka: KafkaBroker, topic: str, part: int) -> None:
    rows = trades()[part * MESSAGES : (part + 1) * MESSAGES]
    keys = [row.pop("account").encode() for row in rows]
    kafka.send(spark, topic, [json.dumps(row) for row in rows], keys)


def embedded(text: str) -> Mapping[str, Counter[str]]:
    """The messages of the topics, by an engine over the same rows."""
    engine = engine_of(text)
    rows = trades()
    table = pa.table(
        {
            "id": [r["id"] for r in rows],
            "symbol": [r["order"]["symbol"] for r in rows],
            "price": [r["order"]["price"] for r in rows],
            "kind": [next(iter(r["order"].get("tags", [])), None) for r in rows],
            "ms": [r["at"]["ms"] for r in rows],
            "account": [r["account"] for r in rows],
        }
    )
    first, then = engine.process({"trades": table}), engine.advance("2026-02-01")
    return {query: messages_of(first[query], then[query]) for query in QUERIES}


def test_the_example(spark: SparkSession, kafka: KafkaBroker, tmp_path: Path) -> None:
    suffix = uuid.uuid4().hex[:12]
    checkpoint = tmp_path / "checkpoint"
    text = script_of("kafka.md", kafka, ("trades", *QUERIES), suffix)
    file = tmp_path / "trades.sql"
    file.write_text(text)

    send(spark, kafka, f"trades{suffix}", 0)
    run_to_the_end(spark, text, checkpoint)
    send(spark, kafka, f"trades{suffix}", 1)
    assert interrupted(file, checkpoint, 2, signal.SIGKILL) == -signal.SIGKILL
    send(spark, kafka, f"trades{suffix}", 2)
    run_to_the_end(spark, text, checkpoint, ends=True)
    findings = verify(LocalDirectory(checkpoint))
    assert [f.text for f in findings if f.level == "error"] == []
    for query, expected in embedded(text).items():
        found, _ = delivered(spark, kafka, f"{query}{suffix}")
        assert expected.total() > 1000
        assert found == expected
