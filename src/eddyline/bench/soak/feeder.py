"""Feeds a soak, in a process of its own, so that what it needs is not counted.

``python -m eddyline.bench.soak.feeder FOLDER [SERVERS TOPIC]`` runs until FOLDER/stop is there.
Then FOLDER/ticks has the number of ticks.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from eddyline.bench.soak import load
from eddyline.spark.environment import local_session

TICKS, STOP, QUOTES, TRADES = "ticks", "stop", "quotes", "trades"
TICK_S: Final = 2.0
_PARTITIONS: Final = 2


def feed(folder: Path, send: Callable[[int], None]) -> int:
    """Write the ticks; returns their number. A tick that takes longer delays those after it."""
    tick = 0
    while not (folder / STOP).exists():
        due = time.monotonic() + TICK_S
        load.write_quotes(folder / QUOTES, tick)
        send(tick)
        tick += 1
        time.sleep(max(0.0, due - time.monotonic()))
    return tick


def to_files(folder: Path) -> Callable[[int], None]:
    """Trades as JSON files."""

    def send(tick: int) -> None:
        hidden = folder / TRADES / f"_{tick:06}.json"
        hidden.write_text("\n".join(load.messages(load.trades(tick))) + "\n")
        hidden.rename(hidden.with_name(hidden.name[1:]))

    return send


def to_kafka(folder: Path, servers: str, topic: str) -> Callable[[int], None]:
    """Trades as messages."""
    properties = {"spark.master": "local[1]", "spark.driver.memory": "512m"}
    spark = local_session(1, folder / "feeder.log", properties)
    options = {
        "kafka.bootstrap.servers": servers,
        "kafka.max.in.flight.requests.per.connection": "1",
        "topic": topic,
    }

    def send(tick: int) -> None:
        texts: Sequence[Any] = load.messages(load.trades(tick))
        partition = pa.array([i % _PARTITIONS for i in range(len(texts))], pa.int32())
        rows = spark.createDataFrame(pa.table({"value": texts, "partition": partition}))
        rows.coalesce(1).write.format("kafka").options(**options).save()

    return send


def main(folder: Path, *kafka: str) -> None:
    """Feed until it is told to stop, and write how many ticks there were."""
    send = to_kafka(folder, *kafka) if kafka else to_files(folder)
    ticks = feed(folder, send)
    (folder / f"_{TICKS}").write_text(str(ticks))
    (folder / f"_{TICKS}").rename(folder / TICKS)


def write_rules(folder: Path) -> None:
    """The rows of the table ``rules``."""
    (folder / "rules").mkdir()
    pq.write_table(load.rules(), folder / "rules" / "rules.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
