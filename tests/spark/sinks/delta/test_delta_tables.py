"""Tables of the sink ``delta``: types, answers that follow changes, and repeated batches."""

from __future__ import annotations

import datetime as dt
import decimal
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from eddyline import DataError, StateError
from eddyline.engine.query import Query
from eddyline.errors import SqlError
from eddyline.spark.operation.script_delta import with_sink
from eddyline.spark.script import Script
from eddyline.spark.sinks.failure_policy import UnavailableError
from lake_tables import LakeTables, check_appended_once, check_equal_keys, check_shared
from table_cases import STREAMS, bag, changes, upsert

deltalake = pytest.importorskip("deltalake", reason="the extra 'delta' is not installed")

GROUPS = "SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k"


class Tables(LakeTables):
    """Delta tables below a directory."""

    def __init__(
        self,
        place: Path,
        queries: Mapping[str, tuple[str, str]],
        job: str = "job",
        *,
        again: bool = False,
    ) -> None:
        self.place = place
        sinks = {
            name: (select, f"sink = 'delta'{self._path(name, options)}{options}")
            for name, (select, options) in queries.items()
        }
        super().__init__(sinks, job, again=again)

    def _path(self, name: str, options: str) -> str:
        return "" if "path =" in options else f", path = '{self.place / name}'"

    def table(self, name: str) -> pa.Table:
        return deltalake.DeltaTable(self.place / name).to_pyarrow_table()


@pytest.mark.parametrize("seed", range(2))
def test_tables_equal_the_answers(tmp_path: Path, seed: int) -> None:
    Tables(tmp_path, upsert()).follow(seed)


def test_batches_are_appended_once_also_after_a_restart(tmp_path: Path) -> None:
    check_appended_once(Tables, tmp_path)
    assert len(deltalake.DeltaTable(tmp_path / "plain").history()) == 4, "one commit per batch"


def test_many_batches_leave_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_table = "eddyline.spark.sinks.delta.delta_table."
    monkeypatch.setattr(f"{of_table}_COMPACTED_EVERY", 5)
    monkeypatch.setattr(f"{of_table}_CLEANED_EVERY", 10)
    queries = {"q": ("SELECT k FROM a [NOW]", ""), "g": (GROUPS, ", mode = 'upsert'")}
    tables = Tables(tmp_path, queries)
    table = deltalake.DeltaTable(tmp_path / "q")
    table.alter.set_table_properties({"delta.deletedFileRetentionDuration": "interval 0 hours"})
    for batch in range(23):
        rows = changes(k=pa.array([batch]), n=pa.array([batch % 3]))
        of_g = rows.set_column(0, "_query", pa.array(["g"]).dictionary_encode())
        tables.deliver(batch, [rows.drop_columns("n"), of_g])
    assert sorted(tables.table("q")["k"].to_pylist()) == list(range(23))
    assert tables.rows("g") == bag([(k, k % 3) for k in range(23)])
    for name in queries:
        assert len(deltalake.DeltaTable(tmp_path / name).file_uris()) <= 5
    assert len(list((tmp_path / "q").glob("*.parquet"))) < 15, "old ones are deleted"


def test_new_tables_keep_old_versions_for_some_time(tmp_path: Path) -> None:
    queries = {"q": ("SELECT k FROM a [NOW]", ""), "g": (GROUPS, ", mode = 'upsert'")}
    Tables(tmp_path, queries)
    for name, time in (("q", "1 day"), ("g", "1 hour")):
        properties = deltalake.DeltaTable(tmp_path / name).metadata().configuration
        assert properties["delta.logRetentionDuration"] == "interval 1 day"
        assert properties["delta.deletedFileRetentionDuration"] == f"interval {time}"


def test_of_two_writers_of_a_batch_one_wins(tmp_path: Path) -> None:
    """A driver that was thought to be dead writes the same batch at the same time."""
    tables = Tables(tmp_path, {"q": ("SELECT k FROM a [NOW]", "")})
    rows = [changes(k=pa.array([3]))]
    write = deltalake.write_deltalake

    def late(table: Any, *arguments: Any, **options: Any) -> None:
        monkey.undo()
        Tables(tmp_path, {"q": ("SELECT k FROM a [NOW]", "")}, again=True).deliver(0, rows)
        write(table, *arguments, **options)

    with pytest.MonkeyPatch.context() as monkey:
        monkey.setattr("eddyline.spark.sinks.delta.delta_table.write_deltalake", late)
        with pytest.raises(DataError, match=r"^'q': sink 'delta', table '.*oncurrent transaction"):
            tables.deliver(0, rows)
    tables.deliver(0, rows)
    assert len(tables.rows("q")) == 1


