"""Small streams as files, a server of PostgreSQL, and a broker of Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eddyline.errors import SetupError
from spark_cases import Feed
from webhook_server import WebhookServer

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker
    from postgres_server import PostgresServer


@pytest.fixture
def feeds(tmp_path: Path) -> tuple[Feed, Feed]:
    return Feed(tmp_path / "a"), Feed(tmp_path / "b")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")
    from postgres_server import PostgresServer

    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaBroker]:
    from eddyline.bench.kafka_broker import KafkaBroker

    try:
        broker = KafkaBroker()
    except SetupError as e:
        pytest.skip(str(e))
    yield broker
    broker.stop()


@pytest.fixture
def server() -> Iterator[WebhookServer]:
    made = WebhookServer()
    yield made
    made.close()
