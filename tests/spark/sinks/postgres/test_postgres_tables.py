"""Tables of the sink ``postgres``: types, answers that follow changes, and repeated batches."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import DataError, StateError
from eddyline.engine.query import Query
from eddyline.runtime.output import CHANGE_COLUMNS
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.operation.script_delta import with_sink
from eddyline.spark.sinks.postgres.postgres_sink import PostgresSink
from table_cases import EngineTables, answer, bag, changes, rows_of_streams, upsert

if TYPE_CHECKING:
    from postgres_server import PostgresServer


class Tables(EngineTables):
    """Tables of PostgreSQL in a schema of their own."""

    def __init__(
        self, server: PostgresServer, schema: str, queries: Mapping[str, tuple[str, str]], job: str
    ) -> None:
        self.server = server
        server.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        self._schema = schema
        sinks = {
            name: f"sink = 'postgres', url = '{server.url}'{self._table(name, options)}{options}"
            for name, (_, options) in queries.items()
        }
        super().__init__({name: (queries[name][0], sink) for name, sink in sinks.items()}, job)

    def _table(self, name: str, options: str) -> str:
        return "" if "table =" in options else f", table = '{self._schema}.{name}'"

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        return bag(self.server.rows(f"SELECT * FROM {self._schema}.{table}"))


@pytest.fixture
def schema(request: pytest.FixtureRequest) -> str:
    return f"s{abs(hash(request.node.name))}"


@pytest.mark.parametrize("seed", range(3))
def test_tables_equal_the_answers(postgres: PostgresServer, schema: str, seed: int) -> None:
    Tables(postgres, schema, upsert(), "job").follow(seed)


def test_all_values_survive(postgres: PostgresServer, schema: str) -> None:
    """NULL beside empty texts and bytes, NaN, the largest and smallest values, special texts."""
    instants = [-62_135_596_800_000_000, 253_402_300_799_999_999, None]
    columns = {
        "b": pa.array([True, False, None]),
        "i8": pa.array([-128, 127, None], pa.int8()),
        "i16": pa.array([-(2**15), 2**15 - 1, None], pa.int16()),
        "i32": pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
        "i64": pa.array([-(2**63), 2**63 - 1, None]),
        "f": pa.array([0.1, 1e-45, None], pa.float32()),
        "d": pa.array([float("nan"), float("-inf"), 5e-324]),
        "s": pa.array(["", 'a",\r\n\\.\\N\t\U0001f600', None]),
        "y": pa.array([b"", b"\x00\xff\\x", None], pa.binary()),
        "day": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
        "at": pa.array(instants, CHANGE_COLUMNS[1].type),
        "n": pa.array(
            [decimal.Decimal("0.0000001"), decimal.Decimal(-(10**30)), None], pa.decimal128(38, 7)
        ),
    }
    types = "b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f FLOAT, d DOUBLE, s STRING"
    more = "y BINARY, day DATE, at TIMESTAMP, n DECIMAL(38, 7)"
    tables = Tables(postgres, schema, {}, "job")
    tables.engine.sql(f"CREATE STREAM z (ts TIMESTAMP, {types}, {more}) TIMESTAMP BY ts")
    select = f"SELECT {', '.join(columns)} FROM z [NOW]"
    sink = f"sink = 'postgres', url = '{postgres.url}', table = '{schema}.q'"
    (query,) = tables.engine.sql(f"CREATE QUERY q AS {select} WITH ({sink})")
    assert isinstance(query, Query)
    tables.sinks.open(query)
    tables.deliver(0, [changes(**columns)])
    tables.deliver(1, [changes(**{name: c.slice(1) for name, c in columns.items()})])
    own = ", ".join("at AT TIME ZONE 'UTC'" if name == "at" else name for name in columns)
    found = postgres.rows(f"SELECT {own} FROM {schema}.q")
    plain = {name: c.to_pylist() for name, c in columns.items()}
    plain["f"] = [0.1, 1e-45, None]
    plain["at"] = [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999_999), None]
    expected = list(zip(*plain.values(), strict=True))
    assert repr(bag(found)) == repr(bag([*expected, *expected[1:]]))


def test_queries_share_a_table_by_name(postgres: PostgresServer, schema: str) -> None:
    same = f", table = '{schema}.both', mode = 'upsert'"
    select = "SELECT k, COUNT(*) AS n FROM a [RANGE {} SECONDS] GROUP BY k"
    queries = {name: (select.format(s), same) for name, s in (("short", 1), ("long", 9))}
    log = ("SELECT id FROM a [RANGE 1 SECONDS] EMIT CHANGES", ", mode = 'changelog'")
    tables = Tables(postgres, schema, queries | {"log": log}, "job")
    rng = np.random.default_rng(0)
    for batch in range(3):
        out = tables.engine.process(rows_of_streams(rng, batch * 12, 12))
        tables.deliver(batch, list(out.batches()), times=2)
        expected = [(n, *row) for n in queries for row in answer(tables.engine.queries[n])]
        assert tables.rows("both") == bag(expected)
    emptied = tables.sinks.emptied(frozenset("a"))
    (sink,) = {s for s in emptied if isinstance(s, PostgresSink) and s.shared}
    sink.deliver(3, [], {}, emptied[sink])
    assert tables.rows("both") == []
    sign = "CASE _op WHEN '+' THEN 1 ELSE -1 END"
    net = postgres.rows(f"SELECT id FROM {schema}.log GROUP BY id HAVING sum({sign}) > 0")
    assert bag(net) == answer(tables.engine.queries["log"])
    order = [
        row[:2]
        for row in postgres.rows(f"SELECT _batch, _seq, _op FROM {schema}.log ORDER BY 1, 2")
    ]
    assert order == sorted(set(order)) and len(order) > 20


def test_rows_with_one_key_are_refused(postgres: PostgresServer, schema: str) -> None:
    query = {
        "q": ("SELECT k FROM a [RANGE 9 SECONDS] EMIT CHANGES", ", mode = 'upsert', key = 'k'")
    }
    tables = Tables(postgres, schema, query, "job")
    rows = pa.table({"ts": [1, 2], "id": [1, 2], "k": [5, 5], "v": [0.0, 0.0], "w": ["", ""]})
    out = tables.engine.process({"a": rows})
    with pytest.raises(
        DataError, match=r"'q': .*two rows of the answer have the same key \(k\).*=\(5\)"
    ):
        tables.deliver(0, list(out.batches()))
    assert tables.rows("q") == []


def test_tables_that_are_there_are_checked(postgres: PostgresServer, schema: str) -> None:
    query = {
        "q": ("SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k", ", mode = 'upsert'")
    }
    postgres.execute(f"CREATE SCHEMA {schema}")
    for definition, message in [
        ("k bigint", "has no column 'n'"),
        ("k bigint, n text", "column 'n' has the type text, and bigint is needed"),
        ("k bigint, n bigint, x int NOT NULL", "column 'x' is NOT NULL and has no default"),
        ("k bigint, n bigint", r"no unique index on \(k\): CREATE UNIQUE INDEX"),
        ("k bigint UNIQUE, n bigint", r"no unique index on \(k\): CREATE UNIQUE INDEX"),
    ]:
        postgres.execute(
            f"DROP TABLE IF EXISTS {schema}.q", f"CREATE TABLE {schema}.q ({definition})"
        )
        with pytest.raises(DataError, match=f"^'q': sink 'postgres', table 'q': .*{message}"):
            Tables(postgres, schema, query, "job")
    own = "k numeric PRIMARY KEY, n bigint, at timestamptz DEFAULT now()"
    postgres.execute(f"DROP TABLE {schema}.q", f"CREATE TABLE {schema}.q ({own})")
    tables = Tables(postgres, schema, query, "job")
    tables.deliver(0, [changes(k=pa.array([3, 3]), n=pa.array([1, 2]))])
    assert [row[:2] for row in tables.rows("q")] == [(3, 2)]


def test_a_table_belongs_to_one_job(postgres: PostgresServer, schema: str) -> None:
    query = {
        "q": ("SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k", ", mode = 'upsert'")
    }
    rows = [changes(k=pa.array([3]), n=pa.array([1]))]
    first = Tables(postgres, schema, query, "job")
    first.deliver(0, rows)
    with pytest.raises(StateError, match="has rows that this job has not written"):
        Tables(postgres, schema, query, "a new checkpoint")
    again = Tables(postgres, schema, query, "job")  # a restart
    with pytest.raises(StateError, match="another job or session writes"):
        first.deliver(1, rows)
    again.deliver(0, rows)
    postgres.execute(f"TRUNCATE {schema}.q")
    other = Tables(postgres, schema, query, "a new checkpoint")
    with pytest.raises(StateError, match="another job or session writes"):
        again.deliver(1, rows)
    other.deliver(0, rows)
    postgres.execute(f"DROP TABLE {schema}.q")
    with pytest.raises(StateError, match="is missing, although the job has written batch 0"):
        Tables(postgres, schema, query, "a new checkpoint")
    to_one = f", table = '{schema}.t'"
    twice = {"x": ("SELECT k FROM a [NOW]", to_one), "y": ("SELECT k, v FROM a [NOW]", to_one)}
    columns = "_op text, _ts timestamptz, _exp timestamptz, k bigint, v float"
    postgres.execute(f"CREATE TABLE {schema}.t ({columns})")
    with pytest.raises(DataError, match="another query of the job writes to the table"):
        Tables(postgres, schema, twice, "job")


def test_connections(
    postgres: PostgresServer, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = {"q": ("SELECT k FROM a [NOW]", "")}
    tables = Tables(postgres, schema, query, "job")
    rows = [changes(k=pa.array([3]))]
    tables.deliver(0, rows)
    postgres.halt()
    with pytest.raises(DataError, match=r"^'q': sink 'postgres', table 'q': .*connection"):
        tables.deliver(1, rows)
    postgres.start()
    tables.deliver(1, rows)
    postgres.halt()
    postgres.start()
    tables.deliver(2, rows)  # over a new connection
    tables.sinks.close()
    tables.deliver(3, rows, times=2)
    assert len(tables.rows("q")) == 4

    postgres.execute("CREATE ROLE locked LOGIN SUPERUSER PASSWORD 's3cret'")
    options = f"host = '{postgres.host}', user = 'locked', database = 'postgres'"
    engine = tables.engine
    for number, (more, works) in enumerate(
        [("", False), (", password_env = 'NONE_SUCH'", False), (", password_env = 'SECRET'", True)]
    ):
        monkeypatch.setenv("SECRET", "s3cret")
        sink = f"sink = 'postgres', table = '{schema}.p{number}', {options}{more}"
        (made,) = engine.sql(f"CREATE QUERY p{number} AS SELECT k FROM a [NOW] WITH ({sink})")
        assert isinstance(made, Query)
        if works:
            tables.sinks.open(made)
            continue
        with pytest.raises(DataError, match=f"'p{number}': .*(password|NONE_SUCH)") as caught:
            tables.sinks.open(made)
        assert "s3cret" not in str(caught.value)
    url = postgres.url.replace("postgres@", "locked:s3cret@")
    (made,) = engine.sql(
        "CREATE QUERY u AS SELECT k FROM a [NOW] "
        f"WITH (sink = 'postgres', table = '{schema}.u', url = '{url}')"
    )
    assert isinstance(made, Query)
    with pytest.raises(DataError, match=r"url has a secret, .* password_env"):
        tables.sinks.open(made)
    tables.sinks.open_first([made])
    assert [*tables.sinks.emptied(frozenset("a")).values()] == [["q"], ["p2"], ["u"]]
    binding = tables.sinks.find("u")
    assert binding is not None and isinstance(binding.sink, PostgresSink)
    binding.sink.prepare()


def test_a_new_row_of_a_group_that_cannot_be_stored_deletes_the_old_one(
    postgres: PostgresServer, schema: str
) -> None:
    query = ("SELECT k, MAX(w) AS w FROM a [RANGE 9 SECONDS] GROUP BY k", ", mode = 'upsert'")
    named = ("SELECT w, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY w", ", mode = 'upsert'")
    tables = Tables(postgres, schema, {"q": query, "named": named}, "job")
    sinks = [tables.sinks.find(name) for name in ("q", "named")]
    for batch, (texts, expected) in enumerate(
        [(["a", "b"], ["a", "b"]), (["c", "d\0"], ["c"]), (["e\0", "f"], ["f"])]
    ):
        rows = {"k": pa.array([1, 2]), "w": pa.array(texts), "n": pa.array([batch, batch])}
        for binding, columns in zip(sinks, (["k", "w"], ["w", "n"]), strict=True):
            assert binding is not None and isinstance(binding.sink, PostgresSink)
            part = QueryRows.of(changes(**{c: rows[c] for c in columns}))
            (refused,) = [t for _, t in binding.sink.refused([part])] or [pa.table({"_row": []})]
            assert refused.num_rows == 2 - len(expected)
            binding.sink.deliver(batch, [part], {})
        assert [w for _, w in tables.rows("q")] == expected
    assert tables.rows("named") == [("a", 0), ("b", 0), ("c", 1), ("f", 2)]


def test_an_answer_cannot_begin_in_another_table(postgres: PostgresServer, schema: str) -> None:
    select = "SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k"
    tables = Tables(postgres, schema, {"q": (select, ", mode = 'upsert'")}, "job")
    rows = [changes(k=pa.array([1]), n=pa.array([1]))]
    tables.deliver(0, rows)
    query = tables.engine.queries["q"]

    def altered(table: str, mode: str) -> None:
        options = {**query.options, "table": f"{schema}.{table}", "mode": mode}
        tables.sinks.open(with_sink(query, options), instead_of=query)

    with pytest.raises(DataError, match="would not have the answer of the query, but only what"):
        altered("other", "upsert")
    tables.deliver(1, rows)
    assert tables.rows("q") == [(1, 1)], "nothing has changed"
    postgres.execute(
        f"CREATE TABLE {schema}.copy (LIKE {schema}.q INCLUDING INDEXES)",
        f"INSERT INTO {schema}.copy SELECT * FROM {schema}.q",
        f"INSERT INTO {schema}.eddyline_batches SELECT job, 'copy', batch, session"
        f" FROM {schema}.eddyline_batches",
    )
    altered("copy", "upsert")
    altered("log", "append")
    assert {b.target.label for b in tables.sinks.bindings("q")} == {"q"}
    assert len(tables.sinks.bindings("q")) == 3
