"""Tables that change while queries run, against the oracle."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq
import pytest

from eddyline import CatalogError, DataError, Engine
from eddyline.testing import batch, rows_of
from eddyline.testing.script import Script
from live_table_cases import JOINED, NON_RETROACTIVE, RETROACTIVE, SECOND, ddl, engine, rename


def test_updates_of_a_retroactive_table_take_results_back() -> None:
    script = Script(ddl(RETROACTIVE), JOINED, tables={"t": "k:int | name:str\n1 | one"})
    rename(script).expect(
        """_op | _ts | _exp | k:int | v:int | name:str
           +   | 1s  | 11s  | 1     | 10    | one
           -   | 2s  | 11s  | 1     | 10    | one
           +   | 4s  | 11s  | 1     | 10    | uno
           +   | 4s  | 13s  | 1     | 30    | uno
           +   | 5s  | 15s  | 1     | 50    | uno"""
    )
    script.finish()


def test_updates_of_a_non_retroactive_table_count_for_later_rows() -> None:
    script = Script(ddl(NON_RETROACTIVE), JOINED, tables={"t": "k:int | name:str\n1 | one"})
    rename(script).expect(
        """_op | _ts | _exp | k:int | v:int | name:str
           +   | 1s  | 11s  | 1     | 10    | one
           +   | 5s  | 15s  | 1     | 50    | uno"""
    )
    script.finish()


@pytest.mark.parametrize("updates", [RETROACTIVE, NON_RETROACTIVE])
def test_at_one_instant_changes_count_in_the_order_given(updates: str) -> None:
    rows = {
        "s": batch("ts | k:int | v:int\n5s | 1 | 1"),
        "t": batch("_ts | k:int | name:str\n5s | 1 | one"),
    }
    after, before = ({n: rows[n] for n in order} for order in ("st", "ts"))
    sql = JOINED + " EMIT CHANGES"
    for given, seen in ((after, updates == RETROACTIVE), (before, True)):
        eng = engine(updates)
        eng.query(sql, name="q")
        assert eng.process(given)["q"].num_rows == seen


def test_a_first_change_without_a_sign_is_an_insertion() -> None:
    script = Script(ddl(NON_RETROACTIVE), JOINED)
    script.process(t="_ts | k:int | name:str\n1s | 1 | one", s="ts | k:int | v:int\n1s | 1 | 7")
    script.expect(
        "_op | _ts | _exp | k:int | v:int | name:str\n+ | 1s | 11s | 1 | 7 | one"
    ).finish()


def test_a_deletion_without_its_row_is_a_bad_row() -> None:
    eng = engine(RETROACTIVE)
    eng.table("t", batch("k:int | name:str\n1 | one\n2 | ."))
    eng.query(JOINED, name="q")
    out = eng.process(
        {
            "s": batch("ts | k:int | v:int\n9s | 3 | 3"),
            "t": batch(
                """_ts | _op | k:int | name:str
                   1s  | -   | 1     | two
                   2s  | -   | 2     | .
                   3s  | -   | 2     | .
                   4s  | *   | 1     | one
                   10s | -   | 1     | eins"""
            ),
        }
    )
    reason = out.bad["t"].column_names.index("_reason")
    told = sorted((row[0][11:19], row[1], row[reason]) for row in rows_of(out.bad["t"]))
    assert told == [
        ("00:00:01", "-", "there is no such row in table 't'"),
        ("00:00:03", "-", "there is no such row in table 't'"),
        ("00:00:04", "*", "_op: '*' is neither '+' nor '-'"),
    ]
    assert eng.stats()["tables"]["t"]["bad"] == 3
    assert eng.stats()["tables"]["t"]["held"] == 1, "the watermark has not passed it"
    assert eng.advance(11 * SECOND).bad["t"].num_rows == 1
    stats = eng.stats()["tables"]["t"]
    assert stats == {
        "rows_in": 5,
        "late": 0,
        "bad": 4,
        "held": 0,
        "held_bytes": 0,
        "rows_kept": 2,
        "rows": 1,
    }


def test_orphans_come_out_of_stream_as_they_are_found() -> None:
    eng = engine(RETROACTIVE)
    eng.query(JOINED, name="q")
    changes = batch("_ts | _op | k:int | name:str\n1s | - | 1 | one")
    out = dict(eng.stream({"t": changes, "s": batch("ts | k:int | v:int\n1s | 1 | 1")}))
    assert list(out) == ["bad:t"]
    assert out["bad:t"].num_rows == 1


@pytest.mark.parametrize("updates", [RETROACTIVE, NON_RETROACTIVE])
def test_changes_wait_for_the_watermark_and_do_not_move_it(updates: str) -> None:
    eng = engine(updates)
    eng.query(JOINED, name="q")
    eng.process({"t": batch("_ts | k:int | name:str\n5s | 1 | one")})
    assert eng.watermark < 0
    assert eng.stats()["tables"]["t"]["held"] == 1
    out = eng.process({"s": batch("ts | k:int | v:int\n4s | 1 | 4\n6s | 1 | 6")})
    assert eng.watermark == 6 * SECOND
    assert out["q"]["v"].to_pylist() == ([4, 6] if updates == RETROACTIVE else [6])
    late = eng.process({"t": batch("_ts | _op | k:int | name:str\n5s | - | 1 | one")}).late["t"]
    assert late["_op"].to_pylist() == ["-"]
    assert late["_reason"].to_pylist() == ["behind the watermark 1970-01-01T00:00:06.000000"]
    assert eng.stats()["tables"]["t"]["rows"] == 1


def test_invalid_inputs_are_refused() -> None:
    eng = engine(RETROACTIVE)
    eng.sql("CREATE TABLE fixed (k BIGINT)")
    with pytest.raises(CatalogError, match=r"'fixed' is static.*updates = 'retroactive'"):
        eng.process({"fixed": batch("_ts | k:int\n1s | 1")})
    with pytest.raises(DataError, match=r"table 't': the rows have no column '_ts'"):
        eng.process({"t": batch("k:int | name:str\n1 | one")})
    with pytest.raises(CatalogError, match=r"cannot have a column '_op'"):
        eng.sql("CREATE TABLE u (_op STRING) WITH (updates = 'retroactive')")
    assert "u" not in eng.catalog.tables
    eng.query(JOINED, name="q")
    with pytest.raises(CatalogError, match=r"'t' already has its rows; its changes go through"):
        eng.table("t", batch("k:int | name:str\n1 | one"))


def test_a_file_of_changes_is_not_taken_for_first_rows(tmp_path: Any) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(batch("_ts | _op | k:int\n1s | + | 1"), path)
    eng = Engine()
    eng.sql(
        "CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;"
        f"CREATE TABLE t (k BIGINT) WITH (source = 'parquet', path = '{path}',"
        " updates = 'non-retroactive')"
    )
    with pytest.raises(DataError, match=r"contains changes"):
        eng.query("SELECT s.k FROM s [NOW], t WHERE s.k = t.k")


def test_a_query_added_later_sees_the_table_as_rows_saw_it_when_they_came() -> None:
    eng = engine(NON_RETROACTIVE)
    eng.query(JOINED, name="first")
    changes = batch(
        """_ts | _op | k:int | name:str
           1s  | +   | 1     | one
           4s  | -   | 1     | one
           6s  | +   | 1     | uno"""
    )
    eng.process({"s": batch("ts|k:int|v:int\n2s|1|2\n5s|1|5\n7s|1|7"), "t": changes})
    added = eng.query("SELECT s.v, t.name FROM s [RANGE 10 SECONDS], t WHERE s.k = t.k AND v < 9")
    expected = [(2, "one"), (7, "uno")]
    assert sorted(rows_of(added.snapshot())) == expected
    assert sorted(rows_of(eng.process({})[added.name].select(["v", "name"]))) == expected
    assert sorted(r[1:] for r in rows_of(eng.queries["first"].snapshot())) == expected
    eng.drop("first")
    eng.process({"s": batch("ts | k:int | v:int\n13s | 1 | 8")})
    assert sorted(rows_of(added.snapshot())) == [(7, "uno"), (8, "uno")]
    eng.drop(added.name)
    assert not list(eng.parts.queries.execution.graph)
    eng.sql("DROP TABLE t")
    assert eng.stats()["tables"] == {}
