"""Options of the sink ``postgres``: what is refused before a job starts, and what is stored."""

from __future__ import annotations

import re

import pytest

from eddyline.errors import DataError, SqlError
from eddyline.spark.script import Script

STREAM = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;"
ROWS = "SELECT k, v FROM s [RANGE 9 SECONDS]"
GROUPS = "SELECT k, COUNT(*) AS n FROM s [RANGE 9 SECONDS] GROUP BY k"


def made(select: str, options: str) -> Script:
    script = Script()
    create = f"CREATE QUERY q AS {select} WITH (sink = 'postgres', {options})"
    list(script.run(f"{STREAM}\n{create}"))
    return script


@pytest.mark.parametrize(
    ("select", "options"),
    [
        (ROWS, "table = 't'"),
        (ROWS, "TABLE = 'sales.\"T 1\"', url = 'postgresql://me@host:5433/db', Mode = 'APPEND'"),
        (f"{ROWS} EMIT CHANGES", "table = 't', mode = 'changelog', host = 'h', port = 5432"),
        (f"{ROWS} EMIT CHANGES", "table = 't', mode = 'upsert', key = 'V, k'"),
        (GROUPS, "table = 't', mode = 'upsert'"),
        (GROUPS, "table = 't', mode = 'upsert', key = 'K'"),
        ("SELECT COUNT(*) AS n FROM s [RANGE 9 SECONDS]", "table = 't', mode = 'upsert'"),
    ],
)
def test_valid_options(select: str, options: str) -> None:
    assert list(made(select, options).queries) == ["q"]


@pytest.mark.parametrize(
    ("select", "options", "message"),
    [
        (ROWS, "url = 'postgresql://h/db'", "needs the option 'table'"),
        (ROWS, "table = 'a.b.c'", "table = 'a.b.c' is not a name, or schema.name"),
        (ROWS, "table = 't', mode = 'upser'", "did you mean 'upsert'"),
        (ROWS, "table = 't', tabel = 'u'", "did you mean 'table'"),
        (ROWS, "table = 't', url = 'host=h'", "url is not of the form postgresql://"),
        (ROWS, "table = 't', url = 'postgresql://h', host = 'h'", "not both"),
        (ROWS, "table = 't', port = 'x'", "port = 'x' is not a number"),
        (ROWS, "table = 't', key = 'k'", "a key is for mode = 'upsert' only"),
        (ROWS, "table = 't', mode = 'changelog'", "'changelog' needs EMIT CHANGES"),
        (ROWS, "table = 't', mode = 'upsert', key = 'k'", "'upsert' needs EMIT CHANGES"),
        (f"{ROWS} EMIT CHANGES", "table = 't', mode = 'upsert'", "needs the option key"),
        (f"{ROWS} EMIT CHANGES", "table = 't', mode = 'upsert', key = 'x'", "no column 'x'"),
        (f"{ROWS} EMIT SNAPSHOT EVERY 1 SECOND", "table = 't', mode = 'upsert'", "EMIT CHANGES"),
        (GROUPS, "table = 't', mode = 'upsert', key = 'n'", r"replace each other by \(k\)"),
        (
            "SELECT COUNT(*) AS n FROM s [RANGE 9 SECONDS] GROUP BY k",
            "table = 't', mode = 'upsert'",
            "GROUP BY columns that are selected",
        ),
        (f"SELECT k AS {'x' * 64} FROM s [NOW]", "table = 't'", "no column of PostgreSQL"),
        (
            ROWS,
            "table = 't', url = 'postgresql://a:b@h', password_env = 'X'",
            "the url has a password",
        ),
    ],
)
def test_what_is_refused_and_where(select: str, options: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        made(select, options)
    assert caught.value.line == 2


def test_a_refused_query_is_not_there() -> None:
    script = Script()
    list(script.run(STREAM))
    options = {"sink": "postgres", "table": "t", "mode": "upsert"}
    with pytest.raises(DataError, match=r"^'q': mode = 'upsert' needs EMIT CHANGES"):
        script.query("q", ROWS, options)
    assert not script.queries
    script.query("q", GROUPS, options)
    assert list(script.queries) == ["q"]


@pytest.mark.parametrize(
    "url",
    ["postgresql://me:s%40cret@host/db", "postgresql://host/db?user=me&password=s%40cret&a=b"],
)
def test_passwords_are_not_stored(url: str) -> None:
    script = made(ROWS, f"table = 't', url = '{url}'")
    script.query("p", ROWS, {"sink": "postgres", "table": "u", "url": url})
    for query in script.queries.values():
        assert query.options["url"] == url, "for the sink"
    texts = [*script.statements, *script.program_of(["q", "p"]), script.view("q")]
    texts += [query.sql for query in script.queries.values()]
    assert not [text for text in texts if "cret" in text]
    again = Script.of(script.statements)
    assert re.search(r"\*\*\*", again.queries["q"].options["url"])
    assert again.statements[-2:] == script.statements[-2:]