def test_all_values_survive(tmp_path: Path) -> None:
    instants = [-62_135_596_800_000_000, 253_402_300_799_999_999, None]
    columns = {
        "b": pa.array([True, False, None]),
        "i8": pa.array([-128, 127, None], pa.int8()),
        "i16": pa.array([-(2**15), 2**15 - 1, None], pa.int16()),
        "i32": pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
        "i64": pa.array([-(2**63), 2**63 - 1, None]),
        "f": pa.array([0.1, 1e-45, None], pa.float32()),
        "d": pa.array([float("nan"), float("-inf"), 5e-324]),
        "s": pa.array(["", 'a",\r\n\\.\\N\t\0\U0001f600', None]),
        "y": pa.array([b"", b"\x00\xff\\x", None], pa.binary()),
        "day": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
        "at": pa.array(instants, pa.timestamp("us", "UTC")),
        "n": pa.array(
            [decimal.Decimal("0.0000001"), decimal.Decimal(-(10**30)), None], pa.decimal128(38, 7)
        ),
    }
    types = "b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f FLOAT, d DOUBLE, s STRING"
    more = "y BINARY, day DATE, at TIMESTAMP, n DECIMAL(38, 7)"
    tables = Tables(tmp_path, {})
    stream = f"CREATE STREAM z (ts TIMESTAMP, {types}, {more}) TIMESTAMP BY ts"
    tables.engine.sql(stream)
    for name, options in (("q", ""), ("u", ", mode = 'upsert', key = 'i64, S'")):
        select = f"SELECT {', '.join(columns)} FROM z [RANGE 1 SECOND] EMIT CHANGES"
        sink = f"sink = 'delta', path = '{tmp_path / name}'{options}"
        (query,) = tables.engine.sql(f"CREATE QUERY {name} AS {select} WITH ({sink})")
        assert isinstance(query, Query)
        tables.sinks.open(query)
    rows = changes(**columns)
    of_u = rows.set_column(0, "_query", pa.array(["u"] * 3).dictionary_encode())
    tables.deliver(0, [rows, of_u])
    tables.deliver(1, [rows.slice(1)])
    expected = pa.table(columns)
    for name, wanted in (("q", pa.concat_tables([expected, expected.slice(1)])), ("u", expected)):
        found = tables.table(name).select(list(columns))
        assert found.schema.types == expected.schema.types
        assert repr(bag(found.to_pylist())) == repr(bag(wanted.to_pylist()))


def test_queries_share_a_table_by_name(tmp_path: Path) -> None:
    check_shared(Tables, tmp_path, f"path = '{tmp_path / 'both'}'")


@pytest.mark.parametrize("key", ["k", "k, w"])
def test_rows_with_one_key_are_refused(tmp_path: Path, key: str) -> None:
    check_equal_keys(Tables, tmp_path, "delta", key)


def test_tables_that_are_there_are_checked(tmp_path: Path) -> None:
    query = {"q": (GROUPS, ", mode = 'upsert'")}
    n = pa.field("n", pa.int64())
    for fields, message in [
        ([n], r"it has no column 'k' \(BIGINT\); its columns: n"),
        ([n, pa.field("k", pa.string())], "column 'k' has the type STRING, and BIGINT is needed"),
        ([n, pa.field("k", pa.int64()), pa.field("x", pa.int8(), False)], "column 'x' is NOT NULL"),
    ]:
        deltalake.DeltaTable.create(tmp_path / "q", pa.schema(fields), mode="overwrite")
        with pytest.raises(DataError, match=f"^'q': sink 'delta', table '.*q': {message}"):
            Tables(tmp_path, query)
    fields = [n, pa.field("x", pa.string()), pa.field("k", pa.int64())]
    deltalake.DeltaTable.create(
        tmp_path / "q", pa.schema(fields), mode="overwrite", partition_by=["k"]
    )
    tables = Tables(tmp_path, query)
    tables.deliver(0, [changes(k=pa.array([3, 3, 4]), n=pa.array([1, 2, 5]))])
    tables.deliver(1, [changes(k=pa.array([4]), n=pa.array([6]))])
    found = tables.table("q").select(["k", "n", "x"]).sort_by("k").to_pylist()
    assert found == [{"k": 3, "n": 2, "x": None}, {"k": 4, "n": 6, "x": None}]
    other = pa.table({"k": [9], "x": ["y"]})
    deltalake.write_deltalake(tmp_path / "q", other, mode="overwrite", schema_mode="overwrite")
    with pytest.raises(DataError, match=r"^'q': sink 'delta', .*it has no column 'n' \(BIGINT\)"):
        tables.deliver(2, [changes(k=pa.array([4]), n=pa.array([7]))])
    shutil.rmtree(tmp_path / "q")
    with pytest.raises(StateError, match=r"^'q': .*the table is missing: restore it, or start"):
        Tables(tmp_path, query, again=True)


