"""A job whose queries have tables of PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from postgres_server import PostgresServer
from spark_cases import Feed
from table_jobs import TableJob


class PostgresJob(TableJob):
    """Its tables are in a schema of their own."""

    def __init__(
        self, spark: SparkSession, server: PostgresServer, place: Path, feeds: tuple[Feed, Feed]
    ) -> None:
        super().__init__(spark, place, feeds)
        self.server = server
        self.schema = f"j{place.name.replace('-', '_')}".lower()
        server.execute(f"CREATE SCHEMA {self.schema}")

    def sink(self, name: str) -> dict[str, str]:
        url = self.server.url.replace("postgres@", "postgres:s3cret@")  # not asked for
        table = f"{self.schema}.{name}"
        return {"sink": "postgres", "url": url, "table": table, "on_failure": self.on_failure}

    def table(self, name: str, columns: str = "*") -> list[tuple[Any, ...]]:
        return sorted(self.server.rows(f"SELECT {columns} FROM {self.schema}.{name}"), key=repr)

    def answer(self, name: str) -> list[tuple[Any, ...]]:
        return self.table(name)

    def changes(self, name: str) -> list[tuple[Any, ...]]:
        return self.table(name, "_op, (extract(epoch FROM _ts) * 1000000)::bigint, k, v")
