"""The control stream: what is asked of a running job travels as one more input.

It is a directory of small files in the checkpoint, read like a source. So Spark logs which batch
took which file, and a replayed batch sees the same requests at the same place. The files stay: they
also tell a session that starts from the checkpoint which queries came and went since.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from eddyline.spark import files
from eddyline.spark.batch_time import timed


@dataclass(frozen=True)
class Request:
    """One request to one shard.

    Attributes:
        name: 'sql' (carry out the statement ``text``), or 'end' (no more rows come; ``text`` is how
            many microseconds behind its last row a stream still has effects).
        number: place among the statements for this shard, from 1; 0 for other requests.
        at: when it was asked, in ISO 8601.
    """

    shard: int
    name: str
    text: str
    number: int = 0
    at: str = ""


class ControlStream:
    """Requests to shards, kept in the directory ``control`` of a checkpoint."""

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._spark = spark
        self._directory = f"{checkpoint}/control"
        files.make_directory(spark, self._directory)
        self._statements: dict[int, int] = {}  # how many have been sent, by shard
        for request in self.statements():
            self._statements[request.shard] = request.number

    def fat_rows(self) -> DataFrame:
        """The requests as fat rows, to be united with those of the streams."""
        requests = (
            self._spark.readStream.schema("shard BIGINT, name STRING, text STRING, number BIGINT")
            .option("mode", "FAILFAST")
            .json(self._directory)
        )
        fat = requests.select(
            "shard",
            F.lit("control").alias("kind"),
            "name",
            F.lit(0).cast("bigint").alias("part"),
            F.col("number").alias("seq"),
            F.lit(0).cast("bigint").alias("n"),
            F.lit(0).cast("bigint").alias("dropped"),
            F.lit(None).cast("bigint").alias("max_ts"),
            F.encode("text", "UTF-8").alias("blob"),
        )
        return timed(fat)

    def statements(self) -> list[Request]:
        """All statements ever sent; those of one shard are in the order in which they were sent."""
        texts = files.read_texts(self._spark, f"{self._directory}/sql-*.json")
        requests = [Request(**json.loads(text)) for text in texts]
        return sorted(requests, key=lambda r: r.number)

    def send_statement(self, shard: int, statement: str) -> Request:
        """Ask a shard to carry out CREATE QUERY or DROP QUERY before the rows of a batch."""
        number = self._statements.get(shard, 0) + 1
        at = datetime.now(UTC).isoformat(timespec="seconds")
        request = Request(shard, "sql", statement, number, at)
        self._write("sql", [request])
        self._statements[shard] = number
        return request

    def end_of_input(self, drain_us: Mapping[int, int]) -> None:
        """Ask shards to process what they hold back, and all expiries that this causes.

        Args:
            drain_us: shard to the longest RANGE window of its queries, in microseconds.
        """
        self._write("end", [Request(shard, "end", str(us)) for shard, us in drain_us.items()])

    def _write(self, name: str, requests: list[Request]) -> None:
        lines = [json.dumps(asdict(request)) for request in requests]
        path = f"{self._directory}/{name}-{uuid.uuid4().hex}.json"
        files.write_text(self._spark, path, "\n".join(lines))
