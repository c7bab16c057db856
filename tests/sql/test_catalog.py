from __future__ import annotations

import pytest

from eddyline.errors import CatalogError
from eddyline.sql.catalog import Catalog
from eddyline.sql.parser import parse
from golden import example_catalog


def apply(catalog: Catalog, sql: str) -> None:
    for statement in parse(sql):
        catalog.apply(statement)


def test_names_ignore_case_and_are_kept_as_declared() -> None:
    catalog = Catalog()
    apply(catalog, "CREATE STREAM Trades (ts TIMESTAMP) TIMESTAMP BY ts")
    assert list(catalog.streams) == ["Trades"]
    assert catalog.streams["TRADES"].name == "Trades"
    assert "trades" in catalog.streams


def test_one_space_of_names() -> None:
    with pytest.raises(CatalogError, match="cannot create view 'TRADES': a stream of this name"):
        apply(example_catalog(), "CREATE VIEW TRADES AS SELECT bid FROM quotes")


def test_drop() -> None:
    catalog = example_catalog()
    apply(catalog, "DROP TABLE Companies; CREATE TABLE companies (a INT)")
    assert [f.name for f in catalog.tables["companies"].schema] == ["a"]


def test_drop_of_what_is_not_there() -> None:
    with pytest.raises(CatalogError, match="there is no table 'company'; did you mean 'companies'"):
        apply(example_catalog(), "DROP TABLE company")


def test_a_select_changes_nothing() -> None:
    with pytest.raises(TypeError, match="SelectStatement does not change the catalog"):
        apply(Catalog(), "SELECT x FROM s")
