"""The example of docs/kafka.md over a broker, stopped, killed and started again."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.verify import verify
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, CreateStream

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = [pytest.mark.spark, pytest.mark.fault]

PAGE = Path(__file__).parents[2] / "docs" / "kafka.md"
NEW_YEAR = 1_767_225_600_000  # 2026, in milliseconds
QUERIES = ("highest", "both_sides")
PARTS = 3
MESSAGES = 400


def script(kafka: KafkaBroker, suffix: str) -> str:
    """The script of the page, over the broker, and with topics of its own."""
    (text,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for topic in ("trades", *QUERIES):
        for option in ("subscribe", "topic"):
            text = text.replace(f"{option} = '{topic}'", f"{option} = '{topic}{suffix}'")
    text = text.replace("localhost:9092", kafka.servers)
    return text.replace("format = 'json'", "format = 'json', maxOffsetsPerTrigger = 200")


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
    engine = Engine()
    for statement in parse(text):
        if isinstance(statement, CreateStream | CreateQuery):
            engine.sql(statement.sql)
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
    out = {}
    for query in QUERIES:
        changes = pa.concat_tables([first[query], then[query]]).to_pylist()
        out[query] = Counter(json.dumps(_message(row), sort_keys=True) for row in changes)
    return out


def _message(row: Mapping[str, Any]) -> dict[str, Any]:
    def value(v: Any) -> Any:
        return v.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z" if hasattr(v, "strftime") else v

    return {name: value(v) for name, v in row.items() if v is not None}


def delivered(spark: SparkSession, kafka: KafkaBroker, topic: str) -> tuple[Counter[str], int]:
    """The messages of a topic without those that are repeated, and the number of these."""
    by_place: dict[tuple[str, ...], str] = {}
    messages = kafka.messages(spark, topic)
    for message in messages:
        place = tuple(h["value"].decode() for h in message["headers"])
        text = json.dumps(json.loads(message["value"]), sort_keys=True)
        assert by_place.setdefault(place, text) == text, "a repeated message is the same"
    return Counter(by_place.values()), len(messages) - len(by_place)


def killed(file: Path, checkpoint: Path, batches: int) -> None:
    """Run the script in a process, and kill it in the middle, after some batches."""
    command = [sys.executable, "-m", "eddyline", "run", str(file), "--continuous", "--shards", "2"]
    command += ["--checkpoint", str(checkpoint)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 240
            while len(list(checkpoint.glob("spark/offsets/[0-9]*"))) < batches:
                assert time.monotonic() < until and process.poll() is None
                time.sleep(0.02)
        finally:
            process.kill()


def test_the_example(spark: SparkSession, kafka: KafkaBroker, tmp_path: Path) -> None:
    suffix = uuid.uuid4().hex[:12]
    text, checkpoint = script(kafka, suffix), tmp_path / "checkpoint"
    file = tmp_path / "trades.sql"
    file.write_text(text)

    def job(*, finish: bool) -> None:
        session = Session(spark, shards=2, checkpoint=checkpoint)
        session.sql(text)
        run = session.start(available_now=True)
        if finish:
            run.finish()
        else:
            run.awaitTermination()

    send(spark, kafka, f"trades{suffix}", 0)
    job(finish=False)
    before = len(list(checkpoint.glob("spark/offsets/[0-9]*")))
    send(spark, kafka, f"trades{suffix}", 1)
    killed(file, checkpoint, before + 2)
    send(spark, kafka, f"trades{suffix}", 2)
    job(finish=True)
    findings = verify(LocalDirectory(checkpoint))
    assert [f.text for f in findings if f.level == "error"] == []
    for query, expected in embedded(text).items():
        found, _ = delivered(spark, kafka, f"{query}{suffix}")
        assert expected.total() > 1000
        assert found == expected
