"""The checker accepts right change tables and catches every kind of wrong one."""

from collections.abc import Callable

import pytest

from eddyline.testing import Oracle, WrongAnswer, batch, check_changes, check_snapshots, parse_time
from eddyline.testing.bags import Row

A = batch("""
    ts | k | x
    1s | 1 | 10
    2s | 1 | 20
    2s | 2 | 5
""")
ORACLE = Oracle({"a": A})
WINDOW = "[RANGE 2 SECONDS]"
END = parse_time("6s")


def answer_to(sql: str) -> Callable[[int], list[Row]]:
    return lambda at: ORACLE.answer(sql, at)


def check(sql: str, text: str, mode: str = "inserts", key: tuple[int, ...] | None = None) -> None:
    check_changes(batch(text), answer_to(sql), ORACLE.instants(sql, END), mode=mode, key=key)


FLAT = f"SELECT x FROM a {WINDOW}"
FLAT_INSERTS = """
    _op | _ts | _exp | x
    +   | 1s  | 3s   | 10
    +   | 2s  | 4s   | 20
    +   | 2s  | 4s   | 5
"""
FLAT_CHANGES = """
    _op | _ts | _exp | x
    +   | 1s  | 3s   | 10
    +   | 2s  | 4s   | 5
    +   | 2s  | 4s   | 20
    -   | 3s  | 3s   | 10
    -   | 4s  | 4s   | 20
    -   | 4s  | 4s   | 5
"""
ROWS = "SELECT x FROM a [ROWS 1]"
ROWS_INSERTS = """
    _op | _ts | _exp | x
    +   | 1s  | .    | 10
    -   | 2s  | .    | 10
    +   | 2s  | .    | 20
    -   | 2s  | .    | 20
    +   | 2s  | .    | 5
"""
GROUPS = f"SELECT k, SUM(x) FROM a {WINDOW} GROUP BY k"
GROUPS_INSERTS = """
    _op | _ts | _exp | k | s
    +   | 1s  | 3s   | 1 | 10
    +   | 2s  | 3s   | 1 | 30
    +   | 2s  | 4s   | 2 | 5
    +   | 3s  | 4s   | 1 | 20
    -   | 4s  | 4s   | 1 | 20
    -   | 4s  | 4s   | 2 | 5
"""
GROUPS_CHANGES = """
    _op | _ts | _exp | k | s
    +   | 1s  | 3s   | 1 | 10
    -   | 2s  | 3s   | 1 | 10
    +   | 2s  | 3s   | 1 | 30
    +   | 2s  | 4s   | 2 | 5
    -   | 3s  | 3s   | 1 | 30
    +   | 3s  | 4s   | 1 | 20
    -   | 4s  | 4s   | 1 | 20
    -   | 4s  | 4s   | 2 | 5
"""


def test_right_tables_pass() -> None:
    check(FLAT, FLAT_INSERTS)
    check(FLAT, FLAT_CHANGES, "changes")
    check(ROWS, ROWS_INSERTS)
    check(ROWS, ROWS_INSERTS, "changes")
    check(GROUPS, GROUPS_INSERTS, key=(0,))
    check(GROUPS, GROUPS_CHANGES, "changes")


@pytest.mark.parametrize("line", range(3))
@pytest.mark.parametrize(("sql", "text"), [(FLAT, FLAT_INSERTS), (ROWS, ROWS_INSERTS)])
def test_a_lost_row_is_caught(sql: str, text: str, line: int) -> None:
    lines = text.strip().splitlines()
    del lines[1 + line]
    with pytest.raises(WrongAnswer):
        check(sql, "\n".join(lines))


@pytest.mark.parametrize("line", range(6))
def test_a_lost_group_row_is_caught(line: int) -> None:
    lines = GROUPS_INSERTS.strip().splitlines()
    del lines[1 + line]
    if line == 0:  # at 1 s
        problem = "wrong answer at 1s:\n  missing    \\(1, 10\\)"
    elif line in (1, 2):
        problem = "wrong answer at 2s|a change removes a missing row"
    else:  # the newest row has expired and nothing follows
        problem = "no change replaces the expired|a change removes a missing row"
    with pytest.raises(WrongAnswer, match=problem):
        check(GROUPS, "\n".join(lines), key=(0,))


