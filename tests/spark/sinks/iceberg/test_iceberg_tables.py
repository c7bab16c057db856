"""Tables of the sink ``iceberg``: types, answers that follow changes, and repeated batches."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import DataError, StateError
from eddyline.engine.query import Query
from eddyline.spark.operation.script_delta import with_sink
from iceberg_catalogs import IcebergTables as Tables
from iceberg_catalogs import catalog_of, iceberg_table
from lake_tables import check_appended_once, check_equal_keys, check_shared
from table_cases import bag, changes, upsert

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed")

GROUPS = "SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k"


def test_tables_equal_the_answers(tmp_path: Path) -> None:
    Tables(tmp_path, upsert()).follow(0)


def test_batches_are_appended_once_also_after_a_restart(tmp_path: Path) -> None:
    check_appended_once(Tables, tmp_path)
    snapshots = iceberg_table(tmp_path, "plain").metadata.snapshots
    told = [(s["eddyline.job"], s["eddyline.batch"]) for s in (s.summary for s in snapshots) if s]
    assert told == [("job", str(batch)) for batch in range(3)], "one snapshot per batch"


def test_other_writers_commit_between_batches(tmp_path: Path) -> None:
    """The last batch is that of the job, also if its snapshots have expired."""
    query = {"q": ("SELECT k FROM a [NOW]", "")}
    tables = Tables(tmp_path, query)
    rows = [changes(k=pa.array([3]))]
    tables.deliver(7, rows)
    Tables(tmp_path, query, "another job").deliver(9, rows)
    foreign = iceberg_table(tmp_path, "q")
    foreign.append(foreign.scan().to_arrow().slice(0, 1))
    assert len(tables.rows("q")) == 3
    head = foreign.metadata.current_snapshot_id
    old = [s.snapshot_id for s in foreign.metadata.snapshots if s.snapshot_id != head]
    foreign.maintenance.expire_snapshots().by_ids(old).commit()
    again = Tables(tmp_path, query, again=True)
    again.deliver(7, rows)
    assert len(tables.rows("q")) == 3
    again.deliver(8, rows)
    assert len(tables.rows("q")) == 4


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
        "st": pa.array([{"x": 1, "z": "a"}, {"x": None, "z": ""}, None]),
        "li": pa.array([[1, None], [], None], pa.list_(pa.int64())),
    }
    types = "b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f FLOAT, d DOUBLE, s STRING"
    more = "y BINARY, day DATE, at TIMESTAMP, n DECIMAL(38, 7), st STRUCT<x BIGINT, z STRING>"
    tables = Tables(tmp_path, {})
    stream = f"CREATE STREAM z (ts TIMESTAMP, {types}, {more}, li ARRAY<BIGINT>) TIMESTAMP BY ts"
    tables.engine.sql(stream)
    flat = [name for name in columns if name not in ("st", "li")]
    for name, names, options in (
        ("q", list(columns), ""),
        ("u", flat, ", mode = 'upsert', key = 'i64, S'"),
    ):
        select = f"SELECT {', '.join(names)} FROM z [RANGE 1 SECOND] EMIT CHANGES"
        sink = f"{tables.sink(name)}{options}"
        (query,) = tables.engine.sql(f"CREATE QUERY {name} AS {select} WITH ({sink})")
        assert isinstance(query, Query)
        tables.sinks.open(query)
    rows = changes(**columns)
    of_u = rows.set_column(0, "_query", pa.array(["u"] * 3).dictionary_encode())
    tables.deliver(0, [rows, of_u.drop_columns(["st", "li"])])
    tables.deliver(1, [rows.slice(1)])
    last = of_u.drop_columns(["st", "li"]).slice(2)
    other = last.set_column(last.column_names.index("b"), "b", pa.array([True]))
    tables.deliver(2, [last.set_column(1, "_op", pa.array(["-"])), other])  # other rows stay
    expected = pa.table(columns)
    wider = {"i8": pa.int32(), "i16": pa.int32()}
    twice = pa.concat_tables([expected, expected.slice(1)])
    for name, wanted in (("q", twice), ("u", expected.select(flat))):
        found = tables.table(name).select(wanted.column_names)
        for field in expected.select(flat).schema:
            assert found.schema.field(field.name).type == wider.get(field.name, field.type)
        if name == "u":
            wanted = wanted.set_column(0, "b", pa.array([True, False, True]))
        assert repr(bag(found.to_pylist())) == repr(bag(wanted.to_pylist()))


def test_queries_share_a_table_by_name(tmp_path: Path) -> None:
    check_shared(Tables, tmp_path, "table = 'lake.both'")


@pytest.mark.parametrize("key", ["k", "k, w"])
def test_rows_with_one_key_are_refused(tmp_path: Path, key: str) -> None:
    check_equal_keys(Tables, tmp_path, "iceberg", key)


def test_tables_that_are_there_are_checked(tmp_path: Path) -> None:
    query = {"q": (GROUPS, ", mode = 'upsert'")}
    catalog = catalog_of(tmp_path)
    catalog.create_namespace("lake")
    n = pa.field("n", pa.int64())
    for fields, message in [
        ([n], r"it has no column 'k' \(BIGINT\); its columns: n"),
        ([n, pa.field("k", pa.string())], "column 'k' has the type STRING, and BIGINT is needed"),
        ([n, pa.field("k", pa.int64()), pa.field("x", pa.int8(), False)], "column 'x' is NOT NULL"),
        ([n, pa.field("k", pa.list_(pa.int64()))], "column 'k' has the type ARRAY<BIGINT>, and BI"),
    ]:
        catalog.create_table("lake.q", pa.schema(fields))
        with pytest.raises(DataError, match=f"^'q': sink 'iceberg', table 'lake.q': {message}"):
            Tables(tmp_path, query)
        catalog.drop_table("lake.q")
    columns = pa.schema([n, pa.field("x", pa.string()), pa.field("k", pa.int64())])
    table = catalog.create_table("lake.q", columns)
    with table.update_spec() as spec:
        spec.add_identity("k")
    tables = Tables(tmp_path, query)
    tables.deliver(0, [changes(k=pa.array([3, 3, 4]), n=pa.array([1, 2, 5]))])
    tables.deliver(1, [changes(k=pa.array([4]), n=pa.array([6]))])
    found = tables.table("q").select(["k", "n", "x"]).sort_by("k").to_pylist()
    assert found == [{"k": 3, "n": 2, "x": None}, {"k": 4, "n": 6, "x": None}]
    with catalog.load_table("lake.q").update_schema() as schema:
        schema.delete_column("n")
    with pytest.raises(DataError, match=r"'q': .*it has no column 'n'"):
        tables.deliver(2, [changes(k=pa.array([4]), n=pa.array([7]))])
    catalog.drop_table("lake.q")
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
    iceberg_table(tmp_path, "q").delete()
    other = Tables(tmp_path, query, "a new checkpoint")
    with pytest.raises(StateError, match="another job has taken the table"):
        first.deliver(2, rows)
    with pytest.raises(StateError, match="the table belongs to another job"):
        Tables(tmp_path, query, again=True)
    other.deliver(0, rows)
    assert other.rows("q") == [(3, 1)]
    same = ", table = 'lake.t'"
    twice = {"x": ("SELECT k FROM a [NOW]", same), "y": ("SELECT k, v FROM a [NOW]", same)}
    with pytest.raises(
        DataError, match=r"'y': the table 'lake.t' belongs to 'x', whose sink has other"
    ):
        Tables(tmp_path, twice)


def test_an_answer_cannot_begin_in_another_table(tmp_path: Path) -> None:
    tables = Tables(tmp_path, {"q": (GROUPS, ", mode = 'upsert'")})
    rows = [changes(k=pa.array([1]), n=pa.array([1]))]
    tables.deliver(0, rows)
    query = tables.engine.queries["q"]

    def altered(table: str, mode: str) -> None:
        options = {**query.options, "table": f"lake.{table}", "mode": mode}
        tables.sinks.open(with_sink(query, options), instead_of=query)

    with pytest.raises(DataError, match="would not have the answer of the query, but only what"):
        altered("other", "upsert")
    tables.deliver(1, rows)
    assert tables.rows("q") == [(1, 1)], "nothing has changed"
    catalog = catalog_of(tmp_path)
    catalog.register_table("lake.copy", catalog.load_table("lake.q").metadata_location)
    altered("copy", "upsert")
    altered("log", "append")
