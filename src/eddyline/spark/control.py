"""The control stream: what is asked of a running job travels as one more input.

It is a directory of small files in the checkpoint, read like a source. So Spark logs which batch
took which file, and a replayed batch sees the same requests at the same place.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from eddyline.spark import files


class ControlStream:
    """Requests to shards, kept in the directory ``control`` of a checkpoint."""

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._spark = spark
        self._directory = f"{checkpoint}/control"
        files.make_directory(spark, self._directory)

    def fat_rows(self) -> DataFrame:
        """The requests as fat rows, to be united with those of the streams."""
        requests = (
            self._spark.readStream.schema("shard BIGINT, name STRING, text STRING")
            .option("mode", "FAILFAST")
            .json(self._directory)
        )
        return requests.select(
            "shard",
            F.lit("control").alias("kind"),
            "name",
            F.lit(0).cast("bigint").alias("part"),
            F.lit(0).cast("bigint").alias("seq"),
            F.lit(0).cast("bigint").alias("n"),
            F.lit(None).cast("bigint").alias("max_ts"),
            F.encode("text", "UTF-8").alias("blob"),
        )

    def end_of_input(self, shards: Iterable[int]) -> None:
        """Ask the shards to process what they hold back, and all expiries that this causes."""
        self._request("end", shards)

    def _request(self, name: str, shards: Iterable[int], text: str = "") -> None:
        lines = [json.dumps({"shard": s, "name": name, "text": text}) for s in shards]
        path = f"{self._directory}/{name}-{uuid.uuid4().hex}.json"
        files.write_text(self._spark, path, "\n".join(lines))