@pytest.mark.parametrize("line", range(6))
@pytest.mark.parametrize(("sql", "text"), [(FLAT, FLAT_CHANGES), (GROUPS, GROUPS_CHANGES)])
def test_a_lost_change_is_caught(sql: str, text: str, line: int) -> None:
    lines = text.strip().splitlines()
    del lines[1 + line]
    with pytest.raises(WrongAnswer):
        check(sql, "\n".join(lines), "changes")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("+   | 1s  | 3s   | 10", "+   | 1s  | 4s   | 10", "unexpected .10,."),
        ("+   | 1s  | 3s   | 10", "+   | 1s  | 2s   | 10", "missing    .10,."),
        ("+   | 1s  | 3s   | 10", "+   | 1s  | .    | 10", "at 3s:\n  unexpected .10,."),
        ("+   | 1s  | 3s   | 10", "+   | 1s  | 1s   | 10", "a row expires when it is added"),
        ("+   | 1s  | 3s   | 10", "+   | 1s  | 3s   | 11", "at 1s:\n  missing    .10,."),
        ("+   | 1s  | 3s   | 10", "+   | 1s  | 3s   | .", "at 1s:\n  missing    .10,."),
        ("+   | 1s  | 3s   | 10", "*   | 1s  | 3s   | 10", "not an operation"),
        ("+   | 2s  | 4s   | 20", "+   | 500ms | 4s  | 20", "out of order"),
        ("+   | 2s  | 4s   | 5", "+   | 2500ms | 4s | 5", "at 2s:\n  missing"),
    ],
)
def test_a_wrong_row_is_caught(old: str, new: str, problem: str) -> None:
    assert old in FLAT_INSERTS
    with pytest.raises(WrongAnswer, match=problem):
        check(FLAT, FLAT_INSERTS.replace(old, new))


def test_a_row_twice_is_caught() -> None:
    with pytest.raises(WrongAnswer, match=r"unexpected \(5,\)"):
        check(FLAT, FLAT_INSERTS + "    +   | 2s  | 4s   | 5\n")


@pytest.mark.parametrize(
    "retraction",
    [
        "-   | 2s  | .    | 99",  # never there
        "-   | 2s  | 9s   | 5",  # there, with another expiry
        "-   | 4s  | 4s   | 5",  # there, but gone by itself at this instant
        "-   | 5s  | 4s   | 5",  # and before
    ],
)
def test_taking_back_what_is_not_there_is_caught(retraction: str) -> None:
    with pytest.raises(WrongAnswer, match="a change removes a missing row"):
        check(FLAT, FLAT_INSERTS + retraction)


def test_taking_back_an_older_row_of_the_group_is_caught() -> None:
    wrong = GROUPS_INSERTS.replace("-   | 4s  | 4s   | 1 | 20", "-   | 4s  | 3s   | 1 | 30")
    with pytest.raises(WrongAnswer, match="a change removes a missing row"):
        check(GROUPS, wrong, key=(0,))


def test_a_table_without_the_leading_columns_is_refused() -> None:
    with pytest.raises(WrongAnswer, match="a change table starts with"):
        check(FLAT, "x\n10")


def test_the_changes_are_shown() -> None:
    with pytest.raises(WrongAnswer, match=r"changes:\n_op \| _ts"):
        check(FLAT, "_op | _ts | _exp | x:int")


SNAPSHOTS = """
    _op | _ts | _exp | x
    +   | 2s  | 4s   | 10
    +   | 2s  | 4s   | 20
    +   | 2s  | 4s   | 5
"""


def check_flat_snapshots(text: str, until: str = "6s") -> None:
    check_snapshots(
        batch(text),
        answer_to(FLAT),
        every_us=parse_time("2s"),
        first_us=parse_time("1s"),
        until_us=parse_time(until),
    )


def test_right_snapshots_pass() -> None:
    check_flat_snapshots(SNAPSHOTS)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("    +   | 2s  | 4s   | 5\n", "", "in the snapshot at 2s:\n  missing    .5,."),
        ("4s   | 5\n", "4s   | 5\n + | 4s | 6s | 5\n", "in the snapshot at 4s:\n  unexpected"),
        ("4s   | 5\n", "5s   | 5\n", "not a row of a snapshot"),
        ("+   | 2s  | 4s   | 5\n", "-   | 2s  | 4s   | 5\n", "not a row of a snapshot"),
        ("4s   | 5\n", "4s   | 5\n + | 3s | 5s | 5\n", "not a row of a snapshot"),
    ],
)
def test_wrong_snapshots_are_caught(old: str, new: str, problem: str) -> None:
    assert old in SNAPSHOTS
    with pytest.raises(WrongAnswer, match=problem):
        check_flat_snapshots(SNAPSHOTS.replace(old, new, 1))


def test_a_snapshot_waits_until_its_instant_is_over() -> None:
    check_flat_snapshots("_op | _ts | _exp | x:int", until="2s")
    with pytest.raises(WrongAnswer, match="a snapshot not before the clock"):
        check_flat_snapshots(SNAPSHOTS, until="2s")
