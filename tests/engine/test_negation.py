"""Two cases that the update-patterns paper leaves open (Golab and Ozsu 2005, 2.1 and 5.3.1).

Negation: with Equation 1, max(v1 - v2, 0), a row that expires while it is cancelled shrinks the
answer, too::

    s    0    1    2    3    4         11        12
    a         n1-------------------------|
    a              n2------------------------------|
    a                   n3--------------------------------|
    b                        x-------------------------------------
    answer    n1   n1,2 n1,2,3 n2,3      n3        (none)

Duplicate elimination over an input that does not expire in the order of arrival: the duplicate to
keep aside is the one that expires last, here that of ``a``, not the one that arrived last::

    ms   0   1000   1500   2000    3000   4000             11500
    b        1-----------------------|
    a               1--------------------------------------|
    b                      1-----------------|
    answer   1---------------------- 1---------------------|
"""

import pytest

from eddyline.testing.script import Script

STREAMS = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, n BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
"""
STATES = ["upa", "direct", "negative-tuple"]


def negation(state: str, emit: str = "INSERTS") -> Script:
    """Three rows of one key on the left, one on the right: the oldest of the left is cancelled."""
    query = (
        "SELECT k, n FROM a [RANGE 10 SECONDS]"
        f" EXCEPT ALL ON (k) SELECT k FROM b [RANGE 20 SECONDS] EMIT {emit}"
    )
    script = Script(STREAMS, query, options={"state": state})
    script.process_all(a="ts | k | n\n1s | 7 | 1\n2s | 7 | 2\n3s | 7 | 3", b="ts | k\n4s | 7")
    return script.check()


@pytest.mark.parametrize("state", STATES)
def test_a_cancelled_row_that_expires_shrinks_the_answer(state: str) -> None:
    script = negation(state).expect("""
        _op | _ts | _exp | k | n
        +   | 1s  | 11s  | 7 | 1
        +   | 2s  | 12s  | 7 | 2
        +   | 3s  | 13s  | 7 | 3
        -   | 4s  | 11s  | 7 | 1
    """)
    script.expect_answer("k | n\n7 | 2\n7 | 3")
    script.restart().advance("11s").check().expect("""
        _op | _ts | _exp | k | n
        -   | 11s | 12s  | 7 | 2
    """)
    script.expect_answer("k | n\n7 | 3")
    script.advance("12s").expect("""
        _op | _ts | _exp | k | n
        -   | 12s | 13s  | 7 | 3
    """)
    script.advance("30s").expect("_op | _ts | _exp | k | n").finish()


@pytest.mark.parametrize("state", STATES)
def test_every_row_is_taken_back_once(state: str) -> None:
    script = negation(state, "CHANGES").advance("30s").finish()
    operations = script.changes()["_op"].to_pylist()
    assert operations.count("+") == operations.count("-") == 3


@pytest.mark.parametrize("state", STATES)
def test_the_newest_cancelled_row_is_restored(state: str) -> None:
    script = negation(state)
    script.process_all(b="ts | k\n5s | 7").expect_answer("k | n\n7 | 3").advance("24s")
    script.process_all(a="ts | k | n\n24s | 7 | 4\n24500ms | 7 | 5").check()
    script.expect_answer("k | n\n7 | 5").advance("25s").expect_answer("k | n\n7 | 4\n7 | 5")
    script.finish()


def duplicates(state: str) -> Script:
    """Rows of one value that expire in another order than they come."""
    query = (
        "SELECT DISTINCT q.k FROM (SELECT k FROM a [RANGE 10 SECONDS]"
        " UNION ALL SELECT k FROM b [RANGE 2 SECONDS]) AS q"
    )
    script = Script(STREAMS, query, options={"state": state})
    script.process(b="ts | k\n1s | 1\n2s | 1", a="ts | k | n\n1500ms | 1 | 0")
    return script.check()


@pytest.mark.parametrize("state", STATES)
def test_a_value_stays_while_any_row_has_it(state: str) -> None:
    script = duplicates(state).restart()
    for instant in ("2999ms", "3s", "3999ms", "4s", "11499ms", "11500ms"):
        script.advance(instant).check()
    script.finish()


def test_of_two_duplicates_the_one_that_expires_last_is_kept() -> None:
    script = duplicates("upa").restart()
    script.process_all(b="ts | k\n3500ms | 2")
    script.expect("""
        _op | _ts    | _exp    | k
        +   | 1s     | 3s      | 1
        +   | 3s     | 11500ms | 1
        +   | 3500ms | 5500ms  | 2
    """)  # what came later is gone first
    script.advance("5500ms").expect_answer("k\n1").finish()


@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("state", STATES)
def test_rows_that_expire_together_are_not_taken_back_one_by_one(state: str, views: bool) -> None:
    query = "SELECT k FROM a [RANGE 2 SECONDS] EXCEPT ALL SELECT k FROM b [RANGE 5 SECONDS]"
    script = Script(STREAMS, query, options={"state": state, "views": views})
    script.process_all(a="ts | k | n\n3s | 7 | 1\n3s | 7 | 2", b="ts | k\n4s | 7")
    script.expect("""
        _op | _ts | _exp | k
        +   | 3s  | 5s   | 7
        +   | 3s  | 5s   | 7
        -   | 4s  | 5s   | 7
    """)
    script.advance("9s").expect("_op | _ts | _exp | k").finish()


@pytest.mark.parametrize("state", STATES)
def test_distinct_over_a_join_of_which_one_side_has_no_column_in_the_select_list(
    state: str,
) -> None:
    """That side is made distinct over no columns: one row, but only if there is any."""
    query = "SELECT DISTINCT b.k FROM a [RANGE 5 SECONDS] CROSS JOIN b [RANGE 5 SECONDS]"
    script = Script(STREAMS, query, options={"state": state})
    script.process(b="ts | k\n1s | 1\n2s | 2").check()
    script.process(a="ts | k | n\n3s | 1 | 1\n4s | 1 | 1").check().restart()
    script.advance("20s").finish()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("emit", ["INSERTS", "CHANGES"])
def test_a_view_keeps_a_value_for_as_long_as_its_duplicates_live(state: str, emit: str) -> None:
    """Above a negation DISTINCT counts: the row of a value leaves by a '-'."""
    query = "(SELECT k FROM a [RANGE 2 SECONDS] EXCEPT SELECT k FROM b [ROWS 1]) EXCEPT "
    query += f"SELECT k FROM b [RANGE 10 SECONDS] EMIT {emit}"
    options = {"state": state, "views": True, "partitions": 4, "optimize": False}
    script = Script(STREAMS, query, options=options)
    for half in range(2, 22):
        script.process_all(a=f"ts | k | n\n{500 * half}ms | 7 | 1")
        script.expect_answer("k\n7").check()
    script.restart().advance("11999ms").expect_answer("k\n7").check()
    script.process_all(b="ts | k\n12s | 7").expect_answer("k:int\n").advance("20s").finish()
