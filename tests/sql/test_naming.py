"""Names of what is created: nothing that leaves a directory, and nothing that cannot be seen."""

from __future__ import annotations

import pytest

from eddyline import Engine
from eddyline.errors import CatalogError, SqlError
from eddyline.sql.naming import LONGEST_NAME, quoted, why_no_name

GOOD = [
    "trades",
    "_x",
    "2026-q1",
    "a b",
    "v1.2",
    "Größe",
    "東京",
    "हिन्दी",
    "x$1",
    "a" * LONGEST_NAME,
]
BAD = [
    *("", ".", "..", "../../etc/x", "a/b", "a\\b", ".hidden", "-rf", " a", "a ", "a.", "$x"),
    *("late:s", "bad:q", "a\nb", "a\x00", "a\tb", "a`b", "a'b", 'a"b', "*", "a%b", "C:"),
    *("a\u202eb", "a\u200bb", "\U0001f600", "a" * (LONGEST_NAME + 1), "a\u2028b"),
]
CREATED = {
    "stream": "CREATE STREAM {} (ts TIMESTAMP) TIMESTAMP BY ts",
    "table": "CREATE TABLE {} (x INT) WITH (updates = 'retroactive')",
    "view": "CREATE VIEW {} AS SELECT ts FROM s",
    "query": "CREATE QUERY {} AS SELECT ts FROM s",
}


def engine() -> Engine:
    made = Engine()
    made.sql("CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts")
    return made


@pytest.mark.parametrize("kind", CREATED)
def test_names_that_are_allowed(kind: str) -> None:
    made = engine()
    for name in GOOD:
        assert why_no_name(name) is None
        made.sql(CREATED[kind].format(quoted(name)))


@pytest.mark.parametrize("kind", CREATED)
@pytest.mark.parametrize("name", BAD)
def test_names_that_are_refused_at_their_place(kind: str, name: str) -> None:
    said = "cannot be a name: names have letters" if name else "is empty"
    with pytest.raises(SqlError, match=said) as caught:
        engine().sql(CREATED[kind].format(quoted(name)))
    assert (caught.value.line, caught.value.column) == (1, len(f"CREATE {kind} ") + 1)
    str(caught.value).encode()


@pytest.mark.parametrize("name", [n for n in BAD if n])
def test_names_given_through_python(name: str) -> None:
    made = engine()
    with pytest.raises(SqlError, match="cannot be a name"):
        made.query("SELECT ts FROM s", name=name)
    assert not made.queries
    with pytest.raises(CatalogError, match="cannot define function"):
        made.function(name, abs, args=["BIGINT"], returns="BIGINT")


def test_half_characters_are_no_names() -> None:
    with pytest.raises(SqlError, match="ud800' cannot be a name"):
        engine().query("SELECT ts FROM s", name="\ud800")
    with pytest.raises(SqlError, match=r"U\+D800 is half of a surrogate pair"):
        engine().sql("CREATE VIEW `\ud800` AS SELECT ts FROM s")


def test_columns_have_names() -> None:
    with pytest.raises(SqlError, match="line 1, column 18: the name of a column is empty"):
        engine().sql("CREATE STREAM z (`` INT) TIMESTAMP BY ts")
