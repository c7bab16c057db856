import pytest

from eddyline.testing import WrongAnswer
from eddyline.testing.script import Script

DDL = """
    CREATE STREAM a (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts LATENESS 1 SECOND;
    CREATE TABLE names (x BIGINT, name STRING);
    CREATE VIEW big AS SELECT x FROM a [RANGE 2 SECONDS] WHERE x > 5;
"""
NAMES = "x | name\n7 | seven"


def test_a_script_of_data_clock_and_restart() -> None:
    script = Script(
        DDL,
        {
            "all": "SELECT x FROM a [RANGE 2 SECONDS]",
            "some": "SELECT name FROM big JOIN names USING (x)",
        },
        tables={"names": NAMES},
    )
    script.process(a="ts | x\n1s | 7\n2s | 3").check()  # the row of 2 s is held
    script.expect("_op | _ts | _exp | x\n+ | 1s | 3s | 7", "all")
    script.expect("_op | _ts | _exp | name\n+ | 1s | 3s | seven", "some")
    script.restart().advance("3s").check()
    script.expect("_op | _ts | _exp | x\n+ | 2s | 4s | 3", "all")
    script.expect_answer("x\n3", "all")
    script.expect_answer("name:str", "some")
    script.process(a="ts | x\n2s | 9").finish()  # late
    assert script.ingest.late["a"].num_rows == 1
    script.advance("9s").finish()


def test_a_wrong_expectation_shows_query_plan_and_progress() -> None:
    script = Script(DDL, "SELECT x FROM a [NOW]").process(a="ts | x\n1s | 7").advance("5s")
    with pytest.raises(WrongAnswer) as failure:
        script.expect("_op | _ts | _exp | x\n+ | 1s | 1s1us | 8")
    report = str(failure.value)
    for part in (
        "expected changes:",
        "SELECT x FROM a [NOW]",
        "StreamScan",
        "advance to 5s",
        "| 7",
    ):
        assert part in report
    with pytest.raises(WrongAnswer, match="expected answer:"):
        script.expect_answer("x\n7")


def test_a_lost_change_fails_at_the_end() -> None:
    script = Script(DDL, "SELECT x FROM a [RANGE 2 SECONDS]")
    script.process(a="ts | x\n1s | 7").advance("5s").finish()
    script.tracked["q"].emitted = [t.slice(0, 0) for t in script.tracked["q"].emitted]
    with pytest.raises(WrongAnswer, match="wrong answer at 1s"):
        script.finish()


def test_an_engine_that_loses_late_rows_is_caught() -> None:
    script = Script(DDL, "SELECT x FROM a [NOW]").process(a="ts | x\n9s | 7")
    script.ingest.advance(14_000_000)  # as if the clock were ahead of the engine's
    with pytest.raises(WrongAnswer, match="late rows of a: expected"):
        script.process(a="ts | x\n10s | 7")


LIVE = """
    CREATE STREAM a (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts;
    CREATE TABLE live (x BIGINT, name STRING) WITH (updates = 'retroactive');
    CREATE TABLE nrr (x BIGINT, name STRING) WITH (updates = 'non-retroactive');
"""


def test_tables_that_change() -> None:
    script = Script(
        LIVE,
        {
            "retroactive": "SELECT live.name FROM a [RANGE 9 SECONDS] JOIN live USING (x)",
            "not": "SELECT nrr.name FROM a [RANGE 9 SECONDS] JOIN nrr USING (x)",
        },
        tables={"live": "x | name\n7 | old", "nrr": "x | name\n7 | old"},
    )
    new = "_ts | _op | x | name\n2s | - | 7 | old\n2s | + | 7 | new"
    script.process(a="ts | x\n1s | 7\n3s | 7", live=new, nrr=new).check()
    script.expect_answer("name\nnew\nnew", "retroactive").expect_answer("name\nold\nnew", "not")
    script.restart().process(live="_ts | x | name\n2s | 8 | late\n4s | 7 | more")
    script.process(a="ts | x\n5s | 8", live="_ts | _op | x | name\n4s | - | 9 | none").check()
    script.expect_answer("name\nnew\nnew\nmore\nmore", "retroactive")
    assert script.ingest.late["live"]["name"].to_pylist() == ["late"]
    assert script.ingest.bad["live"]["name"].to_pylist() == ["none"]
    script.advance("20s").finish()


def test_an_engine_that_hides_what_it_cannot_take_back_is_caught() -> None:
    script = Script(LIVE, "SELECT name FROM live")
    script.process(a="ts | x\n1s | 7", live="_ts | x | name\n1s | 7 | seven")
    script.ingest.accepted["live"] = script.ingest.accepted["live"].slice(0, 0)
    with pytest.raises(WrongAnswer, match="bad rows of live: expected"):
        script.process(a="ts | x\n3s | 7", live="_ts | _op | x | name\n2s | - | 7 | seven")


def test_a_query_of_a_statement_is_followed() -> None:
    script = Script(DDL, {})
    script.engine.sql("CREATE QUERY q AS SELECT x FROM a [RANGE 2 SECONDS] WHERE x > 5")
    script.follow("q", "SELECT x FROM big").process(a="ts | x\n1s | 7\n2s | 3").advance(
        "9s"
    ).finish()
    assert script.changes().num_rows == 1


def test_unread_changes_are_returned_by_the_next_call() -> None:
    queries = {"all": "SELECT x FROM a [RANGE 2 SECONDS]"}
    script = Script(DDL, queries, options={"chunk_rows": 1})
    script.listen(1, a="ts | x\n1s | 7\n2s | 3\n5s | 1\n3s | 9\n. | 2")
    script.expect("_op | _ts | _exp | x\n+ | 1s | 3s | 7", "all").restart().process()
    script.expect("_op | _ts | _exp | x\n+ | 2s | 4s | 3\n+ | 3s | 5s | 9", "all")
    script.listen(1, a="ts | x\n4s | 8").advance("20s").finish()
    assert script.ingest.bad["a"].num_rows == 1
