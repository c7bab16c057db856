"""One Spark session for all tests, and small streams as files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline.spark.environment import local_session

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents and "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = local_session(2)
    yield session
    session.stop()


class Feed:
    """A directory of Parquet files that a stream reads one per batch, in the order written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = 0
        path.mkdir()

    def write(self, *tables: pa.Table) -> None:
        for table in tables:
            file = self.path / f"{self._files:03}.parquet"
            pq.write_table(table, file)
            self._files += 1
            os.utime(file, (self._files, self._files))  # Spark's order is that of these times

    @property
    def source(self) -> str:
        return f"source = 'parquet', path = '{self.path}', maxFilesPerTrigger = 1"


@pytest.fixture
def feeds(tmp_path: Path) -> tuple[Feed, Feed]:
    return Feed(tmp_path / "a"), Feed(tmp_path / "b")
