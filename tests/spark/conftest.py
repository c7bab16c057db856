"""One Spark session for all tests, and small streams as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_cases import Feed

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


@pytest.fixture
def feeds(tmp_path: Path) -> tuple[Feed, Feed]:
    return Feed(tmp_path / "a"), Feed(tmp_path / "b")
