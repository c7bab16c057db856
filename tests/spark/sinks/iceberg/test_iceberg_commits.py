"""Commits to tables of the sink ``iceberg``: conflicts, crashes, old snapshots."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from eddyline import DataError, StateError
from eddyline.errors import SetupError, SqlError
from eddyline.spark.operation.script_delta import with_sink
from eddyline.spark.script import Script
from eddyline.spark.sinks.failure_policy import RefusedError, UnavailableError
from iceberg_catalogs import IcebergTables as Tables
from iceberg_catalogs import catalog_of, catalog_options, iceberg_table
from table_cases import STREAMS, bag, changes

pytest.importorskip("pyiceberg", reason="the extra 'iceberg' is not installed")

COMMIT = "eddyline.spark.sinks.iceberg.iceberg_table.commit"
PLAIN = {"q": ("SELECT k FROM a [NOW]", "")}
GROUPS = "SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k"
ANSWER = {"q": (GROUPS, ", mode = 'upsert'")}


def group(k: int, n: int) -> pa.Table:
    return changes(k=pa.array([k]), n=pa.array([n]))


class Before:
    """Does something after a table was read, and before the commit that follows from that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *steps: Any) -> None:
        from eddyline.spark.sinks.iceberg.iceberg_commit import commit

        due = list(steps)

        def late(*arguments: Any, **options: Any) -> None:
            if due:
                due.pop(0)()
            commit(*arguments, **options)

        monkeypatch.setattr(COMMIT, late)


