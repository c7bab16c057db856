"""A Kafka broker for measurements and tests: one process, in a temporary directory, on the loopback
address.

Run as a program, this fetches it: ``make setup-connectors``.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from eddyline.errors import SetupError
from eddyline.spark.connectors import KAFKA, Module, directory_of, fetch
from eddyline.spark.environment import require_java

BROKER: Final = Module("org.apache.kafka", "kafka_2.13", "4.1.1")
_SMALL: Final = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_CLUSTER: Final = "ZWRkeWxpbmUta2Fma2EtMQ"
_WAIT_S: Final = 60.0
_MESSAGES: Final = pa.schema(
    {"key": pa.binary(), "value": pa.binary(), "topic": pa.string(), "partition": pa.int32()}
)


class KafkaBroker:
    """A running broker; ``stop`` ends it.

    Raises:
        SetupError: there are no jars.
    """

    def __init__(self) -> None:
        if not all(directory_of(module).exists() for module in (KAFKA, BROKER)):
            raise SetupError("no connector, or no broker, of Kafka: make setup-connectors")
        self._home = Path(tempfile.mkdtemp(prefix="eddyline-kafka-"))
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._port, controller = _free_ports(2)
            self._settings = self._home / "server.properties"
            self._settings.write_text(_settings(self._port, controller, self._home / "data"))
            self._run("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", self._settings)
            self.start()
        except BaseException:
            self.stop()
            raise

    @property
    def servers(self) -> str:
        """For ``kafka.bootstrap.servers``."""
        return f"127.0.0.1:{self._port}"

    def source(self, topic: str, *options: str) -> str:
        """The options of a stream over all messages of a topic."""
        return ", ".join(
            (
                f"source = 'kafka', kafka.bootstrap.servers = '{self.servers}'",
                f"subscribe = '{topic}', startingOffsets = 'earliest'",
                *options,
            )
        )

    def start(self) -> None:
        """Start it, and wait until it listens."""
        with (self._home / "log").open("ab") as log:
            command = [*self._java(), "kafka.Kafka", str(self._settings)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        end = time.monotonic() + _WAIT_S
        while not _listens(self._port):
            said = (self._home / "log").read_text()[-3000:]
            assert self._process.poll() is None, said
            assert time.monotonic() < end, said
            time.sleep(0.05)

    def halt(self) -> None:
        """Kill it; its data stay."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_WAIT_S)
            self._process = None

    def stop(self) -> None:
        """End it, and delete its data."""
        self.halt()
        shutil.rmtree(self._home, ignore_errors=True)

    def send(
        self,
        spark: SparkSession,
        topic: str,
        values: Sequence[bytes | str | None],
        keys: Sequence[bytes | None] | None = None,
        partition: int = 0,
    ) -> None:
        """Send messages to a partition, in this order."""
        raw = [v.encode() if isinstance(v, str) else v for v in values]
        n = len(raw)
        columns: Mapping[str, Any] = {
            "key": [None] * n if keys is None else keys,
            "value": raw,
            "topic": [topic] * n,
            "partition": [partition] * n,
        }
        self.write(spark.createDataFrame(pa.table(columns, _MESSAGES)).coalesce(1))

    def write(self, messages: DataFrame) -> None:
        """Send the rows of a DataFrame, with the columns of Spark's sink."""
        options = {
            "kafka.bootstrap.servers": self.servers,
            "kafka.max.in.flight.requests.per.connection": "1",  # see the sink
        }
        messages.write.format("kafka").options(**options).save()

    def messages(self, spark: SparkSession, topic: str) -> list[Any]:
        """The messages of a topic, by partition and offset."""
        options = {
            "kafka.bootstrap.servers": self.servers,
            "subscribe": topic,
            "includeHeaders": "true",
        }
        found = spark.read.format("kafka").options(**options).load()
        return found.orderBy("partition", "offset").collect()

    def _java(self) -> list[str]:
        jars = f"{directory_of(BROKER)}{os.sep}*"
        return [str(require_java()), *_SMALL, "-cp", jars]

    def _run(self, *words: object) -> None:
        command = [*self._java(), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def _settings(port: int, controller: int, data: Path) -> str:
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(data),
        "num.partitions": "2",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _free_ports(n: int) -> list[int]:
    sockets = [socket.socket() for _ in range(n)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def _listens(port: int) -> bool:
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    print(f"broker of Kafka: {fetch(require_java(), BROKER)}")
