"""When a query that is added later sees all rows of its windows, and scripts that add and drop."""

import pytest

from eddyline.testing import WrongAnswer, parse_time
from eddyline.testing.retention_model import RetentionModel
from eddyline.testing.script import Script
from eddyline.types import FOREVER

#: Rows of the stream ``a`` in the cases below, in seconds.
ROWS = (1, 2, 3, 5, 8, 9)


@pytest.mark.parametrize(
    ("kept_by", "added", "right"),
    [  # the clock passes 6 s with the query ``kept_by``, then one is added
        ("SELECT x FROM a [RANGE 6 SECONDS]", "SELECT x FROM a [RANGE 6 SECONDS]", "6s"),
        ("SELECT x FROM a [RANGE 5 SECONDS]", "SELECT x FROM a [RANGE 6 SECONDS]", "7s"),
        ("SELECT x FROM a [RANGE 2 SECONDS]", "SELECT x FROM a [RANGE 2 SECONDS]", "6s"),
        ("SELECT x FROM a [RANGE 2 SECONDS]", "SELECT x FROM a [RANGE 5 SECONDS]", "9s"),
        ("SELECT x FROM a [RANGE 2 SECONDS]", "SELECT x FROM a [ROWS 1]", "6s"),
        ("SELECT x FROM a [RANGE 2 SECONDS]", "SELECT x FROM a [ROWS 3]", "9s"),
        ("SELECT x FROM a [RANGE 2 SECONDS]", "SELECT x FROM a [ROWS 4]", None),
        ("SELECT x FROM a [RANGE 2 SECONDS]", "SELECT x FROM a [PARTITION BY x ROWS 1]", None),
        ("SELECT x FROM a [RANGE 2 SECONDS]", "SELECT x FROM a [UNBOUNDED]", None),
        ("SELECT x FROM a [UNBOUNDED]", "SELECT x FROM a [RANGE 2 SECONDS]", "8s"),
        ("SELECT DISTINCT x FROM a [RANGE 2 SECONDS]", "SELECT x FROM a [RANGE 2 SECONDS]", "8s"),
        (
            "SELECT r.x FROM a [UNBOUNDED] AS r, a [NOW] AS s WHERE r.x = s.x",
            "SELECT x FROM a [ROWS 4]",
            "6s",
        ),
        ("SELECT x FROM a WINDOW 2 SECONDS", "SELECT x FROM a, b WINDOW 3 SECONDS", "9s"),
    ],
)
def test_when_a_query_is_right(kept_by: str, added: str, right: str | None) -> None:
    held = RetentionModel()
    held.pass_time(parse_time("6s"), [kept_by], ["a", "b"])
    times = {"a": [parse_time(f"{t}s") for t in ROWS], "b": [parse_time("1s")]}
    found = held.missing(added, parse_time("6s")).right_from(times)
    assert found == (FOREVER if right is None else parse_time(right))


def test_no_rows_are_missing_that_no_query_had_to_keep() -> None:
    held = RetentionModel({"v": "SELECT x FROM a"})
    held.pass_time(parse_time("6s"), [], ["a"])
    added = held.missing("SELECT x FROM v [ROWS 2]", parse_time("7s"))
    assert added.right_from({"a": [parse_time("8s")]}) == parse_time("7s")


DDL = "CREATE STREAM a (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts"


def test_a_script_adds_and_drops() -> None:
    script = Script(DDL, "SELECT x FROM a [RANGE 3 SECONDS]")
    script.process(a="ts | x\n1s | 7\n2s | 8").add("late", "SELECT x FROM a [RANGE 2 SECONDS]")
    script.expect("_op | _ts | _exp | x\n+ | 1s | 3s | 7\n+ | 2s | 4s | 8", "late").check()
    script.add("longer", "SELECT x FROM a [RANGE 9 SECONDS]").restart().advance("3s").drop("q")
    script.add("q", "SELECT x + 1 AS y FROM a [RANGE 2 SECONDS]").check()
    script.process(a="ts | x\n5s | 9").expect(
        "_op | _ts | _exp | y\n+ | 2s | 4s | 9\n+ | 5s | 7s | 10"
    )
    script.drop("late").advance("20s").finish()


def test_a_late_query_that_lacks_rows_is_caught() -> None:
    script = Script(DDL, "SELECT x FROM a [RANGE 3 SECONDS]")
    script.process(a="ts | x\n1s | 7\n2s | 8").add("late", "SELECT x FROM a [RANGE 3 SECONDS]")
    script.tracked["late"].emitted = [script.engine.process({})["late"].slice(1)]
    with pytest.raises(WrongAnswer, match="query late"):
        script.drop("late")
    script = Script(DDL, "SELECT x FROM a [RANGE 1 SECOND]")
    script.process(a="ts | x\n1s | 7\n2s | 8").add("late", "SELECT x FROM a [RANGE 3 SECONDS]")
    script.check().advance("9s").finish()  # it lacks the first row until 4 s


def test_snapshots_are_compared_from_when_the_query_is_right() -> None:
    every = "SELECT x FROM a [RANGE 4 SECONDS] EMIT SNAPSHOT EVERY 2 SECONDS"
    script = Script(DDL, "SELECT x FROM a [RANGE 1 SECOND]")
    script.process(a="ts | x\n1s | 7\n3s | 8").add("late", every).advance("9s").finish()
    script.tracked["late"].emitted = [t.slice(0, 0) for t in script.tracked["late"].emitted]
    with pytest.raises(WrongAnswer, match="in the snapshot at 6s"):
        script.finish()
