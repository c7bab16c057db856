"""``eddyline new`` of a topic of Kafka."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from eddyline_process import eddyline_command

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = pytest.mark.spark

SECONDS = 1_767_225_600  # 2026


@pytest.mark.parametrize("has_time", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_script_of_a_topic_runs(
    has_time: bool, spark: SparkSession, kafka: KafkaBroker, tmp_path: Path
) -> None:
    topic = f"orders-{uuid.uuid4().hex[:12]}"
    at = {"at": SECONDS * 1000} if has_time else {}
    values = [json.dumps({"id": i, "order": {"symbol": "AB"[i % 2]}, **at}) for i in range(10)]
    kafka.send(spark, topic, [*values, "no JSON", None])
    place, script = f"kafka://{kafka.servers}/{topic}", tmp_path / "t.sql"
    done = eddyline_command("new", place, "-o", str(script), "--seconds", "60")
    assert done.returncode == 0, done.stderr
    assert "10 rows read, 2 lines are no rows" in done.stdout
    text = script.read_text()
    assert ("kafka_time TIMESTAMP METADATA FROM 'timestamp'" in text) == (not has_time)
    assert "order_symbol STRING PATH '$.order.symbol'" in text
    done = eddyline_command("run", str(script))
    assert done.returncode == 0, done.stderr
    assert "rare_order_symbol: 5 rows" in done.stdout and "2 bad rows" in done.stdout