def test_of_two_writers_of_a_batch_one_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that was thought to be dead writes the same batch at the same time."""
    for queries, rows in ((PLAIN, changes(k=pa.array([3]))), (ANSWER, group(3, 1))):
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        place.mkdir()
        tables, other = Tables(place, queries), Tables(place, queries, again=True)
        Before(monkeypatch, partial(other.deliver, 0, [rows]))
        tables.deliver(0, [rows])
        assert len(tables.rows("q")) == 1
        assert len(iceberg_table(place, "q").metadata.snapshots) == 1


def test_a_batch_is_written_beside_those_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Tables(tmp_path, PLAIN)
    other = Tables(tmp_path, PLAIN, "another job")
    Before(monkeypatch, lambda: other.deliver(5, [changes(k=pa.array([7]))]))
    tables.deliver(0, [changes(k=pa.array([3]))])
    assert sorted(tables.table("q")["k"].to_pylist()) == [3, 7]
    snapshots = iceberg_table(tmp_path, "q").metadata.snapshots
    assert [s.summary["eddyline.batch"] for s in snapshots if s.summary] == ["5", "0"]


def test_an_answer_is_computed_again_if_its_table_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Tables(tmp_path, ANSWER)
    tables.deliver(0, [group(3, 1), group(4, 1)])

    def compact() -> None:
        table = iceberg_table(tmp_path, "q")
        table.overwrite(table.scan().to_arrow())

    Before(monkeypatch, compact, compact)
    tables.deliver(1, [group(3, 2)])
    assert tables.rows("q") == [(3, 2), (4, 1)]
    files = list((tmp_path / "tables").rglob("*.parquet"))
    entries = iceberg_table(tmp_path, "q").inspect.all_files()["file_path"].to_pylist()
    assert len(files) == len(set(entries)), "those of the repeated attempts are deleted"
    Before(monkeypatch, *[compact] * 9)
    with pytest.raises(UnavailableError, match=r"'q': sink 'iceberg', table 'lake.q': "):
        tables.deliver(2, [group(3, 3)])
    monkeypatch.undo()
    tables.deliver(2, [group(3, 3)])
    assert tables.rows("q") == [(3, 3), (4, 1)]


def test_a_table_is_taken_during_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Tables(tmp_path, ANSWER)
    Before(monkeypatch, lambda: Tables(tmp_path, ANSWER, "a new checkpoint"))
    with pytest.raises(StateError, match="another job has taken the table"):
        first.deliver(0, [group(3, 1)])
    monkeypatch.undo()
    second = Tables(tmp_path, ANSWER, "a new checkpoint", again=True)
    assert second.rows("q") == []
    Before(monkeypatch, lambda: second.deliver(0, [group(4, 1)]))
    with pytest.raises(StateError, match="another job has written it meanwhile"):
        Tables(tmp_path, ANSWER, "the newest checkpoint")
    assert second.rows("q") == [(4, 1)]


def test_a_crash_between_the_files_and_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    for queries, name in ((PLAIN, "plain"), (ANSWER, "answer")):
        rows = [changes(k=pa.array([3]))] if name == "plain" else [group(3, 1)]
        renamed = {"q": (queries["q"][0], f"{queries['q'][1]}, table = 'lake.{name}'")}
        tables = Tables(tmp_path, renamed)
        with monkeypatch.context() as patched:
            patched.setattr(SqlCatalog, "commit_table", killed)
            with pytest.raises(KeyboardInterrupt):
                tables.deliver(0, rows)
        assert list((tmp_path / "tables" / "lake" / name).rglob("*.parquet"))
        assert tables.rows(name) == []
        Tables(tmp_path, renamed, again=True).deliver(0, rows)
        assert len(tables.rows(name)) == 1


def test_many_batches_leave_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.spark.sinks.iceberg.iceberg_table._EXPIRED_EVERY", 10)
    queries = {**PLAIN, "g": ANSWER["q"]}
    tables = Tables(tmp_path, queries)
    short = {"history.expire.max-snapshot-age-ms": "0", "write.metadata.previous-versions-max": "3"}
    for name in queries:
        table = iceberg_table(tmp_path, name)
        assert table.properties["history.expire.max-snapshot-age-ms"] == "600000"
        table.transaction().set_properties(short).commit_transaction()
    for batch in range(45):
        plain = changes(k=pa.array([batch]))
        of_g = group(batch % 20, batch).set_column(0, "_query", pa.array(["g"]).dictionary_encode())
        tables.deliver(batch, [plain, of_g])
    assert sorted(tables.table("q")["k"].to_pylist()) == list(range(45))
    assert tables.rows("g") == bag([(k, k + 20 if k + 40 >= 45 else k + 40) for k in range(20)])
    for name, most in (("q", 45), ("g", 16)):
        table = iceberg_table(tmp_path, name)
        assert len(table.metadata.snapshots) <= 11
        assert table.inspect.files().num_rows <= most
        head = table.current_snapshot()
        assert head is not None
        live = [m.has_added_files() or m.has_existing_files() for m in head.manifests(table.io)]
        assert live.count(False) <= 17
        place = tmp_path / "tables" / "lake" / name
        known = set(table.inspect.all_files()["file_path"].to_pylist())
        found = {path.as_uri() for path in place.rglob("*.parquet")}
        assert found == known, "files that no snapshot has are deleted"
        lists = {snapshot.manifest_list for snapshot in table.metadata.snapshots}
        assert {path.as_uri() for path in place.rglob("snap-*.avro")} == lists
        manifests = {
            m.manifest_path for s in table.metadata.snapshots for m in s.manifests(table.io)
        }
        here = {path.as_uri() for path in place.rglob("*-m*.avro")}
        assert here == manifests
        assert len(list(place.rglob("*.metadata.json"))) <= 4


def test_tags_keep_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.spark.sinks.iceberg.iceberg_table._EXPIRED_EVERY", 5)
    tables = Tables(tmp_path, ANSWER)
    tables.deliver(0, [group(1, 1)])
    table = iceberg_table(tmp_path, "q")
    short = {"history.expire.max-snapshot-age-ms": "0"}
    table.transaction().set_properties(short).commit_transaction()
    head = table.metadata.current_snapshot_id
    assert head is not None
    table.manage_snapshots().create_tag(head, "first").commit()
    for batch in range(1, 12):
        tables.deliver(batch, [group(1, batch)])
    table = iceberg_table(tmp_path, "q")
    assert len(table.metadata.snapshots) < 8
    assert table.scan(snapshot_id=head).to_arrow().to_pylist() == [{"k": 1, "n": 1}]
    assert tables.rows("q") == [(1, 11)]


def test_a_stopped_catalog_and_a_stopped_store(tmp_path: Path) -> None:
    for query in (PLAIN["q"], ANSWER["q"]):
        tables = Tables(tmp_path, {"q": query})
        rows = [changes(k=pa.array([3]))] if query == PLAIN["q"] else [group(3, 1)]
        for name in ("catalog.db", "tables"):
            (tmp_path / name).rename(tmp_path / "away")
            in_the_way = tmp_path / name
            in_the_way.mkdir() if name == "catalog.db" else in_the_way.touch()
            with pytest.raises(UnavailableError, match=r"^'q': sink 'iceberg', table 'lake.q': "):
                tables.deliver(0, rows)
            Tables(tmp_path, {"q": query}, again=True)  # its results wait
            in_the_way.rmdir() if name == "catalog.db" else in_the_way.unlink()
            (tmp_path / "away").rename(tmp_path / name)
        tables.deliver(0, rows)
        assert len(tables.rows("q")) == 1
        catalog_of(tmp_path).drop_table("lake.q")
        with pytest.raises(UnavailableError, match=r"lake.q"):
            tables.deliver(1, rows)
    (tmp_path / "catalog.db").unlink()
    (tmp_path / "catalog.db").mkdir()
    with pytest.raises(UnavailableError, match=r"^'q': sink 'iceberg', table 'lake.q': \S"):
        Tables(tmp_path, PLAIN)


def test_values_that_a_table_does_not_take_are_refused(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    catalog.create_namespace("lake")
    fields = [pa.field("_op", pa.string()), pa.field("_ts", pa.timestamp("us", "UTC"))]
    fields += [pa.field("_exp", pa.timestamp("us", "UTC")), pa.field("k", pa.int64(), False)]
    catalog.create_table("lake.q", pa.schema(fields))
    tables = Tables(tmp_path, PLAIN)
    tables.deliver(0, [changes(k=pa.array([3]))])
    with pytest.raises(RefusedError, match=r"'q': sink 'iceberg', table 'lake.q': .*'k'"):
        tables.deliver(1, [changes(k=pa.array([None], pa.int64()))])
    assert tables.table("q")["k"].to_pylist() == [3]


def test_a_catalog_that_cannot_be_opened(tmp_path: Path) -> None:
    class Wrong(Tables):
        def sink(self, table: str | None) -> str:
            return super().sink(table).replace("sqlite:", "mysql+nodriver:")

    with pytest.raises(DataError, match=r"^'q': sink 'iceberg', .*: catalog 'default': \S"):
        Wrong(tmp_path, PLAIN)


def test_a_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("iceberg_catalog", "iceberg_table"):
        monkeypatch.delitem(sys.modules, f"eddyline.spark.sinks.iceberg.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "pyiceberg.catalog", None)
    with pytest.raises(
        SetupError, match=r"pyiceberg.* is not installed: pip .*eddyline\[iceberg\]"
    ):
        Tables(tmp_path, PLAIN)


def test_a_catalog_is_configured_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg import catalog
    from pyiceberg.utils.config import Config

    class Named(Tables):
        def sink(self, table: str | None) -> str:
            return f"sink = 'iceberg', catalog_name = 'market', table = 'lake.{table}'"

    for name, value in catalog_options(tmp_path).items():
        variable = {"catalog": "TYPE", "catalog_uri": "URI"}.get(name, name.upper())
        monkeypatch.setenv(f"PYICEBERG_CATALOG__MARKET__{variable}", value)
    monkeypatch.setattr(catalog, "_ENV_CONFIG", Config())
    tables = Named(tmp_path, PLAIN)
    tables.deliver(0, [changes(k=pa.array([3]))])
    found = catalog.load_catalog("market").load_table("lake.q").scan().to_arrow()
    assert found["k"].to_pylist() == [3]
    query = tables.engine.queries["q"]
    with pytest.raises(DataError, match="'q': token is secret, and would be written to the check"):
        tables.sinks.open(with_sink(query, {**query.options, "token": "s3cret"}))


CATALOG = "table = 'l.t', catalog_uri = 'sqlite:///c.db'"


@pytest.mark.parametrize(
    ("select", "options", "message"),
    [
        (GROUPS, "", "needs the option 'table'"),
        (GROUPS, "table = 'l.t'", "needs the option 'catalog' or 'catalog_name' or"),
        (GROUPS, "table = 't', catalog_name = 'c'", "is not of the form namespace.name"),
        (GROUPS, "table = 'l.t', catalog = 'sq'", "did you mean 'sql'"),
        (GROUPS, "table = 'l.t', catalog = 'rest'", "needs the option 'catalog_uri'"),
        (
            GROUPS,
            "table = 'l.t', catalog = 'rest', catalog_uri = 'x'",
            "catalog_uri does not begin with http:// or https://",
        ),
        (GROUPS, f"{CATALOG}, mode = 'upser'", "did you mean 'upsert'"),
        (GROUPS, f"{CATALOG}, warehous = 'x'", "has no option 'warehous'; did you mean 'wareho"),
        (GROUPS, f"{CATALOG}, mode = 'changelog'", "'changelog' needs EMIT CHANGES"),
        (GROUPS, f"{CATALOG}, mode = 'upsert', key = 'n'", r"replace each other by \(k\)"),
        (f"{GROUPS} EMIT CHANGES", f"{CATALOG}, mode = 'upsert'", "needs the option key"),
        ('SELECT k AS "a.b" FROM a [NOW]', CATALOG, "can have the name 'a.b': use AS"),
        ("SELECT ts - ts AS d FROM a [NOW]", CATALOG, "Iceberg has no type for INTERVAL"),
        (
            "SELECT k AS _Seq FROM a [NOW] EMIT CHANGES",
            f"{CATALOG}, mode = 'changelog'",
            "the table has a column '_Seq' of its own",
        ),
        (
            "SELECT k, split(w, ',') AS p FROM a [NOW] EMIT CHANGES",
            f"{CATALOG}, mode = 'upsert', key = 'k'",
            "takes no ARRAY<STRING>, the type of 'p': select its parts",
        ),
    ],
)
def test_what_is_refused_and_where(select: str, options: str, message: str) -> None:
    more = f", {options}" if options else ""
    script = f"{STREAMS}\nCREATE QUERY q AS {select} WITH (sink = 'iceberg'{more})"
    with pytest.raises(SqlError, match=message) as caught:
        list(Script().run(script))
    assert caught.value.line == 2
