"""The watermark of streams that queries connect, and the rows that it delays."""

from __future__ import annotations

import pyarrow as pa
import pytest

from counted_calls import calls_of
from eddyline import CatalogError, Engine, SqlError
from eddyline.testing import batch, parse_time
from restarts import restarted
from watermark_cases import JOIN, SECOND, TABLE, engine, found, rows, watermarks

# -- the smallest bound of the streams ---------------------------------


def test_a_row_behind_another_stream_is_not_late() -> None:
    eng = engine(JOIN)
    assert found(eng.process({"a": rows(100)})) == []
    out = eng.process({"b": rows(95)})
    assert not out.late
    assert watermarks(eng) == {"ab": 95, "c": None}
    assert found(eng.process({"b": rows(101)})) == [1]


def test_each_stream_has_the_lateness_that_it_declares() -> None:
    eng = engine(JOIN, a="LATENESS 10 SECONDS")
    eng.process({"a": rows(100), "b": rows(95)})
    assert watermarks(eng) == {"ab": 90, "c": None}
    assert eng.process({"a": rows(89)}).late["a"].num_rows == 1
    assert not eng.process({"b": rows(90)}).late


def test_unconnected_streams_do_not_wait_for_each_other() -> None:
    eng = engine("SELECT x FROM a [NOW]", "SELECT x FROM b [NOW]")
    assert found(eng.process({"a": rows(100)})) == [1]
    assert found(eng.process({"b": rows(5)}), "q2") == [1]
    assert watermarks(eng) == {"a": 100, "b": 5, "c": None}
    assert (eng.clock, eng.watermark) == (5 * SECOND, 5 * SECOND)


