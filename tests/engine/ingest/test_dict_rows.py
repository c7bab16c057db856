"""Rows as Python dicts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from eddyline import DataError, Engine

DDL = """
    CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT, d DOUBLE) TIMESTAMP BY ts;
    CREATE TABLE t (k STRING, n BIGINT) WITH (updates = 'retroactive')
"""
ROWS: list[dict[str, Any]] = [
    {"ts": 0, "k": "a", "x": 1, "d": 1},
    {"ts": datetime(2026, 1, 1, tzinfo=UTC), "K": "b", "x": 2, "d": 0.5, "other": [1]},
]


def engine() -> Engine:
    made = Engine()
    made.sql(DDL)
    made.query("SELECT k, x, d FROM s [RANGE 10 SECONDS]", name="q")
    return made


def results(rows: pa.Table) -> list[tuple[Any, ...]]:
    return [(r["k"], r["x"], r["d"]) for r in rows.to_pylist()]


def test_a_dict_is_a_row() -> None:
    made = engine()
    first = made.push("s", ROWS[0])
    assert results(first["q"]) == [("a", 1, 1.0)]
    assert results(made.process({"s": ROWS[1]})["q"]) == [("b", 2, 0.5)]


def test_several_dicts_are_rows_and_what_one_lacks_is_null() -> None:
    expected = [("a", 1, 1.0), ("b", 2, 0.5), (None, None, None)]
    late = {"ts": "2026-01-01T00:00:01Z"}
    rows = [{**ROWS[0], "ts": "2026-01-01"}, {"ts": "2026-01-01", "k": "b", "x": 2, "d": 0.5}, late]
    assert results(engine().push_many("s", rows)["q"]) == expected
    assert results(engine().push_many("s", iter(rows))["q"]) == expected
    assert engine().push_many("s", [])["q"].num_rows == 0


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("x", "many", "x: cannot read 'many' as BIGINT"),
        ("x", 1.5, "x: cannot read '1.5' as BIGINT"),
        ("x", 2**70, "x: cannot read '1180591620717411303424' as BIGINT"),
        ("ts", "soon", "ts: cannot read 'soon' as TIMESTAMP"),
        ("ts", None, "ts is null"),
        ("k", "a\udc80", "k is not UTF-8"),
    ],
)
def test_a_value_that_does_not_fit_makes_its_row_bad(column: str, value: Any, reason: str) -> None:
    good = {"ts": "2026-01-01", "k": "a", "x": 1, "d": 0.0}
    for rows in ({**good, column: value}, [good, {**good, column: value}]):
        changes = engine().process({"s": rows})
        assert changes.bad["s"]["_reason"].to_pylist() == [reason]
        assert changes["q"].num_rows == len(rows) - 1 if isinstance(rows, list) else True


def test_values_of_near_types_are_converted() -> None:
    row = {"ts": "2026-01-01", "k": 5, "x": True, "d": Decimal("0.5")}
    assert results(engine().push("s", row)["q"]) == [("5", 1, 0.5)]


def test_dicts_are_rows_and_changes_of_tables() -> None:
    made = engine()
    made.table("t", [{"k": "a", "n": 1}])
    made.query("SELECT s.x, t.n FROM s [NOW] JOIN t ON s.k = t.k", name="joined")
    made.push("t", {"_ts": "2025-01-01", "k": "b", "n": 2})
    changes = made.push_many("s", [{**ROWS[1], "k": k} for k in "ab"])
    assert changes["joined"]["n"].to_pylist() == [1, 2]


KINDS = "CREATE STREAM s (ts TIMESTAMP, b BOOLEAN, k STRING, x BIGINT, d DOUBLE) TIMESTAMP BY ts"
NOON = datetime(2026, 1, 1, 12)
ELSEWHERE = timezone(timedelta(hours=5, minutes=30))


class WithoutOffset(tzinfo):
    """Of a time that is as one without a zone."""

    def utcoffset(self, _: datetime | None) -> None:
        return None

    dst = utcoffset

    def tzname(self, _: datetime | None) -> str:
        return "here"


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"ts": NOON.replace(tzinfo=ELSEWHERE), "k": "Zürich", "b": False, "d": float("inf")},
        {"ts": NOON.replace(microsecond=999_999), "k": "", "x": -(2**63), "d": float("nan")},
        {"ts": datetime.min, "k": "a\0b", "x": 2**63 - 1},
        {"ts": datetime.max.replace(tzinfo=ELSEWHERE)},
        {"ts": NOON.replace(tzinfo=WithoutOffset())},
        {"k": None, "b": None, "x": None, "d": None},
        {"k": "\udc80"},
        {"x": 2**63},
        {"x": True, "d": 1, "b": 1},
        {"ts": 10**15, "extra": 1},
    ],
)
def test_dicts_are_read_as_rows_of_a_table(changed: dict[str, Any]) -> None:
    """A tuple of them always becomes a table, a dict or a list only if it has to."""
    plain = {"ts": NOON, "b": True, "k": "a", "x": 1, "d": 0.5}
    row = {**plain, **changed}
    forms: list[list[Any]] = [[row, [row], (row,)], [[plain, row, plain], (plain, row, plain)]]
    for alike in forms:
        found = []
        for rows in alike:
            made = Engine()
            made.sql(KINDS)
            made.query("SELECT * FROM s [UNBOUNDED]", name="q")
            changes = made.process({"s": rows})
            found.append(str((changes["q"], changes.bad)))  # as values: NaN differs from itself
        assert len(set(found)) == 1


def test_late_and_bad_dicts_are_there_as_they_came() -> None:
    made = Engine()
    made.sql(KINDS + " AHEAD AT MOST 1 HOURS")
    made.query("SELECT k FROM s [NOW]", name="q")
    row = {"ts": NOON, "b": True, "k": "a", "x": 1, "d": 0.5}
    noon_us = round(NOON.replace(tzinfo=UTC).timestamp()) * 1_000_000
    made.process({"s": row}, now=noon_us)
    early = made.process({"s": {**row, "ts": NOON - timedelta(seconds=1)}}, now=noon_us)
    assert early.late["s"].select(["b", "k", "x", "d"]).to_pylist() == [
        {"b": True, "k": "a", "x": 1, "d": 0.5}
    ]
    ahead = made.process({"s": {**row, "ts": NOON + timedelta(days=1)}}, now=noon_us)
    (bad,) = ahead.bad["s"].to_pylist()
    assert "ahead of the wall clock" in bad.pop("_reason")
    assert bad == {"ts": "2026-01-02 12:00:00.000000Z", "b": "true", "k": "a", "x": "1", "d": "0.5"}


def test_other_data_is_refused() -> None:
    with pytest.raises(DataError, match="s: a row must be a dict, not a int: 1"):
        engine().push_many("s", [1])  # type: ignore[list-item]
    with pytest.raises(DataError, match="stream 's': the rows have no column 'x'; did you mean"):
        engine().push("s", {"ts": 0, "k": "a", "xx": 1})
    with pytest.raises(DataError, match="a dict or several, not a int"):
        engine().process({"s": 5})