def test_a_table_belongs_to_one_job(tmp_path: Path) -> None:
    query = {"q": (GROUPS, ", mode = 'upsert'")}
    rows = [changes(k=pa.array([3]), n=pa.array([1]))]
    first = Tables(tmp_path, query)
    first.deliver(0, rows)
    with pytest.raises(StateError, match="has rows that this job has not written"):
        Tables(tmp_path, query, "a new checkpoint")
    Tables(tmp_path, query, again=True).deliver(0, rows)
    first.deliver(1, [changes(k=pa.array([4]), n=pa.array([1]))])
    deltalake.DeltaTable(tmp_path / "q").delete()
    other = Tables(tmp_path, query, "a new checkpoint")
    with pytest.raises(StateError, match="another job has taken the table"):
        first.deliver(2, rows)
    with pytest.raises(StateError, match="the table belongs to another job"):
        Tables(tmp_path, query, again=True)
    other.deliver(0, rows)
    assert other.rows("q") == [(3, 1)]
    path = f", path = '{tmp_path / 't'}'"
    twice = {"x": ("SELECT k FROM a [NOW]", path), "y": ("SELECT k, v FROM a [NOW]", path)}
    with pytest.raises(
        DataError, match=r"'y': the table '.*t' belongs to 'x', whose sink has other"
    ):
        Tables(tmp_path, twice)


def test_an_answer_cannot_begin_in_another_table(tmp_path: Path) -> None:
    tables = Tables(tmp_path, {"q": (GROUPS, ", mode = 'upsert'")})
    rows = [changes(k=pa.array([1]), n=pa.array([1]))]
    tables.deliver(0, rows)
    query = tables.engine.queries["q"]

    def altered(table: str, mode: str) -> None:
        options = {**query.options, "path": str(tmp_path / table), "mode": mode}
        tables.sinks.open(with_sink(query, options), instead_of=query)

    with pytest.raises(DataError, match="would not have the answer of the query, but only what"):
        altered("other", "upsert")
    tables.deliver(1, rows)
    assert tables.rows("q") == [(1, 1)], "nothing has changed"
    shutil.copytree(tmp_path / "q", tmp_path / "copy")
    altered("copy", "upsert")
    altered("log", "append")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    query = ("SELECT k FROM a [NOW]", f", path = '{tmp_path}/file/t'")
    with pytest.raises(UnavailableError, match=r"^'q': sink 'delta', table '.*/file/t': "):
        Tables(tmp_path, {"q": query})
    Tables(tmp_path, {"q": query}, again=True)  # its results wait
    nested = "SELECT k, INTERVAL '1' SECOND AS d FROM a [NOW]"
    with pytest.raises(DataError, match="column 'd': Delta has no type for INTERVAL"):
        Tables(tmp_path, {"q": (nested, "")})


@pytest.mark.parametrize(
    ("select", "options", "message"),
    [
        (GROUPS, "", "needs the option 'path'"),
        (GROUPS, "path = 't', mode = 'upser'", "did you mean 'upsert'"),
        (GROUPS, "path = 't', mergeSchema = 'true'", "has no option 'mergeSchema'"),
        (GROUPS, "path = 't', mode = 'changelog'", "'changelog' needs EMIT CHANGES"),
        (GROUPS, "path = 't', mode = 'upsert', key = 'n'", r"replace each other by \(k\)"),
        (f"{GROUPS} EMIT CHANGES", "path = 't', mode = 'upsert'", "needs the option key"),
        ('SELECT k AS "a b" FROM a [NOW]', "path = 't'", "can have the name 'a b': use AS"),
        (
            "SELECT k AS _Seq FROM a [NOW] EMIT CHANGES",
            "path = 't', mode = 'changelog'",
            "the table has a column '_Seq' of its own",
        ),
    ],
)
def test_what_is_refused_and_where(select: str, options: str, message: str) -> None:
    more = f", {options}" if options else ""
    script = f"{STREAMS}\nCREATE QUERY q AS {select} WITH (sink = 'delta'{more})"
    with pytest.raises(SqlError, match=message) as caught:
        list(Script().run(script))
    assert caught.value.line == 2
