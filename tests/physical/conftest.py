"""DuckDB over the columns of the tests."""

from __future__ import annotations

import duckdb
import pytest

from expression_columns import connect


@pytest.fixture(scope="module")
def duck() -> duckdb.DuckDBPyConnection:
    return connect()