def test_rows_of_a_stream_cost_the_same_beside_a_hundred_others() -> None:
    def steps(others: int) -> int:
        eng = Engine()
        for name in ["a", *(f"s{i}" for i in range(others))]:
            eng.sql(f"CREATE STREAM {name} (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
            eng.query(f"SELECT x FROM {name} [NOW]")
            eng.process({name: rows(1)})
        eng.process({"a": rows(2)})
        return calls_of(lambda: eng.process({"a": rows(3)}))

    steps(0)  # imports modules
    assert steps(100) == steps(1)


def test_a_stream_that_no_query_reads_has_no_say() -> None:
    eng = engine("SELECT x FROM a [NOW]")
    eng.process({"b": rows(1_000)})
    assert found(eng.process({"a": rows(100)})) == [1]


def test_a_stream_without_readers_does_not_affect_the_watermark() -> None:
    eng = engine(JOIN, "SELECT x FROM a [NOW]")
    eng.process({"a": rows(100)})
    eng.drop("q1")
    assert found(eng.process({}), "q2") == [1]
    assert watermarks(eng) == {"ab": 100, "c": None}  # groups stay


@pytest.mark.parametrize("said", ["watermark", "advance"])
def test_an_explicit_watermark_applies_to_all_groups(said: str) -> None:
    eng = engine(JOIN, "SELECT x FROM c [NOW]")
    eng.process({"a": rows(100), "b": rows(5), "c": rows(200)}, watermark=1)
    if said == "watermark":
        out = eng.process({}, watermark=150 * SECOND)
    else:
        out = eng.advance(150 * SECOND)
    assert found(out) == [1]
    assert watermarks(eng) == {"ab": 150, "c": 150}
    assert found(eng.process({}), "q2") == [1]  # its own largest timestamp


@pytest.mark.parametrize("restart", [False, True])
def test_stats_and_explain_show_what_holds_the_watermark(restart: bool) -> None:
    eng = engine(JOIN)
    eng.process({"a": rows(100, 101)})
    eng = restarted(eng) if restart else eng
    group = eng.stats()["groups"][0]
    assert (group["members"], group["held"], group["held_by"]) == (["a", "b"], 2, "b")
    line = "2 rows wait for the watermark, which b holds: it has had no row yet"
    assert line in eng.queries["q1"].explain()
    assert group["newest"] == {"a": 101 * SECOND, "b": None}
    eng.process({"b": rows(100)})
    line = (
        "1 row waits for the watermark, 1970-01-01 00:01:40, which b holds: its largest timestamp "
        "is 1970-01-01 00:01:40"
    )
    assert line in eng.queries["q1"].explain()
    eng.process({"b": rows(101)})
    assert "watermark" not in eng.queries["q1"].explain()


# -- groups that come together -----------------------------------------


@pytest.mark.parametrize("restart", [False, True])
def test_a_query_that_connects_groups_advances_the_one_that_lags(restart: bool) -> None:
    eng = engine("SELECT x FROM a [RANGE 1 HOUR]", "SELECT x FROM b [RANGE 1 HOUR]")
    eng.process({"a": rows(100, x=7)})
    eng.process({"b": rows(40, 90, x=7)}, now=0)
    eng.process({"b": rows(95, x=7)}, watermark=None)
    eng.query(JOIN, name="both")
    assert watermarks(eng) == {"ab": 100, "c": None}
    eng = restarted(eng) if restart else eng
    assert len(found(eng.process({}), "both")) == 3  # what the windows still hold
    out = eng.process({"a": rows(120), "b": rows(99)})
    assert out.late["b"].num_rows == 1
    assert watermarks(eng) == {"ab": 100, "c": None}


def test_rows_that_wait_are_processed_when_groups_are_merged() -> None:
    eng = engine("SELECT x FROM a [NOW]", "SELECT x FROM b [NOW]", b="LATENESS 50 SECONDS")
    eng.process({"a": rows(100), "b": rows(90)})
    eng.query(JOIN, name="both")
    assert found(eng.process({}), "q2") == [1]
    assert watermarks(eng)["ab"] == 100


@pytest.mark.parametrize("restart", [False, True])
def test_groups_stay_merged_when_their_query_is_dropped(restart: bool) -> None:
    eng = engine("SELECT x FROM a [NOW]", "SELECT x FROM b [NOW]", JOIN)
    eng.drop("q3")
    eng = restarted(eng) if restart else eng
    eng.process({"a": rows(100)})
    assert list(watermarks(eng)) == ["ab", "c"]
    assert found(eng.process({"b": rows(100)})) == [1]


def test_queries_begin_with_the_first_row_of_their_group() -> None:
    eng = engine("SELECT COUNT(*) AS x FROM a [NOW]", "SELECT COUNT(*) AS x FROM b [NOW]")
    out = eng.process({"a": rows(100)})
    assert out["q1"].num_rows
    assert not out["q2"].num_rows
    assert eng.process({"b": rows(5)})["q2"]["_ts"].cast(pa.int64()).to_pylist()[0] == 5 * SECOND


# -- tables ------------------------------------------------------------


def test_a_table_that_changes_waits_with_the_streams_that_it_is_read_with() -> None:
    eng = engine()
    eng.sql(TABLE)
    eng.query("SELECT a.x FROM a [RANGE 1 HOUR], t WHERE a.x = t.x", name="q1")
    eng.query("SELECT x FROM c [NOW]", name="q2")
    eng.process({"t": batch("_ts | x\n50s | 1"), "c": rows(1_000)})
    assert found(eng.process({"a": rows(60)})) == [1]
    assert watermarks(eng) == {"at": 60, "b": None, "c": 1_000}


def test_streams_that_read_the_same_table_that_changes_run_on_one_clock() -> None:
    eng = engine()
    eng.sql(TABLE)
    for name in "ab":
        eng.query(f"SELECT {name}.x FROM {name} [NOW], t WHERE {name}.x = t.x", name=f"of_{name}")
    assert list(watermarks(eng)) == ["atb", "c"]


@pytest.mark.parametrize("read", [False, True])
def test_a_table_read_alone_follows_the_streams_with_readers(read: bool) -> None:
    eng = engine(*["SELECT x FROM a [NOW]", "SELECT x FROM b [NOW]"] * read)
    eng.sql(TABLE)
    query = eng.query("SELECT COUNT(*) AS n FROM t", name="n")
    eng.process({"t": batch("_ts | x\n50s | 1"), "a": rows(100)})
    assert query.snapshot().to_pylist() == ([] if read else [{"n": 1}])
    eng.process({"b": rows(60)})
    assert query.snapshot().to_pylist() == [{"n": 1}]


# -- AHEAD AT MOST -----------------------------------------------------

FUTURE = parse_time("10s") + 86_400 * SECOND


def test_a_timestamp_far_in_the_future_is_bad_and_makes_nothing_late() -> None:
    eng = engine("SELECT x FROM a [NOW]", a="AHEAD AT MOST 1 HOUR")
    eng.process({"a": rows(*range(100))}, now=200 * SECOND)
    out = eng.process({"a": rows(7_258_118_400, 3_800, 3_800.000_001)}, now=200 * SECOND)
    assert (
        out.bad["a"]["_reason"].to_pylist()
        == ["ts is more than 1 HOUR ahead of the wall clock, 1970-01-01T00:03:20.000000"] * 2
    )
    assert out.bad["a"]["ts"].to_pylist()[0] == str(7_258_118_400 * SECOND)
    assert watermarks(eng)["a"] == 3_800
    eng = engine("SELECT x FROM a [NOW]", a="AHEAD AT MOST 1 HOUR")
    eng.process({"a": rows(7_258_118_400)}, now=200 * SECOND)
    assert not eng.process({"a": rows(*range(200))}, now=200 * SECOND).late


def test_a_limit_for_all_streams_that_have_none() -> None:
    eng = engine("SELECT x FROM a [NOW]", a="AHEAD AT MOST 2 DAYS", ahead_at_most="1 hour")
    for each in (eng, restarted(eng)):
        out = each.process({"a": rows(86_400), "b": rows(86_400)}, now=0)
        assert list(out.bad) == ["b"]
    assert not engine().process({"a": rows(86_400)}, now=0).bad  # by default there is none


@pytest.mark.parametrize("clause", ["IDLE AFTER", "AHEAD AT MOST", "LATENESS"])
def test_clauses_about_time_are_checked(clause: str) -> None:
    ddl = f"CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts {clause} "
    with pytest.raises(SqlError, match=f"{clause} cannot be negative"):
        Engine().sql(ddl + "-1 SECOND")
    with pytest.raises(SqlError, match="too long"):
        Engine().sql(ddl + "106751991 DAYS")
    with pytest.raises(SqlError, match=f"{clause} is given twice"):
        Engine().sql(f"{ddl} 1 SECOND {clause} 2 SECONDS")


def test_clauses_about_time_have_any_order() -> None:
    eng = Engine()
    eng.sql(
        "CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts AHEAD AT MOST 1 HOUR IDLE AFTER 3 SECONDS "
        "LATENESS 5 SECONDS WITH (lateness_by = 'row')"
    )
    stream = eng.catalog.streams["s"]
    assert (stream.lateness_us, stream.idle_us) == (5 * SECOND, 3 * SECOND)
    assert (stream.ahead_us, stream.lateness_by) == (3_600 * SECOND, "row")
    with pytest.raises(SqlError, match="unknown option lateness_by = 'rows'; did you mean 'row'"):
        eng.sql("CREATE STREAM r (ts TIMESTAMP) TIMESTAMP BY ts WITH (lateness_by = 'rows')")


# -- resetting ---------------------------------------------------------


@pytest.mark.parametrize("executor", ["auto", "eddy", "tree"])
@pytest.mark.parametrize("how", ["method", "statement"])
def test_a_watermark_that_is_reset_makes_nothing_late(how: str, executor: str) -> None:
    sql = "SELECT a.x, COUNT(*) AS n FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.x = b.x"
    eng = engine(JOIN, f"{sql} GROUP BY a.x", executor=executor)
    future = rows(7_258_118_400)
    assert found(eng.process({"a": future, "b": future})) == [1]
    assert len(eng.process({"a": rows(1), "b": rows(1)}).late) == 2
    if how == "method":
        eng.reset_watermark("a")
    else:
        eng.sql("ALTER STREAM A RESET WATERMARK")
    eng = restarted(eng)
    out = eng.process({"a": rows(1, 2), "b": rows(1, 2)})
    assert not out.late
    assert len(found(out)) == 4
    assert out["q2"]["n"].to_pylist()[-1] == 4
    assert eng.queries["q1"].snapshot().num_rows == 4
    assert eng.clock == 2 * SECOND


def test_a_reset_does_not_lose_what_was_not_fetched_and_touches_no_other_group() -> None:
    eng = engine(JOIN, "SELECT x FROM c [RANGE 1 HOUR]")
    eng.sql(TABLE)
    eng.sql("CREATE QUERY each FOR EACH ROW OF t AS SELECT a.x FROM a [NOW] WHERE a.x = t.x")
    steps = eng.stream({"a": rows(100), "b": rows(100), "t": batch("_ts | x\n1s | 1")})
    next(steps)
    steps.close()
    eng.process({"c": rows(50)})
    eng.reset_watermark("b")
    assert list(watermarks(eng).values()) == [None, 50]
    out = eng.process({"a": rows(7, x=1), "b": rows(7, x=1)})
    assert found(out) == [1]
    assert found(out, "each") == [1]
    assert eng.queries["q2"].snapshot().num_rows == 1


def test_only_streams_have_a_watermark_to_be_reset() -> None:
    with pytest.raises(CatalogError, match="there is no stream 'd'; valid: a, b, c"):
        engine().reset_watermark("d")
    with pytest.raises(SqlError, match="expected RESET WATERMARK, got 'RESET'"):
        Engine().sql("ALTER STREAM s RESET CLOCK")
