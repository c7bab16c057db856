"""Tables of the sink ``iceberg`` in a REST catalog: lost answers, conflicts, stops, tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.spark.sinks.failure_policy import UnavailableError
from iceberg_catalogs import IcebergTables
from table_cases import changes

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed")

from iceberg_rest import RestCatalogServer

PLAIN = {"q": ("SELECT k FROM a [NOW]", "")}
ANSWER = {"q": ("SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k", ", mode = 'upsert'")}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RestCatalogServer]:
    server = RestCatalogServer(tmp_path)
    yield server
    server.stop()


class Tables(IcebergTables):
    """Tables of the server."""

    server: RestCatalogServer

    def sink(self, table: str | None) -> str:
        token = f"token = '{self.server.token}'"
        return (
            f"sink = 'iceberg', table = 'lake.{table}', catalog_uri = '{self.server.uri}', {token}"
        )


@pytest.fixture(params=["append", "upsert"])
def tables(
    tmp_path: Path, server: RestCatalogServer, request: pytest.FixtureRequest
) -> Iterator[Tables]:
    Tables.server = server
    yield Tables(tmp_path, PLAIN if request.param == "append" else ANSWER)


def rows(tables: Tables, k: int) -> list[pa.Table]:
    columns = {"k": pa.array([k])}
    if "n" in tables.engine.queries["q"].schema.names:
        columns["n"] = pa.array([1])
    return [changes(**columns)]


def keys(tables: Tables) -> list[int]:
    found: list[int] = sorted(tables.table("q")["k"].to_pylist())
    return found


@pytest.mark.parametrize("status", [500, 503, 409])
def test_a_commit_whose_answer_is_lost(
    tables: Tables, server: RestCatalogServer, status: int
) -> None:
    tables.deliver(0, rows(tables, 1))
    server.lost = [status]
    if status == 409:  # as a proxy answers that has sent the commit twice
        tables.deliver(1, rows(tables, 2))
    else:
        with pytest.raises(UnavailableError, match=r"'q': sink 'iceberg', .*the answer is lost"):
            tables.deliver(1, rows(tables, 2))
    assert keys(tables) == [1, 2] and server.commits == 2
    tables.deliver(1, rows(tables, 2))
    assert keys(tables) == [1, 2] and server.commits == 2, "it was found"
    tables.deliver(2, rows(tables, 3))
    assert keys(tables) == [1, 2, 3]


def test_a_server_that_stops(tables: Tables, server: RestCatalogServer) -> None:
    tables.deliver(0, rows(tables, 1))
    server.stop()
    with pytest.raises(UnavailableError, match=r"'q': sink 'iceberg', table 'lake.q': .*refused"):
        tables.deliver(1, rows(tables, 2))
    queries = ANSWER if len(rows(tables, 2)[0].column_names) > 5 else PLAIN
    Tables(tables.place, queries, again=True)  # its results wait
    with pytest.raises(UnavailableError):
        Tables(tables.place, queries)
    server.start()
    tables.deliver(1, rows(tables, 2))
    assert keys(tables) == [1, 2]


def test_a_wrong_token(tables: Tables, server: RestCatalogServer) -> None:
    server.token = "another"
    with pytest.raises(UnavailableError, match=r"'q': sink 'iceberg', .*no token") as caught:
        tables.deliver(0, rows(tables, 1))
    assert "s3cret" not in str(caught.value)
