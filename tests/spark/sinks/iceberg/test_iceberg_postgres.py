"""Tables of the sink ``iceberg`` in a catalog in PostgreSQL, which stops and comes again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline.spark.sinks.failure_policy import UnavailableError
from iceberg_catalogs import IcebergTables
from table_cases import changes

if TYPE_CHECKING:
    from postgres_server import PostgresServer

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed")


def test_a_catalog_in_postgresql(tmp_path: Path, postgres: PostgresServer) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    uri = postgres.url.replace("postgresql://", "postgresql+psycopg://")

    class Tables(IcebergTables):
        def sink(self, table: str | None) -> str:
            place = f"catalog_uri = '{uri}', warehouse = '{tmp_path}', table = 'lake.{table}'"
            return f"sink = 'iceberg', {place}"

    queries = {
        "q": ("SELECT k FROM a [NOW]", ""),
        "g": ("SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k", ", mode = 'upsert'"),
    }
    tables = Tables(tmp_path, queries)

    def rows(k: int, n: int) -> list[pa.Table]:
        of_g = changes(k=pa.array([k]), n=pa.array([n]))
        name = pa.array(["g"]).dictionary_encode()
        return [changes(k=pa.array([k])), of_g.set_column(0, "_query", name)]

    tables.deliver(0, rows(3, 1), times=2)
    postgres.halt()
    try:
        for part in rows(3, 2):
            with pytest.raises(UnavailableError, match="': sink 'iceberg', table 'lake"):
                tables.deliver(1, [part])
        Tables(tmp_path, queries, again=True)  # its results wait
    finally:
        postgres.start()
    tables.deliver(1, rows(3, 2), times=2)
    Tables(tmp_path, queries, again=True).deliver(1, rows(3, 2))
    catalog = SqlCatalog("default", uri=uri)
    found = {name: catalog.load_table(f"lake.{name}").scan().to_arrow() for name in queries}
    assert found["q"]["k"].to_pylist() == [3, 3]
    assert found["g"].to_pylist() == [{"k": 3, "n": 2}]
    catalog.close()
